// SPDX-License-Identifier: Apache-2.0
/* Pieces that `braid info` and `braid report` share. */
#ifndef BRAID_EXPORT_INFO_H
#define BRAID_EXPORT_INFO_H

#include "export.h"
#include "json.h"

/* The members of the info object, without its braces. */
void info_members(struct json *j, const struct views *v, const struct report_source *source);

/* The report's member "gc". */
void json_gc(struct json *j, const struct views *v, unsigned top);

/* Sections of the text report. */
void text_recording(FILE *out, const struct views *v);
void text_jvms(FILE *out, const struct views *v);
void text_gc(FILE *out, const struct views *v, unsigned top);
void text_quality(FILE *out, const struct views *v);
void text_losses(FILE *out, const struct views *v);
void text_notices(FILE *out, const struct views *v);
void text_file(FILE *out, const struct views *v, const struct report_source *source);

/* "1.50 ms": a duration in at most ten characters. */
const char *text_duration(char buf[24], uint64_t ns);

double percent(uint64_t part, uint64_t whole);

#endif
