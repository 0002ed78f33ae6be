// SPDX-License-Identifier: Apache-2.0
/*
 * Makes traces from what other tools recorded. What a source does not have is not in the trace, either: collapsed
 * stacks and pprof have no times, so neither have the samples, and readers of the trace say so (analyzer_has_times()).
 */
#ifndef BRAID_IMPORT_IMPORT_H
#define BRAID_IMPORT_IMPORT_H

#include <trace/trace.h>

enum import_format {
	IMPORT_DETECT, /* from the file's content */
	IMPORT_COLLAPSED,
	IMPORT_PERF,
	IMPORT_PPROF,
	IMPORT_JFR,
	IMPORT_FORMATS,
};

/* The format of a name ("collapsed", "perf", ...), or IMPORT_FORMATS. */
enum import_format import_format_named(const char *name);

#define IMPORT_TEXT 512

struct import_result {
	char format[IMPORT_TEXT];
	uint64_t samples, events; /* in the trace: what the samples weigh, and other events */
	/* Why nothing was imported, behind the file's name; empty: the error number says it. */
	char refused[IMPORT_TEXT];
	/* What of the file is not in the trace because it is damaged; empty: nothing. */
	char damage[IMPORT_TEXT];
};

/*
 * Reads `path` ("-": standard input) into a trace that is prepared and not begun; a file that is refused leaves none.
 * 0 or a negative errno: the reader's, or -EBADMSG if `refused` says why. *writing: the writer has failed.
 */
int import_file(struct trace_writer *w, const char *path, enum import_format format, struct import_result *result,
		bool *writing);

#endif
