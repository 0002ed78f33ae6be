// SPDX-License-Identifier: Apache-2.0
/*
 * What a thread dump reads of the Java threads of JVMs without an agent: which threads they are, and the layout of
 * objects, by which what they wait for is read. dump.c uses it.
 */
#ifndef BRAID_RECORD_DUMP_OUTSIDE_H
#define BRAID_RECORD_DUMP_OUTSIDE_H

#include "session.h"
#include "util/vec.h"

#include <braid/layout.h>

struct dump_outside {
	VEC(struct dump_outside_jvm) jvms;
};

struct dump_outside_jvm {
	const struct process *process;
	bool known; /* otherwise nothing could be read */
	struct braid_layout layout;
};

/* Reads the process's Java threads, if it is a JVM that its agent says nothing of. To be called at a dump's start. */
void dump_outside_read(struct dump_outside *o, struct session *s, struct process *process);

/* The layout of the objects of a JVM; NULL: it is not known. */
const struct braid_layout *dump_outside_layout(const struct dump_outside *o, const struct process *process);

/* Whether the process is a JVM of whose Java threads nothing is known. */
bool dump_outside_missing(const struct dump_outside *o, const struct process *process);

#endif
