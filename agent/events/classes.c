// SPDX-License-Identifier: Apache-2.0
/*
 * Class unloads, which every recording needs. JVM TI has had no event for them since 2003; HotSpot has an extension
 * event. Some versions send it inside a GC pause, so its handler neither allocates nor locks; an unload that finds no
 * room in the ring is added to the next record.
 */
#include "handlers.h"

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENT_ID "com.sun.hotspot.events.ClassUnload"

static jint event_index = -1;
static bool event_has_name; /* 8 passes the dying class, which nothing may touch; later versions pass its name */

static _Atomic uint32_t unsaid;

static bool unload_publish(const char *name, uint32_t count)
{
	struct braid_rec_class_unload r = {
		.hdr = {.kind = BRAID_REC_CLASS_UNLOAD, .tid = (uint32_t)syscall(SYS_gettid), .time_ns = clock_ns()},
		.count = count,
	};

	r.name_len = string_cut(name, &r.hdr.flags);
	return publish_direct((struct iovec[]){PART(&r, sizeof(r)), PART(name, r.name_len)}, 2);
}

static void JNICALL on_unload(jvmtiEnv *env, ...)
{
	const char *name = NULL;
	uint32_t count;
	va_list args;

	if (!agent_enter_event(env))
		return;
	if (event_has_name) {
		va_start(args, env);
		(void)va_arg(args, JNIEnv *);
		name = va_arg(args, const char *);
		va_end(args);
	}
	methods_unloaded();
	count = atomic_exchange(&unsaid, 0) + 1;
	if (!unload_publish(name, count))
		atomic_fetch_add(&unsaid, count);
	agent_leave();
}

void classes_flush(void)
{
	uint32_t count = atomic_exchange(&unsaid, 0);

	if (count && !unload_publish(NULL, count))
		atomic_fetch_add(&unsaid, count);
}

static void look_at(const jvmtiExtensionEventInfo *e)
{
	if (e->id && !strcmp(e->id, EVENT_ID)) {
		event_index = e->extension_event_index;
		event_has_name = e->param_count == 2 && e->params[0].base_type == JVMTI_TYPE_JNIENV &&
				 e->params[1].base_type == JVMTI_TYPE_CCHAR && e->params[1].kind == JVMTI_KIND_IN_PTR;
	}
	for (jint i = 0; i < e->param_count; i++)
		agent_release(e->params[i].name);
	agent_release(e->params);
	agent_release(e->id);
	agent_release(e->short_description);
}

void classes_enable(void)
{
	jvmtiExtensionEventInfo *list = NULL;
	jint count = 0;

	atomic_store(&unsaid, 0);
	event_index = -1;
	if ((*agent.jvmti)->GetExtensionEvents(agent.jvmti, &count, &list) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++)
		look_at(&list[i]);
	agent_release(list);
	if (event_index >= 0 && (*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, event_index, on_unload))
		event_index = -1;
	/* JVM TI: setting the callback enables the event. HotSpot also requires this call from 19 on and refuses it
	 * before. */
	if (event_index >= 0)
		(void)(*agent.jvmti)
			->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, (jvmtiEvent)event_index, NULL);
	if (event_index < 0)
		publish_notice(BRAID_NOTICE_WARNING, "this JVM does not report unloaded classes: names of "
						     "interpreted frames may be those of classes that are gone");
}

void classes_disable(void)
{
	if (event_index < 0)
		return;
	(void)(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE, (jvmtiEvent)event_index, NULL);
	(*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, event_index, NULL);
}
