// SPDX-License-Identifier: Apache-2.0
/* Which events are wanted and who handles them. Both ways work in the OnLoad and live phases only, which is where they
 * are used. */
#include "agent.h"

#define NO_CAP 128U

static const struct {
	jvmtiEvent event;
	unsigned cap;
} events[] = {
	{JVMTI_EVENT_VM_START, NO_CAP},
	{JVMTI_EVENT_VM_INIT, NO_CAP},
	{JVMTI_EVENT_VM_DEATH, NO_CAP},
	{JVMTI_EVENT_THREAD_START, NO_CAP},
	{JVMTI_EVENT_THREAD_END, NO_CAP},
	{JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NO_CAP},
	{JVMTI_EVENT_COMPILED_METHOD_LOAD, CAP_COMPILED_METHOD_LOAD},
	{JVMTI_EVENT_COMPILED_METHOD_UNLOAD, CAP_COMPILED_METHOD_LOAD},
	{JVMTI_EVENT_GARBAGE_COLLECTION_START, CAP_GARBAGE_COLLECTION},
	{JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, CAP_GARBAGE_COLLECTION},
};

static jvmtiError set(jvmtiEventMode mode, jvmtiEvent event)
{
	return (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, event, NULL);
}

jvmtiError events_enable(void)
{
	const jvmtiEventCallbacks callbacks = {
		.VMStart = agent_on_vm_start,
		.VMInit = agent_on_vm_init,
		.VMDeath = agent_on_vm_death,
		.ThreadStart = threads_on_start,
		.ThreadEnd = threads_on_end,
		.DynamicCodeGenerated = code_on_stub,
		.CompiledMethodLoad = code_on_load,
		.CompiledMethodUnload = code_on_unload,
		.GarbageCollectionStart = gc_on_start,
		.GarbageCollectionFinish = gc_on_finish,
	};
	jvmtiError err = (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, sizeof(callbacks));

	for (size_t i = 0; !err && i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].cap == NO_CAP || caps_has(events[i].cap))
			err = set(JVMTI_ENABLE, events[i].event);
	if (!err)
		classes_enable();
	return err;
}

void events_disable(void)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		set(JVMTI_DISABLE, events[i].event);
	classes_disable();
	/* The table stays: a handler may be on its way into it, and what it finds there sends it back */
}
