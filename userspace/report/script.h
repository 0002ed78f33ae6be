// SPDX-License-Identifier: Apache-2.0
/* Pieces of a script that script.c and script_event.c share. */
#ifndef BRAID_REPORT_SCRIPT_H
#define BRAID_REPORT_SCRIPT_H

#include <stdio.h>

#include <analyze/events.h>
#include <trace/record.h>

/* ` key="text"`, with unprintable bytes replaced. */
void script_text(FILE *out, const char *key, struct trace_str s);

/* ---- script_event.c ---- */
void script_fields(FILE *out, const struct analysis *an, const struct event *e);

#endif
