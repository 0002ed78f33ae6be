// SPDX-License-Identifier: Apache-2.0
/* An agent that leaks memory of JVM TI: a MiB with each thread that starts. */
#include <jvmti.h>
#include <string.h>

#define LEAK_BYTES (1 << 20)

static void JNICALL on_thread_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	unsigned char *kept;

	(void)jni;
	(void)thread;
	if ((*env)->Allocate(env, LEAK_BYTES, &kept) == JVMTI_ERROR_NONE)
		memset(kept, 1, LEAK_BYTES);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiEventCallbacks callbacks = {.ThreadStart = on_thread_start};
	jvmtiEnv *env;

	(void)options;
	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_ERR;
	(*env)->SetEventCallbacks(env, &callbacks, sizeof(callbacks));
	(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, NULL);
	return JNI_OK;
}
