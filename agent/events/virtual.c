// SPDX-License-Identifier: Apache-2.0
/* Starts and ends of virtual threads, of which there may be millions. */
#include "agent.h"

#include "events/handlers.h"
#include "events/told.h"

#define NAME_MAX_BYTES 512

static struct life {
	uint32_t event;
	struct rate rate;
	_Atomic uint64_t unsaid;
} starts = {.event = BRAID_JVM_VTHREAD_START}, ends = {.event = BRAID_JVM_VTHREAD_END};

static void tell(JNIEnv *jni, jthread thread, uint32_t event)
{
	static _Atomic(jfieldID) id_field, name_field;
	struct braid_rec_event r = {.event = event, .value = 1};
	jthrowable pending = jni_save(jni);
	jfieldID id = jni_root_field(jni, thread, "tid", "J", &id_field);
	jfieldID name = jni_root_field(jni, thread, "name", "Ljava/lang/String;", &name_field);
	char text[NAME_MAX_BYTES];

	r.number = id ? (uint64_t)(*jni)->GetLongField(jni, thread, id) : 0;
	jni_string(jni, thread, name, text, sizeof(text));
	jni_restore(jni, pending);
	told_publish(&r, text, NULL, NULL);
}

static void happened(JNIEnv *jni, jthread thread, struct life *l)
{
	if (!agent_enter())
		return;
	if (rate_take(&l->rate, atomic_load_explicit(&chosen.vthread_rate, memory_order_relaxed)))
		tell(jni, thread, l->event);
	else
		atomic_fetch_add_explicit(&l->unsaid, 1, memory_order_relaxed);
	agent_leave();
}

void JNICALL virtual_on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	(void)env;
	happened(jni, thread, &starts);
}

void JNICALL virtual_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	(void)env;
	happened(jni, thread, &ends);
}

static void flush(struct life *l)
{
	uint64_t count = atomic_exchange(&l->unsaid, 0);

	if (count)
		told_publish(&(struct braid_rec_event){.event = l->event, .value = count}, NULL, NULL, NULL);
}

void virtual_tell(JNIEnv *jni)
{
	(void)jni;
	flush(&starts);
	flush(&ends);
}
