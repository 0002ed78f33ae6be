// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the readers of other tools' files: the first byte chooses which, the rest is the file. What a reader lets through
 * is a whole trace.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/import.h"

#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const char *path)
{
	struct trace_reader *r;
	struct trace_rec rec;
	bool ended = false;

	must(trace_reader_open(&r, path, NULL) == 0, "it is no trace");
	while (trace_reader_next(r, &rec) == 1)
		ended = rec.kind == TRACE_END;
	must(!trace_is_damaged(trace_reader_damage(r)), "the trace is damaged");
	must(ended, "the trace has no end");
	trace_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char from[64], to[64];
	struct import_result result;
	struct trace_writer *w;
	bool writing;
	int fd, err;

	if (size < 2)
		return 0;
	fd = memfd_create("fuzz_import", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)size - 1, "file not made");
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	snprintf(to, sizeof(to), "/dev/shm/fuzz-import-%d", (int)getpid());
	unlink(to);
	must(trace_writer_prepare(&w, to) == 0, "no writer");
	err = import_file(w, from, (enum import_format)(data[0] % IMPORT_FORMATS), &result, &writing);
	must(!writing, "a record was refused");
	must(trace_writer_close(w) == 0, "not closed");
	must(!err || err == -E2BIG || *result.refused, "no reason given");
	if (!err)
		read_all(to);
	unlink(to);
	close(fd);
	return 0;
}
