// SPDX-License-Identifier: Apache-2.0
/*
 * Exceptions as they are thrown, the first of each second with their stacks. Among them are those that say that memory
 * or the stack has run out: nothing here runs Java code or allocates objects, and little stack is used.
 */
#include "agent.h"

#include "events/handlers.h"
#include "events/told.h"

#define CLASSES 64U

static struct rate rate;

/* What was counted only, by class. */
static struct {
	_Atomic uint32_t type; /* 0: free */
	_Atomic uint64_t count;
} counted[CLASSES];

static _Atomic uint64_t others;

static void count(uint32_t type)
{
	for (uint32_t i = 0; type && i < CLASSES; i++) {
		uint32_t is = atomic_load_explicit(&counted[i].type, memory_order_relaxed);

		if (!is && atomic_compare_exchange_strong(&counted[i].type, &is, type))
			is = type;
		if (is == type) {
			atomic_fetch_add_explicit(&counted[i].count, 1, memory_order_relaxed);
			return;
		}
	}
	atomic_fetch_add_explicit(&others, 1, memory_order_relaxed);
}

void JNICALL exceptions_on_throw(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jlocation location,
				 jobject exception, jmethodID catch_method, jlocation catch_location)
{
	struct braid_demand d = {.kind = BRAID_JVM_EXCEPTION, .value = 1};

	(void)env;
	(void)thread;
	(void)method;
	(void)location;
	(void)catch_location;
	if (helper_is_self() || !agent_enter())
		return;
	d.name = types_of(jni, exception);
	if (rate_take(&rate, atomic_load_explicit(&chosen.exception_rate, memory_order_relaxed))) {
		d.detail = methods_id(catch_method, methods_event());
		demand_send(&d);
	} else {
		count(d.name);
	}
	agent_leave();
}

static void tell(uint32_t type, _Atomic uint64_t *number)
{
	struct braid_demand d = {.kind = BRAID_JVM_EXCEPTION, .name = type, .value = atomic_exchange(number, 0)};

	if (d.value)
		demand_tell(&d, 0);
}

void exceptions_tell(JNIEnv *jni)
{
	(void)jni;
	for (uint32_t i = 0; i < CLASSES; i++)
		tell(atomic_load(&counted[i].type), &counted[i].count);
	tell(0, &others);
}
