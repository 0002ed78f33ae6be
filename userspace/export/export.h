// SPDX-License-Identifier: Apache-2.0
/*
 * The output formats of an analysis, one file each; the commands call them. Functions return 0 or -ENOMEM. The owner of
 * the stream checks once whether it took everything (ferror, fclose).
 */
#ifndef BRAID_EXPORT_EXPORT_H
#define BRAID_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <analyze/views.h>
#include <trace/trace.h>

/*
 * Facts about the file that no record holds. Without `damage` (a recording that is not yet a file) the reports omit
 * them.
 */
struct report_source {
	const struct trace_damage *damage;
	uint64_t bytes;
	bool lines; /* adds a table of hot source lines */
};

/* Whether a part of the file could not be read. info.c */
bool source_is_damaged(const struct report_source *source, const struct views *v);

/* ---- report.c: braid report ---- */
#define REPORT_TOP 30U /* rows of a table by default */
void report_text(FILE *out, const struct views *v, const struct report_source *source, unsigned top);
void report_json(FILE *out, const struct views *v, const struct report_source *source, unsigned top);

/* ---- summary.c: the lines with which a report begins ---- */
void report_summary(FILE *out, const struct views *v);

/* ---- info.c, text.c: braid info ---- */
void info_text(FILE *out, const struct views *v, const struct report_source *source);
void info_json(FILE *out, const struct views *v, const struct report_source *source);

/* ---- settings.c: braid info --settings ---- */
void settings_text(FILE *out, const struct views *v);

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

/* ---- wakers.c: braid export --event offcpu --wakers ---- */
struct wall;
/* `idle`: also of idle threads. */
int wakers_write(FILE *out, const struct wall *w, bool idle, const struct collapsed_options *options);

/* ---- script.c: braid script ---- */

enum script_time { SCRIPT_SINCE_START, SCRIPT_WALL, SCRIPT_MONOTONIC };

struct script_options {
	enum script_time time;
	bool lines;	   /* adds a line with the source line behind each frame, where it is known */
	bool annotate;	   /* kind suffixes */
	uint64_t events;   /* only these: bit 0 samples, bit n JVM events of kind n; 0: everything */
	const char *named; /* and samples of this hit event; NULL: none */
};
/*
 * Prints an event in perf script's format; `jvm` is its row when it is a JVM event. Returns false for a definition and
 * for an event that the filter excludes.
 */
bool script_print(FILE *out, const struct analysis *an, const struct trace_rec *rec, const struct jvm_event_row *jvm,
		  const struct script_options *o);

#endif
