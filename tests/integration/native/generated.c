// SPDX-License-Identifier: Apache-2.0
/*
 * Makes two functions at run time, outer_NAME and inner_NAME, writes them to its perf map, and works in them between
 * two lines of input. generated NAME [link | UID]: the map is a symbolic link, or belongs to that user, while the
 * program runs as user 65534.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INNER 16

static const uint8_t outer[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 7, 0, 0, 0, 0x5d, 0xc3}; /* calls INNER */
/* push rbp; mov rbp, rsp; 1: dec rdi; jne 1b; pop rbp; ret */
static const uint8_t inner[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static int write_map(const char *path, const uint8_t *code, const char *name)
{
	FILE *f = fopen(path, "wx");

	if (!f)
		return -1;
	fprintf(f, "%lx %x inner_of_former_code\n", (unsigned long)code, 4096); /* later lines take precedence */
	fprintf(f, "no line\n%lx %zx outer_%s\n", (unsigned long)code, sizeof(outer), name);
	fprintf(f, "%lx %zx inner_%s(a b)\n", (unsigned long)code + INNER, sizeof(inner), name);
	fprintf(f, "%lx 40 not_yet_ended", (unsigned long)code);
	return fclose(f);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*work)(unsigned long);
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (code == MAP_FAILED || write_map(strcmp(how, "link") ? path : "linked.map", code, argv[1]))
		return 1;
	if (strcmp(how, "link") == 0 && symlink(realpath("linked.map", NULL), path))
		return 1;
	if (atoi(how) && (chown(path, (uid_t)atoi(how), 0) || setgid(65534) || setuid(65534)))
		return 1;
	memcpy(code, outer, sizeof(outer));
	memcpy(code + INNER, inner, sizeof(inner));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
		return 1;
	*(void **)&work = code;
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 100; i++)
		work(5000000);
	puts("end");
	fflush(stdout);
	getchar();
	return unlink(path) != 0;
}
