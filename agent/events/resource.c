// SPDX-License-Identifier: Apache-2.0
/* Memory or threads have run out: nothing here may allocate in Java. */
#include "agent.h"

#include "events/handlers.h"

void JNICALL resource_on_exhausted(jvmtiEnv *env, JNIEnv *jni, jint flags, const void *reserved,
				   const char *description)
{
	struct braid_demand d = {.kind = BRAID_JVM_RESOURCE, .flags = (uint32_t)flags};

	(void)env;
	(void)jni;
	(void)reserved;
	if (!agent_enter())
		return;
	d.name = types_text(description);
	demand_send(&d);
	agent_leave();
}
