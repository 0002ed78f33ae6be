// SPDX-License-Identifier: Apache-2.0
/* The reports' parts about JVM events, shared by the text report and the JSON report. */
#ifndef BRAID_REPORT_EVENTS_H
#define BRAID_REPORT_EVENTS_H

#include "info.h"

#include <trace/record.h>

/* ---- events_text.c: what all kinds have ---- */
void text_events(FILE *out, const struct views *v, unsigned top);
/* The section of one kind; nothing if it has no tables, or nothing of it was recorded. */
void text_kind(FILE *out, const struct views *v, uint32_t kind, unsigned top);

/* The unit, padded to a column of that width. */
const char *text_unit(char buf[QUANTITY_TEXT], int width, enum kind_unit unit, uint64_t value);

/* ---- hits.c: hit events ---- */
void text_hits(FILE *out, const struct views *v, unsigned top);
void json_hits(struct json *j, const struct views *v, unsigned top);

/* ---- event_stacks.c ---- */
/* A source's name without its directories; "?" for an unknown one. */
const char *source_name(const char *file);
/* A line with a frame's kind, name and source line, indented by that many columns. */
void text_frame(FILE *out, int indent, const struct analysis *an, const struct xframe *x);
/* The frames of a stack, the innermost first: on lines below the row of a table, or as an array. */
void text_stack(FILE *out, const struct views *v, uint32_t stack);
void json_stack(struct json *j, const struct views *v, uint32_t stack);

/* ---- heap.c: histograms of the heap ---- */
void text_histograms(FILE *out, const struct views *v, unsigned top);
void json_histograms(struct json *j, const struct views *v, unsigned top);
/* The last histogram of one JVM, which has one, as a table; and all that is known of its heap as an object. */
void heap_text(FILE *out, const struct heap_view *h, unsigned top);
void heap_json(struct json *j, const struct views *v, const struct heap_view *h, unsigned top);

/* ---- timed.c: timed methods ---- */
void text_timed(FILE *out, const struct views *v, unsigned top);
void json_timed(struct json *j, const struct views *v, unsigned top);

/* ---- writes.c: writes to fields ---- */
void text_writes(FILE *out, const struct views *v, unsigned top);
void json_writes(struct json *j, const struct views *v, unsigned top);

/* ---- sites.c: sites of allocation ---- */
void text_sites(FILE *out, const struct views *v, unsigned top);
void json_sites(struct json *j, const struct views *v, unsigned top);

/* ---- leaks.c: sites that grow ---- */
void text_leaks(FILE *out, const struct views *v, unsigned top);
void json_leaks(struct json *j, const struct views *v, unsigned top);

/* ---- jni.c: JNI references, and collections that waited for critical sections ---- */
void text_refs(FILE *out, const struct views *v);
void text_held(FILE *out, const struct views *v, unsigned top);
void json_jni(struct json *j, const struct views *v, unsigned top);

/* ---- natives.c: native methods ---- */
void text_natives(FILE *out, const struct views *v, unsigned top);
void json_natives(struct json *j, const struct views *v, unsigned top);

/* ---- events_special.c: what only some kinds have ---- */
void text_blockers(FILE *out, const struct views *v, unsigned top);
void text_lives(FILE *out, const struct views *v, unsigned top);
void text_compiles(FILE *out, const struct views *v, unsigned top);
void text_starts(FILE *out, const struct views *v);
void text_classes(FILE *out, const struct views *v, unsigned top);
void text_binds(FILE *out, const struct views *v, unsigned top);

/* ---- events_json.c: members of the report's object ---- */
void json_events(struct json *j, const struct views *v, unsigned top);

#endif
