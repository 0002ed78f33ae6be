// SPDX-License-Identifier: Apache-2.0
/*
 * The events of the fake JVM, each sent as HotSpot sends it: of thread 1, object 11, method 12, class 13. fake_jvmti.h
 * declares them.
 */
#include "fake_jvmti.h"

#include <string.h>

#define THREAD ((jthread)1)
#define OBJECT ((jobject)11)
#define METHOD ((jmethodID)12)
#define CLASS ((jclass)13)

uint8_t fake_code[64];

static void vm_start(void)
{
	fake.callbacks.VMStart(&fake_env, &fake_jni);
}

static void thread_start(void)
{
	fake.callbacks.ThreadStart(&fake_env, &fake_jni, THREAD);
}

static void thread_end(void)
{
	fake.callbacks.ThreadEnd(&fake_env, &fake_jni, THREAD);
}

static void class_load(void)
{
	fake.callbacks.ClassLoad(&fake_env, &fake_jni, THREAD, CLASS);
}

static void class_prepare(void)
{
	fake.callbacks.ClassPrepare(&fake_env, &fake_jni, THREAD, CLASS);
}

static void class_unload(void)
{
	fake.on_class_unload(&fake_env, &fake_jni, "Gone");
}

static void class_file(void)
{
	const unsigned char bytes[] = {0xca, 0xfe, 0xba, 0xbe};
	unsigned char *changed = NULL;
	jint size = 0;

	fake.callbacks.ClassFileLoadHook(&fake_env, &fake_jni, NULL, NULL, "a/B", NULL, sizeof(bytes), bytes, &size,
					 &changed);
	ck_assert_ptr_null(changed);
}

static void exception(void)
{
	fake.callbacks.Exception(&fake_env, &fake_jni, THREAD, METHOD, 0, OBJECT, METHOD, 0);
}

/* Before VMStart the event has no JNIEnv. */
static void native_bind(void)
{
	JNIEnv *jni = fake.phase == JVMTI_PHASE_PRIMORDIAL ? NULL : &fake_jni;
	void *address = fake_code;

	fake.callbacks.NativeMethodBind(&fake_env, jni, jni ? THREAD : NULL, METHOD, address, &address);
	ck_assert_ptr_eq(address, fake_code);
}

static void compiled_load(void)
{
	fake.callbacks.CompiledMethodLoad(&fake_env, METHOD, sizeof(fake_code), fake_code, 0, NULL, NULL);
}

static void compiled_unload(void)
{
	fake.callbacks.CompiledMethodUnload(&fake_env, METHOD, fake_code);
}

static void stub(void)
{
	fake.callbacks.DynamicCodeGenerated(&fake_env, "stub", fake_code, sizeof(fake_code));
}

static void dump_request(void)
{
	fake.callbacks.DataDumpRequest(&fake_env);
}

static void contended_enter(void)
{
	fake.callbacks.MonitorContendedEnter(&fake_env, &fake_jni, THREAD, OBJECT);
}

static void contended_entered(void)
{
	fake.callbacks.MonitorContendedEntered(&fake_env, &fake_jni, THREAD, OBJECT);
}

static void monitor_wait(void)
{
	fake.callbacks.MonitorWait(&fake_env, &fake_jni, THREAD, OBJECT, 20);
}

static void monitor_waited(void)
{
	fake.callbacks.MonitorWaited(&fake_env, &fake_jni, THREAD, OBJECT, JNI_TRUE);
}

static void resource(void)
{
	fake.callbacks.ResourceExhausted(&fake_env, &fake_jni, JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP, NULL, "Java heap");
}

static void collection_start(void)
{
	fake.callbacks.GarbageCollectionStart(&fake_env);
}

static void collection_finish(void)
{
	fake.callbacks.GarbageCollectionFinish(&fake_env);
}

static void sampled_alloc(void)
{
	fake.callbacks.SampledObjectAlloc(&fake_env, &fake_jni, THREAD, OBJECT, CLASS, 24);
}

typedef void(JNICALL *on_virtual)(jvmtiEnv *env, JNIEnv *jni, jthread thread);

static void virtual_start(void)
{
	((on_virtual)fake.more_callbacks[0])(&fake_env, &fake_jni, THREAD);
}

static void virtual_end(void)
{
	((on_virtual)fake.more_callbacks[1])(&fake_env, &fake_jni, THREAD);
}

#define IN(phase) (1U << JVMTI_PHASE_##phase)
#define EARLY (IN(PRIMORDIAL) | IN(START) | IN(LIVE))
#define STARTED (IN(START) | IN(LIVE))

/* HotSpot collects garbage before the live phase, too, and some versions unload classes inside a pause. */
const struct fake_event fake_events[] = {
	{"VMStart", JVMTI_EVENT_VM_START, IN(START), FAKE_ANYTHING, vm_start},
	{"ThreadStart", JVMTI_EVENT_THREAD_START, STARTED, FAKE_ANYTHING, thread_start},
	{"ClassLoad", JVMTI_EVENT_CLASS_LOAD, STARTED, FAKE_ANYTHING, class_load},
	{"ClassPrepare", JVMTI_EVENT_CLASS_PREPARE, STARTED, FAKE_ANYTHING, class_prepare},
	{"NativeMethodBind", JVMTI_EVENT_NATIVE_METHOD_BIND, EARLY, FAKE_ANYTHING, native_bind},
	{"CompiledMethodLoad", JVMTI_EVENT_COMPILED_METHOD_LOAD, STARTED, FAKE_NO_JNI, compiled_load},
	{"CompiledMethodUnload", JVMTI_EVENT_COMPILED_METHOD_UNLOAD, STARTED, FAKE_NO_JNI, compiled_unload},
	{"DynamicCodeGenerated", JVMTI_EVENT_DYNAMIC_CODE_GENERATED, EARLY, FAKE_NO_JNI, stub},
	{"DataDumpRequest", JVMTI_EVENT_DATA_DUMP_REQUEST, IN(LIVE), FAKE_NO_JNI, dump_request},
	{"Exception", JVMTI_EVENT_EXCEPTION, IN(LIVE), FAKE_ANYTHING, exception},
	{"ClassFileLoadHook", JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, STARTED, FAKE_ANYTHING, class_file},
	{"MonitorContendedEnter", JVMTI_EVENT_MONITOR_CONTENDED_ENTER, IN(LIVE), FAKE_ANYTHING, contended_enter},
	{"MonitorContendedEntered", JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, IN(LIVE), FAKE_ANYTHING, contended_entered},
	{"MonitorWait", JVMTI_EVENT_MONITOR_WAIT, IN(LIVE), FAKE_ANYTHING, monitor_wait},
	{"MonitorWaited", JVMTI_EVENT_MONITOR_WAITED, IN(LIVE), FAKE_ANYTHING, monitor_waited},
	{"ResourceExhausted", JVMTI_EVENT_RESOURCE_EXHAUSTED, IN(LIVE), FAKE_ANYTHING, resource},
	{"GarbageCollectionStart", JVMTI_EVENT_GARBAGE_COLLECTION_START, STARTED, FAKE_IN_PAUSE, collection_start},
	{"ClassUnload", (jvmtiEvent)0, STARTED, FAKE_IN_PAUSE, class_unload},
	{"GarbageCollectionFinish", JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, STARTED, FAKE_IN_PAUSE, collection_finish},
	{"SampledObjectAlloc", JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, IN(LIVE), FAKE_ANYTHING, sampled_alloc},
	{"VirtualThreadStart", (jvmtiEvent)87, STARTED, FAKE_ANYTHING, virtual_start},
	{"VirtualThreadEnd", (jvmtiEvent)88, STARTED, FAKE_ANYTHING, virtual_end},
	{"ThreadEnd", JVMTI_EVENT_THREAD_END, STARTED, FAKE_ANYTHING, thread_end},
};

const size_t fake_event_count = sizeof(fake_events) / sizeof(fake_events[0]);

void fake_send(const struct fake_event *e, uintptr_t pending)
{
	if (e->event)
		ck_assert_msg(fake_is_enabled(e->event), "%s is not enabled", e->name);
	ck_assert_msg(e->phases >> fake.phase & 1, "no JVM sends %s in phase %u", e->name, fake.phase);
	fake_enter(e->rules, pending);
	e->send();
	fake_leave();
}

void fake_send_named(const char *name)
{
	for (size_t i = 0; i < fake_event_count; i++)
		if (strcmp(fake_events[i].name, name) == 0) {
			fake_send(&fake_events[i], 0);
			return;
		}
	ck_abort_msg("no event %s", name);
}
