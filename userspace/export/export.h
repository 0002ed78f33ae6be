// SPDX-License-Identifier: Apache-2.0
/*
 * Files for other tools, one source each; `braid export` calls them. Functions return 0 or -ENOMEM. The owner of the
 * stream checks once whether it took everything (ferror, fclose).
 */
#ifndef BRAID_EXPORT_EXPORT_H
#define BRAID_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <analyze/analysis.h>
#include <analyze/profile.h>

/* ---- collapsed.c: braid export --format collapsed ---- */
struct collapsed_options {
	bool annotate;					/* kind suffixes */
	bool threads;					/* the thread is the first frame */
	bool lines;					/* ":line" behind frames whose line is known */
	unsigned top;					/* only this many of the heaviest lines; 0: all */
	void (*announce)(uint64_t bytes, size_t lines); /* called before the first byte is written */
};
int collapsed_write(FILE *out, const struct analysis *an, const struct profile *p,
		    const struct collapsed_options *options);

/* "[main tid=101]", the first frame of a thread's stacks, in `names`; STRPOOL_FAILED without memory. */
uint32_t collapsed_thread(struct strpool *names, const struct analysis *an, uint32_t row);

/* ---- perf_map.c: braid export --format perf-map ---- */
/* The process of the code that the filter selects, 0 if none has any; -EINVAL, and an error, for several pids. */
int perf_map_process(const struct analysis *an, uint32_t *process);
int perf_map_write(FILE *out, struct analysis *an, uint32_t process, bool annotate);

/* ---- wakers.c: braid export --event offcpu --wakers ---- */
struct wall;
/* `idle`: also of idle threads. */
int wakers_write(FILE *out, const struct wall *w, bool idle, const struct collapsed_options *options);
/* The same stacks for formats with tables; only `top` of the options counts. */
struct stack_table;
int wakers_table(struct stack_table *t, const struct wall *w, bool idle, const struct collapsed_options *options);

#endif
