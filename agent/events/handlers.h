// SPDX-License-Identifier: Apache-2.0
/* What the files of the kinds offer each other, and those above them. */
#ifndef BRAID_AGENT_HANDLERS_H
#define BRAID_AGENT_HANDLERS_H

#include "core/kind.h"

#include <braid/jvm_event.h>

extern const struct kind alloc_kind, code_kind, exceptions_kind, gc_kind, live_kind, loads_kind, methods_kind,
	monitors_kind, natives_kind, resource_kind, threads_kind, virtual_kind;

/* methods.c */
void methods_reset(void);
/* The id of a method, defined on first sight; 0 when it could not be. For live methods only: their names are asked for.
 */
uint32_t methods_id(jmethodID method, uint32_t event);
/* A number for an event: within it, a method stays what it is. */
uint32_t methods_event(void);
uint32_t methods_count(void);
/* Classes have been unloaded: a jmethodID may name something else. Fit for every handler. */
void methods_unloaded(void);

/* scopes.c */
struct scopes {
	uint8_t *bytes; /* packed braid_scope_row */
	size_t used;
	size_t room;
	size_t last; /* offset of the row added last */
	uint32_t rows;
	bool truncated;
	bool outer_only; /* inlined methods are not told */
	uint32_t event;	 /* methods_event() */
};

void scopes_from_inlining(struct scopes *s, const void *compile_info, const void *code, uint32_t code_size);
void scopes_from_map(struct scopes *s, uint32_t method, const jvmtiAddrLocationMap *map, jint length, const void *code,
		     uint32_t code_size);
void scopes_publish(const struct scopes *s, uint64_t address, uint16_t flags);
void scopes_free(struct scopes *s);

/* threads.c */
/* All that run; `again`: they may be called otherwise now. */
void threads_publish(JNIEnv *jni, bool again);

/* classes.c */
void classes_enable(void);
void classes_disable(void);
/* Says what class unload handlers could not, if anything. */
void classes_flush(void);

/* gc.c */
/* Once per process. */
void gc_open(void *libjvm);
void gc_prepare(void);
/* A new connection. */
void gc_reset(void);
/* Runs so far of collectors that stop the world for all that they do. */
struct gc_runs {
	bool known; /* it is such a collector, and it counts */
	uint64_t young;
	uint64_t full; /* of the whole heap */
};
struct gc_runs gc_runs(void);

/* jvm_event.c */
/* Can this thread's kernel be asked for stacks? Says so when it cannot. */
void stack_request_start(void);
/* Tells an event of the calling thread, with its stack if possible. */
void jvm_event_emit(const struct braid_jvm_event *d);
/* The same, with the stack that was taken for it. */
void jvm_event_emit_with(struct braid_stack_request *request);
/* Only takes the stack, for an event to come. */
void stack_request_take(struct braid_stack_request *request);
/* Tells an event without a stack; `tid` is the thread that it is of, 0: none's. Waits in memory for room. */
void jvm_event_publish(const struct braid_jvm_event *d, uint32_t tid);
/* One more that is not told: too short, or one too many. */
void jvm_event_count(enum braid_jvm_event_kind kind, uint64_t ns);
/* Tells of those. */
void jvm_event_publish_counted(void);
/* A new connection begins at zero. */
void jvm_event_reset_counts(void);

/* types.c */
/* The greatest id; names of hidden classes never end. */
#define TYPES_MAX 65536U

void types_reset(void);
/* The id of a class, defined on first sight; 0 when it could not be. */
uint32_t types_id(jclass class);
/* A name that is no class's: what begins like a signature, no text does. */
uint32_t types_text(const char *text);
/* The same as types_id, of an object's class; whatever exception is pending stays so. */
uint32_t types_of(JNIEnv *jni, jobject object);

/* alloc.c */
/* On a thread that starts. */
void alloc_on_thread(void);

/* live.c */
/* Watches the object of an allocation if it is its turn: the object's number, 0: it is not watched. */
uint64_t live_watch(JNIEnv *jni, jobject object, jclass class, const struct braid_jvm_event *allocation);

/* loads.c */
/* Classes that are known without having been told; arrays are none. */
uint32_t loads_count(void);

/* exceptions.c */
/* A new connection: classes get other ids. */
void exceptions_reset(void);

/* natives.c */
/* Names may be asked for: tells of those that were bound before. */
void natives_on_vm_start(JNIEnv *jni);

#endif
