// SPDX-License-Identifier: Apache-2.0
/* What the event kinds offer each other and the agent's top folder: descriptors, method and class ids, and JVM
 * events. It declares functions of all files in events/. */
#ifndef BRAID_AGENT_HANDLERS_H
#define BRAID_AGENT_HANDLERS_H

#include "core/kind.h"

#include <braid/jvm_event.h>

extern const struct kind alloc_kind, code_kind, exceptions_kind, gc_kind, heap_copy_kind, histogram_kind,
	jni_critical_kind, jni_refs_kind, live_kind, loads_kind, methods_kind, monitors_kind, mounts_kind, natives_kind,
	resource_kind, threads_kind, virtual_kind;

/* methods.c */
void methods_reset(void);
/* The id of a method, defined on first use; 0 when it could not be defined. For live methods only: it reads their
 * names. */
uint32_t methods_id(jmethodID method, uint32_t event);
/* Starts an event and returns its number; within it, the identity of a method is checked once. */
uint32_t methods_event(void);
uint32_t methods_count(void);
/* Classes have been unloaded, so a jmethodID may name another method. Every handler may call it. */
void methods_unloaded(void);

/* scopes.c */
struct scopes {
	uint8_t *bytes; /* packed braid_scope_row */
	size_t used;
	size_t room;
	size_t last; /* offset of the row added last */
	uint32_t rows;
	bool truncated;
	bool outer_only; /* inlined methods are not reported */
	uint32_t event;	 /* methods_event() */
};

void scopes_from_inlining(struct scopes *s, const void *compile_info, const void *code, uint32_t code_size);
void scopes_from_map(struct scopes *s, uint32_t method, const jvmtiAddrLocationMap *map, jint length, const void *code,
		     uint32_t code_size);
void scopes_publish(const struct scopes *s, uint64_t address, uint16_t flags);
void scopes_free(struct scopes *s);

/* threads.c */
/* Publishes all running threads; `again`: for the names that have changed since. */
void threads_publish(JNIEnv *jni, bool again);

/* classes.c */
void classes_enable(void);
void classes_disable(void);
/* Publishes the unloads that class unload handlers could not. */
void classes_flush(void);

/* gc.c */
/* Once per process. */
void gc_open(void *libjvm);
void gc_prepare(void);
/* For a new connection. */
void gc_reset(void);
/* Runs so far of collectors that do all their work in stop-the-world pauses. */
struct gc_runs {
	bool known; /* the VM has such a collector and counts its runs */
	uint64_t young;
	uint64_t full; /* of the whole heap */
};
struct gc_runs gc_runs(void);

/* jvm_event.c */
/* Checks whether this JVM may request stacks; publishes a notice when it may not. */
void stack_request_start(void);
/* Emits an event of the calling thread, with its stack if possible. */
void jvm_event_emit(const struct braid_jvm_event *d);
/* The same; `request` may refer to a stack that was taken before. */
void jvm_event_emit_with(struct braid_stack_request *request);
/* False when stack requests do nothing. */
bool stack_request_usable(void);
/* Makes a request whose event the kernel side may keep or drop. */
void jvm_event_request(const struct braid_jvm_event *d);
/* Takes the calling thread's stack for an event that is emitted later. */
void stack_request_take(struct braid_stack_request *request);
/* Publishes an event without a stack, of the thread `tid` (0: of none). It waits in memory for room. */
void jvm_event_publish(const struct braid_jvm_event *d, uint32_t tid);
/* Counts an event that is not emitted: it is too short, or exceeds the rate. */
void jvm_event_count(enum braid_jvm_event_kind kind, uint64_t ns);
/* Publishes those counts. */
void jvm_event_publish_counted(void);
/* For a new connection. */
void jvm_event_reset_counts(void);

/* types.c */
/* The greatest id. Names of hidden classes are unbounded in number. */
#define TYPES_MAX 65536U

void types_reset(void);
/* The id of a class, defined on first use; 0 when it could not be defined. */
uint32_t types_id(jclass class);
/* The id of a text. No text begins like a class signature, so both share one table. */
uint32_t types_text(const char *text);
/* The id of an object's class. A pending exception stays pending. */
uint32_t types_of(JNIEnv *jni, jobject object);

/* alloc.c */
/* A starting thread calls it. */
void alloc_on_thread(void);

/* heap_copy.c */
/* Whether the process is not copied: that was not asked for, or it cannot be and histograms are taken instead. */
bool heap_copy_is_left(void);

/* live.c */

struct braid_heap_watched;

/*
 * Writes all watched objects, at most BRAID_WATCHED_MAX, and returns how many. Until live_release(), none is added or
 * removed: the references are what they are.
 */
uint32_t live_hold(struct braid_heap_watched *to);
void live_release(void);

/* Watches the object of a sampled allocation if it is selected. Returns the object's number; 0: it is not watched. */
uint64_t live_watch(JNIEnv *jni, jobject object, jclass class, const struct braid_jvm_event *allocation);

/* loads.c */
/* The number of classes, without arrays, that were loaded before their events were enabled. */
uint32_t loads_count(void);
/* An object's identity hash code; 0: NULL, or not known. */
uint32_t hash_code(jobject object);
#define LOADER_NAME_MAX 1024
struct loader {
	char *class; /* signature, for agent_release(); NULL: the boot loader */
	char name[LOADER_NAME_MAX];
};
void loader_describe(JNIEnv *jni, jobject loader, struct loader *to);

/* histogram.c */
/* An environment with tags, for which there is nothing to give back when it is refused: NULL. */
jvmtiEnv *environment_with_tags(void);
/* The heap in use as Runtime says it, since not every collector has a count in the VM's tables. 0: not known. */
uint64_t runtime_used_bytes(JNIEnv *jni);

/* exceptions.c */
/* For a new connection, which has other class ids. */
void exceptions_reset(void);

/* mounts.c */
/* A virtual thread starts on the calling thread, or ends. An exception may be pending. */
void mounts_on_start(JNIEnv *jni, jthread thread);
void mounts_on_end(JNIEnv *jni, jthread thread);

/* natives.c */
/* JVM TI allows reading names from VM start on: publishes the methods bound before. */
void natives_on_vm_start(JNIEnv *jni);
/*
 * Called when native code is about to be called for the first time, maybe that of a new library; NULL: nobody needs it.
 */
extern void (*_Atomic natives_on_code)(void);

#endif
