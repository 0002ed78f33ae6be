// SPDX-License-Identifier: Apache-2.0
/* What fuzz targets share: a check whose failure ends the target, inputs as files, and output that nobody reads. */
#ifndef BRAID_TESTS_FUZZ_INPUT_H
#define BRAID_TESTS_FUZZ_INPUT_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	abort();
}

/* A file in memory. It is the same one for each input, as a new one would take longer than most inputs. */
struct memory_file {
	int fd;
	char path[32];
};

static inline void memory_file_set(struct memory_file *f, const void *data, size_t size)
{
	if (!*f->path) {
		f->fd = memfd_create("fuzz", MFD_CLOEXEC);
		must(fchmod(f->fd, 0600) == 0, "no file of this user's own");
		snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	}
	must(f->fd >= 0 && ftruncate(f->fd, (off_t)size) == 0 && pwrite(f->fd, data, size, 0) == (ssize_t)size,
	     "no file to work with");
}

/* What is printed is made, and goes nowhere. */
static inline FILE *nowhere(void)
{
	static FILE *out;

	if (!out)
		out = fopen("/dev/null", "w");
	must(out != NULL, "no /dev/null");
	return out;
}

#endif
