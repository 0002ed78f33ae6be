// SPDX-License-Identifier: Apache-2.0
/*
 * Sampled allocations (JVM TI 11). HotSpot takes the object that a random point of the thread's stream of bytes falls
 * into; points come with the mean distance of the interval, and without memory of each other. So an object of `size`
 * bytes is taken with probability 1 - exp(-size / interval), and one that was taken stands for the inverse of that
 * many: summed up, these are unbiased estimates of what was allocated (Horvitz and Thompson).
 *
 * As far as HotSpot goes: it measures from an object's end and not from the point in it, so that objects of a twentieth
 * of the interval come out some percent too high; and until JDK 21 those too large for what is left of a TLAB come out
 * too low, in favour of what is allocated after them.
 */
#include "events/handlers.h"

#include "agent.h"

#define VERSION_11 0x300b0000

/* 1 - exp(-x), for x >= 0, without the mathematical library: for a small one by series, and from half as much by
 * 1 - exp(-2y) = e (2 - e). */
static double taken_probability(double x)
{
	double e;

	if (x > 40)
		return 1;
	if (x > 0.01) {
		e = taken_probability(x / 2);
		return e * (2 - e);
	}
	return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
}

static uint64_t weight(uint64_t size, uint64_t interval)
{
	if (!interval || !size)
		return size;
	return (uint64_t)((double)size / taken_probability((double)size / (double)interval) + 0.5);
}

void alloc_start(const struct braid_choices *c)
{
	jint interval = c->alloc_interval > INT32_MAX ? INT32_MAX : (jint)c->alloc_interval;

	if (caps_has(CAP_SAMPLED_OBJECT_ALLOC) && agent.jvmti_version >= VERSION_11)
		(void)(*agent.jvmti)->SetHeapSamplingInterval(agent.jvmti, interval);
}

void JNICALL alloc_on_sample(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
	struct braid_demand d = {.kind = BRAID_JVM_ALLOC, .value = (uint64_t)size};

	(void)env;
	(void)thread;
	if (!agent_enter())
		return;
	d.name = types_id(class);
	d.start_ns = d.end_ns = clock_ns();
	d.weight = weight(d.value, atomic_load_explicit(&chosen.alloc_interval, memory_order_relaxed));
	if (chosen_wants(BRAID_WANT(LIVE)))
		d.number = live_watch(jni, object, &d);
	demand_send(&d);
	agent_leave();
}
