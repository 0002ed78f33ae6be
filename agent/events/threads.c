// SPDX-License-Identifier: Apache-2.0
/* Java threads and their OS threads, which every recording needs; JVM TI does not report OS threads. The helper replays
 * the threads that are older than the connection. */
#include "handlers.h"
#include "core/config.h"
#include "core/helper.h"
#include "core/jni.h"
#include "vm/java_threads.h"
#include "vm/layout.h"
#include "vm/objects.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* The kernel side must know how to find a carrier's virtual threads before the first of them runs. */
#define CARRIER_READ_MS 100U

struct thread_names {
	char *name;
	char *group;
	uint32_t flags;
	uint32_t priority;
	bool known;
};

static void thread_names_read(struct thread_names *n, JNIEnv *jni, jthread thread)
{
	jvmtiThreadInfo info;
	jvmtiThreadGroupInfo group;

	memset(n, 0, sizeof(*n));
	if ((*agent.jvmti)->GetThreadInfo(agent.jvmti, thread, &info) != JVMTI_ERROR_NONE)
		return;
	n->known = true;
	n->name = info.name;
	n->priority = (uint32_t)info.priority;
	n->flags = info.is_daemon ? BRAID_THREAD_DAEMON : 0;
	if (info.thread_group &&
	    (*agent.jvmti)->GetThreadGroupInfo(agent.jvmti, info.thread_group, &group) == JVMTI_ERROR_NONE) {
		n->group = group.name;
		if (group.parent)
			(*jni)->DeleteLocalRef(jni, group.parent);
	}
	if (info.thread_group)
		(*jni)->DeleteLocalRef(jni, info.thread_group);
	if (info.context_class_loader)
		(*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

static void thread_names_free(struct thread_names *n)
{
	agent_release(n->name);
	agent_release(n->group);
}

static bool thread_publish(struct braid_rec_thread *r, const struct thread_names *n, uint16_t flags)
{
	r->flags |= n->flags;
	r->priority = n->priority;
	record_init(&r->hdr, BRAID_REC_THREAD, flags);
	r->name_len = string_cut(n->name, &r->hdr.flags);
	r->group_len = string_cut(n->group, &r->hdr.flags);
	return publish_definition(
		(struct iovec[]){PART(r, sizeof(*r)), PART(n->name, r->name_len), PART(n->group, r->group_len)}, 3);
}

/* The calling thread's CPU time. */
static uint64_t own_cpu_ns(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static uint64_t own_system_ns(void)
{
	struct rusage u = {0};

	getrusage(RUSAGE_THREAD, &u);
	return (uint64_t)u.ru_stime.tv_sec * 1000000000ULL + (uint64_t)u.ru_stime.tv_usec * 1000ULL;
}

/* A thread that was published at its start stores the connection's number, so the replay skips it. */
static void *mark(void)
{
	return (void *)agent.generation;
}

/* Before the live phase java.lang.Thread may not be initialised yet; the replay publishes these threads. */
static bool is_live(jvmtiEnv *env)
{
	jvmtiPhase phase;

	return !(*env)->GetPhase(env, &phase) && phase == JVMTI_PHASE_LIVE;
}

static void thread_publish_start(jvmtiEnv *env, JNIEnv *jni, jthread thread, struct braid_rec_thread *r)
{
	struct thread_names n;
	bool carrier = objects_on_thread(jni, thread);

	thread_names_read(&n, jni, thread);
	r->java_thread = java_thread_at(jni, thread);
	r->thread_tid = self_tid();
	r->flags = helper_is_thread(thread) ? BRAID_THREAD_AGENT : 0;
	if (thread_publish(r, &n, 0))
		atomic_fetch_add(&agent.threads, 1);
	if (n.known)
		(*env)->SetThreadLocalStorage(env, NULL, mark());
	thread_names_free(&n);
	if (carrier)
		publish_let_read(CARRIER_READ_MS);
}

static void JNICALL threads_on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct braid_rec_thread r = {.cpu_ns = own_cpu_ns(), .system_ns = own_system_ns()};

	alloc_on_thread();
	if (!agent_enter_event(env))
		return;
	if (is_live(env))
		thread_publish_start(env, jni, thread, &r);
	agent_leave();
}

/* The name may have changed since the start; JVM TI has no event for that. */
static void JNICALL threads_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct braid_rec_thread_end r = {.cpu_ns = own_cpu_ns(), .system_ns = own_system_ns()};
	struct thread_names n = {0};

	if (!agent_enter_event(env))
		return;
	r.java_thread = java_thread_at(jni, thread);
	if (config_enables(BRAID_EVENT_TYPE(THREAD)) && is_live(env))
		thread_names_read(&n, jni, thread);
	record_init(&r.hdr, BRAID_REC_THREAD_END, 0);
	r.name_len = string_cut(n.name, &r.hdr.flags);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(n.name, r.name_len)}, 2);
	thread_names_free(&n);
	agent_leave();
}

static bool is_marked(jthread thread)
{
	void *marked = NULL;

	return !(*agent.jvmti)->GetThreadLocalStorage(agent.jvmti, thread, &marked) && marked == mark();
}

/* Publishes a thread other than the calling one. `again`: it was published before. */
static void thread_publish_other(JNIEnv *jni, jthread thread, bool again)
{
	struct braid_rec_thread r = {0};
	struct thread_names n;

	objects_on_thread(jni, thread);
	thread_names_read(&n, jni, thread);
	r.java_thread = java_thread_at(jni, thread);
	r.thread_tid = layout_thread_tid(r.java_thread);
	if (again)
		r.flags = BRAID_THREAD_AGAIN;
	else if (agent.start == BRAID_START_ATTACH)
		r.flags = BRAID_THREAD_INITIAL;
	/* An unchanged JavaThread was alive while its OS id was read. */
	if (r.java_thread && java_thread_at(jni, thread) == r.java_thread && thread_publish(&r, &n, BRAID_REC_REPLAY) &&
	    !again)
		atomic_fetch_add(&agent.threads, 1);
	thread_names_free(&n);
}

void threads_publish(JNIEnv *jni, bool again)
{
	jthread *threads = NULL;
	jint count = 0;

	if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
		publish_notice(BRAID_NOTICE_WARNING,
			       "the JVM does not list its threads: those that run already have no "
			       "names until they end");
		return;
	}
	jni_expect(jni, count);
	for (jint i = 0; i < count; i++) {
		helper_pace();
		if (!atomic_load(&agent.dead) && (again || (atomic_load(&agent.active) && !is_marked(threads[i]))))
			thread_publish_other(jni, threads[i], again);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	agent_release(threads);
}

static void threads_again(JNIEnv *jni)
{
	threads_publish(jni, true);
}

const struct kind threads_kind = {
	.events = {{JVMTI_EVENT_THREAD_START, KIND_HANDLER(threads_on_start), 0, 0},
		   {JVMTI_EVENT_THREAD_END, KIND_HANDLER(threads_on_end), 0, 0}},
	.types = BRAID_EVENT_TYPE(THREAD),
	.publish = threads_again,
};
