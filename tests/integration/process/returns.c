/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets return probes in its own functions, as a tracer does, and calls them: `returns OFFSET... -- COUNT` calls them
 * that often, each time a while; with 0 once, to sleep there. The offsets are those of the functions in
 * the file.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

int inner(int n);
int middle(int n);
int outer(int n);

static volatile int work;

NOINLINE int inner(int n)
{
	if (!n)
		work += pause();
	for (int i = 0; i < n; i++)
		work++;
	return work;
}

/* Its call is a jump: two returns in one place. */
NOINLINE int middle(int n)
{
	return inner(n);
}

NOINLINE int outer(int n)
{
	return middle(n) + 1;
}

static NOINLINE int calls(int n)
{
	return outer(n) + 2;
}

static int probe(const char *offset)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .config = 1 /* at the return */};
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "re");

	if (!type || fscanf(type, "%u", &attr.type) != 1)
		return 1;
	fclose(type);
	attr.uprobe_path = (unsigned long)"/proc/self/exe";
	attr.probe_offset = strtoull(offset, NULL, 16);
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0;
}

int main(int argc, char **argv)
{
	int at = 1, sum = 0, count;

	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		if (probe(argv[at])) {
			perror("no probe");
			return 1;
		}
	count = at + 1 < argc ? atoi(argv[at + 1]) : 0;
	for (int i = 0; i < count; i++)
		sum += calls(1000000);
	if (!count) {
		alarm(20);
		sum = calls(0);
	}
	return sum == 1;
}
