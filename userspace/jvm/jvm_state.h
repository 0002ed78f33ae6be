// SPDX-License-Identifier: Apache-2.0
/*
 * The state of a JVM, and the functions that jvm.c, code_cache.c, compilations.c, gc.c and the jvm_*.c files share.
 * Other rooms use jvm.h.
 */
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

#define SCOPE_MAX 256 /* inlining depth; HotSpot's limit is far lower */

/* A method as the agent defined it. It enters the trace when a sample needs it. */
struct jvm_method {
	struct braid_rec_method *record;
	struct braid_rec_lines *lines;
	uint32_t trace_id[2]; /* without and with lines */
};

/* A frame whose code is not known yet, or not as the agent will report it. */
struct pending_frame {
	struct trace_frame frame;
	uint64_t time_ns;
	uint64_t unloads; /* methods_unloads() at that time */
	uint32_t code_id;
	bool read; /* from the JVM's memory, and sent */
};

struct heap_count;

struct jvm {
	struct jvms *jvms;
	struct process *process;
	uint32_t slot, generation;
	uint32_t enabled;     /* braid_event_config.enabled, at present */
	uint32_t was_enabled; /* at some time of the recording */
	bool kept;	      /* it owns its slot */
	bool linked;	      /* its agent is connected */
	bool joined;	      /* its agent is or was connected */
	uint64_t joined_ns;
	bool replayed;
	bool dies; /* it has reported its end; its memory is there for a moment */
	bool layout_known;
	bool layout_reported; /* by the agent */
	bool layout_agreed;   /* the agent's layout equals the one that the collector had read */
	struct braid_layout layout;
	struct braid_statics statics;
	struct braid_names names;
	struct trace_jvm record;
	char *strings[4];	       /* vm_name, vm_version, java_version, command */
	struct heap_count *heap_count; /* NULL: none */
	struct jvm_method *methods;    /* by agent id */
	uint32_t method_count;
	struct code_map code;
	uint64_t purged_ns;
	uint64_t code_reported_ns; /* the newest time of a record about code */
	uint64_t code_received_ns; /* when the last one was read */
	uint32_t *types;	   /* ids of names in the trace, by agent id; 0: not defined */
	uint32_t type_count;
	/* (Method address, 0): what the kernel side reported last, a trace method or NO_METHOD */
	struct pair_map interpreted;
	struct pair_map named;	  /* (hash of names, hash of lines): trace method; extra: its version */
	struct pair_map versions; /* (hash of names, 0): number of methods with these names */
	VEC(struct pending_frame) pending_frames;
	size_t deferred_paid; /* the number of them that its budget covers */
	struct waiting_binds binds;
	size_t binds_paid;
	struct gc gc;
	uint64_t methods_reported, loads, unloaded, threads_started, threads_ended, classes_loaded, classes_unloaded,
		bad;
	uint64_t kept_bytes;		   /* of BUDGET_JVM_BYTES, without code */
	uint32_t settings, settings_bytes; /* sent to the trace, with the bytes of their texts */
	struct compilations *compilations; /* NULL: none wait */
	struct java_heap *names_heap;	   /* closed, for thread_names.c; NULL: not opened yet */
	uint64_t names_heap_ns;		   /* spent on opening it */
	struct code_cache cache;
	struct call_record *calls; /* jvm_calls.c; NULL: none */
	struct braid_lost lost;	   /* as emitted so far */
};

#define NO_METHOD UINT32_MAX

/* Whether this event type is recorded of it at present. */
static inline void jvm_set_enabled(struct jvm *j, uint32_t enabled)
{
	j->enabled = enabled;
	j->was_enabled |= enabled;
}

static inline bool jvm_enabled(const struct jvm *j, enum braid_event_type type)
{
	return j->enabled >> type & 1;
}

/* Reserves bytes to keep for its agent's reports. False: its budget is spent. */
bool jvm_keep(struct jvm *j, size_t bytes);

/*
 * Whether a list of `count` items of `size` bytes, of which its budget covers `*paid`, may have one more, up to `max`.
 */
bool jvm_has_room(struct jvm *j, size_t count, size_t *paid, size_t max, size_t size);

/* Grows a table of `*count` rows of `size` bytes until it includes `id`. New rows are zero. False without room. */
bool jvm_reach(struct jvm *j, void **table, uint32_t *count, uint32_t id, size_t size);

/* Takes the next string of a record, of `length` bytes before `end`. False when it does not fit. */
bool jvm_take_string(const char **at, const char *end, uint16_t length, const char **out);

/* Replaces *to with a string of a record, as UTF-8. */
void jvm_replace_string(char **to, const char *text, uint16_t length);

/* ---- jvm_methods.c ---- */

bool methods_on_method(struct jvm *j, const struct braid_rec *rec, size_t size);
bool methods_on_lines(struct jvm *j, const struct braid_rec *rec, size_t size);

/* The trace's id of an agent's method, with or without its lines. 0: the agent has not defined it. */
uint32_t methods_trace_id(struct jvm *j, uint32_t id, bool lines);
/* The same for the Method at an address in the JVM's memory; 0: there is none. */
uint32_t methods_read(struct jvm *j, uint64_t method);
/*
 * Whether the Method at that address has the names of the agent's method `id`. It may be anything after its class was
 * unloaded.
 */
bool methods_is_at(struct jvm *j, uint32_t id, uint64_t method);
/* The number of classes that the JVM has unloaded, by its own count; 0: it has no count. */
uint64_t methods_unloads(const struct jvm *j);
bool methods_defined(const struct jvm *j, uint32_t id);
/* "Class.name" of an agent's method as UTF-8. False: the agent has not defined it. */
bool methods_name(const struct jvm *j, uint32_t id, char *to, size_t size);
/* The same for the Method at an address in the JVM's memory. */
bool methods_name_at(const struct jvm *j, uint64_t method, char *to, size_t size);
void methods_free(struct jvm *j);

/* ---- jvm_settings.c ---- */

bool settings_on_setting(struct jvm *j, const struct braid_rec *rec, size_t size);

/* ---- jvm_events.c ---- */

#define EVENTS_TYPES_MAX (1U << 22)

bool events_on_jvm_event(struct jvm *j, const struct braid_rec *rec, size_t size);
bool events_on_type(struct jvm *j, const struct braid_rec *rec, size_t size);

/* ---- jvm_calls.c ---- */

#define CALL_VALUES_MAX 1025 /* bytes, with a zero */

bool patterns_on_pattern(struct jvm *j, const struct braid_rec *rec, size_t size);
bool calls_on_call(struct jvm *j, const struct braid_rec *rec, size_t size);
/* Whether the record with this number has come; 0: there is none to wait for. */
bool calls_known(const struct jvm *j, uint64_t number);
/* Adds what the record with this number says to an event of kind METHOD, with `text` for its text. */
void calls_explain(struct jvm *j, uint64_t number, struct trace_jvm_event *e, char text[CALL_VALUES_MAX]);
void calls_free(struct jvm *j);

/* ---- jvm_code.c ---- */

/* Releases the budget of code that was freed. */
void code_gone(struct jvm *j, uint64_t bytes, size_t count);
bool code_on_load(struct jvm *j, const struct braid_rec *rec, size_t size);
bool code_on_scopes(struct jvm *j, const struct braid_rec *rec, size_t size);
bool code_on_unload(struct jvm *j, const struct braid_rec *rec, size_t size);
bool code_on_stub(struct jvm *j, const struct braid_rec *rec, size_t size);
/* Resolves pending frames whose code is known now, or will not be reported; `final`: all of them. */
void jvm_resolve_pending(struct jvm *j, uint64_t time_ns, bool final);

/* ---- jvm_threads.c ---- */

bool threads_on_thread(struct jvm *j, const struct braid_rec *rec, size_t size);
bool threads_on_end(struct jvm *j, const struct braid_rec *rec, size_t size);

/* ---- jvm_named_events.c ---- */

bool named_events_on_event(struct jvm *j, const struct braid_rec *rec, size_t size);
/* Emits events that have waited for a name; `final`: all of them. */
void named_events_tick(struct jvm *j, uint64_t now_ns, bool final);
bool named_events_on_class(struct jvm *j, const struct braid_rec *rec, size_t size);
bool named_events_on_heap_class(struct jvm *j, const struct braid_rec *rec, size_t size);

/* A class loader in the JVM's own names. Without a class: the boot loader. */
struct loader_texts {
	const char *class, *name;
	size_t class_len, name_len;
	uint32_t hash; /* 0: loaders of a class and a name need no distinction */
};

#define HEAP_REST "[other classes]"

/* Emits a row of a histogram, of which `e` has the numbers: of a class, */
void named_events_heap_class(struct jvm *j, struct trace_jvm_event *e, const char *class, size_t length,
			     const struct loader_texts *loader);
/* or of `classes` others; 0: not known. */
void named_events_heap_others(struct jvm *j, struct trace_jvm_event *e, const char *what, uint32_t classes);
bool named_events_on_unload(struct jvm *j, const struct braid_rec *rec, size_t size);
/* Emits a phase of the JVM's life. `classes`: loaded by then; 0: not known. */
void named_events_phase(struct jvm *j, const char *name, uint64_t time_ns, uint64_t classes);

#endif
