// SPDX-License-Identifier: Apache-2.0
#include "jvm_emit.h"

#include "jvm_state.h"

#include "sink/records.h"

/* The event types that enable a kind; 0: the kind is always enabled. */
static const uint32_t types_of_kind[BRAID_JVM_EVENTS] = {
	[BRAID_JVM_ALLOC] = BRAID_EVENT_TYPE(ALLOC),
	[BRAID_JVM_LIVE] = BRAID_EVENT_TYPE(LIVE),
	[BRAID_JVM_UNCOLLECTED] = BRAID_EVENT_TYPE(LIVE),
	[BRAID_JVM_DIED] = BRAID_EVENT_TYPE(LIVE),
	[BRAID_JVM_LOCK] = BRAID_EVENT_TYPE(LOCK),
	[BRAID_JVM_WAIT] = BRAID_EVENT_TYPE(WAIT),
	[BRAID_JVM_OFFCPU] = BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(OFFCPU),
	[BRAID_JVM_GC_PAUSE] = BRAID_EVENT_TYPE(GC),
	[BRAID_JVM_GC_CYCLE] = BRAID_EVENT_TYPE(GC),
	[BRAID_JVM_GC_PHASE] = BRAID_EVENT_TYPE(GC),
	[BRAID_JVM_SAFEPOINT] = BRAID_EVENT_TYPE(SAFEPOINT),
	[BRAID_JVM_SAFEPOINT_STOP] = BRAID_EVENT_TYPE(SAFEPOINT),
	[BRAID_JVM_THREAD_START] = BRAID_EVENT_TYPE(THREAD),
	[BRAID_JVM_THREAD_END] = BRAID_EVENT_TYPE(THREAD),
	[BRAID_JVM_VTHREAD_START] = BRAID_EVENT_TYPE(VTHREAD),
	[BRAID_JVM_VTHREAD_END] = BRAID_EVENT_TYPE(VTHREAD),
	[BRAID_JVM_CLASS_LOAD] = BRAID_EVENT_TYPE(CLASS),
	[BRAID_JVM_CLASS_PREPARE] = BRAID_EVENT_TYPE(CLASS),
	[BRAID_JVM_CLASS_UNLOAD] = BRAID_EVENT_TYPE(CLASS),
	[BRAID_JVM_COMPILE] = BRAID_EVENT_TYPE(JIT),
	[BRAID_JVM_DEOPT] = BRAID_EVENT_TYPE(JIT),
	[BRAID_JVM_EXCEPTION] = BRAID_EVENT_TYPE(EXCEPTION),
	[BRAID_JVM_NATIVE_BIND] = BRAID_EVENT_TYPE(NATIVE_BIND),
	[BRAID_JVM_RESOURCE] = BRAID_EVENT_TYPE(RESOURCE),
	[BRAID_JVM_CODE_CACHE] = BRAID_EVENT_TYPE(JIT),
	[BRAID_JVM_THREAD_RENAME] = BRAID_EVENT_TYPE(THREAD),
	[BRAID_JVM_METHOD] = BRAID_EVENT_TYPE(METHOD),
	[BRAID_JVM_METHOD_CALLS] = BRAID_EVENT_TYPE(METHOD),
	[BRAID_JVM_FIELD] = BRAID_EVENT_TYPE(FIELD),
	[BRAID_JVM_FIELD_WRITES] = BRAID_EVENT_TYPE(FIELD),
	[BRAID_JVM_MALLOC] = BRAID_EVENT_TYPE(MALLOC),
	[BRAID_JVM_UNFREED] = BRAID_EVENT_TYPE(MALLOC),
	[BRAID_JVM_THREAD_TIME] = BRAID_EVENT_TYPE(OFFCPU),
	[BRAID_JVM_HEAP] = BRAID_EVENT_TYPE(HEAP),
	[BRAID_JVM_HEAP_CLASS] = BRAID_EVENT_TYPE(HEAP),
	[BRAID_JVM_HEAP_COPY] = BRAID_EVENT_TYPE(HEAP),
	[BRAID_JVM_HEAP_ESTIMATE] = BRAID_EVENT_TYPE(HEAP),
	[BRAID_JVM_JNI_STACK] = BRAID_EVENT_TYPE(JNI),
	[BRAID_JVM_JNI_REF] = BRAID_EVENT_TYPE(JNI),
	[BRAID_JVM_JNI_REFS] = BRAID_EVENT_TYPE(JNI),
	[BRAID_JVM_JNI_CRITICAL] = BRAID_EVENT_TYPE(JNI_CRITICAL),
	[BRAID_JVM_DUMP] = BRAID_EVENT_TYPE(DUMP),
	[BRAID_JVM_DUMP_VTHREAD] = BRAID_EVENT_TYPE(DUMP),
};

uint32_t jvm_events_enabled(const struct jvms *jvms, const struct process *process)
{
	return process && jvm_had_agent(process->jvm) ? process->jvm->enabled : jvms->config.enabled;
}

/*
 * A life that has begun is reported as a whole, also when its type is disabled meanwhile; so are calls and writes that
 * were counted.
 */
static uint32_t enabled_for(const struct jvms *jvms, const struct process *process, uint64_t kind)
{
	if (process && process->jvm &&
	    (kind == BRAID_JVM_OFFCPU || kind == BRAID_JVM_THREAD_TIME || kind == BRAID_JVM_METHOD_CALLS ||
	     kind == BRAID_JVM_FIELD_WRITES))
		return process->jvm->was_enabled;
	return jvm_events_enabled(jvms, process);
}

/* The source of an event may not know yet that its type is disabled. */
static bool is_enabled(const struct jvms *jvms, const struct process *process, const struct trace_jvm_event *e)
{
	uint64_t kind = e->kind == BRAID_JVM_COUNTED && e->number < BRAID_JVM_EVENTS ? e->number : e->kind;

	return !types_of_kind[kind] || enabled_for(jvms, process, kind) & types_of_kind[kind];
}

void jvm_events_emit(struct jvms *jvms, const struct process *process, struct trace_jvm_event *e)
{
	if (!is_enabled(jvms, process, e))
		return;
	e->process = process ? process->id : 0;
	sink_jvm_event(jvms->sink, e);
}
