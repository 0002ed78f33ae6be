// SPDX-License-Identifier: Apache-2.0
/* The event type method: how long calls of chosen methods take. */
#include "core/config.h"
#include "core/helper.h"
#include "core/publish.h"
#include "core/state.h"
#include "events/handlers.h"
#include "java_methods.h"
#include "side.h"
#include "timed.h"
#include "values.h"

static void on_ended(JNIEnv *jni, const struct java_call *call)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_METHOD,
				    .start_ns = call->from_ns,
				    .end_ns = call->to_ns,
				    .flags = call->by ? BRAID_METHOD_THROWN : 0};

	if (!config_enables(BRAID_EVENT_TYPE(METHOD)) || helper_is_self() || !agent_enter())
		return;
	if (timed_take(call->id)) {
		d.name = side_name(call->id);
		d.number = values_publish(jni, call);
		jvm_event_emit(&d);
	} else {
		jvm_event_count(BRAID_JVM_METHOD, call->to_ns - call->from_ns);
	}
	agent_leave();
}

static void calls_publish(const struct java_calls *calls)
{
	uint64_t now = clock_ns();
	struct braid_jvm_event d = {.kind = BRAID_JVM_METHOD_CALLS,
				    .start_ns = now - calls->longest_ns,
				    .end_ns = now,
				    .name = side_name(calls->id)};

	for (uint32_t i = 0; i < calls->buckets && i < JAVA_CALLS_BUCKETS; i++) {
		d.number = calls->at[i].exponent;
		d.value = calls->at[i].calls;
		d.weight = calls->at[i].ns;
		jvm_event_publish(&d, 0);
	}
}

static void publish(const jlong numbers[JAVA_SIDE_NUMBERS])
{
	java_methods_read(numbers, calls_publish);
}

static const struct java_methods_natives natives = {
	.limit = timed_limit, .ended = on_ended, .unmeasured = side_unmeasured};

struct side methods_side = {.type = BRAID_EVENT_TYPE(METHOD),
			    .java = &java_methods,
			    .natives = &natives,
			    .publish = publish,
			    .what = "methods are not timed"};
