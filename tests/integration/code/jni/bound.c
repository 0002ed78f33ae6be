// SPDX-License-Identifier: Apache-2.0
/*
 * Native methods: one is found by its name; another is registered, and its function has no name once the library is
 * stripped.
 */
#define _GNU_SOURCE
#include "Bound.h"

#include <time.h>

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void JNICALL burn_for(JNIEnv *env, jclass class, jlong ns)
{
	long long end = cpu_ns() + ns;
	volatile unsigned x = 1;

	(void)env;
	(void)class;
	do {
		for (int i = 0; i < 20000; i++)
			x = x * 2654435761U + 1;
	} while (cpu_ns() < end);
}

jlong JNICALL Java_Bound_byName(JNIEnv *env, jclass class)
{
	static const JNINativeMethod methods[] = {{"registered", "(J)V", (void *)burn_for}};

	(*env)->RegisterNatives(env, class, methods, 1);
	return (jlong)burn_for;
}
