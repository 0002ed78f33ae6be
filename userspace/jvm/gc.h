// SPDX-License-Identifier: Apache-2.0
/*
 * Garbage collection. The agent tells of each time the world stood for a collector; probes in the VM's code, where it
 * has symbols, tell what was done then, of whole collections and of their concurrent phases. A pause waits until both
 * have been heard, and is told once.
 */
#ifndef BRAID_JVM_GC_H
#define BRAID_JVM_GC_H

#include "jvm.h"
#include "util/vec.h"

#include <braid/probe.h>

#define GC_TEXT_MAX 64

/* Something with a name between two probes. */
struct gc_span {
	enum braid_probe begin; /* BRAID_PROBE_GC_BEGIN: a collection, _PAUSE, _PHASE */
	uint64_t object;	/* whose probes they were */
	pid_t tid;
	uint64_t start_ns, end_ns;
	uint64_t before, after; /* bytes; of a collection */
	uint64_t number;	/* of the cycle */
	bool in_pause;		/* all of it while the world stands: it is part of a pause */
	char text[GC_TEXT_MAX]; /* cause, or name */
};

typedef VEC(struct gc_span) gc_span_list;

#define GC_REPORTERS_MAX 8

/* A pause, and what was in it. */
struct gc_waiting {
	struct trace_jvm_event pause;
	char text[GC_TEXT_MAX];
};

/* What is known of a JVM's. A zeroed one is empty. */
struct gc {
	uint64_t live_ns;    /* since when the JVM has told of pauses; 0: it has not begun to */
	struct gc_reporter { /* whose collections are which collector's */
		uint64_t object;
		uint32_t name;
		struct trace_str what;
	} reporters[GC_REPORTERS_MAX];
	uint32_t reporter_count;
	uint64_t pauses;
	uint64_t cycles;
	uint64_t open; /* number of the pause that is on; 0: none */
	uint64_t open_ns;
	uint64_t open_used;
	gc_span_list begun, ended; /* ended: what is to become part of a pause */
	VEC(struct gc_waiting) waiting;
};

/* A GC_START or GC_FINISH. False: there is something wrong with it. */
bool gc_on_record(struct jvm *j, const struct braid_rec *rec, size_t size);

/* The JVM sends events of pauses from now on. */
void gc_on_live(struct jvm *j, uint64_t time_ns);

/* A hit of a BRAID_PROBE_GC_*. */
void gc_on_probe(struct process *process, const struct braid_event_jvm_event *e);

/* All that happened before now has been heard of: what waited is told. */
void gc_settle(struct jvm *j, uint64_t now_ns);

/* The recording ends: what has not ended is told as far as it is known. */
void gc_end(struct jvm *j);

void gc_free(struct gc *gc);

/* ---- gc_names.c ---- */

/* What people call what HotSpot names `name` in its counters. */
const char *gc_collector_name(const char *name);
/* The collector whose cycles a thread of this name leads. */
const char *gc_leader_name(const char *thread);

#endif
