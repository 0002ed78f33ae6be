// SPDX-License-Identifier: Apache-2.0
/* Frames that are written as texts: what kind of code they are, and the parts of their names. */
#ifndef BRAID_IMPORT_FRAME_TEXT_H
#define BRAID_IMPORT_FRAME_TEXT_H

#include "builder.h"

#define FRAME_CLASS_MAX 4096 /* bytes of a class's name */

struct frame_text {
	struct import_frame frame;
	char class_name[FRAME_CLASS_MAX];
	bool none; /* it says that there is no stack */
};

/*
 * Takes a frame apart. `annotated` is the suffix of async-profiler and flame graph tools: _[j] compiled, _[i] inlined,
 * _[0] interpreted, _[1] C1, _[k] kernel. Without one, a name is Java's if it is written as one: a/b/Class.method,
 * a.b.Class.method or La/b/Class;::method. `code`: what it is if it is not Java's.
 */
void frame_text(struct frame_text *to, struct trace_str text, enum import_code code);

/* Part of a string. */
struct trace_str str_part(struct trace_str s, size_t from, size_t to);
/* Takes the first line of a text, without its end. */
struct trace_str str_line(struct trace_str *text);
/* The place of the last such byte, or -1. */
long str_last(struct trace_str s, char c);
bool str_begins(struct trace_str s, const char *with);
bool str_ends(struct trace_str s, const char *with);
bool str_equals(struct trace_str s, const char *to);
/* Takes digits from the front: false if there are none, or too many. */
bool str_number(struct trace_str *s, uint64_t *number);

#endif
