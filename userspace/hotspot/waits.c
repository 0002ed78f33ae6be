// SPDX-License-Identifier: Apache-2.0
#include "waits.h"

#include "conditions.h"
#include "objects.h"
#include "vm_tables.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bound for searches of owners, in units of a comparison: some seconds. Looking for a thread's locks reads memory. */
#define WORK_MAX 256000000ULL
#define WORK_LOCKS 400
#define ANONYMOUS 1 /* an owner that another thread has not named (ObjectMonitor::ANONYMOUS_OWNER, 21 and later) */

enum {
	F_STATE,
	F_WAITING,
	F_STACK_BASE,
	F_STACK_SIZE,
	F_OWNER_ID,
	F_LOCKS,
	F_WAITING_OLD,
	F_STACK_BASE_OLD,
	F_STACK_SIZE_OLD,
	F_LOCKS_TOP,
	F_LOCKS_BASE,
	F_OBJECT,
	F_OWNER,
	FIELDS
};

static const struct vm_field wanted[FIELDS] = {
	[F_STATE] = {.type = "JavaThread", .name = "_thread_state"},
	[F_WAITING] = {.type = "JavaThread", .name = "_current_waiting_monitor"},
	[F_STACK_BASE] = {.type = "JavaThread", .name = "_stack_base"},
	[F_STACK_SIZE] = {.type = "JavaThread", .name = "_stack_size"},
	[F_OWNER_ID] = {.type = "JavaThread", .name = "_monitor_owner_id"}, /* 24 and later */
	[F_LOCKS] = {.type = "JavaThread", .name = "_lock_stack"},	    /* 21 and later */
	[F_WAITING_OLD] = {.type = "Thread", .name = "_current_waiting_monitor"},
	[F_STACK_BASE_OLD] = {.type = "Thread", .name = "_stack_base"},
	[F_STACK_SIZE_OLD] = {.type = "Thread", .name = "_stack_size"},
	[F_LOCKS_TOP] = {.type = "LockStack", .name = "_top"},
	[F_LOCKS_BASE] = {.type = "LockStack", .name = "_base[0]"},
	[F_OBJECT] = {.type = "ObjectMonitor", .name = "_object"},
	[F_OWNER] = {.type = "ObjectMonitor", .name = "_owner"},
};

static uint16_t offset_of(const struct vm_field *fields, int a, int b)
{
	const struct vm_field *f = fields[a].found ? &fields[a] : &fields[b];

	return f->found && f->offset <= UINT16_MAX ? (uint16_t)f->offset : 0;
}

/* Of a field in an embedded object; 0 unless the VM has both. */
static uint16_t inner_of(const struct vm_field *fields, int outer, int inner)
{
	uint64_t sum = fields[outer].offset + fields[inner].offset;

	return fields[outer].found && fields[inner].found && sum <= UINT16_MAX ? (uint16_t)sum : 0;
}

int waits_open(struct waits *w, pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS])
{
	struct vm_field f[FIELDS];
	int err;

	memcpy(f, wanted, sizeof(f));
	err = vm_process_read(pid, bias, at, f, FIELDS, NULL, 0);
	if (err)
		return err;
	w->pid = pid;
	w->offsets = (struct waits_offsets){.state = offset_of(f, F_STATE, F_STATE),
					    .waiting = offset_of(f, F_WAITING, F_WAITING_OLD),
					    .stack_base = offset_of(f, F_STACK_BASE, F_STACK_BASE_OLD),
					    .stack_size = offset_of(f, F_STACK_SIZE, F_STACK_SIZE_OLD),
					    .owner_id = offset_of(f, F_OWNER_ID, F_OWNER_ID),
					    .locks_top = inner_of(f, F_LOCKS, F_LOCKS_TOP),
					    .locks_base = inner_of(f, F_LOCKS, F_LOCKS_BASE),
					    .monitor_object = offset_of(f, F_OBJECT, F_OBJECT),
					    .monitor_owner = offset_of(f, F_OWNER, F_OWNER)};
	return 0;
}

/* ---- threads ---- */

static struct braid_walk *reader(struct waits *w)
{
	return objects_reader(&w->pid);
}

static uint64_t word_at(struct waits *w, uint64_t address)
{
	uint64_t word;

	return walk_read(reader(w), &word, sizeof(word), address) ? 0 : word;
}

/* Thread.threadId() of a Thread object. */
static uint64_t number_of(struct waits *w, uint64_t thread)
{
	return thread ? word_at(w, thread + w->layout->objects.thread_id) : 0;
}

static int compare(const void *x, const void *y)
{
	const struct waits_thread *p = x, *q = y;

	return (p->address > q->address) - (p->address < q->address);
}

void waits_read_threads(struct waits *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct waits_thread *t = &w->threads[i];

		t->stack_high = w->offsets.stack_base ? word_at(w, t->address + w->offsets.stack_base) : 0;
		t->stack_low = t->stack_high - word_at(w, t->address + w->offsets.stack_size);
		t->owner_id = w->offsets.owner_id ? word_at(w, t->address + w->offsets.owner_id) : 0;
		t->own_id = t->owner_id ? number_of(w, object_of_thread(reader(w), w->layout,
									t->address + w->layout->objects.carrier))
					: 0;
	}
	if (w->count)
		qsort(w->threads, w->count, sizeof(*w->threads), compare);
}

static const struct waits_thread *thread_at(const struct waits *w, uint64_t address)
{
	struct waits_thread key = {.address = address};

	return w->count ? bsearch(&key, w->threads, w->count, sizeof(key), compare) : NULL;
}

/* ---- owners of monitors ---- */

/*
 * Whether the thread has locked the object without a monitor of the VM's: its LockStack has addresses without colours.
 */
static bool has_locked(struct waits *w, uint64_t java_thread, uint64_t object)
{
	const struct waits_offsets *o = &w->offsets;
	uint32_t top; /* offset of the first free place, from the JavaThread */

	if (walk_read(reader(w), &top, sizeof(top), java_thread + o->locks_top))
		return false;
	for (uint32_t i = 0; i < WAITS_LOCKS && o->locks_base + i * sizeof(uint64_t) < top; i++)
		if (word_at(w, java_thread + o->locks_base + i * sizeof(uint64_t)) == object)
			return true;
	return false;
}

/* Whether there is time to look at every thread. */
static bool may_search(struct waits *w, uint64_t work)
{
	if (w->work > WORK_MAX) {
		w->missed++;
		return false;
	}
	w->work += w->count * work;
	return true;
}

static const struct waits_thread *search_owner(struct waits *w, uint64_t object)
{
	if (!w->offsets.locks_top || !w->offsets.locks_base || !may_search(w, WORK_LOCKS))
		return NULL;
	for (size_t i = 0; i < w->count; i++)
		if (has_locked(w, w->threads[i].address, object))
			return &w->threads[i];
	return NULL;
}

static const struct waits_thread *thread_of_word(struct waits *w, uint64_t word)
{
	const struct waits_thread *named = thread_at(w, word);

	if (named || !may_search(w, 1))
		return named;
	for (size_t i = 0; i < w->count && !named; i++) {
		const struct waits_thread *t = &w->threads[i];

		if (w->offsets.owner_id ? t->owner_id == word : word >= t->stack_low && word < t->stack_high)
			named = t;
	}
	return named;
}

/*
 * The word is the owner's JavaThread, an address on its stack (a BasicLock), or its id (24 and later), which is that of
 * a virtual thread if no thread of the VM's has it as its own.
 */
static struct waits_owner owner_named(struct waits *w, uint64_t word)
{
	const struct waits_thread *t = thread_of_word(w, word);

	if (w->offsets.owner_id && w->layout->objects.virtual_klass && (!t || t->own_id != word))
		return (struct waits_owner){.virtual_number = word};
	return (struct waits_owner){.thread = t};
}

static struct waits_owner monitor_owner(struct waits *w, uint64_t monitor, uint64_t object)
{
	uint64_t word;

	if (monitor == w->last_monitor)
		return w->last_owner;
	word = word_at(w, monitor + w->offsets.monitor_owner);
	w->last_monitor = monitor;
	w->last_owner = (struct waits_owner){0};
	if (word == ANONYMOUS)
		w->last_owner.thread = search_owner(w, object);
	w->last_anonymous = word == ANONYMOUS && !w->last_owner.thread;
	if (word && word != ANONYMOUS)
		w->last_owner = owner_named(w, word);
	return w->last_owner;
}

/* ---- objects ---- */

/* The class of an object; false: there is no object. */
static bool class_read(struct waits *w, uint64_t object, char class[WAITS_CLASS_MAX])
{
	return klass_name(reader(w), w->layout, object_klass(reader(w), w->layout, object), class, WAITS_CLASS_MAX);
}

/* A monitor refers to its object by a handle (16 and later) or directly. */
bool waits_monitor(struct waits *w, uint64_t monitor, struct wait_object *to)
{
	uint64_t at = monitor + w->offsets.monitor_object, handle = word_at(w, at), object;

	object = w->layout->objects.flags & BRAID_OBJECTS_HANDLES ? object_at(reader(w), w->layout, handle, false) : 0;
	if (!object || !class_read(w, object, to->class)) {
		object = object_at(reader(w), w->layout, at, false);
		if (!object || !class_read(w, object, to->class))
			return false;
	}
	to->id = monitor;
	to->owner = monitor_owner(w, monitor, object);
	to->object = w->last_anonymous ? object : 0;
	return true;
}

/* The thread of a Thread object. */
static struct waits_owner owner_of(struct waits *w, uint64_t thread)
{
	const struct braid_objects *o = &w->layout->objects;

	if (!thread)
		return (struct waits_owner){0};
	if (o->virtual_klass && object_klass(reader(w), w->layout, thread) == o->virtual_klass)
		return (struct waits_owner){.virtual_number = number_of(w, thread)};
	return (struct waits_owner){.thread = thread_at(w, word_at(w, thread + o->thread_eetop))};
}

/*
 * Conditions are all of one class, so that of its lock says more. Who waits for one does not wait for the lock's owner.
 */
static void condition_read(struct waits *w, uint64_t object, char class[WAITS_CLASS_MAX])
{
	uint64_t lock = conditions_are(class) ? parked_lock_of(reader(w), w->layout, object) : 0;
	char of[WAITS_CLASS_MAX];

	if (lock && class_read(w, lock, of))
		snprintf(class, WAITS_CLASS_MAX, BRAID_CONDITION_OF "%.*s",
			 (int)(WAITS_CLASS_MAX - sizeof(BRAID_CONDITION_OF)), of);
}

static void blocker_read(struct waits *w, uint64_t java_thread, struct wait_object *to)
{
	const struct braid_layout *l = w->layout;
	bool mounted = l->objects.current;
	uint64_t blocker = mounted ? parked_blocker(reader(w), l, java_thread, true) : 0;

	if (!blocker) {
		mounted = false;
		blocker = parked_blocker(reader(w), l, java_thread, false);
	}
	if (!blocker || !class_read(w, blocker, to->class))
		return;
	if (parked_is_ownable(reader(w), l, object_klass(reader(w), l, blocker)))
		to->owner = owner_of(w, object_field(reader(w), l, blocker + l->objects.ownable_thread));
	else
		condition_read(w, blocker, to->class);
	/* A collector may have moved it meanwhile. */
	if (parked_blocker(reader(w), l, java_thread, mounted) != blocker) {
		to->owner = (struct waits_owner){0};
		return;
	}
	to->how = WAIT_FOR_BLOCKER;
	to->id = blocker;
}

/* enum JavaThreadState: each state is followed by that of leaving it. */
const char *waits_state(struct waits *w, uint64_t java_thread)
{
	static const char *const names[] = {"", "new", "in_native", "in_vm", "in_java", "blocked"};
	uint32_t state = 0;

	if (!w->offsets.state || walk_read(reader(w), &state, sizeof(state), java_thread + w->offsets.state) ||
	    state / 2 >= sizeof(names) / sizeof(names[0]))
		return "";
	return names[state / 2];
}

bool waits_read(struct waits *w, uint64_t java_thread, struct wait_object *to)
{
	const struct waits_offsets *o = &w->offsets;
	uint64_t monitor;

	to->how = WAIT_FOR_NOTHING;
	to->id = 0;
	to->owner = (struct waits_owner){0};
	if (!w->layout || !(w->layout->objects.flags & BRAID_OBJECTS_THREADS) ||
	    !(w->layout->flags & BRAID_LAYOUT_NAMES))
		return false;
	if (w->layout->thread_pending && o->monitor_object && o->monitor_owner) {
		monitor = word_at(w, java_thread + w->layout->thread_pending);
		if (monitor && waits_monitor(w, monitor, to)) {
			to->how = WAIT_FOR_MONITOR;
			return true;
		}
		monitor = o->waiting ? word_at(w, java_thread + o->waiting) : 0;
		if (monitor && waits_monitor(w, monitor, to)) {
			to->how = WAIT_FOR_NOTIFY;
			return true;
		}
	}
	if (w->layout->objects.flags & BRAID_OBJECTS_BLOCKERS)
		blocker_read(w, java_thread, to);
	return true;
}
