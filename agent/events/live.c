// SPDX-License-Identifier: Apache-2.0
/*
 * Which sampled objects are still there. Weak global references, not tags: tags would cost every collection a walk over
 * a table that all agents with tags share, and to find out what has one takes an iteration over the heap, during which
 * the JVM stands.
 *
 * There is room for so many. When it is used up, those that are gone make place; if that is not enough, every other one
 * is given up, and of those to come every other one is passed over: at any time all have had the same chance to be in
 * here, one in 2^halvings, and stand for as many.
 *
 * An object that is still there need not be in use: nobody knows before a collector has looked. That it has looked is
 * known in two ways. Collectors that stop the world count their runs. And any collector gives itself away by what it
 * takes: when an object is gone, those that were watched before it have been through the same collection. Large objects
 * may lie where only some collections look: of them only a full one proves anything, or the end of another like them.
 */
#include "handlers.h"
#include "core/jni.h"

#include <stdlib.h>

#define LIVE_MAX 65536U
#define LARGE_BYTES (512U * 1024) /* half of G1's smallest region: smaller objects are allocated among the young */

/* Kinds of objects that collections may treat differently: G1 takes large arrays of primitives in young ones, too. */
enum place { PLACE_SMALL, PLACE_LARGE, PLACE_LARGE_PRIMITIVE, PLACES };

struct watched {
	jweak object;
	uint64_t number;     /* ascending */
	struct gc_runs runs; /* until it was watched */
	uint32_t outlived;   /* sweeps that found a later one of its place gone */
	uint32_t place;
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
	uint64_t newest_gone[PLACES] = {0};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < live.used; i++) {
		struct watched *w = &live.slots[i];
		bool gone = is_gone(jni, w);

		if (gone)
			newest_gone[w->place] = w->number;
		if (gone || (halve && next_random() >> 63))
			(*jni)->DeleteWeakGlobalRef(jni, w->object);
		else
			live.slots[kept++] = *w;
	}
	for (uint32_t i = 0; i < kept; i++)
		live.slots[i].outlived += live.slots[i].number < newest_gone[live.slots[i].place];
	live.used = kept;
	live.halvings += halve;
}

static enum place place_of(jclass class, uint64_t size)
{
	enum place place = PLACE_LARGE;
	char *signature;

	if (size < LARGE_BYTES)
		return PLACE_SMALL;
	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE) {
		if (signature[0] == '[' && signature[1] != 'L' && signature[1] != '[')
			place = PLACE_LARGE_PRIMITIVE;
		agent_release(signature);
	}
	return place;
}

/* Collections that it has been through: so many at least. `now` was read before the object was found to be there. */
static uint32_t collections_survived(const struct watched *w, const struct gc_runs *now)
{
	uint64_t runs = 0;

	if (w->runs.known && now->known)
		runs = now->full - w->runs.full + (w->place == PLACE_SMALL ? now->young - w->runs.young : 0);
	if (runs < w->outlived)
		runs = w->outlived;
	return runs < UINT32_MAX ? (uint32_t)runs : UINT32_MAX;
}

static bool has_turn(void)
{
	return !live.halvings || !(next_random() >> (64 - live.halvings));
}

/* As long as a quarter is free after it, it is worth its while. */
static bool live_make_room(JNIEnv *jni)
{
	if (live.used < live.room)
		return true;
	thin_out(jni, false);
	if (live.used > live.room / 4 * 3)
		thin_out(jni, true);
	return live.used < live.room;
}

uint64_t live_watch(JNIEnv *jni, jobject object, jclass class, const struct braid_jvm_event *allocation)
{
	enum place place = place_of(class, allocation->value);
	jthrowable pending = jni_save(jni);
	uint64_t number = 0;
	uint32_t halvings;
	jweak ref;

	pthread_mutex_lock(&live.mutex);
	if (!live.slots || !has_turn())
		goto out;
	halvings = live.halvings;
	if (!live_make_room(jni) || (live.halvings != halvings && next_random() >> 63))
		goto out;
	ref = (*jni)->NewWeakGlobalRef(jni, object);
	if (!ref) {
		(*jni)->ExceptionClear(jni); /* no memory for it */
		goto out;
	}
	number = ++last_number;
	live.slots[live.used++] = (struct watched){.object = ref,
						   .number = number,
						   .runs = gc_runs(),
						   .place = place,
						   .time_ns = allocation->start_ns,
						   .size = allocation->value,
						   .weight = allocation->weight,
						   .type = allocation->name};
out:
	pthread_mutex_unlock(&live.mutex);
	jni_restore(jni, pending);
	return number;
}

/* From the allocation to now is how long it has lived; where, and by which thread, its ALLOC has said. */
static void live_emit(JNIEnv *jni)
{
	uint64_t now = clock_ns();
	struct gc_runs runs;

	pthread_mutex_lock(&live.mutex);
	runs = gc_runs();
	thin_out(jni, false);
	for (uint32_t i = 0; i < live.used; i++) {
		const struct watched *w = &live.slots[i];
		uint32_t survived = collections_survived(w, &runs);

		jvm_event_publish(&(struct braid_jvm_event){.kind = survived ? BRAID_JVM_LIVE : BRAID_JVM_UNCOLLECTED,
							    .flags = survived,
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

/* Where collections are not counted, those that were survived are found one by one. */
static void live_tick(JNIEnv *jni)
{
	if (gc_runs().known)
		return;
	pthread_mutex_lock(&live.mutex);
	thin_out(jni, false);
	pthread_mutex_unlock(&live.mutex);
}

static void watched_forget(JNIEnv *jni)
{
	for (uint32_t i = 0; i < live.used; i++)
		(*jni)->DeleteWeakGlobalRef(jni, live.slots[i].object);
	live.used = live.halvings = 0;
}

static void live_forget(JNIEnv *jni)
{
	pthread_mutex_lock(&live.mutex);
	watched_forget(jni);
	pthread_mutex_unlock(&live.mutex);
}

/* The room of those that are watched already stays. */
static void live_start(const struct braid_event_config *c)
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

static void live_stop(JNIEnv *jni)
{
	pthread_mutex_lock(&live.mutex);
	watched_forget(jni);
	free(live.slots);
	live.slots = NULL;
	pthread_mutex_unlock(&live.mutex);
}

const struct kind live_kind = {
	.types = BRAID_EVENT_TYPE(LIVE),
	.start = live_start,
	.tick = live_tick,
	.publish = live_emit,
	.forget = live_forget,
	.stop = live_stop,
};
