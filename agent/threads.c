// SPDX-License-Identifier: Apache-2.0
/* Java threads and the OS threads that they run on: JVM TI says nothing of the latter. */
#include "agent.h"

#include "layout.h"
#include "vthreads.h"

#include <stdlib.h>
#include <string.h>

struct thread_names {
	char *name;
	char *group;
	uint32_t flags;
	uint32_t priority;
	bool known;
};

static void release(void *p)
{
	if (p)
		(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

/*
 * java.lang.Thread itself, the last class before Object: a field id that was asked of a subclass is not good for others
 * (jfieldIDWorkaround), and FindClass could run a class loader of the application.
 */
static jclass thread_class(JNIEnv *jni, jthread thread)
{
	jclass class = (*jni)->GetObjectClass(jni, thread);
	jclass super = (*jni)->GetSuperclass(jni, class);
	jclass above = super ? (*jni)->GetSuperclass(jni, super) : NULL;

	while (above) {
		(*jni)->DeleteLocalRef(jni, class);
		class = super;
		super = above;
		above = (*jni)->GetSuperclass(jni, super);
	}
	if (super)
		(*jni)->DeleteLocalRef(jni, super);
	return class;
}

static jfieldID eetop_field(JNIEnv *jni, jthread thread)
{
	static _Atomic(jfieldID) known;
	jfieldID field = atomic_load(&known);
	jclass class;

	if (field)
		return field;
	class = thread_class(jni, thread);
	field = (*jni)->GetFieldID(jni, class, "eetop", "J");
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		field = NULL;
	}
	(*jni)->DeleteLocalRef(jni, class);
	atomic_store(&known, field);
	return field;
}

/* The thread's JavaThread, 0 when it does not run; an exception of the application stays what it was. */
uint64_t threads_java_thread(JNIEnv *jni, jthread thread)
{
	jthrowable pending = (*jni)->ExceptionOccurred(jni);
	jfieldID field;
	jlong value = 0;

	if (pending)
		(*jni)->ExceptionClear(jni);
	field = eetop_field(jni, thread);
	if (field)
		value = (*jni)->GetLongField(jni, thread, field);
	if (pending) {
		(*jni)->Throw(jni, pending);
		(*jni)->DeleteLocalRef(jni, pending);
	}
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
	release(n->name);
	release(n->group);
}

static void thread_publish(const struct thread_names *n, uint64_t java_thread, uint32_t tid, uint16_t flags)
{
	struct braid_rec_thread r = {
		.java_thread = java_thread,
		.thread_tid = tid,
		.flags = n->flags,
		.priority = n->priority,
	};

	if (flags & BRAID_REC_REPLAY && agent.start == BRAID_START_ATTACH)
		r.flags |= BRAID_THREAD_INITIAL;
	record_init(&r.hdr, BRAID_REC_THREAD, flags);
	r.name_len = string_cut(n->name, &r.hdr.flags);
	r.group_len = string_cut(n->group, &r.hdr.flags);
	if (publish_definition(
		    (struct iovec[]){PART(&r, sizeof(r)), PART(n->name, r.name_len), PART(n->group, r.group_len)}, 3))
		atomic_fetch_add(&agent.threads, 1);
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
	struct thread_names n;

	if (!is_live(env) || !agent_enter())
		return;
	vthreads_on_thread(jni, thread);
	names_read(&n, jni, thread);
	thread_publish(&n, threads_java_thread(jni, thread), self_tid(), 0);
	if (n.known)
		(*env)->SetThreadLocalStorage(env, NULL, mark());
	names_free(&n);
	agent_leave();
}

void JNICALL threads_on_end(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	struct braid_rec_thread_end r;

	(void)env;
	if (!agent_enter())
		return;
	r.java_thread = threads_java_thread(jni, thread);
	record_init(&r.hdr, BRAID_REC_THREAD_END, 0);
	publish_definition((struct iovec[]){PART(&r, sizeof(r))}, 1);
	agent_leave();
}

static void thread_replay(JNIEnv *jni, jthread thread)
{
	struct thread_names n;
	uint64_t java_thread;
	uint32_t tid;
	void *marked = NULL;

	helper_pace();
	if (!agent_enter())
		return;
	if (!(*agent.jvmti)->GetThreadLocalStorage(agent.jvmti, thread, &marked) && marked == mark())
		goto out;
	vthreads_on_thread(jni, thread);
	names_read(&n, jni, thread);
	java_thread = threads_java_thread(jni, thread);
	tid = layout_thread_tid(java_thread);
	/* Still the same? Then the JavaThread was alive while it was read. */
	if (java_thread && threads_java_thread(jni, thread) == java_thread)
		thread_publish(&n, java_thread, tid, BRAID_REC_REPLAY);
	names_free(&n);
out:
	agent_leave();
}

void threads_replay(JNIEnv *jni)
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
		thread_replay(jni, threads[i]);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	release(threads);
}
