// SPDX-License-Identifier: Apache-2.0
/*
 * Which sampled objects are still there. Weak global references, not tags: tags would cost every collection a walk over
 * a table that all agents with tags share, and to find out what has one takes an iteration over the heap, during which
 * the JVM stands.
 *
 * There is room for so many. When it is used up, those that are gone make place; if that is not enough, every other one
 * is given up, and of those to come every other one is passed over: at any time all have had the same chance to be in
 * here, one in 2^halvings, and stand for as many.
 */
#include "events/handlers.h"

#include "agent.h"

#include <stdlib.h>

#define LIVE_MAX 65536U

struct watched {
	jweak object;
	uint64_t number;
	uint64_t time_ns;
	uint64_t size;
	uint64_t weight;
	uint32_t type;
};

static struct {
	pthread_mutex_t mutex; /* handlers of allocations and the helper; JNI may wait for a safepoint under it */
	struct watched *slots; /* NULL: nothing is watched */
	uint32_t room;
	uint32_t used;
	uint32_t halvings;
	uint64_t random;
} live = {.mutex = PTHREAD_MUTEX_INITIALIZER, .random = 0x9e3779b97f4a7c15ULL};

static uint64_t last_number;

static uint64_t next_random(void) /* xorshift64 */
{
	live.random ^= live.random << 13;
	live.random ^= live.random >> 7;
	live.random ^= live.random << 17;
	return live.random;
}

static bool is_gone(JNIEnv *jni, const struct watched *w)
{
	return (*jni)->IsSameObject(jni, w->object, NULL);
}

/* Lets go of all that are gone; with `halve`, of every other one besides. */
static void thin_out(JNIEnv *jni, bool halve)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < live.used; i++) {
		struct watched *w = &live.slots[i];

		if (is_gone(jni, w) || (halve && next_random() >> 63))
			(*jni)->DeleteWeakGlobalRef(jni, w->object);
		else
			live.slots[kept++] = *w;
	}
	live.used = kept;
	live.halvings += halve;
}

static bool has_turn(void)
{
	return !live.halvings || !(next_random() >> (64 - live.halvings));
}

/* As long as a quarter is free after it, it is worth its while. */
static bool make_room(JNIEnv *jni)
{
	if (live.used < live.room)
		return true;
	thin_out(jni, false);
	if (live.used > live.room / 4 * 3)
		thin_out(jni, true);
	return live.used < live.room;
}

uint64_t live_watch(JNIEnv *jni, jobject object, const struct braid_demand *allocation)
{
	uint64_t number = 0;
	uint32_t halvings;
	jweak ref;

	pthread_mutex_lock(&live.mutex);
	if (!live.slots || !has_turn())
		goto out;
	halvings = live.halvings;
	if (!make_room(jni) || (live.halvings != halvings && next_random() >> 63))
		goto out;
	ref = (*jni)->NewWeakGlobalRef(jni, object);
	if (!ref) {
		(*jni)->ExceptionClear(jni); /* no memory for it */
		goto out;
	}
	number = ++last_number;
	live.slots[live.used++] = (struct watched){.object = ref,
						   .number = number,
						   .time_ns = allocation->start_ns,
						   .size = allocation->value,
						   .weight = allocation->weight,
						   .type = allocation->name};
out:
	pthread_mutex_unlock(&live.mutex);
	return number;
}

/* From the allocation to now is how long it has lived; where, and by which thread, its ALLOC has said. */
void live_tell(JNIEnv *jni)
{
	uint64_t now = clock_ns();

	pthread_mutex_lock(&live.mutex);
	thin_out(jni, false);
	for (uint32_t i = 0; i < live.used; i++) {
		const struct watched *w = &live.slots[i];

		demand_tell(&(struct braid_demand){.kind = BRAID_JVM_LIVE,
						   .name = w->type,
						   .start_ns = w->time_ns,
						   .end_ns = now,
						   .value = w->size,
						   .weight = w->weight << live.halvings,
						   .number = w->number},
			    0);
	}
	pthread_mutex_unlock(&live.mutex);
}

static void forget(JNIEnv *jni)
{
	for (uint32_t i = 0; i < live.used; i++)
		(*jni)->DeleteWeakGlobalRef(jni, live.slots[i].object);
	live.used = live.halvings = 0;
}

void live_forget(JNIEnv *jni)
{
	pthread_mutex_lock(&live.mutex);
	forget(jni);
	pthread_mutex_unlock(&live.mutex);
}

/* The room of those that are watched already stays. */
void live_start(const struct braid_choices *c)
{
	pthread_mutex_lock(&live.mutex);
	if (!live.slots) {
		live.room = c->live_max < 1 ? 1 : c->live_max > LIVE_MAX ? LIVE_MAX : c->live_max;
		live.slots = calloc(live.room, sizeof(*live.slots));
		if (!live.slots)
			publish_notice(BRAID_NOTICE_WARNING, "no memory to watch %u objects: none is", live.room);
	}
	pthread_mutex_unlock(&live.mutex);
}

void live_stop(JNIEnv *jni)
{
	pthread_mutex_lock(&live.mutex);
	forget(jni);
	free(live.slots);
	live.slots = NULL;
	pthread_mutex_unlock(&live.mutex);
}
