// SPDX-License-Identifier: Apache-2.0
/* Reads the field Thread.eetop by JNI, and the OS id by the layout; see java_threads.h. */
#include "java_threads.h"

#include "layout.h"
#include "core/jni.h"
#include "core/state.h"

#include <string.h>

uint64_t java_thread_at(JNIEnv *jni, jthread thread)
{
	static _Atomic(jfieldID) eetop;
	jthrowable pending = jni_save(jni);
	jfieldID field = jni_root_field(jni, thread, "eetop", "J", &eetop);
	jlong value = field ? (*jni)->GetLongField(jni, thread, field) : 0;

	jni_restore(jni, pending);
	return (uint64_t)value;
}

uint32_t java_thread_tid(JNIEnv *jni, jthread thread)
{
	uint64_t java_thread = java_thread_at(jni, thread);
	uint32_t tid = layout_thread_tid(java_thread);

	return java_thread && java_thread_at(jni, thread) == java_thread ? tid : 0;
}

bool java_thread_is_carrier(JNIEnv *jni, jthread thread)
{
	jclass class = (*jni)->GetObjectClass(jni, thread);
	char *signature = NULL;
	bool carrier = false;

	if (!(*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL)) {
		carrier = !strcmp(signature, "Ljdk/internal/misc/CarrierThread;");
		agent_release(signature);
	}
	(*jni)->DeleteLocalRef(jni, class);
	return carrier;
}
