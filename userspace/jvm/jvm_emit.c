// SPDX-License-Identifier: Apache-2.0
#include "jvm_emit.h"

#include "jvm_state.h"

#include "sink/records.h"

/* What has to be wanted for a kind to be told; nothing, of kinds that are always. */
static const uint32_t wants[BRAID_JVM_EVENTS] = {
	[BRAID_JVM_ALLOC] = BRAID_WANT(ALLOC),
	[BRAID_JVM_LIVE] = BRAID_WANT(LIVE),
	[BRAID_JVM_UNCOLLECTED] = BRAID_WANT(LIVE),
	[BRAID_JVM_LOCK] = BRAID_WANT(LOCK),
	[BRAID_JVM_WAIT] = BRAID_WANT(WAIT),
	[BRAID_JVM_BLOCKED] = BRAID_WANT(WAIT),
	[BRAID_JVM_GC_PAUSE] = BRAID_WANT(GC),
	[BRAID_JVM_GC_CYCLE] = BRAID_WANT(GC),
	[BRAID_JVM_GC_PHASE] = BRAID_WANT(GC),
	[BRAID_JVM_SAFEPOINT] = BRAID_WANT(SAFEPOINT),
	[BRAID_JVM_SAFEPOINT_STOP] = BRAID_WANT(SAFEPOINT),
	[BRAID_JVM_THREAD_START] = BRAID_WANT(THREAD),
	[BRAID_JVM_THREAD_END] = BRAID_WANT(THREAD),
	[BRAID_JVM_VTHREAD_START] = BRAID_WANT(VTHREAD),
	[BRAID_JVM_VTHREAD_END] = BRAID_WANT(VTHREAD),
	[BRAID_JVM_CLASS_LOAD] = BRAID_WANT(CLASS),
	[BRAID_JVM_CLASS_PREPARE] = BRAID_WANT(CLASS),
	[BRAID_JVM_CLASS_UNLOAD] = BRAID_WANT(CLASS),
	[BRAID_JVM_COMPILE] = BRAID_WANT(JIT),
	[BRAID_JVM_DEOPT] = BRAID_WANT(JIT),
	[BRAID_JVM_EXCEPTION] = BRAID_WANT(EXCEPTION),
	[BRAID_JVM_NATIVE_BIND] = BRAID_WANT(NATIVE_BIND),
	[BRAID_JVM_RESOURCE] = BRAID_WANT(RESOURCE),
	[BRAID_JVM_CODE_CACHE] = BRAID_WANT(JIT),
	[BRAID_JVM_THREAD_RENAME] = BRAID_WANT(THREAD),
};

uint32_t jvm_events_wanted(const struct jvms *jvms, const struct process *process)
{
	return process && jvm_had_agent(process->jvm) ? process->jvm->wanted : jvms->choices.wanted;
}

/* Whoever tells of an event may not have heard yet that it is not wanted any more. */
static bool is_wanted(const struct jvms *jvms, const struct process *process, const struct trace_jvm_event *e)
{
	uint64_t kind = e->kind == BRAID_JVM_COUNTED && e->number < BRAID_JVM_EVENTS ? e->number : e->kind;

	return !wants[kind] || jvm_events_wanted(jvms, process) & wants[kind];
}

void jvm_events_emit(struct jvms *jvms, const struct process *process, struct trace_jvm_event *e)
{
	if (!is_wanted(jvms, process, e))
		return;
	e->process = process ? process->id : 0;
	sink_jvm_event(jvms->sink, e);
}
