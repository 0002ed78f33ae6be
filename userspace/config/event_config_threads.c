// SPDX-License-Identifier: Apache-2.0
/* The part of an event configuration that holds for single threads. */
#include "event_config.h"

#include <errno.h>
#include <stdio.h>

/* alloc and live come from one JVM TI event. */
static uint32_t with_companions(uint32_t kinds)
{
	const uint32_t allocations = BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE);

	return kinds & allocations ? kinds | allocations : kinds;
}

/* For one thread, or for all (0). Returns the types that no thread has any more. */
static uint32_t threads_forget(struct braid_event_config *c, uint32_t tid, uint32_t kinds)
{
	uint32_t left = 0;

	for (size_t i = 0; i < BRAID_CONFIG_THREADS; i++) {
		struct braid_thread_config *t = &c->threads[i];

		if (!tid || t->tid == tid)
			t->enabled &= ~kinds;
		if (!t->enabled)
			t->tid = 0;
		left |= t->enabled;
	}
	return kinds & ~left;
}

static struct braid_thread_config *thread_place(struct braid_event_config *c, uint32_t tid)
{
	struct braid_thread_config *free = NULL;

	for (size_t i = 0; i < BRAID_CONFIG_THREADS; i++) {
		if (c->threads[i].tid == tid)
			return &c->threads[i];
		if (!c->threads[i].tid && !free)
			free = &c->threads[i];
	}
	return free;
}

static int thread_enable(struct braid_event_config *c, uint32_t kinds, uint32_t tid, char why[SELECTION_WHY])
{
	struct braid_thread_config *t = thread_place(c, tid);

	if (!t) {
		snprintf(why, SELECTION_WHY, "%d threads are enabled, which is the maximum; disable one of them first",
			 BRAID_CONFIG_THREADS);
		return -EINVAL;
	}
	t->tid = tid;
	t->enabled |= kinds;
	c->threaded |= kinds;
	return 0;
}

static int thread_disable(struct braid_event_config *c, const struct braid_event_config *before, uint32_t kinds,
			  uint32_t tid, char why[SELECTION_WHY])
{
	const struct braid_thread_config *t = thread_place(c, tid);

	if (!t || t->tid != tid || (t->enabled & kinds) != kinds) {
		snprintf(why, SELECTION_WHY, "thread %u was not enabled separately; use `enable LIST thread=TID`", tid);
		return -EINVAL;
	}
	kinds = threads_forget(c, tid, kinds);
	c->enabled = before->enabled & ~kinds;
	c->threaded &= ~kinds;
	return 0;
}

int event_config_thread(struct braid_event_config *c, const struct braid_event_config *before,
			enum config_change change, uint32_t named, uint32_t tid, char why[SELECTION_WHY])
{
	uint32_t kinds = with_companions(named) & BRAID_PER_THREAD;

	if (!tid && change == CONFIG_DISABLE)
		kinds = BRAID_PER_THREAD & ~with_companions(c->enabled); /* types that are disabled as a whole */
	if (!tid && change != CONFIG_INTERVAL) {
		(void)threads_forget(c, 0, kinds);
		c->threaded &= ~kinds;
	}
	if (!tid)
		return 0;
	if (named & ~BRAID_PER_THREAD || change == CONFIG_INTERVAL) {
		snprintf(why, SELECTION_WHY,
			 "only alloc, live, lock and exception can be enabled and disabled for one thread");
		return -EINVAL;
	}
	return change == CONFIG_ENABLE ? thread_enable(c, kinds, tid, why) : thread_disable(c, before, kinds, tid, why);
}
