// SPDX-License-Identifier: Apache-2.0
/* Which events are wanted and who handles them. Both ways work in the OnLoad and live phases only, which is where they
 * are used. */
#include "agent.h"

#include "events/handlers.h"

#define NO_CAP 128U

/* JDK 21's, as its header numbers them. A VM takes of the table of callbacks what it knows. */
#define EVENT_VIRTUAL_THREAD_START ((jvmtiEvent)87)
#define EVENT_VIRTUAL_THREAD_END ((jvmtiEvent)88)
#define SLOT(event) ((event)-JVMTI_MIN_EVENT_TYPE_VAL)

union callbacks {
	jvmtiEventCallbacks known;
	void (*slots[SLOT(EVENT_VIRTUAL_THREAD_END) + 1])(void);
};

/* An event without its capability cannot be enabled, and is not missed: caps.c has said so. */
static const struct {
	jvmtiEvent event;
	unsigned cap;
	uint32_t wanted; /* choices that it is for; 0: always */
} events[] = {
	{JVMTI_EVENT_VM_START, NO_CAP, 0},
	{JVMTI_EVENT_VM_INIT, NO_CAP, 0},
	{JVMTI_EVENT_VM_DEATH, NO_CAP, 0},
	{JVMTI_EVENT_THREAD_START, NO_CAP, 0},
	{JVMTI_EVENT_THREAD_END, NO_CAP, 0},
	{JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NO_CAP, 0},
	{JVMTI_EVENT_DATA_DUMP_REQUEST, NO_CAP, 0},
	{JVMTI_EVENT_COMPILED_METHOD_LOAD, CAP_COMPILED_METHOD_LOAD, 0},
	{JVMTI_EVENT_COMPILED_METHOD_UNLOAD, CAP_COMPILED_METHOD_LOAD, 0},
	{JVMTI_EVENT_GARBAGE_COLLECTION_START, CAP_GARBAGE_COLLECTION, BRAID_WANT(GC)},
	{JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, CAP_GARBAGE_COLLECTION, BRAID_WANT(GC)},
	{JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, CAP_SAMPLED_OBJECT_ALLOC, BRAID_WANT(ALLOC) | BRAID_WANT(LIVE)},
	{JVMTI_EVENT_MONITOR_CONTENDED_ENTER, CAP_MONITOR_EVENTS, BRAID_WANT(LOCK)},
	{JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, CAP_MONITOR_EVENTS, BRAID_WANT(LOCK)},
	{JVMTI_EVENT_MONITOR_WAIT, CAP_MONITOR_EVENTS, BRAID_WANT(WAIT)},
	{JVMTI_EVENT_MONITOR_WAITED, CAP_MONITOR_EVENTS, BRAID_WANT(WAIT)},
	{EVENT_VIRTUAL_THREAD_START, CAP_VIRTUAL_THREADS, BRAID_WANT(VTHREAD)},
	{EVENT_VIRTUAL_THREAD_END, CAP_VIRTUAL_THREADS, BRAID_WANT(VTHREAD)},
	{JVMTI_EVENT_CLASS_LOAD, NO_CAP, BRAID_WANT(CLASS)},
	{JVMTI_EVENT_CLASS_PREPARE, NO_CAP, BRAID_WANT(CLASS)},
	{JVMTI_EVENT_EXCEPTION, CAP_EXCEPTION_EVENTS, BRAID_WANT(EXCEPTION)},
	{JVMTI_EVENT_NATIVE_METHOD_BIND, CAP_NATIVE_METHOD_BIND, BRAID_WANT(NATIVE_BIND)},
	{JVMTI_EVENT_RESOURCE_EXHAUSTED, NO_CAP, BRAID_WANT(RESOURCE)},
};

#define EVENTS (sizeof(events) / sizeof(events[0]))

static bool any_threads; /* were events enabled for single threads? */

static jvmtiError set(jvmtiEventMode mode, jvmtiEvent event)
{
	return (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, event, NULL);
}

/* False if the JVM refuses: a thread that has just ended, for one. */
static bool set_thread(jthread thread, uint32_t wanted)
{
	jvmtiError err = JVMTI_ERROR_NONE;

	for (size_t i = 0; i < EVENTS && !err; i++)
		if (events[i].wanted & BRAID_PER_THREAD && caps_has(events[i].cap))
			err = (*agent.jvmti)
				      ->SetEventNotificationMode(
					      agent.jvmti, events[i].wanted & wanted ? JVMTI_ENABLE : JVMTI_DISABLE,
					      events[i].event, thread);
	return !err;
}

/* What is chosen of a thread; `found` gets the bit of its place. */
static uint32_t wanted_of(const struct braid_choices *c, uint32_t tid, uint32_t *found)
{
	for (uint32_t i = 0; tid && i < BRAID_CHOSEN_THREADS; i++)
		if (c->threads[i].tid == tid) {
			*found = 1U << i;
			return c->threads[i].wanted & c->wanted & c->threaded & BRAID_PER_THREAD;
		}
	return 0;
}

/* All threads are gone through: those that are no longer chosen need no reference of their own then. */
void events_choose_threads(JNIEnv *jni, const struct braid_choices *c)
{
	uint32_t seen = 0;
	jthread *threads;
	jint count;

	if (!any_threads && !c->threaded)
		return;
	if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
		publish_notice(BRAID_NOTICE_WARNING, "the JVM does not list its threads: none can be chosen alone");
		return;
	}
	any_threads = c->threaded;
	for (jint i = 0; i < count; i++) {
		uint32_t found = 0, wanted = wanted_of(c, threads_tid(jni, threads[i]), &found);

		if (set_thread(threads[i], wanted))
			seen |= found;
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	agent_release(threads);
	for (uint32_t i = 0; i < BRAID_CHOSEN_THREADS; i++)
		if (c->threads[i].tid && !(seen >> i & 1))
			publish_notice(BRAID_NOTICE_WARNING,
				       "thread %u (the JVM's numbering) is no Java thread, has ended or cannot be "
				       "found: no events come from it alone",
				       c->threads[i].tid);
}

jvmtiError events_choose(uint32_t wanted)
{
	jvmtiError err = JVMTI_ERROR_NONE;

	for (size_t i = 0; i < EVENTS && !err; i++) {
		if (!events[i].wanted || (events[i].cap != NO_CAP && !caps_has(events[i].cap)))
			continue;
		err = set(events[i].wanted & wanted ? JVMTI_ENABLE : JVMTI_DISABLE, events[i].event);
	}
	return err;
}

jvmtiError events_enable(uint32_t wanted)
{
	union callbacks callbacks = {.known = {
					     .VMStart = agent_on_vm_start,
					     .VMInit = agent_on_vm_init,
					     .VMDeath = agent_on_vm_death,
					     .ThreadStart = threads_on_start,
					     .ThreadEnd = threads_on_end,
					     .DynamicCodeGenerated = code_on_stub,
					     .DataDumpRequest = helper_on_dump_request,
					     .CompiledMethodLoad = code_on_load,
					     .CompiledMethodUnload = code_on_unload,
					     .GarbageCollectionStart = gc_on_start,
					     .GarbageCollectionFinish = gc_on_finish,
					     .SampledObjectAlloc = alloc_on_sample,
					     .MonitorContendedEnter = monitors_on_enter,
					     .MonitorContendedEntered = monitors_on_entered,
					     .MonitorWait = monitors_on_wait,
					     .MonitorWaited = monitors_on_waited,
					     .ClassLoad = loads_on_load,
					     .ClassPrepare = loads_on_prepare,
					     .Exception = exceptions_on_throw,
					     .NativeMethodBind = natives_on_bind,
					     .ResourceExhausted = resource_on_exhausted,
				     }};
	jvmtiError err;

	callbacks.slots[SLOT(EVENT_VIRTUAL_THREAD_START)] = (void (*)(void))virtual_on_start;
	callbacks.slots[SLOT(EVENT_VIRTUAL_THREAD_END)] = (void (*)(void))virtual_on_end;
	err = (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks.known, sizeof(callbacks));
	for (size_t i = 0; !err && i < EVENTS; i++)
		if (!events[i].wanted && (events[i].cap == NO_CAP || caps_has(events[i].cap)))
			err = set(JVMTI_ENABLE, events[i].event);
	err = err ?: events_choose(wanted);
	if (!err)
		classes_enable();
	return err;
}

void events_disable(void)
{
	static const struct braid_choices none;
	JNIEnv *jni;

	if (any_threads && (*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
		events_choose_threads(jni, &none);
	for (size_t i = 0; i < EVENTS; i++)
		set(JVMTI_DISABLE, events[i].event);
	classes_disable();
	/* The table stays: a handler may be on its way into it, and what it finds there sends it back */
}
