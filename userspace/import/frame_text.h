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
 * Takes a frame apart. Suffixes are those of async-profiler and flame graph tools: _[j] compiled, _[i] inlined,
 * _[0] interpreted, _[1] C1, _[k] kernel. Without one, a name is Java's if it is written as one: a/b/Class.method,
 * a.b.Class.method or La/b/Class;::method. `code`: what it is if it is not Java's.
 */
void frame_text(struct frame_text *to, struct trace_str text, enum import_code code);

#endif
