// SPDX-License-Identifier: Apache-2.0
/*
 * The event kinds lock and wait: contended monitors and Object.wait. One handler begins an interval; the other ends it
 * and emits one event with the stack of the blocked thread. The second handler of a contended monitor runs while the
 * monitor is owned, so it is short.
 */
#include "intervals.h"
#include "handlers.h"
#include "core/config.h"
#include "core/jni.h"

#include <string.h>

#define VERSION_24 0x30180000
#define JNI_IS_VIRTUAL_THREAD 234 /* JNI 21; headers of earlier JDKs lack it */
#define KINDS (BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT))

enum blocking { BLOCKED, WAITING };

/*
 * From JDK 24 on a blocked virtual thread unmounts, and the second event arrives while its frames are still frozen. So
 * its interval begins with its stack, in a table entry. All other threads keep the start in thread-local storage.
 */
static __thread struct {
	uint64_t ns, timeout_ms;
} own[2];

/* When the configuration of these events last changed: a start before that may belong to another interval. */
static _Atomic uint64_t switched_ns;
static struct braid_event_config last; /* used by the connecting thread, then by the helper */

static bool unmounts(JNIEnv *jni, jthread thread)
{
	jboolean (*is_virtual)(JNIEnv *, jobject);
	jthrowable pending;
	bool gives;

	if (agent.jvmti_version < VERSION_24)
		return false;
	pending = jni_save(jni);
	is_virtual = ((jboolean(**)(JNIEnv *, jobject)) * jni)[JNI_IS_VIRTUAL_THREAD];
	gives = is_virtual(jni, thread);
	jni_restore(jni, pending);
	return gives;
}

/* From Thread.tid, which no two threads share. */
static uint64_t interval_key(JNIEnv *jni, jthread thread, enum blocking how)
{
	static _Atomic(jfieldID) known;
	jthrowable pending = jni_save(jni);
	jfieldID id = jni_root_field(jni, thread, "tid", "J", &known);
	uint64_t number = id ? (uint64_t)(*jni)->GetLongField(jni, thread, id) : 0;

	jni_restore(jni, pending);
	return number ? number << 1 | how : 0;
}

static void interval_store(JNIEnv *jni, jthread thread, enum blocking how, uint64_t timeout_ms)
{
	uint64_t key = interval_key(jni, thread, how);
	struct interval b = {.ns = clock_ns(), .timeout_ms = timeout_ms};
	struct braid_stack_request request;

	stack_request_take(&request);
	b.stack = request.stack;
	b.vthread = request.vthread;
	b.span = request.span;
	b.generation = request.generation;
	if (!key || !intervals_put(key, &b))
		publish_lost(BRAID_REC_JVM_EVENT, 1);
}

static bool interval_load(JNIEnv *jni, jthread thread, enum blocking how, struct interval *b)
{
	uint64_t key = interval_key(jni, thread, how);

	return key && intervals_take(key, b);
}

static void interval_begin(jvmtiEnv *env, JNIEnv *jni, jthread thread, enum blocking how, uint64_t timeout_ms)
{
	if (!agent_enter_event(env))
		return;
	if (unmounts(jni, thread)) {
		interval_store(jni, thread, how, timeout_ms);
	} else {
		own[how].ns = clock_ns();
		own[how].timeout_ms = timeout_ms;
	}
	agent_leave();
}

/* False when the interval began before the configuration changed. */
static bool interval_find(JNIEnv *jni, jthread thread, enum blocking how, struct interval *b)
{
	if (unmounts(jni, thread)) {
		if (!interval_load(jni, thread, how, b))
			return false;
	} else {
		*b = (struct interval){.ns = own[how].ns, .timeout_ms = own[how].timeout_ms};
		own[how].ns = 0;
	}
	return b->ns > atomic_load(&switched_ns);
}

/* Emits the interval, or only counts it when it is short. `like` has the fields that depend on the kind. */
static void interval_end(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, enum blocking how,
			 uint64_t min_ns, const struct braid_jvm_event *like)
{
	struct braid_stack_request request = {.event = *like};
	struct braid_jvm_event *d = &request.event;
	struct interval b;
	jint hash = 0;

	if (!agent_enter_event(env))
		return;
	if (!interval_find(jni, thread, how, &b))
		goto out;
	request.stack = b.stack;
	request.vthread = b.vthread;
	request.span = b.span;
	request.generation = b.generation;
	d->value = b.timeout_ms;
	d->start_ns = b.ns;
	d->end_ns = clock_ns();
	if (d->end_ns - d->start_ns < min_ns) {
		jvm_event_count(d->kind, d->end_ns - d->start_ns);
		goto out;
	}
	d->name = types_of(jni, monitor);
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, monitor, &hash) == JVMTI_ERROR_NONE)
		d->number = (uint32_t)hash;
	jvm_event_emit_with(&request);
out:
	agent_leave();
}

static void monitors_start(const struct braid_event_config *c)
{
	static uintptr_t generation;

	if (generation != agent.generation || (last.enabled ^ c->enabled) & KINDS || last.threaded != c->threaded ||
	    memcmp(last.threads, c->threads, sizeof(last.threads)) != 0)
		atomic_store(&switched_ns, clock_ns());
	generation = agent.generation;
	last = *c;
}

static void monitors_stop(JNIEnv *jni)
{
	(void)jni;
	last.enabled = 0;
	intervals_clear();
}

static void JNICALL monitors_on_enter(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor)
{
	(void)monitor;
	interval_begin(env, jni, thread, BLOCKED, 0);
}

static void JNICALL monitors_on_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor)
{
	const struct braid_jvm_event d = {.kind = BRAID_JVM_LOCK};

	interval_end(env, jni, thread, monitor, BLOCKED, atomic_load(&config.lock_min_ns), &d);
}

static void JNICALL monitors_on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jlong timeout_ms)
{
	(void)monitor;
	interval_begin(env, jni, thread, WAITING, (uint64_t)timeout_ms);
}

static void JNICALL monitors_on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jboolean timed_out)
{
	const struct braid_jvm_event d = {.kind = BRAID_JVM_WAIT, .flags = timed_out ? BRAID_WAIT_TIMED_OUT : 0};

	interval_end(env, jni, thread, monitor, WAITING, atomic_load(&config.wait_min_ns), &d);
}

const struct kind monitors_kind = {
	.events = {{JVMTI_EVENT_MONITOR_CONTENDED_ENTER, KIND_HANDLER(monitors_on_enter), CAP_MONITOR_EVENTS,
		    BRAID_EVENT_TYPE(LOCK)},
		   {JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, KIND_HANDLER(monitors_on_entered), CAP_MONITOR_EVENTS,
		    BRAID_EVENT_TYPE(LOCK)},
		   {JVMTI_EVENT_MONITOR_WAIT, KIND_HANDLER(monitors_on_wait), CAP_MONITOR_EVENTS,
		    BRAID_EVENT_TYPE(WAIT)},
		   {JVMTI_EVENT_MONITOR_WAITED, KIND_HANDLER(monitors_on_waited), CAP_MONITOR_EVENTS,
		    BRAID_EVENT_TYPE(WAIT)}},
	.caps = {{CAP_MONITOR_EVENTS, false, BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT),
		  "contended monitors and Object.wait", 0}},
	.types = BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT),
	.start = monitors_start,
	.stop = monitors_stop,
};
