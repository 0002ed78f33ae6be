// SPDX-License-Identifier: Apache-2.0
/*
 * cfi FILE...: prints the CPU time and the memory that each file's unwind table takes to compile; best of several
 * rounds.
 */
#include "unwind/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int measure(const char *path)
{
	double best = 1e9;
	uint32_t rows = 0, pages = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC), err;
		struct unwind_table *t = NULL;
		double start = cpu_ms();

		err = fd < 0 ? -1 : unwind_table_build(&t, fd);
		if (cpu_ms() - start < best)
			best = cpu_ms() - start;
		if (fd >= 0)
			close(fd);
		if (err) {
			fprintf(stderr, "cfi: %s: no table\n", path);
			return 1;
		}
		rows = t->row_count;
		pages = t->page_count;
		unwind_table_free(t);
	}
	printf("%s %.1f %u %.1f\n", path, best, rows, (double)(rows * 8UL + pages * 8UL) / 1024);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= measure(argv[i]);
	return status;
}
