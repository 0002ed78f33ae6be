// SPDX-License-Identifier: Apache-2.0
/*
 * An agent that delays the JVM's start until the file that its option names exists: FILE before other agents,
 * FILE,start in VMStart, when the JVM can be attached to but is not live.
 */
#include <jvmti.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[256];

static void hold(void)
{
	while (access(path, F_OK))
		poll(NULL, 0, 10);
}

static void JNICALL on_start(jvmtiEnv *env, JNIEnv *jni)
{
	(void)env;
	(void)jni;
	hold();
}

static jint hold_at_start(JavaVM *vm)
{
	const jvmtiEventCallbacks callbacks = {.VMStart = on_start};
	jvmtiEnv *ti;

	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) ||
	    (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)) ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_START, NULL))
		return JNI_ERR;
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(options, ","), options);
	if (strstr(options, ",start"))
		return hold_at_start(vm);
	hold();
	return JNI_OK;
}
