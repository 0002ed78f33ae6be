// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind jni: which global and weak JNI references are there, by the stack that created them. Hooks of the four
 * functions that create and delete them keep a table of those created since the type was enabled; the report at the end
 * has one event for each stack and class. A stack gets a number and an event when it is met for the first time, so a
 * reference takes three words, however many stacks the recorder has met since.
 *
 * A reference leaves the table before the JVM deletes it, so a holder of the mutex may use those in the table.
 */
#include "handlers.h"
#include "named_event.h"
#include "core/config.h"
#include "core/jni.h"
#include "core/jni_table.h"
#include "core/slots.h"

#include <stdlib.h>

#define FIRST_ROOM 1024U
#define STACKS_MAX 65536U
#define STACKS_PER_SECOND 20000U /* a stack takes microseconds; references beyond it are watched without */
#define TURN 64U		 /* references that a report looks at while it holds the mutex */
#define VERSION_9 0x30090000

struct ref {
	uint64_t ref;
	uint64_t time_ns; /* of its creation: distinguishes it from a later one of the same value */
	uint32_t stack;	  /* number, 0: not known */
	uint32_t weak;
};

struct stack {
	uint64_t stack; /* as the kernel side identifies it */
	uint64_t number;
};

/* References of a report that are alike. */
struct alike {
	uint64_t key[2]; /* stack and flags; class */
	uint64_t count;
	uint64_t since_ns;
};

static struct {
	pthread_mutex_t mutex; /* taken by hooks and the helper; JNI may wait for a safepoint under it */
	struct slots refs, stacks;
	uint32_t last_stack;			      /* number; none is used again */
	uint64_t created, deleted, unwatched, others; /* see BRAID_JVM_JNI_REFS */
	_Atomic bool on;
} watch = {.mutex = PTHREAD_MUTEX_INITIALIZER,
	   .refs = SLOTS_OF(struct ref, 1, FIRST_ROOM),
	   .stacks = SLOTS_OF(struct stack, 1, FIRST_ROOM)};

static struct rate rate;

/* ---- hooks ---- */

/* False if the table is full. The stack is taken later, without the mutex. */
static bool ref_add(uint64_t ref, bool weak, uint64_t now_ns)
{
	uint32_t max = atomic_load_explicit(&config.jni_max, memory_order_relaxed);
	struct ref *e = slots_find(&watch.refs, &ref);

	watch.created++;
	if (e && e->ref) { /* it was deleted where no hook could see it */
		watch.deleted++;
	} else if (watch.refs.used >= max || !slots_reserve(&watch.refs)) {
		watch.unwatched++;
		return false;
	} else {
		e = slots_find(&watch.refs, &ref);
		watch.refs.used++;
	}
	*e = (struct ref){.ref = ref, .time_ns = now_ns, .weak = weak};
	return true;
}

/* The number of a stack; 0 if there are too many. */
static uint32_t stack_number(uint64_t stack, bool *fresh)
{
	struct stack *e = slots_find(&watch.stacks, &stack);

	*fresh = !e || !e->stack;
	if (!*fresh)
		return (uint32_t)e->number;
	if (watch.stacks.used >= STACKS_MAX || !slots_reserve(&watch.stacks)) {
		*fresh = false;
		return 0;
	}
	e = slots_find(&watch.stacks, &stack);
	watch.stacks.used++;
	*e = (struct stack){.stack = stack, .number = ++watch.last_stack};
	return (uint32_t)e->number;
}

static void stack_note(uint64_t ref, uint64_t now_ns)
{
	struct braid_stack_request request;
	bool fresh = false;
	uint32_t number;
	struct ref *e;

	stack_request_take(&request);
	if (!request.stack)
		return;
	pthread_mutex_lock(&watch.mutex);
	number = stack_number(request.stack, &fresh);
	e = slots_find(&watch.refs, &ref);
	if (e && e->ref && e->time_ns == now_ns)
		e->stack = number;
	pthread_mutex_unlock(&watch.mutex);
	if (!fresh)
		return;
	request.event = (struct braid_jvm_event){
		.kind = BRAID_JVM_JNI_STACK, .start_ns = now_ns, .end_ns = now_ns, .number = number};
	jvm_event_emit_with(&request);
}

static void on_created(jobject ref, bool weak)
{
	uint64_t now;
	bool watched;

	if (!ref || !atomic_load_explicit(&watch.on, memory_order_relaxed) || !agent_enter())
		return;
	now = clock_ns();
	pthread_mutex_lock(&watch.mutex);
	watched = ref_add((uintptr_t)ref, weak, now);
	pthread_mutex_unlock(&watch.mutex);
	if (watched && rate_take(&rate, STACKS_PER_SECOND))
		stack_note((uintptr_t)ref, now);
	else if (watched)
		jvm_event_count(BRAID_JVM_JNI_STACK, 0);
	agent_leave();
}

static void on_delete(jobject ref)
{
	uint64_t key = (uintptr_t)ref;
	struct ref *e;

	if (!ref || !atomic_load_explicit(&watch.on, memory_order_relaxed))
		return;
	pthread_mutex_lock(&watch.mutex);
	e = slots_find(&watch.refs, &key);
	if (e && e->ref) {
		slots_remove(&watch.refs, e);
		watch.deleted++;
	} else {
		watch.others++;
	}
	pthread_mutex_unlock(&watch.mutex);
}

static jobject JNICALL new_global(JNIEnv *jni, jobject object)
{
	jobject ref = jni_below.NewGlobalRef(jni, object);

	on_created(ref, false);
	return ref;
}

static jweak JNICALL new_weak(JNIEnv *jni, jobject object)
{
	jweak ref = jni_below.NewWeakGlobalRef(jni, object);

	on_created(ref, true);
	return ref;
}

static void JNICALL delete_global(JNIEnv *jni, jobject ref)
{
	on_delete(ref);
	jni_below.DeleteGlobalRef(jni, ref);
}

static void JNICALL delete_weak(JNIEnv *jni, jweak ref)
{
	on_delete(ref);
	jni_below.DeleteWeakGlobalRef(jni, ref);
}

static struct jni_hook hooks[] = {
	JNI_HOOK(NewGlobalRef, new_global),
	JNI_HOOK(DeleteGlobalRef, delete_global),
	JNI_HOOK(NewWeakGlobalRef, new_weak),
	JNI_HOOK(DeleteWeakGlobalRef, delete_weak),
};

#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* ---- the report ---- */

/*
 * Native code may have deleted a reference by a function that it had looked up before the hooks were there. Until JDK 8
 * the JVM keeps the place of such a reference, and finding out what it is takes a walk over all of them. Checks of JNI
 * (-Xcheck:jni) do not allow the question about a reference whose object is gone.
 */
static bool is_there(JNIEnv *jni, jobject ref)
{
	return agent.jvmti_version < VERSION_9 || (*jni)->IsSameObject(jni, ref, NULL) ||
	       (*jni)->GetObjectRefType(jni, ref) != JNIInvalidRefType;
}

/* The caller holds the mutex. */
static void alike_count(JNIEnv *jni, struct slots *groups, const struct ref *r, uint32_t cleared)
{
	jobject object = (*jni)->NewLocalRef(jni, (jobject)(uintptr_t)r->ref);
	uint32_t flags = (r->weak ? BRAID_JNI_WEAK : 0) | (object ? 0 : BRAID_JNI_CLEARED);
	struct alike a = {.key = {(uint64_t)r->stack << 32 | flags << 1 | 1, object ? types_of(jni, object) : cleared}},
		     *e;

	if (object)
		(*jni)->DeleteLocalRef(jni, object);
	if (!slots_reserve(groups)) {
		publish_lost(BRAID_REC_JVM_EVENT, 1);
		return;
	}
	e = slots_find(groups, a.key);
	groups->used += !e->key[0];
	if (!e->key[0] || r->time_ns < e->since_ns)
		a.since_ns = r->time_ns;
	else
		a.since_ns = e->since_ns;
	a.count = e->count + 1;
	*e = a;
}

static void alike_publish(const struct slots *groups, uint64_t now_ns)
{
	const struct alike *all = (const struct alike *)groups->at;

	for (size_t i = 0; i < groups->room; i++)
		if (all[i].key[0])
			jvm_event_publish(&(struct braid_jvm_event){.kind = BRAID_JVM_JNI_REF,
								    .name = (uint32_t)all[i].key[1],
								    .start_ns = all[i].since_ns,
								    .end_ns = now_ns,
								    .value = all[i].count,
								    .number = all[i].key[0] >> 32,
								    .flags = (uint32_t)all[i].key[0] >> 1},
					  0);
}

/* Hooks can work between two turns. What they delete meanwhile does not count. */
static void refs_sort(JNIEnv *jni, struct slots *groups, const struct ref *all, size_t count)
{
	uint32_t cleared = types_text("(cleared)");

	for (size_t i = 0; i < count;) {
		pthread_mutex_lock(&watch.mutex);
		for (size_t end = i + TURN; i < count && i < end; i++) {
			struct ref *e = slots_find(&watch.refs, &all[i].ref);

			if (!e || !e->ref || e->time_ns != all[i].time_ns)
				continue;
			if (is_there(jni, (jobject)(uintptr_t)e->ref)) {
				alike_count(jni, groups, e, cleared);
			} else {
				slots_remove(&watch.refs, e);
				watch.deleted++;
			}
		}
		pthread_mutex_unlock(&watch.mutex);
	}
}

/* A copy of the table, to be freed; NULL: no memory. */
static struct ref *refs_copy(size_t *count)
{
	const struct ref *at;
	struct ref *copy;

	pthread_mutex_lock(&watch.mutex);
	at = (const struct ref *)watch.refs.at;
	copy = malloc((watch.refs.used + 1) * sizeof(*copy));
	*count = 0;
	for (size_t i = 0; copy && i < watch.refs.room; i++)
		if (at[i].ref)
			copy[(*count)++] = at[i];
	pthread_mutex_unlock(&watch.mutex);
	return copy;
}

static void refs_publish(JNIEnv *jni)
{
	struct slots groups = SLOTS_OF(struct alike, 2, FIRST_ROOM);
	jthrowable pending = jni_save(jni);
	struct braid_jvm_event sums = {.kind = BRAID_JVM_JNI_REFS};
	size_t count;
	struct ref *all = refs_copy(&count);

	if (all)
		refs_sort(jni, &groups, all, count);
	else
		publish_notice(BRAID_NOTICE_WARNING, "no memory to report the JNI references that are there");
	sums.start_ns = sums.end_ns = clock_ns();
	alike_publish(&groups, sums.end_ns);
	pthread_mutex_lock(&watch.mutex);
	sums.value = watch.created;
	sums.weight = watch.deleted;
	sums.number = watch.unwatched;
	sums.flags = watch.others < UINT32_MAX ? (uint32_t)watch.others : UINT32_MAX;
	pthread_mutex_unlock(&watch.mutex);
	jvm_event_publish(&sums, 0);
	slots_free(&groups);
	free(all);
	jni_restore(jni, pending);
}

/* ---- on and off ---- */

/* The caller holds the mutex. */
static void forget_all(void)
{
	slots_free(&watch.refs);
	slots_free(&watch.stacks);
	watch.created = watch.deleted = watch.unwatched = watch.others = 0;
}

static void refs_forget(JNIEnv *jni)
{
	(void)jni;
	pthread_mutex_lock(&watch.mutex);
	forget_all();
	pthread_mutex_unlock(&watch.mutex);
}

static void refs_enabled(JNIEnv *jni)
{
	(void)jni;
	atomic_store(&watch.on, true);
	if (!jni_table_hook(hooks, HOOKS))
		atomic_store(&watch.on, false);
}

static void refs_stop(JNIEnv *jni)
{
	jni_table_unhook(hooks, HOOKS);
	atomic_store(&watch.on, false);
	refs_forget(jni);
}

const struct kind jni_refs_kind = {
	.types = BRAID_EVENT_TYPE(JNI),
	.on_enabled = refs_enabled,
	.publish = refs_publish,
	.forget = refs_forget,
	.stop = refs_stop,
};
