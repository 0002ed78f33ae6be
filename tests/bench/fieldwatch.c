// SPDX-License-Identifier: Apache-2.0
/*
 * An agent that watches writes to FieldCost.written as JVM TI offers it, by the event FieldModification, and counts
 * them.
 */
#include "core/jvm.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic long writes;

static void JNICALL on_write(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jmethodID method, jlocation at, jclass class,
			     jobject object, jfieldID field, char type, jvalue value)
{
	(void)ti, (void)jni, (void)thread, (void)method, (void)at, (void)class, (void)object, (void)field, (void)type;
	(void)value;
	atomic_fetch_add(&writes, 1);
}

static void JNICALL on_prepare(jvmtiEnv *ti, JNIEnv *jni, jthread thread, jclass class)
{
	char *signature;
	jfieldID field;

	(void)thread;
	if ((*ti)->GetClassSignature(ti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return;
	if (strcmp(signature, "LFieldCost;") == 0 && (field = (*jni)->GetFieldID(jni, class, "written", "I")))
		(void)(*ti)->SetFieldModificationWatch(ti, class, field);
	(*ti)->Deallocate(ti, (unsigned char *)signature);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	const jvmtiEventCallbacks callbacks = {.FieldModification = on_write, .ClassPrepare = on_prepare};
	const jvmtiCapabilities caps = {.can_generate_field_modification_events = 1};
	jvmtiEnv *ti;

	(void)options;
	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*ti)->AddCapabilities(ti, &caps) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_CLASS_PREPARE, NULL) != JVMTI_ERROR_NONE ||
	    (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_FIELD_MODIFICATION, NULL) != JVMTI_ERROR_NONE)
		return JNI_ERR;
	return JNI_OK;
}
