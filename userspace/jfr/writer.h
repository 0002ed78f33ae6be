// SPDX-License-Identifier: Apache-2.0
/* The chunk that is being written. jfr.c owns it; events.c and facts.c add to it. */
#ifndef BRAID_JFR_WRITER_H
#define BRAID_JFR_WRITER_H

#include <braid/jvm_event.h>

#include "pools.h"

#define JFR_EVENT_TYPES (JFR_NAMED_EVENTS + BRAID_JVM_EVENTS)

struct jfr {
	const struct analysis *an;
	FILE *out;
	struct pools pools;
	struct jfr_event_type types[JFR_EVENT_TYPES]; /* the named ones, and those of kinds */
	char names[BRAID_JVM_EVENTS][JFR_KIND_NAME];
	bool used[JFR_EVENT_TYPES];
	struct bytes events, body;
	uint64_t start_ns, end_ns; /* of the chunk, on the trace's clock */
};

/* A fact about the recording or a process, at the start of a chunk. */
struct fact {
	const char *name, *value, *more;
	uint64_t number;
	uint32_t pid;
};

/* ---- events.c ---- */

/* The events that a sample or a JVM event becomes. */
void jfr_put_timed(struct jfr *j, const struct timed *t);
void jfr_put_fact(struct jfr *j, enum jfr_event_id id, const struct fact *fact);
/* Declares types without events where the JDK's views need them beside others that the chunk has. */
void jfr_declare(struct jfr *j);

/* ---- facts.c ---- */

/* What is known of the host, the recording and the JVMs. */
void jfr_put_facts(struct jfr *j);
/* Which events the file has: readers ask this before they interpret their absence. */
void jfr_put_settings(struct jfr *j);

#endif
