// SPDX-License-Identifier: Apache-2.0
/*
 * The part of the event kind offcpu that only the JVM knows: when virtual threads are mounted and unmounted. JVM TI has
 * no events for this, but HotSpot has extension events. Each costs the virtual thread a transition and a system call,
 * so they are enabled on request only. The kernel side keeps the times (bpf/offcpu/mounts.bpf.h).
 */
#include "handlers.h"
#include "core/config.h"
#include "core/jni.h"

#include <string.h>

#define EVENT_MOUNT "com.sun.hotspot.events.VirtualThreadMount"
#define EVENT_UNMOUNT "com.sun.hotspot.events.VirtualThreadUnmount"
#define VERSION_24 0x30180000

static jint mount_index = -1, unmount_index = -1;
static bool enabled;
static _Atomic uint64_t begin_ns; /* since when every mount is reported; 0: not yet */

/* VirtualThread.state while it unmounts itself. The numbers differ between versions, so they come from the class. */
static struct {
	_Atomic(bool) known;
	jfieldID field;
	jint yielding, parking, timed_parking;
} states;

#define STATE_MASK 0xff /* without SUSPENDED */
#define STATE_NONE (-1)

static jint constant(JNIEnv *jni, jclass class, const char *name)
{
	jfieldID field = (*jni)->GetStaticFieldID(jni, class, name, "I");

	return jni_failed(jni) ? STATE_NONE : (*jni)->GetStaticIntField(jni, class, field);
}

/* Threads that do this at the same time write the same. */
static void states_find(JNIEnv *jni, jthread thread)
{
	jclass class = (*jni)->GetObjectClass(jni, thread);
	jfieldID field = (*jni)->GetFieldID(jni, class, "state", "I");

	if (jni_failed(jni))
		field = NULL;
	states.yielding = constant(jni, class, "YIELDING");
	states.parking = constant(jni, class, "PARKING");
	states.timed_parking = constant(jni, class, "TIMED_PARKING");
	states.field = field;
	(*jni)->DeleteLocalRef(jni, class);
	atomic_store(&states.known, true);
}

/* From 24 on the VM also unmounts threads that block on a monitor, or wait. */
static enum braid_mount unmount_why(JNIEnv *jni, jthread thread)
{
	jint state;

	if (!atomic_load(&states.known))
		states_find(jni, thread);
	if (!states.field)
		return BRAID_MOUNT_OFF;
	state = (*jni)->GetIntField(jni, thread, states.field) & STATE_MASK;
	if (state == states.yielding)
		return BRAID_MOUNT_YIELD;
	if (state == states.parking || state == states.timed_parking || agent.jvmti_version < VERSION_24)
		return BRAID_MOUNT_OFF;
	return BRAID_MOUNT_BLOCK;
}

/* With BRAID_MOUNT_OFF, the thread's own state says why it is unmounted. */
static void request(JNIEnv *jni, jthread thread, enum braid_mount mount)
{
	static _Atomic(jfieldID) known;
	jthrowable pending = jni_save(jni);
	jfieldID id = jni_root_field(jni, thread, "tid", "J", &known);
	struct braid_jvm_event d = {.kind = BRAID_JVM_OFFCPU, .start_ns = atomic_load(&begin_ns)};

	d.number = id ? (uint64_t)(*jni)->GetLongField(jni, thread, id) : 0;
	d.flags = mount == BRAID_MOUNT_OFF ? unmount_why(jni, thread) : mount;
	jni_restore(jni, pending);
	jvm_event_request(&d);
}

void mounts_on_start(JNIEnv *jni, jthread thread)
{
	request(jni, thread, BRAID_MOUNT_START);
}

void mounts_on_end(JNIEnv *jni, jthread thread)
{
	request(jni, thread, BRAID_MOUNT_END);
}

static void on_either(jvmtiEnv *env, va_list args, enum braid_mount mount)
{
	JNIEnv *jni;
	jthread thread;

	if (!agent_enter_event(env))
		return;
	jni = va_arg(args, JNIEnv *);
	thread = va_arg(args, jthread);
	request(jni, thread, mount);
	agent_leave();
}

static void JNICALL on_mount(jvmtiEnv *env, ...)
{
	va_list args;

	va_start(args, env);
	on_either(env, args, BRAID_MOUNT_ON);
	va_end(args);
}

static void JNICALL on_unmount(jvmtiEnv *env, ...)
{
	va_list args;

	va_start(args, env);
	on_either(env, args, BRAID_MOUNT_OFF);
	va_end(args);
}

/* ---- enabling ---- */

static bool has_thread(const jvmtiExtensionEventInfo *e)
{
	return e->param_count == 2 && e->params[0].base_type == JVMTI_TYPE_JNIENV &&
	       e->params[1].base_type == JVMTI_TYPE_JTHREAD;
}

static void look_at(const jvmtiExtensionEventInfo *e)
{
	if (e->id && !strcmp(e->id, EVENT_MOUNT) && has_thread(e))
		mount_index = e->extension_event_index;
	if (e->id && !strcmp(e->id, EVENT_UNMOUNT) && has_thread(e))
		unmount_index = e->extension_event_index;
	for (jint i = 0; i < e->param_count; i++)
		agent_release(e->params[i].name);
	agent_release(e->params);
	agent_release(e->id);
	agent_release(e->short_description);
}

static bool find(void)
{
	jvmtiExtensionEventInfo *list = NULL;
	jint count = 0;

	mount_index = unmount_index = -1;
	if ((*agent.jvmti)->GetExtensionEvents(agent.jvmti, &count, &list) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < count; i++)
		look_at(&list[i]);
	agent_release(list);
	return mount_index >= 0 && unmount_index >= 0;
}

/* Setting the callback enables the event, and HotSpot requires the second call, too: see classes.c. */
static bool enable(jint index, jvmtiExtensionEvent handler)
{
	if ((*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, index, handler))
		return false;
	(void)(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, (jvmtiEvent)index, NULL);
	return true;
}

static void disable(jint index)
{
	(void)(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE, (jvmtiEvent)index, NULL);
	(void)(*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, index, NULL);
}

/* Without stack requests nothing would keep the times; a notice has said that there are none. */
static void mounts_on_enabled(JNIEnv *jni)
{
	(void)jni;
	if (enabled || !caps_has(CAP_VIRTUAL_THREADS) || !stack_request_usable())
		return;
	if (!find() || !enable(unmount_index, on_unmount) || !enable(mount_index, on_mount)) {
		publish_notice(BRAID_NOTICE_WARNING, "this JVM does not report when it mounts virtual threads: their "
						     "times off the CPU are missing");
		return;
	}
	enabled = true;
	atomic_store(&begin_ns, clock_ns());
}

static void mounts_stop(JNIEnv *jni)
{
	(void)jni;
	atomic_store(&begin_ns, 0);
	if (!enabled)
		return;
	enabled = false;
	disable(mount_index);
	disable(unmount_index);
}

const struct kind mounts_kind = {
	.types = BRAID_EVENT_TYPE(OFFCPU),
	.on_enabled = mounts_on_enabled,
	.stop = mounts_stop,
};
