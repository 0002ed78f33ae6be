// SPDX-License-Identifier: Apache-2.0
/* The native methods of JniCost: ns of a pair of JNI calls. */
#include <jni.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

JNIEXPORT jdouble JNICALL Java_JniCost_global(JNIEnv *env, jclass class, jobject o, jint count)
{
	double begin = now_ns();

	(void)class;
	for (jint i = 0; i < count; i++)
		(*env)->DeleteGlobalRef(env, (*env)->NewGlobalRef(env, o));
	return (now_ns() - begin) / count;
}

JNIEXPORT jdouble JNICALL Java_JniCost_weak(JNIEnv *env, jclass class, jobject o, jint count)
{
	double begin = now_ns();

	(void)class;
	for (jint i = 0; i < count; i++)
		(*env)->DeleteWeakGlobalRef(env, (*env)->NewWeakGlobalRef(env, o));
	return (now_ns() - begin) / count;
}

JNIEXPORT jdouble JNICALL Java_JniCost_critical(JNIEnv *env, jclass class, jbyteArray array, jint count)
{
	double begin = now_ns();

	(void)class;
	for (jint i = 0; i < count; i++)
		(*env)->ReleasePrimitiveArrayCritical(env, array, (*env)->GetPrimitiveArrayCritical(env, array, NULL),
						      JNI_ABORT);
	return (now_ns() - begin) / count;
}
