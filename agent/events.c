// SPDX-License-Identifier: Apache-2.0
/* Sets the JVM TI callbacks and enables the events of the event configuration. It runs in the OnLoad and live phases
 * only: JVM TI allows neither call in another phase. */
#include "agent.h"

#include "core/jni.h"
#include "events/handlers.h"
#include "vm/java_threads.h"

#define SLOT(event) ((event)-JVMTI_MIN_EVENT_TYPE_VAL)

union callbacks {
	jvmtiEventCallbacks known;
	void (*slots[SLOT(EVENT_VIRTUAL_THREAD_END) + 1])(void);
};

struct event_place {
	size_t kind, event;
};

/* The next event of all kinds; NULL after the last. */
static const struct kind_event *event_next(struct event_place *at)
{
	const struct kind *k;

	for (; (k = kind_at(at->kind)); at->kind++, at->event = 0)
		if (at->event < KIND_EVENTS && k->events[at->event].handler)
			return &k->events[at->event++];
	return NULL;
}

static bool is_possible(const struct kind_event *e)
{
	return !e->cap || caps_has(e->cap);
}

static bool any_threads; /* events are enabled for single threads */

static jvmtiError set(jvmtiEventMode mode, jvmtiEvent event)
{
	return (*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, event, NULL);
}

/* False if the JVM refuses, for instance because the thread has just ended. */
static bool set_thread(jthread thread, uint32_t types)
{
	struct event_place at = {0};
	const struct kind_event *e;
	jvmtiError err = JVMTI_ERROR_NONE;

	while (!err && (e = event_next(&at)))
		if (e->types & BRAID_PER_THREAD && is_possible(e))
			err = (*agent.jvmti)
				      ->SetEventNotificationMode(agent.jvmti,
								 e->types & types ? JVMTI_ENABLE : JVMTI_DISABLE,
								 e->event, thread);
	return !err;
}

/* The event types enabled for one thread; `found` gets the bit of its entry. */
static uint32_t types_of_thread(const struct braid_event_config *c, uint32_t tid, uint32_t *found)
{
	for (uint32_t i = 0; tid && i < BRAID_CONFIG_THREADS; i++)
		if (c->threads[i].tid == tid) {
			*found = 1U << i;
			return c->threads[i].enabled & c->enabled & c->threaded & BRAID_PER_THREAD;
		}
	return 0;
}

/* It visits all threads, so no reference to a configured thread has to be kept. */
void events_configure_threads(JNIEnv *jni, const struct braid_event_config *c)
{
	uint32_t seen = 0;
	jthread *threads;
	jint count;

	if (!any_threads && !c->threaded)
		return;
	if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
		publish_notice(BRAID_NOTICE_WARNING,
			       "the JVM does not list its threads: no event can be enabled for a single thread");
		return;
	}
	any_threads = c->threaded;
	jni_expect(jni, count);
	for (jint i = 0; i < count; i++) {
		uint32_t found = 0, types = types_of_thread(c, java_thread_tid(jni, threads[i]), &found);

		if (set_thread(threads[i], types))
			seen |= found;
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	agent_release(threads);
	for (uint32_t i = 0; i < BRAID_CONFIG_THREADS; i++)
		if (c->threads[i].tid && !(seen >> i & 1))
			publish_notice(BRAID_NOTICE_WARNING,
				       "thread %u (the JVM's numbering) is not a Java thread, has ended or cannot be "
				       "found: no event is enabled for it alone",
				       c->threads[i].tid);
}

jvmtiError events_configure(uint32_t types)
{
	struct event_place at = {0};
	const struct kind_event *e;
	jvmtiError err = JVMTI_ERROR_NONE;

	while (!err && (e = event_next(&at)))
		if (e->types && is_possible(e))
			err = set(e->types & types ? JVMTI_ENABLE : JVMTI_DISABLE, e->event);
	return err;
}

jvmtiError events_enable(uint32_t types)
{
	union callbacks callbacks = {.slots = {NULL}};
	struct event_place at = {0};
	const struct kind_event *e;
	jvmtiError err;

	while ((e = event_next(&at)))
		callbacks.slots[SLOT(e->event)] = e->handler;
	err = (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks.known, sizeof(callbacks));
	at = (struct event_place){0};
	while (!err && (e = event_next(&at)))
		if (!e->types && is_possible(e))
			err = set(JVMTI_ENABLE, e->event);
	err = err ?: events_configure(types);
	if (!err)
		classes_enable();
	return err;
}

void events_disable(void)
{
	static const struct braid_event_config none;
	struct event_place at = {0};
	const struct kind_event *e;
	JNIEnv *jni;

	if (any_threads && (*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK)
		events_configure_threads(jni, &none);
	while ((e = event_next(&at)))
		set(JVMTI_DISABLE, e->event);
	classes_disable();
	/* The table stays: a handler may be on its way, and agent_enter_event sends it back. */
}
