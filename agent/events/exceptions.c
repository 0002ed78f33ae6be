// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind exception: exceptions as they are thrown. A rate limits those with stacks; the rest is counted by
 * class. A thrown exception may report that memory or the stack is exhausted, so nothing here runs Java code,
 * allocates objects or needs much stack.
 */
#include "handlers.h"
#include "named_event.h"
#include "core/config.h"
#include "core/helper.h"

static struct rate rate;

/* Exceptions that were only counted, by class id. Ids are dense, so only the used part of the array takes memory. */
static struct {
	_Atomic uint32_t top; /* all counted ids are below it */
	_Atomic uint64_t of[TYPES_MAX + 1];
} counted;

static void count(uint32_t type)
{
	uint32_t top = atomic_load_explicit(&counted.top, memory_order_relaxed);

	while (top <= type && !atomic_compare_exchange_weak(&counted.top, &top, type + 1))
		;
	atomic_fetch_add_explicit(&counted.of[type], 1, memory_order_relaxed);
}

static void JNICALL exceptions_on_throw(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method,
					jlocation location, jobject exception, jmethodID catch_method,
					jlocation catch_location)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_EXCEPTION, .value = 1};

	(void)thread;
	(void)method;
	(void)location;
	(void)catch_location;
	if (helper_is_self() || !agent_enter_event(env))
		return;
	d.name = types_of(jni, exception);
	if (rate_take(&rate, atomic_load_explicit(&config.exception_rate, memory_order_relaxed))) {
		d.detail = methods_id(catch_method, methods_event());
		jvm_event_emit(&d);
	} else {
		count(d.name);
	}
	agent_leave();
}

static void exceptions_publish(JNIEnv *jni)
{
	uint32_t top = atomic_load(&counted.top);

	(void)jni;
	for (uint32_t type = 0; type < top; type++) {
		struct braid_jvm_event d = {.kind = BRAID_JVM_EXCEPTION, .name = type};

		if (!atomic_load_explicit(&counted.of[type], memory_order_relaxed))
			continue;
		d.value = atomic_exchange(&counted.of[type], 0);
		jvm_event_publish(&d, 0);
	}
}

void exceptions_reset(void)
{
	uint32_t top = atomic_exchange(&counted.top, 0);

	for (uint32_t type = 0; type < top; type++)
		atomic_store(&counted.of[type], 0);
}

const struct kind exceptions_kind = {
	.events = {{JVMTI_EVENT_EXCEPTION, KIND_HANDLER(exceptions_on_throw), CAP_EXCEPTION_EVENTS,
		    BRAID_EVENT_TYPE(EXCEPTION)}},
	.caps = {{CAP_EXCEPTION_EVENTS, false, BRAID_EVENT_TYPE(EXCEPTION),
		  "exceptions to an agent that is loaded after the JVM's start (use braid record -e exception "
		  "-- java ...)",
		  0}},
	.types = BRAID_EVENT_TYPE(EXCEPTION),
	.tick = exceptions_publish,
	.publish = exceptions_publish,
	.stop = exceptions_publish,
};
