// SPDX-License-Identifier: Apache-2.0
/*
 * Contended monitors and Object.wait: what begins in one handler is told in the other, as one interval with the stack
 * of the thread that stood. The second handler of a contended monitor runs while the monitor is owned, so it is short.
 */
#include "chosen.h"

#include "agent.h"

#define VERSION_24 0x30180000 /* from here on a virtual thread may come back on another OS thread */
#define BEGUN_SLOTS 4096U     /* a power of two */
#define BEGUN_HOPS 16U

enum standing { BLOCKED, WAITING };

/* A beginning. */
struct begin {
	uint64_t ns;
	uint64_t timeout_ms;
};

static __thread struct begin own[2];

/* Since when; by thread where OS threads do not do. */
static struct {
	_Atomic uint64_t key; /* 0: free */
	_Atomic uint64_t ns;
	_Atomic uint64_t timeout_ms;
} begun[BEGUN_SLOTS];

/* Whatever it costs, hash codes are an object's own: two threads of one are rare, and told apart by what they do. */
static uint64_t key_of(jvmtiEnv *env, jthread thread, enum standing how)
{
	jint hash;

	if ((*env)->GetObjectHashCode(env, thread, &hash) != JVMTI_ERROR_NONE)
		return 0;
	return ((uint64_t)(uint32_t)hash << 1 | how) + 1;
}

static uint32_t slot_of(uint64_t key, uint32_t hop)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ULL >> 40) + hop) & (BEGUN_SLOTS - 1);
}

static void begin_by_thread(uint64_t key, const struct begin *b)
{
	for (uint32_t hop = 0; key && hop < BEGUN_HOPS; hop++) {
		uint32_t i = slot_of(key, hop);
		uint64_t found = 0;

		if (atomic_compare_exchange_strong(&begun[i].key, &found, key) || found == key) {
			atomic_store(&begun[i].timeout_ms, b->timeout_ms);
			atomic_store(&begun[i].ns, b->ns);
			return;
		}
	}
}

static struct begin end_by_thread(uint64_t key)
{
	for (uint32_t hop = 0; key && hop < BEGUN_HOPS; hop++) {
		uint32_t i = slot_of(key, hop);
		struct begin b;

		if (atomic_load(&begun[i].key) != key)
			continue;
		b.timeout_ms = atomic_load(&begun[i].timeout_ms);
		b.ns = atomic_exchange(&begun[i].ns, 0);
		atomic_store(&begun[i].key, 0);
		return b;
	}
	return (struct begin){0};
}

static void begin(jvmtiEnv *env, jthread thread, enum standing how, uint64_t timeout_ms)
{
	struct begin b = {.ns = clock_ns(), .timeout_ms = timeout_ms};

	if (agent.jvmti_version >= VERSION_24)
		begin_by_thread(key_of(env, thread, how), &b);
	else
		own[how] = b;
}

/* Its `ns` is 0 when it began before this recording. */
static struct begin end(jvmtiEnv *env, jthread thread, enum standing how)
{
	struct begin b = own[how];

	if (agent.jvmti_version >= VERSION_24)
		b = end_by_thread(key_of(env, thread, how));
	else
		own[how].ns = 0;
	if (b.ns < agent.joined_ns)
		b.ns = 0;
	return b;
}

/* Tells it, or only counts it when it was short. */
static void tell(jvmtiEnv *env, JNIEnv *jni, jobject monitor, struct braid_demand *d, uint64_t min_ns)
{
	jint hash = 0;

	if (d->end_ns - d->start_ns < min_ns) {
		demand_count(d->kind, d->end_ns - d->start_ns);
		return;
	}
	d->name = types_of(jni, monitor);
	if ((*env)->GetObjectHashCode(env, monitor, &hash) == JVMTI_ERROR_NONE)
		d->number = (uint32_t)hash;
	demand_send(d);
}

void monitors_stop(JNIEnv *jni)
{
	(void)jni;
	for (uint32_t i = 0; i < BEGUN_SLOTS; i++)
		atomic_store(&begun[i].key, 0);
}

void JNICALL monitors_on_enter(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor)
{
	(void)jni;
	(void)monitor;
	if (!agent_enter())
		return;
	begin(env, thread, BLOCKED, 0);
	agent_leave();
}

void JNICALL monitors_on_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor)
{
	struct braid_demand d = {.kind = BRAID_JVM_LOCK};

	if (!agent_enter())
		return;
	d.start_ns = end(env, thread, BLOCKED).ns;
	d.end_ns = clock_ns();
	if (d.start_ns)
		tell(env, jni, monitor, &d, atomic_load(&chosen.lock_min_ns));
	agent_leave();
}

void JNICALL monitors_on_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jlong timeout_ms)
{
	(void)jni;
	(void)monitor;
	if (!agent_enter())
		return;
	begin(env, thread, WAITING, (uint64_t)timeout_ms);
	agent_leave();
}

void JNICALL monitors_on_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject monitor, jboolean timed_out)
{
	struct braid_demand d = {.kind = BRAID_JVM_WAIT, .flags = timed_out ? BRAID_WAIT_TIMED_OUT : 0};
	struct begin b;

	if (!agent_enter())
		return;
	b = end(env, thread, WAITING);
	d.start_ns = b.ns;
	d.end_ns = clock_ns();
	d.value = b.timeout_ms;
	if (d.start_ns)
		tell(env, jni, monitor, &d, atomic_load(&chosen.wait_min_ns));
	agent_leave();
}
