// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the reader of heap dumps: the input is one, whatever its first byte says, which chooses text or JSON. What is read
 * is printed, with the way to every object.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/hprof.h"

#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY (64U << 20)
#define PATHS 16 /* objects */

static void print_all(struct hprof *h, int json, FILE *out)
{
	struct hprof_report r = {.path = "fuzz", .h = h, .rows = 10, .levels = 5, .percent = 1};

	if (!hprof_paths_init(&r.paths, h) && !hprof_suspects_find(&r.suspects, h, r.percent)) {
		(void)(json ? hprof_json(out, &r) : hprof_text(out, &r));
		for (uint32_t number = 0; number < h->dump.count && number < PATHS; number++)
			(void)(json ? hprof_path_json(out, &r, number) : hprof_path_text(out, &r, number));
	}
	hprof_suspects_free(&r.suspects);
	hprof_paths_free(&r.paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	struct hprof h;
	char path[64];
	int fd;

	if (size < 2)
		return 0;
	if (!out)
		out = fopen("/dev/null", "w");
	setenv("TMPDIR", "/dev/shm", 1);
	fd = memfd_create("fuzz_hprof", MFD_CLOEXEC);
	must(out && fd >= 0, "no file to work with");
	must(write(fd, data + 1, size - 1) == (ssize_t)size - 1, "file not made");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (hprof_open(&h, path, MEMORY))
		must(h.dump.why[0], "no reason given");
	else
		print_all(&h, data[0] & 1, out);
	hprof_close(&h);
	close(fd);
	return 0;
}
