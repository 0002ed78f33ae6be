// SPDX-License-Identifier: Apache-2.0
/* A native thread that attaches as a Java thread again and again, under changing names. */
#define _GNU_SOURCE
#include "Attached.h"

#include <pthread.h>
#include <stdio.h>

struct work {
	JavaVM *vm;
	int times;
	int failed;
};

static void *attach_main(void *arg)
{
	struct work *w = arg;

	for (int i = 0; i < w->times; i++) {
		char name[32];
		JavaVMAttachArgs args = {.version = JNI_VERSION_1_6, .name = name};
		void *env;

		snprintf(name, sizeof(name), "attached-%d", i % 3);
		if ((*w->vm)->AttachCurrentThread(w->vm, &env, &args) != JNI_OK ||
		    (*w->vm)->DetachCurrentThread(w->vm) != JNI_OK)
			w->failed++;
	}
	return NULL;
}

jint JNICALL Java_Attached_attach(JNIEnv *env, jclass class, jint times)
{
	struct work w = {.times = times};
	pthread_t thread;

	(void)class;
	if ((*env)->GetJavaVM(env, &w.vm) || pthread_create(&thread, NULL, attach_main, &w))
		return -1;
	pthread_join(thread, NULL);
	return w.failed;
}
