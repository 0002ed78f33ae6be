// SPDX-License-Identifier: Apache-2.0
/* The event kind native-bind: native methods and the functions that they are bound to. */
#include "handlers.h"
#include "named_event.h"
#include "core/config.h"

#define EARLY_MAX 512U

/*
 * JVM TI forbids queries about methods before VM start. Methods bound by then belong to the boot loader, which never
 * unloads them; natives_on_vm_start reads their names.
 */
static struct {
	jmethodID method;
	void *address;
} early[EARLY_MAX];

static _Atomic uint32_t early_count;

void (*_Atomic natives_on_code)(void);

static void bind_publish(jmethodID method, const void *address)
{
	struct braid_rec_named_event r = {.event = BRAID_JVM_NATIVE_BIND,
					  .method = methods_id(method, methods_event()),
					  .number = (uint64_t)(uintptr_t)address};

	named_event_publish(&r, NULL, NULL, NULL);
}

static bool is_primordial(jvmtiEnv *env)
{
	jvmtiPhase phase;

	return (*env)->GetPhase(env, &phase) || phase == JVMTI_PHASE_PRIMORDIAL;
}

/* Before VM start only one thread runs. */
static void early_keep(jmethodID method, void *address)
{
	uint32_t n = atomic_load(&early_count);

	if (n == EARLY_MAX) {
		publish_lost(BRAID_REC_NAMED_EVENT, 1);
		return;
	}
	early[n].method = method;
	early[n].address = address;
	atomic_store(&early_count, n + 1);
}

static void bind_report(jvmtiEnv *env, jmethodID method, void *address)
{
	if (is_primordial(env))
		early_keep(method, address);
	else
		bind_publish(method, address);
}

static void JNICALL natives_on_bind(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, void *address,
				    void **new_address)
{
	void (*on_code)(void);

	(void)jni;
	(void)thread;
	(void)new_address; /* the binding is left alone */
	if (!agent_enter_event(env))
		return;
	on_code = atomic_load(&natives_on_code);
	if (on_code)
		on_code();
	if (config_enables(BRAID_EVENT_TYPE(NATIVE_BIND)))
		bind_report(env, method, address);
	agent_leave();
}

/* Each method makes a local reference to its class, and a native frame has room for sixteen. */
void natives_on_vm_start(JNIEnv *jni)
{
	uint32_t n = atomic_exchange(&early_count, 0);

	for (uint32_t i = 0; i < n; i++) {
		if ((*jni)->PushLocalFrame(jni, 16)) {
			(*jni)->ExceptionClear(jni);
			publish_lost(BRAID_REC_NAMED_EVENT, n - i);
			return;
		}
		bind_publish(early[i].method, early[i].address);
		(*jni)->PopLocalFrame(jni, NULL);
	}
}

const struct kind natives_kind = {
	.events = {{JVMTI_EVENT_NATIVE_METHOD_BIND, KIND_HANDLER(natives_on_bind), CAP_NATIVE_METHOD_BIND,
		    BRAID_EVENT_TYPE(NATIVE_BIND) | BRAID_EVENT_TYPE(MALLOC)}},
	.caps = {{CAP_NATIVE_METHOD_BIND, false, BRAID_EVENT_TYPE(NATIVE_BIND), "native methods that are bound",
		  BRAID_EVENT_TYPE(MALLOC)}},
};
