/* SPDX-License-Identifier: Apache-2.0 */
/* Another agent that samples allocations and does not set the interval: it shows the JVM's interval. */
#include <Sampled.h>
#include <jvmti.h>
#include <stdatomic.h>

#ifdef JNI_VERSION_10 /* JDK 11's headers have sampled allocations */

static _Atomic jint samples;

static void JNICALL on_sample(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
	(void)env;
	(void)jni;
	(void)thread;
	(void)object;
	(void)class;
	(void)size;
	atomic_fetch_add(&samples, 1);
}

static jvmtiEnv *env;

JNIEXPORT jboolean JNICALL Java_Sampled_begin(JNIEnv *jni, jclass class)
{
	const jvmtiCapabilities capabilities = {.can_generate_sampled_object_alloc_events = 1};
	const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = on_sample};
	JavaVM *vm;

	(void)class;
	return !(*jni)->GetJavaVM(jni, &vm) && !(*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_11) &&
	       !(*env)->AddCapabilities(env, &capabilities) &&
	       !(*env)->SetEventCallbacks(env, &callbacks, sizeof(callbacks)) &&
	       !(*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
}

JNIEXPORT jint JNICALL Java_Sampled_end(JNIEnv *jni, jclass class)
{
	(void)jni;
	(void)class;
	(*env)->SetEventNotificationMode(env, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
	return atomic_exchange(&samples, 0);
}

#else

JNIEXPORT jboolean JNICALL Java_Sampled_begin(JNIEnv *jni, jclass class)
{
	(void)jni;
	(void)class;
	return JNI_FALSE;
}

JNIEXPORT jint JNICALL Java_Sampled_end(JNIEnv *jni, jclass class)
{
	(void)jni;
	(void)class;
	return 0;
}

#endif
