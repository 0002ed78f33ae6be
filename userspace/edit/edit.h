// SPDX-License-Identifier: Apache-2.0
/*
 * Makes traces from traces, and checks them. The commands open readers and writers and call it. Functions return 0 or a
 * negative errno: the reader's, the writer's, or -ENOMEM.
 */
#ifndef BRAID_EDIT_EDIT_H
#define BRAID_EDIT_EDIT_H

#include <analyze/analysis.h>
#include <trace/ids.h>
#include <trace/trace.h>

struct edit_counts {
	uint64_t events, events_kept; /* and samples; not figures, notices, losses and the like */
	bool unread;		      /* samples outside of the part have not been read, so `events` lacks them */
	uint64_t lost;	  /* records that can be read, but are too long to be written: they are lost in the new trace */
	uint64_t last_ns; /* the time of the last event */
};

/* ---- cut.c: braid cut ---- */

/*
 * Writes what an analysis selects of the trace that it was made from: the events, as they are, and what they need. The
 * new trace has the same clock, and readers see its window as the recording.
 */
int edit_cut(struct trace_writer *w, struct trace_reader *r, const struct analysis *an, struct edit_counts *c);

/* ---- recover.c: braid recover ---- */

/* Writes all that can be read. What cannot is counted as lost in the new trace. */
int edit_recover(struct trace_writer *w, struct trace_reader *r, struct edit_counts *c);

/* ---- merge.c: braid merge ---- */

struct merge_input {
	const char *path;
	struct trace_reader *reader;
	const struct analysis *an; /* of the whole file */
};

/*
 * Why traces cannot be one: a sentence without its end, in `why`, and the number of the input that does not fit the
 * first one; 0: they can.
 */
#define MERGE_WHY_MAX 512
size_t edit_merge_refused(const struct merge_input *in, size_t count, char why[MERGE_WHY_MAX]);

/* Writes all traces as one, on the clock of the first. */
int edit_merge(struct trace_writer *w, const struct merge_input *in, size_t count, struct edit_counts *c);

/* ---- anonymise.c: braid strip ---- */

struct strip_options {
	bool anonymise; /* names become pseudonyms, but for those of the JDK, the kernel and system libraries */
	const char *const *keep; /* prefixes of names of classes that stay; not owned */
	size_t keep_count;
};

/* Leaves out command lines, properties, attributes, values of arguments and other texts; `anonymise` adds the rest. */
int edit_strip(struct trace_writer *w, struct trace_reader *r, const struct strip_options *o, struct edit_counts *c);

/* ---- verify.c: braid verify ---- */

struct verify_result {
	uint64_t records[TRACE_KINDS];
	uint64_t undefined[TRACE_ID_SPACES]; /* ids that are used and never defined */
	uint64_t late[TRACE_ID_SPACES];	     /* ids that are used before they are defined */
	bool ended;
};

int edit_verify(struct trace_reader *r, struct verify_result *v);

#endif
