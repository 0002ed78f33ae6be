// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind malloc: sampled native allocations, and which of them were not freed. The slots by which the loaded
 * objects call malloc and its relatives lead to hooks (hooks.c) while the event type is enabled; objects that are
 * loaded later are found when a native method is bound, and once a second. Every byte is sampled with the probability 1
 * / interval.
 *
 * A sample may be taken anywhere: inside a collection, on threads that are not the JVM's, with any lock held. So it
 * goes the way of events that neither lock nor allocate, and uses neither JNI nor JVM TI.
 */
#include "malloc.h"

#include "countdown.h"
#include "hooks.h"
#include "sampled.h"

#include "core/config.h"
#include "core/seccomp.h"
#include "core/weight.h"
#include "events/handlers.h"

#include <sys/syscall.h>
#include <unistd.h>

/*
 * An object whose RELRO is still writable after so many ticks without a load is not being loaded: another tool has made
 * it writable.
 */
#define LOADING_TICKS 5
#define FILTERS_LOOKED_AT 256 /* threads, in a tick: about 5 ms */

static _Atomic bool on;
static _Atomic uint64_t last_number;
static uint64_t first_number; /* of this recording */
static uint32_t names[MALLOC_FUNCTIONS];
static _Atomic pid_t process;				    /* a child has the slots, but not the ring */
static uintptr_t generation;				    /* of the connection that `names` are for */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER; /* only who looks at objects takes it, for one pass */
static uint64_t objects_seen, objects_waited_for;
static uint32_t waited;	      /* ticks, for these */
static uint64_t published_ns; /* for hooks: one time for all that is published at once */
static uint32_t reported;     /* objects in the last notice */
static int filters;	      /* seccomp filters of the thread that has set the hooks */

/* glibc remembers no process's number, and a thread of a child that shares the memory has its own. */
static pid_t process_now(void)
{
	return (pid_t)syscall(SYS_getpid);
}

void malloc_sampled(void *address, size_t size, uint64_t interval, enum malloc_function function)
{
	struct braid_jvm_event d = {.kind = BRAID_JVM_MALLOC, .value = size, .weight = sample_weight(size, interval)};
	struct sampled s = {.size = size, .weight = d.weight, .function = function};

	if (!atomic_load_explicit(&on, memory_order_relaxed) ||
	    process_now() != atomic_load_explicit(&process, memory_order_relaxed) || !agent_enter())
		return;
	s.time_ns = d.start_ns = d.end_ns = clock_ns();
	s.number = d.number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
	d.name = names[function];
	if (!sampled_put(address, &s))
		jvm_event_count(BRAID_JVM_UNFREED, 0);
	jvm_event_emit(&d);
	agent_leave();
}

/* ---- slots ---- */

static void report(const struct got_result *r)
{
	uint32_t count = r->foreign + r->refused;

	if (count <= reported)
		return;
	reported = count;
	if (r->foreign)
		publish_notice(
			BRAID_NOTICE_WARNING,
			"%u loaded objects call another allocator, or another tool's or recording's hooks (the first "
			"is %s): their native allocations are not sampled",
			r->foreign, r->name);
	if (r->refused)
		publish_notice(
			BRAID_NOTICE_WARNING,
			"%u loaded objects cannot be changed (the first is %s): their native allocations are not "
			"sampled",
			r->refused, r->name);
}

static void look_at_new(void)
{
	uint64_t now = got_objects();
	struct got_result r;

	if (now == objects_seen)
		return;
	if (now != objects_waited_for)
		waited = 0;
	objects_waited_for = now;
	r = got_change(malloc_functions, waited > LOADING_TICKS ? GOT_HOOKS_ALL : GOT_HOOKS);
	if (!r.later)
		objects_seen = now;
	report(&r);
}

/*
 * On any thread. A thread that is about to call new code waits for another one that looks: that one may be changing the
 * slots of this very code, and what the code allocates before would be missing without a word.
 */
static void look_at_objects(void)
{
	pthread_mutex_lock(&looking);
	if (atomic_load(&on))
		look_at_new();
	pthread_mutex_unlock(&looking);
}

/* ---- life ---- */

static bool malloc_open(void)
{
	if (hooks_open() && countdown_open() && sampled_open())
		return true;
	publish_notice(BRAID_NOTICE_WARNING,
		       "no memory, or no malloc, in this JVM: native allocations are not sampled");
	return false;
}

/*
 * A sample makes system calls, for which a filter of the thread's own may kill the process. Any thread allocates, so
 * no other one may have other filters than the one that has tried these calls.
 */
static bool threads_allow(uint32_t most)
{
	if (!atomic_load(&on))
		filters = seccomp_filters();
	if (!seccomp_others(filters, most))
		return true;
	publish_notice(
		BRAID_NOTICE_WARNING,
		"a thread of this JVM has its own seccomp filter, which may kill it for what a sample does: native "
		"allocations are not sampled from here on");
	return false;
}

/* Threads may still be inside of hooks. What they do to the emptied tables concerns addresses of theirs only. */
static void malloc_stop(JNIEnv *jni)
{
	struct got_result r;

	(void)jni;
	if (!atomic_exchange(&on, false))
		return;
	atomic_store(&natives_on_code, NULL);
	pthread_mutex_lock(&looking); /* who is at it has changed all that is put back now */
	r = got_change(malloc_functions, GOT_BACK);
	pthread_mutex_unlock(&looking);
	if (r.refused)
		publish_notice(BRAID_NOTICE_WARNING,
			       "%u loaded objects cannot be changed back (the first is %s): they go on calling malloc "
			       "through the agent, which only passes the calls on",
			       r.refused, r.name);
	countdown_forget();
	sampled_forget();
}

/* Also when the interval changes. */
static void malloc_start(const struct braid_event_config *c)
{
	countdown_set_interval(c->malloc_interval);
	if (generation != agent.generation) /* the former connection could not end */
		malloc_stop(NULL);
	if (atomic_load(&on) || !threads_allow(UINT32_MAX) || !malloc_open())
		return;
	generation = agent.generation;
	countdown_forget();
	sampled_forget();
	for (size_t i = 0; i < MALLOC_FUNCTIONS; i++)
		names[i] = types_text(malloc_functions[i].name);
	first_number = atomic_load(&last_number) + 1;
	reported = 0;
	objects_seen = objects_waited_for = 0;
	atomic_store(&process, process_now());
	atomic_store(&on, true);
	atomic_store(&natives_on_code, look_at_objects);
	look_at_objects();
}

static void malloc_on_enabled(JNIEnv *jni)
{
	(void)jni;
	look_at_objects();
}

static void malloc_tick(JNIEnv *jni)
{
	if (atomic_load(&on) && !threads_allow(FILTERS_LOOKED_AT))
		malloc_stop(jni);
	pthread_mutex_lock(&looking);
	waited++;
	pthread_mutex_unlock(&looking);
	malloc_on_enabled(jni);
	sampled_thin_out();
}

/* The interval is the allocation's age; its MALLOC event has the stack and the thread. */
static void publish_unfreed(const struct sampled *s)
{
	if (s->number >= first_number && s->function < MALLOC_FUNCTIONS)
		jvm_event_publish(&(struct braid_jvm_event){.kind = BRAID_JVM_UNFREED,
							    .name = names[s->function],
							    .start_ns = s->time_ns,
							    .end_ns = published_ns,
							    .value = s->size,
							    .weight = s->weight,
							    .number = s->number},
				  0);
}

static void malloc_publish(JNIEnv *jni)
{
	(void)jni;
	published_ns = clock_ns();
	if (atomic_load(&on))
		sampled_walk(publish_unfreed);
}

static void malloc_forget(JNIEnv *jni)
{
	(void)jni;
	first_number = atomic_load(&last_number) + 1;
}

const struct kind malloc_kind = {
	.types = BRAID_EVENT_TYPE(MALLOC),
	.start = malloc_start,
	.on_enabled = malloc_on_enabled,
	.tick = malloc_tick,
	.publish = malloc_publish,
	.forget = malloc_forget,
	.stop = malloc_stop,
	.without_jvm = true,
};
