// SPDX-License-Identifier: Apache-2.0
/*
 * The oracle: a JVM TI agent that takes a thread's stack by GetStackTrace at selected moments, and marks the thread for
 * a recording of the same stack by a system call that nothing else makes. compare.py compares both stacks afterwards.
 * Options: out=FILE,moments=A+B+...,max=N,one_in=N.
 *
 * Nothing is written before the end: the log stays in memory until then.
 */
#include "log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAMES 2048
#define MAX_PREY 64
#define SIGN 0x6f7261 /* an invalid `which` of getpriority(2): EINVAL at once */

enum moment {
	NATIVE,
	ALLOC,
	VM_ALLOC,
	EXCEPTION,
	CATCH,
	CONTEND,
	ENTERED,
	PREPARE,
	LOAD_HOOK,
	ENTRY,
	EXIT,
	STEP,
	POP,
	BREAKPOINT,
	THREAD_START,
	THREAD_END,
	WAIT,
	SUSPENDED,
	MOMENTS
};

static const char *const moment_names[MOMENTS] = {
	"native", "alloc", "vm_alloc", "exception", "catch", "contend",	     "entered",	   "prepare", "load_hook",
	"entry",  "exit",  "step",     "pop",	    "break", "thread_start", "thread_end", "wait",    "suspended"};

static struct {
	jvmtiEnv *ti;
	char out[4096];
	uint64_t wanted; /* selected moments, as bits */
	uint32_t max;
	uint32_t one_in;
	atomic_bool live;
	atomic_uint taken;
	atomic_uint taken_of[MOMENTS];
	uint32_t max_of[MOMENTS];
	pthread_mutex_t prey_lock;
	struct {
		jobject thread;
		pid_t tid;
	} prey[MAX_PREY];
} oracle = {.max = 6000, .one_in = 1, .prey_lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool inside;
static _Thread_local uint32_t dice;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void log_moment_names(void)
{
	for (uint32_t i = 0; i < MOMENTS; i++) {
		char *r = log_reserve(sizeof(struct log_head) + 32, LOG_MOMENT);

		memcpy(r + sizeof(struct log_head), &i, 4);
		strcpy(r + sizeof(struct log_head) + 4, moment_names[i]);
	}
}

/* ---- taking a stack ---- */

static bool wants(enum moment moment)
{
	uint32_t now;

	if (!(oracle.wanted >> moment & 1) || inside || !atomic_load(&oracle.live))
		return false;
	if (!dice)
		dice = (uint32_t)gettid() * 2654435761U | 1;
	dice ^= dice << 13;
	dice ^= dice >> 17;
	dice ^= dice << 5;
	if (dice % oracle.one_in)
		return false;
	now = atomic_load(&oracle.taken);
	if (now >= oracle.max || atomic_load(&oracle.taken_of[moment]) >= oracle.max_of[moment])
		return false;
	atomic_fetch_add(&oracle.taken, 1);
	atomic_fetch_add(&oracle.taken_of[moment], 1);
	return true;
}

/*
 * With a NULL `thread` the current thread makes the sampled call. The stack of another thread, which is suspended, was
 * sampled when it left its CPU.
 */
static void take(JNIEnv *jni, enum moment moment, jthread thread, pid_t tid)
{
	jvmtiFrameInfo frames[MAX_FRAMES];
	uint64_t before, after;
	struct log_stack *r;
	jint count = 0;
	jvmtiError e;

	inside = true;
	e = (*oracle.ti)->GetStackTrace(oracle.ti, thread, 0, MAX_FRAMES, frames, &count);
	if (e == JVMTI_ERROR_THREAD_NOT_ALIVE || e == JVMTI_ERROR_WRONG_PHASE)
		goto out;
	if (e)
		die("GetStackTrace", (int)e);
	before = now_ns();
	if (!thread)
		syscall(SYS_getpriority, SIGN, 0);
	after = now_ns();
	r = log_reserve(sizeof(*r) + (size_t)count * sizeof(r->frames[0]), LOG_STACK);
	r->moment = moment;
	r->tid = (uint32_t)tid;
	r->before_ns = before;
	r->after_ns = after;
	r->count = (uint32_t)count;
	for (jint i = 0; i < count; i++) {
		r->frames[i].method = (uintptr_t)frames[i].method;
		r->frames[i].location = frames[i].location;
		log_method_once(oracle.ti, jni, frames[i].method);
	}
out:
	inside = false;
}

static void at(JNIEnv *jni, enum moment moment)
{
	if (wants(moment))
		take(jni, moment, NULL, gettid());
}

/* ---- what Java calls ---- */

JNIEXPORT void JNICALL Java_Oracle_look(JNIEnv *jni, jclass c)
{
	(void)c;
	at(jni, NATIVE);
}

/* Calls Java, which calls native code again. */
JNIEXPORT jint JNICALL Java_Oracle_down(JNIEnv *jni, jclass c, jobject o, jint depth, jint seed)
{
	static jmethodID method;
	jint r;

	if (!method)
		method = (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, o), "go", "(II)I");
	(void)c;
	at(jni, NATIVE);
	r = (*jni)->CallIntMethod(jni, o, method, depth, seed);
	if (!(*jni)->ExceptionCheck(jni))
		at(jni, NATIVE);
	return r;
}

JNIEXPORT jint JNICALL Java_Oracle_up(JNIEnv *jni, jobject self, jint depth)
{
	(void)self;
	at(jni, NATIVE);
	return depth + 1;
}

/* The number of stacks still to be taken. */
JNIEXPORT jint JNICALL Java_Oracle_wanted(JNIEnv *jni, jclass c)
{
	uint32_t taken = atomic_load(&oracle.taken);

	(void)jni;
	(void)c;
	return taken < oracle.max ? (jint)(oracle.max - taken) : 0;
}

/* From now on the calling thread may be suspended. */
JNIEXPORT void JNICALL Java_Oracle_prey(JNIEnv *jni, jclass c, jboolean in)
{
	pid_t tid = gettid();
	jthread self = NULL;

	(void)c;
	(*oracle.ti)->GetCurrentThread(oracle.ti, &self);
	pthread_mutex_lock(&oracle.prey_lock);
	for (int i = 0; i < MAX_PREY; i++) {
		if (in && !oracle.prey[i].thread) {
			oracle.prey[i].thread = (*jni)->NewGlobalRef(jni, self);
			oracle.prey[i].tid = tid;
			break;
		}
		if (!in && oracle.prey[i].tid == tid) {
			(*jni)->DeleteGlobalRef(jni, oracle.prey[i].thread);
			oracle.prey[i].thread = NULL;
			oracle.prey[i].tid = 0;
			break;
		}
	}
	pthread_mutex_unlock(&oracle.prey_lock);
}

/* Single-steps the calling thread until it is switched off, and sets breakpoints at each line of methods "broken*". */
JNIEXPORT void JNICALL Java_Oracle_trace(JNIEnv *jni, jclass c, jboolean on)
{
	static const struct {
		jvmtiEvent event;
		enum moment moment;
	} events[] = {
		{JVMTI_EVENT_SINGLE_STEP, STEP}, {JVMTI_EVENT_METHOD_ENTRY, ENTRY}, {JVMTI_EVENT_METHOD_EXIT, EXIT}};
	jthread self = NULL;

	(void)c;
	(*oracle.ti)->GetCurrentThread(oracle.ti, &self);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (oracle.wanted >> events[i].moment & 1)
			(*oracle.ti)
				->SetEventNotificationMode(oracle.ti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
							   events[i].event, self);
	if (on && (oracle.wanted >> POP & 1))
		(*oracle.ti)->NotifyFramePop(oracle.ti, NULL, 1);
	(*jni)->DeleteLocalRef(jni, self);
}

static void break_method(jmethodID m)
{
	jvmtiLineNumberEntry *lines;
	char *name = NULL;
	jint count;

	if (!(*oracle.ti)->GetMethodName(oracle.ti, m, &name, NULL, NULL) && strncmp(name, "broken", 6) == 0 &&
	    !(*oracle.ti)->GetLineNumberTable(oracle.ti, m, &count, &lines)) {
		for (jint i = 0; i < count; i++)
			(*oracle.ti)->SetBreakpoint(oracle.ti, m, lines[i].start_location);
		(*oracle.ti)->Deallocate(oracle.ti, (unsigned char *)lines);
	}
	(*oracle.ti)->Deallocate(oracle.ti, (unsigned char *)name);
}

JNIEXPORT void JNICALL Java_Oracle_breakAt(JNIEnv *jni, jclass c, jclass in)
{
	jmethodID *methods;
	jint count;

	(void)jni;
	(void)c;
	if (!(oracle.wanted >> BREAKPOINT & 1) || (*oracle.ti)->GetClassMethods(oracle.ti, in, &count, &methods))
		return;
	for (jint i = 0; i < count; i++)
		break_method(methods[i]);
	(*oracle.ti)->Deallocate(oracle.ti, (unsigned char *)methods);
}

/* ---- suspended threads ---- */

/*
 * Whether the thread has left its CPU. Its state changes a moment too early, before the switch at which its stack is
 * sampled; the kernel shows a thread's system call only after the switch (task_current_syscall).
 */
static bool sleeps(pid_t tid)
{
	char path[64], text[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return n > 0 && text[0] != 'r'; /* "running" */
}

static void hunt(JNIEnv *jni, int i)
{
	jthread t = oracle.prey[i].thread;
	pid_t tid = oracle.prey[i].tid;

	if (!t || (*oracle.ti)->SuspendThread(oracle.ti, t))
		return;
	for (int n = 0; n < 20; n++) {
		if (sleeps(tid)) {
			if (wants(SUSPENDED))
				take(jni, SUSPENDED, t, tid);
			break;
		}
		usleep(100);
	}
	(*oracle.ti)->ResumeThread(oracle.ti, t);
}

/* A separate thread, which Java calls, since it must end before the VM does. */
JNIEXPORT void JNICALL Java_Oracle_prowl(JNIEnv *jni, jclass c, jint rounds)
{
	(void)c;
	for (jint n = 0; n < rounds && Java_Oracle_wanted(jni, c); n++) {
		pthread_mutex_lock(&oracle.prey_lock);
		for (int i = 0; i < MAX_PREY; i++)
			hunt(jni, i);
		pthread_mutex_unlock(&oracle.prey_lock);
		usleep(100 + (unsigned)n * 37 % 700);
	}
}

/* ---- events ---- */

static void JNICALL on_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread t, jobject o, jclass c, jlong size)
{
	(void)ti, (void)t, (void)o, (void)c, (void)size;
	at(jni, ALLOC);
}

static void JNICALL on_vm_alloc(jvmtiEnv *ti, JNIEnv *jni, jthread t, jobject o, jclass c, jlong size)
{
	(void)ti, (void)t, (void)o, (void)c, (void)size;
	at(jni, VM_ALLOC);
}

static void JNICALL on_exception(jvmtiEnv *ti, JNIEnv *jni, jthread t, jmethodID m, jlocation l, jobject o,
				 jmethodID catcher, jlocation catch_location)
{
	(void)ti, (void)t, (void)m, (void)l, (void)o, (void)catcher, (void)catch_location;
	at(jni, EXCEPTION);
}

static void JNICALL on_catch(jvmtiEnv *ti, JNIEnv *jni, jthread t, jmethodID m, jlocation l, jobject o)
{
	(void)ti, (void)t, (void)m, (void)l, (void)o;
	at(jni, CATCH);
}

static void JNICALL on_contend(jvmtiEnv *ti, JNIEnv *jni, jthread t, jobject o)
{
	(void)ti, (void)t, (void)o;
	at(jni, CONTEND);
}

static void JNICALL on_entered(jvmtiEnv *ti, JNIEnv *jni, jthread t, jobject o)
{
	(void)ti, (void)t, (void)o;
	at(jni, ENTERED);
}

static void JNICALL on_wait(jvmtiEnv *ti, JNIEnv *jni, jthread t, jobject o, jlong ms)
{
	(void)ti, (void)t, (void)o, (void)ms;
	at(jni, WAIT);
}

static void JNICALL on_prepare(jvmtiEnv *ti, JNIEnv *jni, jthread t, jclass c)
{
	(void)ti, (void)t, (void)c;
	at(jni, PREPARE);
}

static void JNICALL on_load_hook(jvmtiEnv *ti, JNIEnv *jni, jclass r, jobject l, const char *name, jobject d,
				 jint bytes, const unsigned char *data, jint *new_bytes, unsigned char **new_data)
{
	(void)ti, (void)r, (void)l, (void)name, (void)d, (void)bytes, (void)data, (void)new_bytes, (void)new_data;
	at(jni, LOAD_HOOK);
}

static void JNICALL on_entry(jvmtiEnv *ti, JNIEnv *jni, jthread t, jmethodID m)
{
	(void)ti, (void)t, (void)m;
	at(jni, ENTRY);
}

static void JNICALL on_exit_method(jvmtiEnv *ti, JNIEnv *jni, jthread t, jmethodID m, jboolean e, jvalue v)
{
	(void)ti, (void)t, (void)m, (void)e, (void)v;
	at(jni, EXIT);
}

static void JNICALL on_pop(jvmtiEnv *ti, JNIEnv *jni, jthread t, jmethodID m, jboolean e)
{
	(void)ti, (void)t, (void)m, (void)e;
	at(jni, POP);
}

static void JNICALL on_step(jvmtiEnv *ti, JNIEnv *jni, jthread t, jmethodID m, jlocation l)
{
	(void)ti, (void)t, (void)m, (void)l;
	at(jni, STEP);
}

static void JNICALL on_breakpoint(jvmtiEnv *ti, JNIEnv *jni, jthread t, jmethodID m, jlocation l)
{
	(void)ti, (void)t, (void)m, (void)l;
	at(jni, BREAKPOINT);
}

static void JNICALL on_thread_start(jvmtiEnv *ti, JNIEnv *jni, jthread t)
{
	(void)ti, (void)t;
	at(jni, THREAD_START);
}

static void JNICALL on_thread_end(jvmtiEnv *ti, JNIEnv *jni, jthread t)
{
	(void)ti, (void)t;
	at(jni, THREAD_END);
}

static void JNICALL on_init(jvmtiEnv *ti, JNIEnv *jni, jthread t)
{
	(void)ti, (void)jni, (void)t;
	atomic_store(&oracle.live, true);
}

static void JNICALL on_death(jvmtiEnv *ti, JNIEnv *jni)
{
	(void)ti, (void)jni;
	atomic_store(&oracle.live, false);
	log_write(oracle.out);
}

/* ---- start ---- */

static const jvmtiEvent events[MOMENTS] = {
	[ALLOC] = JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
	[VM_ALLOC] = JVMTI_EVENT_VM_OBJECT_ALLOC,
	[EXCEPTION] = JVMTI_EVENT_EXCEPTION,
	[CATCH] = JVMTI_EVENT_EXCEPTION_CATCH,
	[CONTEND] = JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
	[ENTERED] = JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
	[WAIT] = JVMTI_EVENT_MONITOR_WAIT,
	[PREPARE] = JVMTI_EVENT_CLASS_PREPARE,
	[LOAD_HOOK] = JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
	[POP] = JVMTI_EVENT_FRAME_POP,
	[BREAKPOINT] = JVMTI_EVENT_BREAKPOINT,
	[THREAD_START] = JVMTI_EVENT_THREAD_START,
	[THREAD_END] = JVMTI_EVENT_THREAD_END,
};

static void parse_moments(char *list)
{
	char *save = NULL;

	for (char *one = strtok_r(list, "+", &save); one; one = strtok_r(NULL, "+", &save)) {
		char *most = strchr(one, '*');
		int i = 0;

		if (most)
			*most++ = '\0';
		while (i < MOMENTS && strcmp(one, moment_names[i]) != 0)
			i++;
		if (i == MOMENTS)
			die("no such moment", 0);
		oracle.wanted |= 1UL << i;
		oracle.max_of[i] = most ? (uint32_t)atoi(most) : UINT32_MAX;
	}
}

static void parse(char *options)
{
	char *save = NULL;

	for (char *one = strtok_r(options, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		if (strncmp(one, "out=", 4) == 0)
			snprintf(oracle.out, sizeof(oracle.out), "%s", one + 4);
		else if (strncmp(one, "moments=", 8) == 0)
			parse_moments(one + 8);
		else if (strncmp(one, "max=", 4) == 0)
			oracle.max = (uint32_t)atoi(one + 4);
		else if (strncmp(one, "one_in=", 7) == 0)
			oracle.one_in = (uint32_t)atoi(one + 7);
		else
			die("unknown option", 0);
	}
}

static bool wanted_any(uint64_t moments)
{
	return (oracle.wanted & moments) != 0;
}

/* Only the necessary ones: capabilities change what is compiled. */
static void add_capabilities(void)
{
	jvmtiCapabilities can = {0}, want = {.can_get_line_numbers = 1};

	if ((*oracle.ti)->GetPotentialCapabilities(oracle.ti, &can))
		die("GetPotentialCapabilities", 0);
	if (!can.can_generate_sampled_object_alloc_events)
		oracle.wanted &= ~(1UL << ALLOC);
	want.can_generate_sampled_object_alloc_events = wanted_any(1UL << ALLOC);
	want.can_generate_vm_object_alloc_events = wanted_any(1UL << VM_ALLOC);
	want.can_generate_exception_events = wanted_any(1UL << EXCEPTION | 1UL << CATCH);
	want.can_generate_monitor_events = wanted_any(1UL << CONTEND | 1UL << ENTERED | 1UL << WAIT);
	want.can_generate_method_entry_events = wanted_any(1UL << ENTRY);
	want.can_generate_method_exit_events = wanted_any(1UL << EXIT);
	want.can_generate_single_step_events = wanted_any(1UL << STEP);
	want.can_generate_frame_pop_events = wanted_any(1UL << POP);
	want.can_generate_breakpoint_events = wanted_any(1UL << BREAKPOINT);
	want.can_suspend = wanted_any(1UL << SUSPENDED);
	if ((*oracle.ti)->AddCapabilities(oracle.ti, &want))
		die("AddCapabilities", 0);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks call = {
		.VMInit = on_init,
		.VMDeath = on_death,
		.ThreadStart = on_thread_start,
		.ThreadEnd = on_thread_end,
		.ClassFileLoadHook = on_load_hook,
		.ClassPrepare = on_prepare,
		.Exception = on_exception,
		.ExceptionCatch = on_catch,
		.SingleStep = on_step,
		.FramePop = on_pop,
		.Breakpoint = on_breakpoint,
		.MethodEntry = on_entry,
		.MethodExit = on_exit_method,
		.MonitorWait = on_wait,
		.MonitorContendedEnter = on_contend,
		.MonitorContendedEntered = on_entered,
		.VMObjectAlloc = on_vm_alloc,
		.SampledObjectAlloc = on_alloc,
	};

	(void)reserved;
	parse(options);
	log_open();
	if ((*vm)->GetEnv(vm, (void **)&oracle.ti, JVMTI_VERSION_1_2))
		die("GetEnv", 0);
	log_moment_names();
	add_capabilities();
	if ((*oracle.ti)->SetEventCallbacks(oracle.ti, &call, sizeof(call)))
		die("SetEventCallbacks", 0);
	for (int i = 0; i < MOMENTS; i++)
		if (events[i] && (oracle.wanted >> i & 1) &&
		    (*oracle.ti)->SetEventNotificationMode(oracle.ti, JVMTI_ENABLE, events[i], NULL))
			die("SetEventNotificationMode", i);
	(*oracle.ti)->SetEventNotificationMode(oracle.ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	(*oracle.ti)->SetEventNotificationMode(oracle.ti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL);
	if ((oracle.wanted >> ALLOC & 1) && (*oracle.ti)->SetHeapSamplingInterval(oracle.ti, 0))
		die("SetHeapSamplingInterval", 0);
	return JNI_OK;
}
