// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "Native.h"

#include <pthread.h>
#include <time.h>

static JavaVM *vm;

/* Work after a call, so that it is no tail call. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

static long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static void burn_native(long long ns)
{
	long long end = cpu_ns() + ns;
	volatile unsigned x = 1;

	do {
		for (int i = 0; i < 2000; i++)
			x = x * 2654435761U + 1;
	} while (cpu_ns() < end);
	KEEP_FRAME();
}

__attribute__((noinline)) static void call_back(JNIEnv *env, jclass class, jlong ns)
{
	jmethodID callback = (*env)->GetStaticMethodID(env, class, "callback", "(J)V");

	if (callback)
		(*env)->CallStaticVoidMethod(env, class, callback, ns);
	KEEP_FRAME();
}

void JNICALL Java_Native_outer(JNIEnv *env, jclass class, jlong ns)
{
	call_back(env, class, ns);
	KEEP_FRAME();
}

void JNICALL Java_Native_inner(JNIEnv *env, jclass class, jlong ns)
{
	(void)env;
	(void)class;
	burn_native(ns);
	KEEP_FRAME();
}

struct work {
	jclass class;
	jlong ns;
};

static void *foreign_main(void *arg)
{
	struct work *w = arg;
	JNIEnv *env;

	if ((*vm)->AttachCurrentThread(vm, (void **)&env, NULL) == JNI_OK) {
		call_back(env, w->class, w->ns);
		(*vm)->DetachCurrentThread(vm);
	}
	return NULL;
}

void JNICALL Java_Native_foreign(JNIEnv *env, jclass class, jlong ns)
{
	struct work w = {.class = (*env)->NewGlobalRef(env, class), .ns = ns};
	pthread_t thread;

	if ((*env)->GetJavaVM(env, &vm) == JNI_OK && !pthread_create(&thread, NULL, foreign_main, &w))
		pthread_join(thread, NULL);
	(*env)->DeleteGlobalRef(env, w.class);
}
