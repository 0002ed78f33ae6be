// SPDX-License-Identifier: Apache-2.0
/*
 * Another profiler: it samples allocations at its own interval, receives collections, compiled code and threads,
 * and holds the solo capability to suspend threads. The file that its option names always has its capabilities
 * and counts. Options: FILE        see above FILE,death  VMDeath waits until FILE is removed
 *   refuse      its start fails
 */
#define _GNU_SOURCE
#include <jvmti.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INTERVAL (64 * 1024)

struct page {
	_Atomic long samples, collections, loads, threads; /* seen */
	_Atomic long allocations, suspend;		   /* had */
	_Atomic long dying;
};

static struct page *page;
static char path[256];
static bool holds_up;

#ifdef JNI_VERSION_10 /* JDK 11's headers have sampled allocations */
static void JNICALL on_sample(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
	(void)env, (void)jni, (void)thread, (void)object, (void)class, (void)size;
	page->samples++;
}
#endif

static void JNICALL on_collection(jvmtiEnv *env)
{
	(void)env;
	page->collections++;
}

static void JNICALL on_load(jvmtiEnv *env, jmethodID method, jint size, const void *address, jint length,
			    const jvmtiAddrLocationMap *map, const void *info)
{
	(void)env, (void)method, (void)size, (void)address, (void)length, (void)map, (void)info;
	page->loads++;
}

static void JNICALL on_thread(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	(void)env, (void)jni, (void)thread;
	page->threads++;
}

static void JNICALL on_death(jvmtiEnv *env, JNIEnv *jni)
{
	(void)env, (void)jni;
	page->dying = 1;
	while (holds_up && !access(path, F_OK))
		poll(NULL, 0, 10);
}

static void sample(jvmtiEnv *ti, jvmtiEventCallbacks *callbacks)
{
#ifdef JNI_VERSION_10
	const jvmtiCapabilities sampled = {.can_generate_sampled_object_alloc_events = 1};

	callbacks->SampledObjectAlloc = on_sample;
	page->allocations = !(*ti)->AddCapabilities(ti, &sampled) && !(*ti)->SetHeapSamplingInterval(ti, INTERVAL) &&
			    !(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
#else
	(void)ti, (void)callbacks;
#endif
}

static int begin(jvmtiEnv *ti)
{
	static const jvmtiEvent events[] = {JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, JVMTI_EVENT_COMPILED_METHOD_LOAD,
					    JVMTI_EVENT_THREAD_START, JVMTI_EVENT_VM_DEATH};
	const jvmtiCapabilities common = {.can_generate_garbage_collection_events = 1,
					  .can_generate_compiled_method_load_events = 1};
	const jvmtiCapabilities suspend = {.can_suspend = 1};
	jvmtiEventCallbacks callbacks = {.GarbageCollectionFinish = on_collection,
					 .CompiledMethodLoad = on_load,
					 .ThreadStart = on_thread,
					 .VMDeath = on_death};
	int err = (*ti)->AddCapabilities(ti, &common);

	page->suspend = !(*ti)->AddCapabilities(ti, &suspend);
	sample(ti, &callbacks);
	err = err ?: (int)(*ti)->SetEventCallbacks(ti, &callbacks, sizeof(callbacks));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		err = err ?: (int)(*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, events[i], NULL);
	return err;
}

static jint start(JavaVM *vm, const char *options)
{
	jvmtiEnv *ti;
	int fd;

	if (!strcmp(options, "refuse"))
		return 3;
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(options, ","), options);
	holds_up = strstr(options, ",death");
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(*page)))
		return JNI_ERR;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED || (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2))
		return JNI_ERR;
	return begin(ti);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return start(vm, options);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return start(vm, options);
}
