// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the readers of other tools' files: the first byte chooses which, the rest is the file. What a reader lets
 * through is a whole trace, which is read if the first byte has all bits of FUZZ_READ: for one file in eight, as
 * reading takes as long as most imports do. The trace goes to standard output, which needs fewer system calls than a
 * file.
 */
#include <stdbool.h>
#include <stdint.h>

#include "import/import.h"

#include "input.h"

#define FUZZ_READ 0xe0

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
	static struct memory_file from, to;
	struct import_result result;
	struct trace_writer *w;
	bool writing;
	int err;

	if (size < 2)
		return 0;
	memory_file_set(&from, data + 1, size - 1);
	memory_file_set(&to, NULL, 0);
	must(dup2(to.fd, STDOUT_FILENO) >= 0 && lseek(to.fd, 0, SEEK_SET) == 0, "no standard output");
	must(trace_writer_prepare(&w, "-") == 0, "no writer");
	err = import_file(w, from.path, (enum import_format)((data[0] & ~FUZZ_READ) % IMPORT_FORMATS), &result,
			  &writing);
	must(!writing, "a record was refused");
	must(trace_writer_close(w) == 0, "not closed");
	must(!err || err == -E2BIG || *result.refused, "no reason given");
	if (!err && (data[0] & FUZZ_READ) == FUZZ_READ)
		read_all(to.path);
	return 0;
}
