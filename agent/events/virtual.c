// SPDX-License-Identifier: Apache-2.0
/* The event kind vthread: starts and ends of virtual threads. There may be millions, so a rate limits those that are
 * published, and the rest is counted. For the kind offcpu, mounts.c gets each of them. */
#include "handlers.h"
#include "named_event.h"
#include "core/config.h"
#include "core/jni.h"

#define NAME_MAX_BYTES 512

static struct life {
	uint32_t event;
	struct rate rate;
	_Atomic uint64_t unsaid;
} starts = {.event = BRAID_JVM_VTHREAD_START}, ends = {.event = BRAID_JVM_VTHREAD_END};

static void life_publish(JNIEnv *jni, jthread thread, uint32_t event)
{
	static _Atomic(jfieldID) id_field, name_field;
	struct braid_rec_named_event r = {.event = event, .value = 1};
	jthrowable pending = jni_save(jni);
	jfieldID id = jni_root_field(jni, thread, "tid", "J", &id_field);
	jfieldID name = jni_root_field(jni, thread, "name", "Ljava/lang/String;", &name_field);
	char text[NAME_MAX_BYTES];

	r.number = id ? (uint64_t)(*jni)->GetLongField(jni, thread, id) : 0;
	jni_string(jni, thread, name, text, sizeof(text));
	jni_restore(jni, pending);
	named_event_publish(&r, text, NULL, NULL);
}

static void limited_publish(JNIEnv *jni, jthread thread, struct life *l)
{
	if (rate_take(&l->rate, atomic_load_explicit(&config.vthread_rate, memory_order_relaxed)))
		life_publish(jni, thread, l->event);
	else
		atomic_fetch_add_explicit(&l->unsaid, 1, memory_order_relaxed);
}

static void JNICALL virtual_on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	if (!agent_enter_event(env))
		return;
	if (config_enables(BRAID_EVENT_TYPE(VTHREAD)))
		limited_publish(jni, thread, &starts);
	if (config_enables(BRAID_EVENT_TYPE(OFFCPU)))
		mounts_on_start(jni, thread);
	agent_leave();
}

static void JNICALL virtual_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	if (!agent_enter_event(env))
		return;
	if (config_enables(BRAID_EVENT_TYPE(VTHREAD)))
		limited_publish(jni, thread, &ends);
	if (config_enables(BRAID_EVENT_TYPE(OFFCPU)))
		mounts_on_end(jni, thread);
	agent_leave();
}

static void flush(struct life *l)
{
	uint64_t count = atomic_exchange(&l->unsaid, 0);

	if (count)
		named_event_publish(&(struct braid_rec_named_event){.event = l->event, .value = count}, NULL, NULL,
				    NULL);
}

static void virtual_publish(JNIEnv *jni)
{
	(void)jni;
	flush(&starts);
	flush(&ends);
}

const struct kind virtual_kind = {
	.events = {{EVENT_VIRTUAL_THREAD_START, KIND_HANDLER(virtual_on_start), CAP_VIRTUAL_THREADS,
		    BRAID_EVENT_TYPE(VTHREAD) | BRAID_EVENT_TYPE(OFFCPU)},
		   {EVENT_VIRTUAL_THREAD_END, KIND_HANDLER(virtual_on_end), CAP_VIRTUAL_THREADS,
		    BRAID_EVENT_TYPE(VTHREAD) | BRAID_EVENT_TYPE(OFFCPU)}},
	.caps = {{CAP_VIRTUAL_THREADS, false, BRAID_EVENT_TYPE(VTHREAD), "virtual threads (JDK 21 and later have them)",
		  BRAID_EVENT_TYPE(OFFCPU)}},
	.types = BRAID_EVENT_TYPE(VTHREAD),
	.tick = virtual_publish,
	.publish = virtual_publish,
	.stop = virtual_publish,
};
