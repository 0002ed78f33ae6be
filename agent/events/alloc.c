// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind alloc: sampled allocations (JVM TI 11). HotSpot samples the object that a random point of the
 * thread's stream of bytes falls into. Points have no memory of each other; their mean distance is the interval. So
 * sample_weight() is how many bytes an object represents.
 *
 * HotSpot deviates in two ways. It measures from an object's end, not from the point in it, so objects of a twentieth
 * of the interval come out some percent too high. Until JDK 21 objects too large for the rest of a TLAB come out too
 * low, in favour of those allocated after them.
 *
 * The interval is the VM's, not an agent's, and a change reaches a thread late: a thread picks its next point when it
 * starts and after each sample, by the interval of that moment. So the first sample after a change gets the weight of
 * the interval before. JVM TI cannot query the interval; one that another agent sets is unknown.
 */
#include "handlers.h"
#include "core/config.h"
#include "core/weight.h"

#define VERSION_11 0x300b0000
#define DEFAULT_INTERVAL (512U * 1024) /* JVM TI, SetHeapSamplingInterval */

static _Atomic uint64_t vm_interval = DEFAULT_INTERVAL; /* as this agent last set it */
/* The interval at the start of threads whose start the agent did not see: older than the agent, or started with the
 * VM. */
static _Atomic uint64_t older_interval = DEFAULT_INTERVAL;
/* The interval by which the thread picked its next point, plus one; 0: not known. */
static __thread uint64_t picked_by;

static bool can_set(void)
{
	return caps_has(CAP_SAMPLED_OBJECT_ALLOC) && agent.jvmti_version >= VERSION_11;
}

static void interval_set(uint64_t interval)
{
	jvmtiPhase phase;

	if (!can_set() || (*agent.jvmti)->SetHeapSamplingInterval(agent.jvmti, (jint)interval) != JVMTI_ERROR_NONE)
		return;
	atomic_store(&vm_interval, interval);
	if ((*agent.jvmti)->GetPhase(agent.jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_ONLOAD)
		atomic_store(&older_interval, interval);
}

static void alloc_start(const struct braid_event_config *c)
{
	interval_set(c->alloc_interval > INT32_MAX ? INT32_MAX : c->alloc_interval);
}

/* Threads that start or sample from here on use the default interval, as without this agent. */
static void alloc_stop(JNIEnv *jni)
{
	(void)jni;
	interval_set(DEFAULT_INTERVAL);
	atomic_store(&older_interval, DEFAULT_INTERVAL);
}

void alloc_on_thread(void)
{
	picked_by = atomic_load(&vm_interval) + 1;
}

/* Returns the interval that decided on the calling thread's current sample, and notes the one for the next. */
static uint64_t interval_take(void)
{
	uint64_t interval = picked_by ? picked_by - 1 : atomic_load(&older_interval);

	alloc_on_thread();
	return interval;
}

static void JNICALL alloc_on_sample(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class,
				    jlong size)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_ALLOC, .value = (uint64_t)size};
	uint64_t interval = interval_take();

	(void)thread;
	if (!agent_enter_event(env))
		return;
	d.name = types_id(class);
	d.start_ns = d.end_ns = clock_ns();
	d.weight = sample_weight(d.value, interval);
	if (config_enables(BRAID_EVENT_TYPE(LIVE)))
		d.number = live_watch(jni, object, class, &d);
	jvm_event_emit(&d);
	agent_leave();
}

const struct kind alloc_kind = {
	.events = {{JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, KIND_HANDLER(alloc_on_sample), CAP_SAMPLED_OBJECT_ALLOC,
		    BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE)}},
	.caps = {{CAP_SAMPLED_OBJECT_ALLOC, false, BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE),
		  "sampled allocations (JDK 11 and later have them, for one agent at a time)", 0}},
	.types = BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE),
	.start = alloc_start,
	.stop = alloc_stop,
};
