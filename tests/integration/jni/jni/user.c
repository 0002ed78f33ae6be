// SPDX-License-Identifier: Apache-2.0
/* The native methods of JniUser; and an agent that puts functions of its own in front of others'. */
#define _GNU_SOURCE
#include "JniUser.h"

#include <dirent.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static volatile int calls; /* counted behind a call, they keep it from being the function's tail */

jlong JNICALL Java_JniUser_keep(JNIEnv *env, jclass class, jobject o)
{
	jobject ref = (*env)->NewGlobalRef(env, o);

	(void)class;
	calls++;
	return (jlong)ref;
}

jlong JNICALL Java_JniUser_keepWeak(JNIEnv *env, jclass class, jobject o)
{
	jweak ref = (*env)->NewWeakGlobalRef(env, o);

	(void)class;
	calls++;
	return (jlong)ref;
}

void JNICALL Java_JniUser_drop(JNIEnv *env, jclass class, jlong ref)
{
	(void)class;
	(*env)->DeleteGlobalRef(env, (jobject)ref);
}

void JNICALL Java_JniUser_dropWeak(JNIEnv *env, jclass class, jlong ref)
{
	(void)class;
	(*env)->DeleteWeakGlobalRef(env, (jweak)ref);
}

void JNICALL Java_JniUser_churn(JNIEnv *env, jclass class, jobject o, jint pairs)
{
	(void)class;
	for (jint i = 0; i < pairs; i++) {
		jobject global = (*env)->NewGlobalRef(env, o);
		jweak weak = (*env)->NewWeakGlobalRef(env, o);

		(*env)->DeleteGlobalRef(env, global);
		(*env)->DeleteWeakGlobalRef(env, weak);
	}
}

/* A string's section inside an array's: one section of the thread. Prints how long it took. */
void JNICALL Java_JniUser_critical(JNIEnv *env, jclass class, jbyteArray array, jstring string, jlong ns)
{
	void *elements = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
	long long begin = now_ns();
	const jchar *text = (*env)->GetStringCritical(env, string, NULL);

	(void)class;
	while (now_ns() < begin + ns)
		;
	(*env)->ReleaseStringCritical(env, string, text);
	ns = ns ? now_ns() - begin : 0;
	(*env)->ReleasePrimitiveArrayCritical(env, array, elements, JNI_ABORT);
	if (ns)
		printf("CRITICAL %lld\n", (long long)ns);
	fflush(stdout);
}

#define STILL_NS 200000000

/*
 * The id of the thread that allocates for the time of that number; 0: there is none. The one before may not have ended
 * yet.
 */
static int allocating_thread(int number)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *each;
	char path[64], name[32], comm[32] = "";
	int tid = 0;
	FILE *f;

	snprintf(name, sizeof(name), "allocates-%d", number);
	while (threads && !tid && (each = readdir(threads))) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", atoi(each->d_name));
		f = fopen(path, "r");
		if (f && fscanf(f, "%31s", comm) == 1 && strcmp(comm, name) == 0)
			tid = atoi(each->d_name);
		if (f)
			fclose(f);
	}
	if (threads)
		closedir(threads);
	return tid;
}

/* The letter that the kernel has for what the thread does; 0: it has ended. */
static char state_of(int tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state;
}

/*
 * Until the first element has not changed for a while, as the thread that changes it sleeps: one that gets no CPU waits
 * for nobody.
 */
void JNICALL Java_JniUser_criticalUntilStill(JNIEnv *env, jclass class, jbyteArray array, jint number)
{
	volatile jbyte *progress = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
	long long since = now_ns(), begin = since;
	int tid = allocating_thread(number);
	jbyte seen = *progress;
	char state = 'S';

	(void)class;
	while (state && now_ns() - since < STILL_NS) {
		state = state_of(tid);
		if (*progress == seen && state == 'S')
			continue;
		seen = *progress;
		since = now_ns();
	}
	begin = now_ns() - begin;
	(*env)->ReleasePrimitiveArrayCritical(env, array, (void *)progress, 0);
	printf("CRITICAL %lld\n", begin);
	fflush(stdout);
}

/* Creates references by several functions; returns their number. */
jint JNICALL Java_JniUser_locals(JNIEnv *env, jclass class, jobjectArray array, jint count, jboolean delete)
{
	for (jint i = 0; i < count; i += 2) {
		jobject one = (*env)->GetObjectArrayElement(env, array, 0);
		jobject other = (*env)->NewLocalRef(env, class);

		if (!delete)
			continue;
		(*env)->DeleteLocalRef(env, one);
		(*env)->DeleteLocalRef(env, other);
	}
	return count;
}

/* A checksum of the table of JNI functions. */
jlong JNICALL Java_JniUser_table(JNIEnv *env, jclass class)
{
	const jlong *slot = (const jlong *)*env;
	unsigned long long sum = 0;

	(void)class;
	for (size_t i = 0; i < sizeof(**env) / sizeof(*slot); i++)
		sum = (sum ^ (unsigned long long)slot[i]) * 0x100000001b3ULL;
	return (jlong)(sum >> 1);
}

/* ---- another agent ---- */

static JavaVM *vm;
static jobject(JNICALL *former)(JNIEnv *, jobject);
static int covered;

static jobject JNICALL new_global(JNIEnv *env, jobject o)
{
	covered++;
	return former(env, o);
}

/* Puts NewGlobalRef in front of what is there, or back; says whether it was in place. */
jstring JNICALL Java_JniUser_cover(JNIEnv *env, jclass class, jboolean on)
{
	jniNativeInterface *table;
	jvmtiEnv *jvmti;
	char said[64];

	(void)class;
	(*env)->GetJavaVM(env, &vm);
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*jvmti)->GetJNIFunctionTable(jvmti, &table) != JVMTI_ERROR_NONE)
		return (*env)->NewStringUTF(env, "failed");
	snprintf(said, sizeof(said), "%s %d", table->NewGlobalRef == new_global ? "in front" : "not in front", covered);
	if (on) {
		former = table->NewGlobalRef;
		table->NewGlobalRef = new_global;
	} else {
		table->NewGlobalRef = former;
	}
	(*jvmti)->SetJNIFunctionTable(jvmti, table);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)table);
	(*jvmti)->DisposeEnvironment(jvmti);
	return (*env)->NewStringUTF(env, said);
}
