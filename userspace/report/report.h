// SPDX-License-Identifier: Apache-2.0
/*
 * What the commands print of an analysis, as text and as JSON. The owner of the stream checks once whether it took
 * everything (ferror, fclose).
 */
#ifndef BRAID_REPORT_REPORT_H
#define BRAID_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <views/views.h>
#include <trace/trace.h>

struct diagnosis;

/*
 * Facts about the file that no record holds. Without `damage` (a recording that is not yet a file) the reports omit
 * them.
 */
struct report_source {
	const struct trace_damage *damage;
	uint64_t bytes;
	bool lines; /* adds a table of hot source lines */
	const char *path;
	const struct diagnosis *diagnosis; /* NULL: nothing is said of what is suspicious */
};

/* Whether a part of the file could not be read. info.c */
bool source_is_damaged(const struct report_source *source, const struct analyzer *a);

/* ---- report.c, short.c: braid report ---- */
#define REPORT_TOP 30U /* rows of a table by default */
/* All that there is, and what matters of it. The second returns 0 or -ENOMEM. */
void report_text(FILE *out, const struct views *v, const struct report_source *source, unsigned top);
int report_short(FILE *out, const struct views *v, const struct report_source *source, unsigned top);
void report_json(FILE *out, const struct views *v, const struct report_source *source, unsigned top);

/* ---- summary.c: the lines with which a report begins ---- */
void report_summary(FILE *out, const struct views *v, const struct report_source *source);

/* ---- info.c, text.c: braid info ---- */
void info_text(FILE *out, const struct views *v, const struct report_source *source);
void info_json(FILE *out, const struct views *v, const struct report_source *source);

/* ---- settings.c: braid info --settings ---- */
/* `part`: only settings whose names contain it, in any case; NULL: all. */
void settings_text(FILE *out, const struct views *v, const char *part);

/* ---- script.c: braid script ---- */

enum script_time { SCRIPT_SINCE_START, SCRIPT_WALL, SCRIPT_MONOTONIC };

struct script_options {
	enum script_time time;
	bool lines;		 /* adds a line with the source line behind each frame, where it is known */
	bool annotate;		 /* kind suffixes */
	uint64_t events;	 /* only these: bit 0 samples, bit n JVM events of kind n; 0: everything */
	VEC(const char *) named; /* and samples of these hit events */
};
/*
 * Prints an event in perf script's format; `jvm` is its row when it is a JVM event. Returns false for a definition and
 * for an event that the filter excludes.
 */
bool script_print(FILE *out, const struct analysis *an, const struct trace_rec *rec, const struct jvm_event_row *jvm,
		  const struct script_options *o);

#endif
