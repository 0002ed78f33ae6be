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
 *
 * Every second in which a collection may have run, the helper looks which objects are gone, and reports them. One that
 * is found gone when room is made waits for that in a table of its own.
 */
#include "handlers.h"
#include "core/helper.h"
#include "core/jni.h"
#include "core/jni_table.h"

#include <braid/heap_roots.h>

#include <stdlib.h>
#include <string.h>

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

/* An object that is gone. */
struct death {
	uint64_t number;
	uint64_t time_ns, end_ns;
	uint64_t size, weight;
	uint32_t type, survived;
};

#define DEATHS_MAX LIVE_MAX /* pages of the table that are not used take no memory */
#define DEATHS_AT_ONCE 64U

static struct {
	pthread_mutex_t mutex; /* taken by allocation handlers and the helper; JNI may wait for a safepoint under it */
	struct watched *slots; /* NULL: nothing is watched */
	uint32_t room;
	uint32_t used;
	uint32_t halvings;
	uint64_t random;
	struct death *deaths; /* that are not reported yet */
	uint32_t dead;
	struct gc_runs swept;  /* when the helper looked last, */
	uint64_t swept_number; /* at the objects up to this one */
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

/* One that was allocated before the last look was there then. */
static void death_note(const struct watched *w)
{
	bool seen = w->number <= live.swept_number;

	if (live.dead == DEATHS_MAX) {
		publish_lost(BRAID_REC_JVM_EVENT, 1);
		return;
	}
	if (live.dead == DEATHS_MAX / 4)
		helper_kick();
	live.deaths[live.dead++] =
		(struct death){.number = w->number,
			       .time_ns = w->time_ns,
			       .end_ns = clock_ns(),
			       .size = w->size,
			       .weight = w->weight << live.halvings,
			       .type = w->type,
			       .survived = seen ? collections_survived(w, &live.swept) : w->outlived};
}

/* Drops all objects that are gone and, with `halve`, every second of the others. */
static void thin_out(JNIEnv *jni, bool halve)
{
	uint64_t newest_gone[PLACES] = {0};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < live.used; i++) {
		struct watched *w = &live.slots[i];
		bool gone = is_gone(jni, w);

		if (gone) {
			newest_gone[w->place] = w->number;
			death_note(w);
		}
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

/* Takes some that are to be reported. */
static uint32_t deaths_take(struct death to[DEATHS_AT_ONCE])
{
	uint32_t n;

	pthread_mutex_lock(&live.mutex);
	n = live.dead < DEATHS_AT_ONCE ? live.dead : DEATHS_AT_ONCE;
	live.dead -= n;
	if (n)
		memcpy(to, live.deaths + live.dead, n * sizeof(*to));
	pthread_mutex_unlock(&live.mutex);
	return n;
}

/* Without the mutex, for which the program would wait. The interval is the object's life. */
static void deaths_publish(void)
{
	struct death d[DEATHS_AT_ONCE];
	uint32_t n = 1;

	for (uint32_t done = 0; done < DEATHS_MAX && n; done += n) {
		n = deaths_take(d);
		helper_pace();
		for (uint32_t i = 0; i < n; i++)
			jvm_event_publish(&(struct braid_jvm_event){.kind = BRAID_JVM_DIED,
								    .flags = d[i].survived,
								    .name = d[i].type,
								    .start_ns = d[i].time_ns,
								    .end_ns = d[i].end_ns,
								    .value = d[i].size,
								    .weight = d[i].weight,
								    .number = d[i].number},
					  0);
	}
}

/* `runs` was read before. */
static void look(JNIEnv *jni, const struct gc_runs *runs)
{
	thin_out(jni, false);
	live.swept = *runs;
	live.swept_number = last_number;
}

/* The interval is the object's age; its ALLOC event has the stack and the thread. */
static void live_emit(JNIEnv *jni)
{
	uint64_t now = clock_ns();
	struct gc_runs runs;

	pthread_mutex_lock(&live.mutex);
	runs = gc_runs();
	look(jni, &runs);
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
	deaths_publish();
}

static bool live_work(JNIEnv *jni)
{
	(void)jni;
	deaths_publish();
	return false;
}

/* Without counted collections, one may have run at any time. */
static void live_tick(JNIEnv *jni)
{
	struct gc_runs runs;

	pthread_mutex_lock(&live.mutex);
	runs = gc_runs();
	if (!runs.known || runs.young != live.swept.young || runs.full != live.swept.full)
		look(jni, &runs);
	pthread_mutex_unlock(&live.mutex);
	deaths_publish();
}

static void watched_forget(JNIEnv *jni)
{
	for (uint32_t i = 0; i < live.used; i++)
		jni_weak_delete(jni, live.slots[i].object);
	live.used = live.halvings = live.dead = 0;
}

static void live_forget(JNIEnv *jni)
{
	pthread_mutex_lock(&live.mutex);
	watched_forget(jni);
	pthread_mutex_unlock(&live.mutex);
}

static void tables_free(void)
{
	free(live.slots);
	free(live.deaths);
	live.slots = NULL;
	live.deaths = NULL;
}

/* A change of the configuration keeps the room of a table that is in use. */
static void live_start(const struct braid_event_config *c)
{
	pthread_mutex_lock(&live.mutex);
	if (!live.slots) {
		live.room = c->live_max < 1 ? 1 : c->live_max > LIVE_MAX ? LIVE_MAX : c->live_max;
		live.slots = calloc(live.room, sizeof(*live.slots));
		live.deaths = calloc(DEATHS_MAX, sizeof(*live.deaths));
		if (!live.slots || !live.deaths) {
			tables_free();
			publish_notice(BRAID_NOTICE_WARNING, "no memory to watch %u objects: none is watched",
				       live.room);
		}
	}
	pthread_mutex_unlock(&live.mutex);
}

static void live_stop(JNIEnv *jni)
{
	pthread_mutex_lock(&live.mutex);
	watched_forget(jni);
	tables_free();
	pthread_mutex_unlock(&live.mutex);
}

const struct kind live_kind = {
	.types = BRAID_EVENT_TYPE(LIVE),
	.start = live_start,
	.work = live_work,
	.tick = live_tick,
	.publish = live_emit,
	.forget = live_forget,
	.stop = live_stop,
};
