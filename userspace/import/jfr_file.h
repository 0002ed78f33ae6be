// SPDX-License-Identifier: Apache-2.0
/* What the parts of the reader of Flight Recorder files share. */
#ifndef BRAID_IMPORT_JFR_FILE_H
#define BRAID_IMPORT_JFR_FILE_H

#include "jfr_chunk.h"
#include "reader.h"

/* The members of events that are imported, whatever the events call them. */
enum jfr_role {
	ROLE_NONE,
	ROLE_START,
	ROLE_DURATION,
	ROLE_THREAD,
	ROLE_STACK,
	ROLE_STATE,
	ROLE_CLASS,
	ROLE_OTHER,  /* thread */
	ROLE_NUMBER, /* of the object, or the collection */
	ROLE_WEIGHT,
	ROLE_SIZE,
	ROLE_COUNT,
	ROLE_NAME,
	ROLE_DETAIL, /* a cause */
	ROLE_VALUE,
	ROLE_PID,
	ROLE_TIMED_OUT,
	ROLE_TEXT,
	ROLE_TYPE,    /* that a setting is about */
	ROLE_SETTING, /* its value */
	JFR_ROLES,
};

struct jfr_event {
	struct jfr_value values[JFR_ROLES];
	uint64_t start_ns, duration_ns;
};

/* A collection, of which several events each report a part. */
struct jfr_gc {
	uint64_t id;
	uint32_t name, cause; /* TRACE_NAME */
	uint64_t before, after, pauses;
};

/* What is done with the events of a type of the chunk. */
struct jfr_kind {
	const struct jfr_import *how; /* NULL: they are not imported */
	uint64_t left_out;
};

/* The settings of a type of waits. */
#define JFR_LIMITS 4
struct jfr_limit {
	bool enabled;
	uint64_t min_ns;
};

struct jfr_file {
	struct reader *r;
	struct jfr_chunk *chunk;
	uint32_t process;
	bool braids;	  /* braid has written it */
	bool has_buffers; /* the chunk has events of threads that took a buffer to allocate in */
	struct jfr_limit limits[JFR_LIMITS];
	struct u64map thread_of, vthread_of, stack_of, frame_of; /* of the chunk: keys to ids plus one */
	struct u64map gc_of;
	VEC(struct jfr_gc) gcs;
	VEC(struct jfr_kind) kinds; /* of the chunk's types */
	struct strpool names;
	char text[3][JFR_TEXT_MAX];
};

/* ---- jfr_stacks.c ---- */

/* The thread of a value, and the virtual thread if it is one. */
void jfr_thread(struct jfr_file *f, const struct jfr_value *v, uint32_t *thread, uint32_t *vthread);
uint32_t jfr_stack(struct jfr_file *f, const struct jfr_value *v);
/* A class as braid writes it, "java.lang.String[]", with a zero at its end. */
struct trace_str jfr_class(struct jfr_file *f, const struct jfr_value *v);

/* ---- jfr_events.c ---- */

/* Prepares for the types and members of the chunk. */
void jfr_events_begin(struct jfr_file *f);
/*
 * Takes an event. In the first pass, those that others need: about the process, and about collections. False: it is
 * damaged.
 */
bool jfr_event_take(struct jfr_file *f, uint32_t type, struct jfr_at *p, bool first_pass);
/* Writes the settings of waits as those of a recording of braid's. */
void jfr_events_end(struct jfr_file *f);

#endif
