// SPDX-License-Identifier: Apache-2.0
/*
 * Garbage collections of a JVM. The agent reports each stop-the-world pause. Probes in a VM with symbols report what
 * happened during it, whole collections and their concurrent phases. A pause waits until both have been read and is
 * emitted once. jvm.c, probe_events.c and agents/ call this.
 */
#ifndef BRAID_JVM_GC_H
#define BRAID_JVM_GC_H

#include "jvm.h"
#include "util/vec.h"

#include <braid/probe.h>

#define GC_TEXT_MAX 64

/* A named interval between two probes. */
struct gc_span {
	enum braid_probe begin; /* BRAID_PROBE_GC_BEGIN: a collection, _PAUSE, _PHASE */
	uint64_t object;	/* the tracer object of the probes */
	pid_t tid;
	uint64_t start_ns, end_ns;
	uint64_t before, after; /* bytes, of a collection */
	uint64_t number;	/* of the cycle */
	bool in_pause;		/* it is within a stop-the-world pause, and part of it */
	char text[GC_TEXT_MAX]; /* cause, or name */
};

typedef VEC(struct gc_span) gc_span_list;

#define GC_REPORTERS_MAX 8

/* A pause, with the name that probes reported. */
struct gc_waiting {
	struct trace_jvm_event pause;
	char text[GC_TEXT_MAX];
};

/* State for one JVM. It starts zeroed. */
struct gc {
	uint64_t live_ns;    /* since when the JVM reports pauses; 0: not yet */
	struct gc_reporter { /* which collector a tracer object belongs to */
		uint64_t object;
		uint32_t name;
		struct trace_str what;
	} reporters[GC_REPORTERS_MAX];
	uint32_t reporter_count;
	uint64_t pauses;
	uint64_t cycles;
	uint64_t open; /* number of the pause in progress; 0: none */
	uint64_t open_ns;
	uint64_t open_used;
	gc_span_list begun, ended; /* ended: to become parts of pauses */
	VEC(struct gc_waiting) waiting;
};

/* Takes a GC_START or GC_FINISH record. False: it is malformed. */
bool gc_on_record(struct jvm *j, const struct braid_rec *rec, size_t size);

/* To be called when the JVM sends events of pauses from now on. */
void gc_on_live(struct jvm *j, uint64_t time_ns);

/* Takes a hit of a BRAID_PROBE_GC_* probe. */
void gc_on_probe(struct process *process, const struct braid_event_jvm_event *e);

/* Emits waiting pauses. To be called when everything that happened before now_ns has been read. */
void gc_settle(struct jvm *j, uint64_t now_ns);

/* Emits what has not ended, as far as it is known, at the end of the recording. */
void gc_end(struct jvm *j);

void gc_free(struct gc *gc);

/* ---- gc_names.c ---- */

/* The usual name of the collector that HotSpot's counters call `name`. */
const char *gc_collector_name(const char *name);
/* The collector whose cycles a thread of this name runs. */
const char *gc_leader_name(const char *thread);

#endif
