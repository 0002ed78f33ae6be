// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind live: which sampled objects are still there. It uses weak global references, not tags: with tags
 * every collection walks a table that all agents share, and finding the tagged objects iterates over the heap in a
 * stop-the-world pause.
 *
 * The room is limited. When it is full, objects that are gone leave. If that frees too little, every second object is
 * given up, and from then on every second new one is skipped. So at any time all objects have had the same chance to
 * be watched, one in 2^halvings, and the weights grow by the inverse.
 *
 * An object that is still there need not be in use: only a collection decides that. There are two signs of one.
 * Stop-the-world collectors count their runs. And with any collector, an object that is gone shows that objects
 * watched before it have survived the same collection. Large objects may be in places that only some collections
 * reach: for them only a full collection, or the end of another object of the same kind, is a proof.
 */
#include "handlers.h"
#include "core/jni.h"
#include "core/jni_table.h"

#include <braid/heap_roots.h>

#include <stdlib.h>

#define LIVE_MAX BRAID_WATCHED_MAX
#define REFERENCE_TAGS 7U /* bits of a reference that say of which kind it is (jniHandles.hpp) */
#define LARGE_BYTES                                                                                                    \
	(512U * 1024) /* half of G1's smallest region; smaller objects are allocated in the young generation */

/* Kinds of objects that collections may treat differently: young collections of G1 also take large primitive arrays. */
enum place { PLACE_SMALL, PLACE_LARGE, PLACE_LARGE_PRIMITIVE, PLACES };

struct watched {
	jweak object;
	uint64_t number;     /* ascending */
	struct gc_runs runs; /* when the watch began */
	uint32_t outlived;   /* sweeps that found a later object of the same place gone */
	uint32_t place;
	uint64_t time_ns;
	uint64_t size;
	uint64_t weight;
	uint32_t type;
};

static struct {
	pthread_mutex_t mutex; /* taken by allocation handlers and the helper; JNI may wait for a safepoint under it */
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

/* Drops all objects that are gone and, with `halve`, every second of the others. */
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
			jni_weak_delete(jni, w->object);
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

/* A lower bound of the collections that it has survived. `now` was read before the object was found to be there. */
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

/* Dropping the gone objects suffices if it leaves a quarter of the room free. */
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
	ref = jni_weak_new(jni, object);
	if (!ref) {
		(*jni)->ExceptionClear(jni); /* OutOfMemoryError */
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

uint32_t live_hold(struct braid_heap_watched *to)
{
	pthread_mutex_lock(&live.mutex);
	for (uint32_t i = 0; i < live.used; i++) {
		const struct watched *w = &live.slots[i];

		to[i] = (struct braid_heap_watched){.slot = (uintptr_t)w->object & ~(uintptr_t)REFERENCE_TAGS,
						    .number = w->number,
						    .bytes = w->size,
						    .weight = w->weight << live.halvings};
	}
	return live.used;
}

void live_release(void)
{
	pthread_mutex_unlock(&live.mutex);
}

/* The interval is the object's age; its ALLOC event has the stack and the thread. */
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

/* Without counted collections, regular sweeps find the survived ones. */
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
		jni_weak_delete(jni, live.slots[i].object);
	live.used = live.halvings = 0;
}

static void live_forget(JNIEnv *jni)
{
	pthread_mutex_lock(&live.mutex);
	watched_forget(jni);
	pthread_mutex_unlock(&live.mutex);
}

/* A change of the configuration keeps the room of a table that is in use. */
static void live_start(const struct braid_event_config *c)
{
	pthread_mutex_lock(&live.mutex);
	if (!live.slots) {
		live.room = c->live_max < 1 ? 1 : c->live_max > LIVE_MAX ? LIVE_MAX : c->live_max;
		live.slots = calloc(live.room, sizeof(*live.slots));
		if (!live.slots)
			publish_notice(BRAID_NOTICE_WARNING, "no memory to watch %u objects: none is watched",
				       live.room);
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
