// SPDX-License-Identifier: Apache-2.0
// The native half of Mix.java, built without frame pointers.
#include <jni.h>
#include <stdint.h>

#include "Mix.h"

__attribute__((noinline)) static uint64_t mix_round(uint64_t x, jint rounds)
{
	for (jint i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

JNIEXPORT jlong JNICALL Java_Mix_spin(JNIEnv *env, jclass class, jint rounds)
{
	(void)env;
	(void)class;
	return (jlong)(mix_round(88172645463325252ULL, rounds) >> 1);
}

JNIEXPORT jint JNICALL Java_Mix_up(JNIEnv *env, jclass class, jint depth)
{
	jmethodID back = (*env)->GetStaticMethodID(env, class, "back", "(I)I");

	if (!back)
		return -1;
	return (*env)->CallStaticIntMethod(env, class, back, depth) + 1;
}

JNIEXPORT jlong JNICALL Java_Mix_sum(JNIEnv *env, jclass class, jintArray array)
{
	jsize n = (*env)->GetArrayLength(env, array);
	jint *p = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
	jlong sum = 0;

	(void)class;
	if (!p)
		return -1;
	for (jsize i = 0; i < n; i++)
		sum += p[i];
	(*env)->ReleasePrimitiveArrayCritical(env, array, p, JNI_ABORT);
	return sum;
}
