// SPDX-License-Identifier: Apache-2.0
/* Java threads and the OS threads that they run on: JVM TI says nothing of the latter. */
#include "agent.h"

#include "events/handlers.h"
#include "vm/layout.h"
#include "vm/vthreads.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct thread_names {
	char *name;
	char *group;
	uint32_t flags;
	uint32_t priority;
	bool known;
};

/* The thread's JavaThread, 0 when it does not run; an exception of the application stays what it was. */
uint64_t threads_java_thread(JNIEnv *jni, jthread thread)
{
	static _Atomic(jfieldID) eetop;
	jthrowable pending = jni_save(jni);
	jfieldID field = jni_root_field(jni, thread, "eetop", "J", &eetop);
	jlong value = field ? (*jni)->GetLongField(jni, thread, field) : 0;

	jni_restore(jni, pending);
	return (uint64_t)value;
}

static void names_read(struct thread_names *n, JNIEnv *jni, jthread thread)
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

static void names_free(struct thread_names *n)
{
	agent_release(n->name);
	agent_release(n->group);
}

/* Fills in the names and publishes. */
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

/* CPU time of the calling thread. */
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

/* Threads that said all of themselves in this connection carry its number, so that the replay leaves them out. */
static void *mark(void)
{
	return (void *)agent.generation;
}

/* Before the live phase not even java.lang.Thread need be initialized; the replay tells of these threads. */
static bool is_live(jvmtiEnv *env)
{
	jvmtiPhase phase;

	return !(*env)->GetPhase(env, &phase) && phase == JVMTI_PHASE_LIVE;
}

void JNICALL threads_on_start(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct braid_rec_thread r = {.cpu_ns = own_cpu_ns(), .system_ns = own_system_ns()};
	struct thread_names n;

	if (!is_live(env) || !agent_enter())
		return;
	vthreads_on_thread(jni, thread);
	names_read(&n, jni, thread);
	r.java_thread = threads_java_thread(jni, thread);
	r.thread_tid = self_tid();
	if (thread_publish(&r, &n, 0))
		atomic_fetch_add(&agent.threads, 1);
	if (n.known)
		(*env)->SetThreadLocalStorage(env, NULL, mark());
	names_free(&n);
	agent_leave();
}

/* Its name may have become another one, of which JVM TI says nothing. */
void JNICALL threads_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct braid_rec_thread_end r = {.cpu_ns = own_cpu_ns(), .system_ns = own_system_ns()};
	struct thread_names n = {0};

	(void)env;
	if (!agent_enter())
		return;
	r.java_thread = threads_java_thread(jni, thread);
	if (chosen_wants(BRAID_WANT(THREAD)))
		names_read(&n, jni, thread);
	record_init(&r.hdr, BRAID_REC_THREAD_END, 0);
	r.name_len = string_cut(n.name, &r.hdr.flags);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(n.name, r.name_len)}, 2);
	names_free(&n);
	agent_leave();
}

static bool is_marked(jthread thread)
{
	void *marked = NULL;

	return !(*agent.jvmti)->GetThreadLocalStorage(agent.jvmti, thread, &marked) && marked == mark();
}

/* A thread that is not the calling one. `again`: it was told before. */
static void thread_tell(JNIEnv *jni, jthread thread, bool again)
{
	struct braid_rec_thread r = {0};
	struct thread_names n;

	vthreads_on_thread(jni, thread);
	names_read(&n, jni, thread);
	r.java_thread = threads_java_thread(jni, thread);
	r.thread_tid = layout_thread_tid(r.java_thread);
	if (again)
		r.flags = BRAID_THREAD_AGAIN;
	else if (agent.start == BRAID_START_ATTACH)
		r.flags = BRAID_THREAD_INITIAL;
	/* Still the same? Then the JavaThread was alive while it was read. */
	if (r.java_thread && threads_java_thread(jni, thread) == r.java_thread &&
	    thread_publish(&r, &n, BRAID_REC_REPLAY) && !again)
		atomic_fetch_add(&agent.threads, 1);
	names_free(&n);
}

uint32_t threads_tid(JNIEnv *jni, jthread thread)
{
	uint64_t java_thread = threads_java_thread(jni, thread);
	uint32_t tid = layout_thread_tid(java_thread);

	return java_thread && threads_java_thread(jni, thread) == java_thread ? tid : 0;
}

void threads_tell(JNIEnv *jni, bool again)
{
	jthread *threads = NULL;
	jint count = 0;

	if ((*agent.jvmti)->GetAllThreads(agent.jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
		publish_notice(BRAID_NOTICE_WARNING,
			       "the JVM does not list its threads: those that run already have no "
			       "names until they end");
		return;
	}
	for (jint i = 0; i < count; i++) {
		helper_pace();
		if (!atomic_load(&agent.dead) && (again || (atomic_load(&agent.active) && !is_marked(threads[i]))))
			thread_tell(jni, threads[i], again);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	agent_release(threads);
}
