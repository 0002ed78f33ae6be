// SPDX-License-Identifier: Apache-2.0
/* The event kind resource: memory or threads are exhausted, so nothing here may allocate in Java. */
#include "handlers.h"

static void JNICALL resource_on_exhausted(jvmtiEnv *env, JNIEnv *jni, jint flags, const void *reserved,
					  const char *description)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_RESOURCE, .flags = (uint32_t)flags};

	(void)jni;
	(void)reserved;
	if (!agent_enter_event(env))
		return;
	d.name = types_text(description);
	jvm_event_emit(&d);
	agent_leave();
}

const struct kind resource_kind = {
	.events = {{JVMTI_EVENT_RESOURCE_EXHAUSTED, KIND_HANDLER(resource_on_exhausted), 0,
		    BRAID_EVENT_TYPE(RESOURCE)}},
	.caps = {{CAP_RESOURCE_HEAP, false, BRAID_EVENT_TYPE(RESOURCE), "an exhausted heap", 0},
		 {CAP_RESOURCE_THREADS, false, BRAID_EVENT_TYPE(RESOURCE), "exhausted threads", 0}},
};
