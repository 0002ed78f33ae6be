// SPDX-License-Identifier: Apache-2.0
/*
 * Says "ready" and waits for a line. Then it does things in the kernel that its first argument names, and prints what it
 * did and how long it took, so that a test knows what a recording has to contain: `files PATH`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

/* ---- files ---- */

static NOINLINE void write_records(int fd, int count)
{
	static char record[3000];

	for (int i = 0; i < count; i++)
		check(write(fd, record, sizeof(record)) == sizeof(record), "write");
}

static NOINLINE void sync_records(int fd, int count)
{
	for (int i = 0; i < count; i++)
		check(!fdatasync(fd), "fdatasync");
}

static NOINLINE void sleeps(int count)
{
	struct timespec t = {.tv_nsec = 20000000};

	for (int i = 0; i < count; i++)
		nanosleep(&t, NULL);
}

static int files(const char *path)
{
	char text[100];
	struct stat st;
	int ends[2], fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint64_t began;

	check(fd >= 0 && !pipe(ends), path);
	began = now();
	write_records(fd, 200);
	sync_records(fd, 3);
	printf("file %llu\n", (unsigned long long)(now() - began));
	for (int i = 0; i < 5; i++)
		check(pread(fd, text, sizeof(text), i * 100) == sizeof(text), "pread");
	for (int i = 0; i < 10; i++) { /* of no file */
		check(write(ends[1], text, 10) == 10, "write");
		check(read(ends[0], text, 10) == 10, "read");
	}
	for (int i = 0; i < 7; i++)
		check(stat("/none/such", &st), "stat");
	sleeps(4);
	return 0;
}

int main(int argc, char **argv)
{
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 2;
	if (argc == 3 && strcmp(argv[1], "files") == 0)
		return files(argv[2]);
	return 1;
}
