// SPDX-License-Identifier: Apache-2.0
/* What jvm.c (records), jvm_code.c (the code cache), jvm_methods.c (methods), jvm_threads.c and jvm_named_events.c
 * (events) share; nobody else includes this. */
#ifndef BRAID_JVM_JVM_STATE_H
#define BRAID_JVM_JVM_STATE_H

#include "code_cache.h"
#include "compilations.h"
#include "gc.h"
#include "jvm.h"
#include "hotspot/hotspot.h"
#include "util/pair_map.h"
#include "util/vec.h"

#include <braid/frame.h>
#include <braid/names.h>

#define SCOPE_MAX 256 /* inlining depth; HotSpot's own limit is far lower */

/* A method as the agent told it; sent on to the trace when a sample needs it. */
struct jvm_method {
	struct braid_rec_method *record;
	struct braid_rec_lines *lines;
	uint32_t trace_id[2]; /* without and with lines */
};

/* A frame whose code is not known yet. */
struct pending_frame {
	struct trace_frame frame;
	uint64_t time_ns;
	uint64_t unloads; /* methods_unloads() then */
	uint32_t code_id;
};

struct jvm {
	struct jvms *jvms;
	struct process *process;
	uint32_t slot, generation;
	uint32_t enabled; /* braid_event_config.enabled, as of now */
	bool kept;	  /* its slot is its own */
	bool linked;	  /* its agent is connected */
	bool joined;	  /* or was */
	uint64_t joined_ns;
	bool replayed;
	bool layout_known;
	bool layout_reported; /* by the agent */
	bool layout_agreed;   /* which says what the collector had read */
	struct braid_layout layout;
	struct braid_statics statics;
	struct braid_names names;
	struct trace_jvm record;
	char *strings[4];	    /* vm_name, vm_version, java_version, command */
	struct jvm_method *methods; /* by agent id */
	uint32_t method_count;
	struct code_map code;
	uint64_t purged_ns;
	uint64_t code_reported_ns; /* the newest time of a record about code */
	uint64_t code_received_ns; /* when the last one was read */
	uint32_t *types;	   /* trace names, by agent id; 0: not defined */
	uint32_t type_count;
	struct pair_map
		interpreted;	  /* (Method address, 0): what the kernel side told last, a trace method or NO_METHOD */
	struct pair_map named;	  /* (hash of names, of lines): trace method, extra: its version */
	struct pair_map versions; /* (hash of names, 0): how many methods have them */
	VEC(struct pending_frame) pending_frames;
	size_t deferred_paid; /* for how many of them its budget has paid */
	struct gc gc;
	uint64_t methods_reported, loads, unloaded, threads_started, threads_ended, classes_loaded, classes_unloaded,
		bad;
	uint64_t kept_bytes;		   /* of BUDGET_JVM_BYTES, but for code */
	struct compilations *compilations; /* NULL: none wait */
	struct code_cache cache;
	uint64_t lost[BRAID_JVM_KINDS_MAX]; /* of events that its threads asked for: as counted so far */
};

#define NO_METHOD UINT32_MAX

/* Is this recorded of it, as things stand? */
static inline bool jvm_enabled(const struct jvm *j, enum braid_event_type type)
{
	return j->enabled >> type & 1;
}

/* Counts bytes that are about to be kept of what its agent reports: false when there are too many. */
bool jvm_keep(struct jvm *j, size_t bytes);

/* Makes a table, of `*count` rows of `size` bytes, reach `id`; new rows are zero. False: there is no room to keep it.
 */
bool jvm_reach(struct jvm *j, void **table, uint32_t *count, uint32_t id, size_t size);

/* The next of a record's strings, of `length` bytes before `end`: false when it does not fit. */
bool jvm_take_string(const char **at, const char *end, uint16_t length, const char **out);

/* A string of a record, as UTF-8, in place of *to. */
void jvm_replace_string(char **to, const char *text, uint16_t length);

/* ---- jvm_methods.c ---- */

bool methods_on_method(struct jvm *j, const struct braid_rec *rec, size_t size);
bool methods_on_lines(struct jvm *j, const struct braid_rec *rec, size_t size);

/* The trace's id of an agent's method, with its lines or without; 0 when the agent never defined it. */
uint32_t methods_trace_id(struct jvm *j, uint32_t id, bool lines);
/* The same, of the Method that lies at an address now; 0 when there is none. */
uint32_t methods_read(struct jvm *j, uint64_t method);
/* Is what lies there now called as the agent's method `id` is? After its class was unloaded it may be anything. */
bool methods_is_at(struct jvm *j, uint32_t id, uint64_t method);
/* How many classes the JVM has unloaded, by its own count; 0 when it has none. */
uint64_t methods_unloads(const struct jvm *j);
bool methods_defined(const struct jvm *j, uint32_t id);
/* "Class.name" of an agent's method as UTF-8; false when the agent never defined it. */
bool methods_name(const struct jvm *j, uint32_t id, char *to, size_t size);
/* The same, of the Method that lies at an address now. */
bool methods_name_at(const struct jvm *j, uint64_t method, char *to, size_t size);
void methods_free(struct jvm *j);

/* ---- jvm_events.c ---- */

#define EVENTS_TYPES_MAX (1U << 22)

bool events_on_jvm_event(struct jvm *j, const struct braid_rec *rec, size_t size);
bool events_on_type(struct jvm *j, const struct braid_rec *rec, size_t size);

/* ---- jvm_code.c ---- */

/* So much code is forgotten: its budget has room again. */
void code_gone(struct jvm *j, uint64_t bytes, size_t count);
bool code_on_load(struct jvm *j, const struct braid_rec *rec, size_t size);
bool code_on_scopes(struct jvm *j, const struct braid_rec *rec, size_t size);
bool code_on_unload(struct jvm *j, const struct braid_rec *rec, size_t size);
bool code_on_stub(struct jvm *j, const struct braid_rec *rec, size_t size);

/* ---- jvm_threads.c ---- */

bool threads_on_thread(struct jvm *j, const struct braid_rec *rec, size_t size);
bool threads_on_end(struct jvm *j, const struct braid_rec *rec, size_t size);

/* ---- jvm_named_events.c ---- */

bool named_events_on_event(struct jvm *j, const struct braid_rec *rec, size_t size);
bool named_events_on_class(struct jvm *j, const struct braid_rec *rec, size_t size);
bool named_events_on_unload(struct jvm *j, const struct braid_rec *rec, size_t size);
/* A moment of the JVM's life; `classes`: loaded by then, 0: not known. */
void named_events_phase(struct jvm *j, const char *name, uint64_t time_ns, uint64_t classes);

#endif
