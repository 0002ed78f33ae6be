// SPDX-License-Identifier: Apache-2.0
/* From the collector's choices to capabilities, events and what the kinds do besides. */
#include "events/handlers.h"

#include "agent.h"

#include <string.h>

struct chosen chosen;

static void threads_again(JNIEnv *jni)
{
	threads_tell(jni, true);
}

/* What a kind does besides handling its events. */
static const struct kind {
	uint32_t wanted;			      /* 0: always */
	void (*start)(const struct braid_choices *c); /* before its events come, and when figures change */
	void (*tick)(JNIEnv *jni);		      /* once a second */
	void (*tell)(JNIEnv *jni);		      /* what is told at the end, or when asked for */
	void (*forget)(JNIEnv *jni);
	void (*stop)(JNIEnv *jni); /* after its events */
} kinds[] = {
	{.wanted = BRAID_WANT(ALLOC) | BRAID_WANT(LIVE), .start = alloc_start},
	{.wanted = BRAID_WANT(LIVE), .start = live_start, .tell = live_tell, .forget = live_forget, .stop = live_stop},
	{.wanted = BRAID_WANT(LOCK) | BRAID_WANT(WAIT), .start = monitors_start, .stop = monitors_stop},
	{.wanted = BRAID_WANT(GC), .start = gc_start},
	{.wanted = BRAID_WANT(THREAD), .tell = threads_again},
	{.wanted = BRAID_WANT(CLASS), .start = loads_start, .stop = loads_stop},
	{.wanted = BRAID_WANT(VTHREAD), .tick = virtual_tell, .tell = virtual_tell, .stop = virtual_tell},
	{.wanted = BRAID_WANT(EXCEPTION), .tick = exceptions_tell, .tell = exceptions_tell, .stop = exceptions_tell},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool is_on(const struct kind *k, uint32_t wanted)
{
	return !k->wanted || (k->wanted & wanted);
}

static void set_figures(const struct braid_choices *c)
{
	atomic_store(&chosen.vthread_rate, c->vthread_rate);
	atomic_store(&chosen.exception_rate, c->exception_rate);
	atomic_store(&chosen.live_max, c->live_max);
	atomic_store(&chosen.alloc_interval, c->alloc_interval);
	atomic_store(&chosen.lock_min_ns, c->lock_min_ns);
	atomic_store(&chosen.wait_min_ns, c->wait_min_ns);
	atomic_store(&chosen.wanted, c->wanted);
}

static void start_kinds(const struct braid_choices *c)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].start && is_on(&kinds[i], c->wanted))
			kinds[i].start(c);
}

void chosen_start(const struct braid_choices *c)
{
	types_reset();
	demand_start();
	set_figures(c);
	start_kinds(c);
}

void chosen_change(const struct braid_choices *c)
{
	uint32_t before = atomic_load(&chosen.wanted);
	struct caps caps;
	JNIEnv *jni;

	if ((*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK)
		return;
	caps_acquire(&caps, c->wanted);
	set_figures(c);
	start_kinds(c);
	(void)events_choose(c->wanted & ~c->threaded); /* an event that is refused has no capability, which is told */
	events_choose_threads(jni, c);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].stop && is_on(&kinds[i], before) && !is_on(&kinds[i], c->wanted))
			kinds[i].stop(jni);
	caps_keep(&caps, c->wanted);
	hello_publish(&caps);
}

void chosen_act(JNIEnv *jni, enum braid_act act)
{
	uint32_t wanted = atomic_load(&chosen.wanted);

	if (act == BRAID_ACT_GC)
		(void)(*agent.jvmti)->ForceGarbageCollection(agent.jvmti);
	for (size_t i = 0; i < KINDS; i++) {
		if (!is_on(&kinds[i], wanted))
			continue;
		if (act == BRAID_ACT_DUMP && kinds[i].tell)
			kinds[i].tell(jni);
		else if (act == BRAID_ACT_RESET && kinds[i].forget)
			kinds[i].forget(jni);
	}
}

void chosen_tick(JNIEnv *jni)
{
	uint32_t wanted = atomic_load(&chosen.wanted);

	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].tick && is_on(&kinds[i], wanted))
			kinds[i].tick(jni);
	demand_tell_counted();
}

void chosen_last_words(JNIEnv *jni)
{
	chosen_act(jni, BRAID_ACT_DUMP);
	demand_tell_counted();
}

void chosen_end(JNIEnv *jni)
{
	uint32_t wanted = atomic_exchange(&chosen.wanted, 0);

	for (size_t i = 0; i < KINDS; i++)
		if (jni && kinds[i].stop && is_on(&kinds[i], wanted))
			kinds[i].stop(jni);
}
