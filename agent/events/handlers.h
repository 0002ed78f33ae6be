// SPDX-License-Identifier: Apache-2.0
/*
 * What the collector wants to hear, beyond what every stack needs, and what the files of the kinds offer for it.
 *
 * To add a kind: its event and capability in the tables of events.c and caps.c, its handler in the file of its family,
 * and in chosen.c what else it does when it begins, once a second, and when it ends.
 */
#ifndef BRAID_AGENT_CHOSEN_H
#define BRAID_AGENT_CHOSEN_H

#include "core/jvm.h"

#include <braid/jvm_event.h>
#include <braid/ring.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* As it was last said; handlers read it at any time. */
struct chosen {
	_Atomic uint32_t wanted;
	_Atomic uint32_t vthread_rate;
	_Atomic uint32_t exception_rate;
	_Atomic uint32_t live_max;
	_Atomic uint64_t alloc_interval;
	_Atomic uint64_t lock_min_ns;
	_Atomic uint64_t wait_min_ns;
};

extern struct chosen chosen;

static inline bool chosen_wants(uint32_t choices)
{
	return atomic_load_explicit(&chosen.wanted, memory_order_relaxed) & choices;
}

/* ---- chosen.c ---- */

/* With a new connection, before any of its events can come. */
void chosen_start(const struct braid_choices *c);
/* On the helper thread. */
void chosen_change(const struct braid_choices *c);
void chosen_act(JNIEnv *jni, enum braid_act act);
void chosen_tick(JNIEnv *jni);
/* The last that can be said, while it can. */
void chosen_last_words(JNIEnv *jni);
/* No handler will come any more, or if one does, it finds nothing to do. `jni` is NULL when the VM is dead. */
void chosen_end(JNIEnv *jni);

/* ---- demand.c ---- */

/* Can this thread's kernel be asked for stacks? Says so when it cannot. */
void demand_start(void);
/* Tells an event of the calling thread, with its stack if possible. */
void demand_send(const struct braid_demand *d);
/* The same, with the stack that was taken for it. */
void demand_send_with(struct braid_ask *ask);
/* Only takes the stack, for an event to come. */
void demand_take(struct braid_ask *ask);
/* Tells an event without a stack; `tid` is the thread that it is of, 0: none's. Waits in memory for room. */
void demand_tell(const struct braid_demand *d, uint32_t tid);
/* One more that is not told: too short, or one too many. */
void demand_count(enum braid_jvm_event kind, uint64_t ns);
/* Tells of those. */
void demand_tell_counted(void);

/* ---- types.c ---- */

void types_reset(void);
/* The id of a class, defined on first sight; 0 when it could not be. */
uint32_t types_id(jclass class);
/* A name that is no class's: what begins like a signature, no text does. */
uint32_t types_text(const char *text);
/* The same as types_id, of an object's class; whatever exception is pending stays so. */
uint32_t types_of(JNIEnv *jni, jobject object);

/* ---- alloc.c ---- */

void alloc_start(const struct braid_choices *c);
void JNICALL alloc_on_sample(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size);

/* ---- live.c ---- */

void live_start(const struct braid_choices *c);
/* Watches the object of an allocation if it is its turn: the object's number, 0: it is not watched. */
uint64_t live_watch(JNIEnv *jni, jobject object, const struct braid_demand *allocation);
void live_tell(JNIEnv *jni);
void live_forget(JNIEnv *jni);
void live_stop(JNIEnv *jni);

/* ---- monitors.c ---- */

void monitors_start(const struct braid_choices *c);
void monitors_stop(JNIEnv *jni);
void JNICALL monitors_on_enter(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor);
void JNICALL monitors_on_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor);
void JNICALL monitors_on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jlong timeout_ms);
void JNICALL monitors_on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jboolean timed_out);

/* ---- loads.c ---- */

void loads_start(const struct braid_choices *c);
void loads_stop(JNIEnv *jni);
/* Those that are loaded are not news. In the live phase. */
void loads_look_around(JNIEnv *jni);
/* How many there were then, arrays included. */
uint32_t loads_count(void);
void JNICALL loads_on_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class);
void JNICALL loads_on_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class);

/* ---- virtual.c ---- */

void JNICALL virtual_on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread);
void JNICALL virtual_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread);
/* Tells of those that were counted only, like exceptions_tell(). */
void virtual_tell(JNIEnv *jni);

/* ---- exceptions.c ---- */

void JNICALL exceptions_on_throw(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jlocation location,
				 jobject exception, jmethodID catch_method, jlocation catch_location);
void exceptions_tell(JNIEnv *jni);

/* ---- natives.c ---- */

void JNICALL natives_on_bind(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, void *address,
			     void **new_address);
/* Names may be asked for: tells of those that were bound before. */
void natives_on_vm_start(void);

/* ---- resource.c ---- */

void JNICALL resource_on_exhausted(jvmtiEnv *env, JNIEnv *jni, jint flags, const void *reserved,
				   const char *description);

#endif
