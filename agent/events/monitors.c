// SPDX-License-Identifier: Apache-2.0
/*
 * Contended monitors and Object.wait: what begins in one handler is told in the other, as one interval with the stack
 * of the thread that stood. The second handler of a contended monitor runs while the monitor is owned, so it is short.
 */
#include "events/handlers.h"

#include "agent.h"

#include <string.h>

#define VERSION_24 0x30180000
#define JNI_IS_VIRTUAL_THREAD 234 /* JNI 21; headers of earlier JDKs lack it */
#define BEGUN_SLOTS 4096U	  /* a power of two */
#define BEGUN_HOPS 16U
#define KINDS (BRAID_WANT(LOCK) | BRAID_WANT(WAIT))

enum standing { BLOCKED, WAITING };

struct begin {
	uint64_t ns;
	struct braid_ask ask; /* a stack that was taken; `value` is the timeout */
};

/*
 * On JDK 24 and later a virtual thread that stands gives its OS thread away, and is told of that it may go on while its
 * frames are still put away: it begins with its stack, in a place of its own. All others keep the time where they are.
 */
static struct {
	_Atomic uint64_t key; /* 0: free, 1: being written */
	struct begin begin;
} begun[BEGUN_SLOTS];

static __thread struct {
	uint64_t ns, timeout_ms;
} own[2];

/* When these events were last switched, for everybody or for some: a begin of before may be that of another interval.
 */
static _Atomic uint64_t switched_ns;
static struct braid_choices last; /* connecting and the helper thread, one after the other */

static bool gives_thread_away(JNIEnv *jni, jthread thread)
{
	jboolean (*is_virtual)(JNIEnv *, jobject);

	if (agent.jvmti_version < VERSION_24)
		return false;
	is_virtual = ((jboolean(**)(JNIEnv *, jobject)) * jni)[JNI_IS_VIRTUAL_THREAD];
	return is_virtual(jni, thread);
}

/* Hash codes are not an object's own for sure: two threads of one are rare, and one of them has a wrong interval then.
 */
static uint64_t key_of(jthread thread, enum standing how)
{
	jint hash;

	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, thread, &hash) != JVMTI_ERROR_NONE)
		return 0;
	return ((uint64_t)(uint32_t)hash << 1 | how) + 2;
}

static uint32_t slot_of(uint64_t key, uint32_t hop)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ULL >> 40) + hop) & (BEGUN_SLOTS - 1);
}

static void put_away(jthread thread, enum standing how, uint64_t timeout_ms)
{
	uint64_t key = key_of(thread, how);

	for (uint32_t hop = 0; key && hop < BEGUN_HOPS; hop++) {
		uint32_t i = slot_of(key, hop);
		uint64_t free = 0;

		if (!atomic_compare_exchange_strong(&begun[i].key, &free, 1))
			continue;
		begun[i].begin.ns = clock_ns();
		demand_take(&begun[i].begin.ask);
		begun[i].begin.ask.what.value = timeout_ms;
		atomic_store(&begun[i].key, key);
		return;
	}
}

static bool take_back(jthread thread, enum standing how, struct begin *b)
{
	uint64_t key = key_of(thread, how);

	for (uint32_t hop = 0; key && hop < BEGUN_HOPS; hop++) {
		uint32_t i = slot_of(key, hop);

		if (atomic_load(&begun[i].key) != key)
			continue;
		*b = begun[i].begin;
		atomic_store(&begun[i].key, 0);
		return true;
	}
	return false;
}

static void begin(JNIEnv *jni, jthread thread, enum standing how, uint64_t timeout_ms)
{
	if (!agent_enter())
		return;
	if (gives_thread_away(jni, thread)) {
		put_away(thread, how, timeout_ms);
	} else {
		own[how].ns = clock_ns();
		own[how].timeout_ms = timeout_ms;
	}
	agent_leave();
}

/* False when it began before these events were switched on. */
static bool begun_at(JNIEnv *jni, jthread thread, enum standing how, struct begin *b)
{
	if (gives_thread_away(jni, thread)) {
		if (!take_back(thread, how, b))
			return false;
	} else {
		*b = (struct begin){.ns = own[how].ns, .ask.what.value = own[how].timeout_ms};
		own[how].ns = 0;
	}
	return b->ns > atomic_load(&switched_ns);
}

/* Tells of the interval, or only counts it when it was short. `like` has what the kind has of its own. */
static void end(JNIEnv *jni, jthread thread, jobject monitor, enum standing how, uint64_t min_ns,
		const struct braid_demand *like)
{
	struct begin b;
	struct braid_demand *d = &b.ask.what;
	uint64_t timeout_ms;
	jint hash = 0;

	if (!agent_enter())
		return;
	if (!begun_at(jni, thread, how, &b))
		goto out;
	timeout_ms = d->value;
	*d = *like;
	d->value = timeout_ms;
	d->start_ns = b.ns;
	d->end_ns = clock_ns();
	if (d->end_ns - d->start_ns < min_ns) {
		demand_count(d->kind, d->end_ns - d->start_ns);
		goto out;
	}
	d->name = types_of(jni, monitor);
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, monitor, &hash) == JVMTI_ERROR_NONE)
		d->number = (uint32_t)hash;
	demand_send_with(&b.ask);
out:
	agent_leave();
}

void monitors_start(const struct braid_choices *c)
{
	static uintptr_t generation;

	if (generation != agent.generation || (last.wanted ^ c->wanted) & KINDS || last.threaded != c->threaded ||
	    memcmp(last.threads, c->threads, sizeof(last.threads)) != 0)
		atomic_store(&switched_ns, clock_ns());
	generation = agent.generation;
	last = *c;
}

void monitors_stop(JNIEnv *jni)
{
	(void)jni;
	last.wanted = 0;
	for (uint32_t i = 0; i < BEGUN_SLOTS; i++)
		atomic_store(&begun[i].key, 0);
}

void JNICALL monitors_on_enter(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor)
{
	(void)env;
	(void)monitor;
	begin(jni, thread, BLOCKED, 0);
}

void JNICALL monitors_on_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor)
{
	const struct braid_demand d = {.kind = BRAID_JVM_LOCK};

	(void)env;
	end(jni, thread, monitor, BLOCKED, atomic_load(&chosen.lock_min_ns), &d);
}

void JNICALL monitors_on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jlong timeout_ms)
{
	(void)env;
	(void)monitor;
	begin(jni, thread, WAITING, (uint64_t)timeout_ms);
}

void JNICALL monitors_on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jboolean timed_out)
{
	const struct braid_demand d = {.kind = BRAID_JVM_WAIT, .flags = timed_out ? BRAID_WAIT_TIMED_OUT : 0};

	(void)env;
	end(jni, thread, monitor, WAITING, atomic_load(&chosen.wait_min_ns), &d);
}
