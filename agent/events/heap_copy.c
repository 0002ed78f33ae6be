// SPDX-License-Identifier: Apache-2.0
/*
 * A copy of the heap, for a heap dump or a histogram. The agent has the JVM go through its roots; within the first
 * root, while the JVM stands still, the process is copied, as by fork(). The JVM's own walk ends there, and the program
 * goes on. The copy continues the walk until it has all roots in a table, and then rests: the collector reads the table
 * and the heap from its memory.
 *
 * HotSpot's walk asks for a tag of every object. The object's address is known by the place of the tag, which lies in
 * the walk's own record of the object (CallbackWrapper, jvmtiTagMap.cpp), two words after the address and one after
 * the size. The size is an argument, too, and shows whether this holds.
 *
 * Watched objects (live.c) are in the table by their weak references, which stay as they are until the copy is made.
 *
 * The copy runs nothing of the JVM but the walk over roots, which neither allocates nor waits. With Shenandoah it may
 * do both: the thread that reads a root whose object is to be moved moves it, and the threads of the collector that it
 * then waits for are not in the copy. A walk that gets no further is therefore ended, and another copy is made; what
 * the program stood still for counts for all of them.
 */
#include "handlers.h"
#include "vm/flags.h"
#include "vm/layout.h"
#include "vm/names.h"
#include "vm/process_copy.h"
#include "vm/vmstructs.h"
#include "vm/z_objects.h"

#include <braid/heap_roots.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ANNOUNCE_MS 100U
#define STUCK_NS 5000000000ULL /* the walk of a copy has found no root for so long */
#define ATTEMPTS 3U
#define VERSION_21 0x30150000
#define LOOKS 3U /* a second apart: the helper goes on to look for what it does not know yet */
#define WATCHED_AT (sizeof(struct braid_heap_roots) + (size_t)BRAID_ROOTS_MAX * sizeof(struct braid_heap_root))
#define ROOTS_BYTES (WATCHED_AT + (size_t)BRAID_WATCHED_MAX * sizeof(struct braid_heap_watched))

/* Used by the connecting thread, then by the helper. */
static struct {
	enum braid_heap_copy wanted;
	bool checked, taken;
	uint32_t looks; /* for the obstacle */
	uint64_t max_pause_ns;
	uint64_t page_ps;
	uint64_t watch_ns; /* before the copy is made */
	uint64_t start_ns;
	pid_t pid;   /* of the copy; 0: none */
	bool moving; /* the collector moves objects while the program runs: Shenandoah */
} copy;

/* One walk. The thread that walks is the VM's own. */
struct walk {
	struct braid_heap_roots *roots;
	pid_t pid; /* as process_copy() returns it */
	bool begun;
	uint64_t start_ns, end_ns;
};

/* A copy whose walk over the roots has not ended. */
static struct {
	struct walk walk; /* roots: NULL: there is none */
	uint32_t attempts, count;
	uint64_t counted_ns; /* when `count` changed */
	uint64_t before_ns;  /* that earlier copies took */
} pending;

/* ---- in the copy ---- */

static _Noreturn void walk_end(struct walk *w, enum braid_roots_state state)
{
	__atomic_store_n(&w->roots->state, state, __ATOMIC_RELEASE);
	process_copy_rest();
}

static void root_take(struct walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong size,
		      const jlong *tag)
{
	struct braid_heap_root *r = (struct braid_heap_root *)(w->roots + 1) + w->roots->count;

	if (w->roots->count == BRAID_ROOTS_MAX)
		walk_end(w, BRAID_ROOTS_OVERFLOW);
	*r = (struct braid_heap_root){.kind = (uint32_t)kind, .bytes = (uint64_t)size};
	if (tag[-1] == size)
		r->object = (uint64_t)tag[-2];
	if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
		r->thread = (uint64_t)info->stack_local.thread_id;
		r->depth = (uint32_t)info->stack_local.depth;
	} else if (kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) {
		r->thread = (uint64_t)info->jni_local.thread_id;
		r->depth = (uint32_t)info->jni_local.depth;
	}
	w->roots->count++;
}

/*
 * All roots are reported before what they refer to. Threads are followed, so there is a reference that is no root: the
 * one from a thread to its class.
 */
static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
				 jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag, jint length,
				 void *to)
{
	struct walk *w = to;

	(void)class_tag;
	(void)referrer_class_tag;
	(void)referrer_tag;
	(void)length;
	if (!w->begun) {
		w->begun = true;
		w->pid = process_copy();
		if (w->pid)
			return JVMTI_VISIT_ABORT;
		process_copy_isolate();
	}
	if (kind < JVMTI_HEAP_REFERENCE_JNI_GLOBAL)
		walk_end(w, BRAID_ROOTS_COMPLETE);
	root_take(w, kind, info, size, tag);
	return kind == JVMTI_HEAP_REFERENCE_THREAD ? JVMTI_VISIT_OBJECTS : 0;
}

/* ---- in the JVM ---- */

/* Why a copy would be of no use; NULL: it would. */
static const char *obstacle;
static const char unknown_objects[] = "braid does not know where this JVM keeps its objects";

static void flag_check(const struct vm_flag *f)
{
	if (strcmp(f->value, "true") != 0)
		return;
	if (strcmp(f->name, "UseZGC") == 0)
		obstacle = "the heap of ZGC is shared memory, of which the kernel makes no copy";
	else if (strcmp(f->name, "UseShenandoahGC") == 0)
		copy.moving = true;
}

static void obstacle_find(void)
{
	struct braid_layout layout;

	layout_get(&layout);
	obstacle = NULL;
	if (!(layout.objects.flags & BRAID_OBJECTS_THREADS))
		obstacle = unknown_objects;
	flags_open(vmstructs_library(agent.vm));
	flags_each(flag_check);
}

static jvmtiError roots_walk(struct walk *w)
{
	const jvmtiHeapCallbacks callbacks = {.heap_reference_callback = on_reference};
	jvmtiEnv *ti = environment_with_tags();
	jvmtiError err;

	if (!ti)
		return JVMTI_ERROR_NOT_AVAILABLE;
	w->start_ns = clock_ns();
	w->roots->watched_count = live_hold((struct braid_heap_watched *)((char *)w->roots + WATCHED_AT));
	err = (*ti)->FollowReferences(ti, 0, NULL, NULL, &callbacks, w);
	live_release();
	w->end_ns = clock_ns();
	(*ti)->DisposeEnvironment(ti);
	return err;
}

/* False: it would take too long. */
static bool announce(void)
{
	struct braid_jvm_event e = {.kind = BRAID_JVM_HEAP_ESTIMATE, .flags = BRAID_HEAP_COPIED};

	e.number = copy.wanted == BRAID_HEAP_COPY_COUNT ? BRAID_HEAP_COUNTED : 0;
	e.start_ns = e.end_ns = clock_ns();
	if (process_copy_estimate(copy.page_ps, &e.weight, &e.value) && e.weight > copy.max_pause_ns)
		e.flags |= BRAID_HEAP_REFUSED;
	jvm_event_publish(&e, 0);
	publish_let_read(ANNOUNCE_MS);
	return !(e.flags & BRAID_HEAP_REFUSED);
}

/*
 * What the VM's own dump takes, as measured with ZGC on two CPUs: with the writer of 17, which looks up the fields of
 * each object's class again; with the one of 21, which keeps them; and with that one and two generations. 0: it is not
 * known what there is in the heap.
 */
static uint64_t vm_dump_ns(void)
{
	static const struct {
		double instance, word, array_byte;
	} ns[] = {{181, 34, 0.42}, {34, 36, 0.32}, {75, 22, 0.52}};
	struct z_objects z;
	int which;

	if (!z_objects_estimate(&z))
		return 0;
	which = agent.jvmti_version < VERSION_21 ? 0 : z.generational ? 2 : 1;
	return (uint64_t)((double)z.instances * ns[which].instance + (double)z.words * ns[which].word +
			  (double)z.array_bytes * ns[which].array_byte);
}

static void result_publish(JNIEnv *jni, const struct walk *w, jvmtiError err)
{
	struct braid_jvm_event e = {.kind = BRAID_JVM_HEAP_COPY, .start_ns = w->start_ns, .end_ns = w->end_ns};

	if (w->pid > 0) {
		e.number = (uint64_t)w->pid;
		e.value = (uint64_t)(uintptr_t)w->roots;
	} else if (err == JVMTI_ERROR_WRONG_PHASE) {
		return; /* the JVM has ended meanwhile: it has refused nothing */
	} else {
		e.flags = BRAID_HEAP_FAILED;
		e.start_ns = e.end_ns = clock_ns();
		if (obstacle) {
			e.flags |= BRAID_HEAP_VM;
			e.value = runtime_used_bytes(jni);
			e.weight = vm_dump_ns();
			publish_notice(BRAID_NOTICE_INFO, "the heap cannot be copied: %s", obstacle);
		} else if (w->pid < 0) {
			publish_notice(BRAID_NOTICE_WARNING, "the kernel does not copy this process: %s",
				       strerror(-w->pid));
		} else {
			publish_notice(BRAID_NOTICE_WARNING,
				       "this JVM does not let its heap be walked (JVM TI error %d)", (int)err);
		}
	}
	jvm_event_publish(&e, 0);
	link_wake(&agent.link);
}

/* Shared with the copy if its walk has to be watched. */
static struct braid_heap_roots *roots_new(void)
{
	int shared = copy.moving ? MAP_SHARED : MAP_PRIVATE;
	struct braid_heap_roots *r =
		mmap(NULL, ROOTS_BYTES, PROT_READ | PROT_WRITE, shared | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (r == MAP_FAILED)
		return NULL;
	r->magic = BRAID_ROOTS_MAGIC;
	r->watched = (uint64_t)(uintptr_t)r + WATCHED_AT;
	layout_get(&r->layout);
	names_get(&r->names);
	return r;
}

static void pending_begin(const struct walk *w)
{
	pending.walk = *w;
	pending.count = 0;
	pending.counted_ns = w->end_ns;
	pending.attempts++;
}

static void pending_end(void)
{
	if (pending.walk.roots)
		munmap(pending.walk.roots, ROOTS_BYTES);
	memset(&pending, 0, sizeof(pending));
}

static void pending_give_up(JNIEnv *jni)
{
	obstacle = "Shenandoah was moving objects, and the copy waited for its threads";
	pending.walk.pid = 0;
	if (copy.wanted != BRAID_HEAP_COPY_COUNT) /* else the JVM counts now */
		result_publish(jni, &pending.walk, JVMTI_ERROR_NONE);
	pending_end();
}

static void pending_again(JNIEnv *jni)
{
	struct walk w = {.roots = pending.walk.roots};
	jvmtiError err;

	process_copy_end(copy.pid);
	copy.pid = 0;
	pending.before_ns += pending.walk.end_ns - pending.walk.start_ns;
	if (pending.attempts == ATTEMPTS) {
		pending_give_up(jni);
		return;
	}
	w.roots->count = 0;
	err = roots_walk(&w);
	copy.pid = w.pid > 0 ? w.pid : 0;
	if (copy.pid) {
		pending_begin(&w);
		return;
	}
	result_publish(jni, &w, err);
	pending_end();
}

static void pending_tick(JNIEnv *jni)
{
	struct braid_heap_roots *r = pending.walk.roots;
	uint32_t count = __atomic_load_n(&r->count, __ATOMIC_RELAXED);

	if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != BRAID_ROOTS_COLLECTING) {
		pending.walk.start_ns -= pending.before_ns;
		result_publish(jni, &pending.walk, JVMTI_ERROR_NONE);
		pending_end();
	} else if (count != pending.count) {
		pending.count = count;
		pending.counted_ns = clock_ns();
	} else if (clock_ns() - pending.counted_ns > STUCK_NS) {
		pending_again(jni);
	}
}

static void copy_take(JNIEnv *jni)
{
	struct walk w = {.roots = roots_new()};
	jvmtiError err = JVMTI_ERROR_NONE;

	copy.taken = true;
	w.pid = w.roots ? 0 : -ENOMEM;
	if (w.roots && !obstacle) {
		if (!announce())
			goto out;
		err = roots_walk(&w);
		copy.pid = w.pid > 0 ? w.pid : 0;
		if (copy.moving && copy.pid) {
			pending_begin(&w);
			return;
		}
	}
	result_publish(jni, &w, err);
out:
	if (w.roots)
		munmap(w.roots, ROOTS_BYTES);
}

static void copy_start(const struct braid_event_config *c)
{
	copy.wanted = c->heap_copy;
	copy.checked = false;
	copy.looks = 0;
	copy.max_pause_ns = c->heap_max_pause_ns;
	copy.page_ps = c->heap_page_ps;
	copy.watch_ns = (uint64_t)c->heap_watch_s * 1000000000U;
	copy.start_ns = clock_ns();
}

bool heap_copy_is_left(void)
{
	return copy.wanted == BRAID_HEAP_COPY_NONE ||
	       (copy.wanted == BRAID_HEAP_COPY_COUNT && copy.checked && obstacle);
}

/* A heap that can never be copied is reported at once. */
static bool copy_is_due(void)
{
	if (!copy.checked) {
		obstacle_find();
		copy.checked = obstacle != unknown_objects || ++copy.looks >= LOOKS;
	}
	return copy.checked && (obstacle || clock_ns() - copy.start_ns >= copy.watch_ns);
}

static void copy_tick(JNIEnv *jni)
{
	if (copy.wanted && !copy.taken && copy_is_due() && !heap_copy_is_left())
		copy_take(jni);
	if (pending.walk.roots)
		pending_tick(jni);
	if (copy.pid && process_copy_ended(copy.pid))
		copy.pid = 0;
}

static void copy_stop(JNIEnv *jni)
{
	(void)jni;
	process_copy_end(copy.pid);
	pending_end();
	memset(&copy, 0, sizeof(copy));
}

const struct kind heap_copy_kind = {
	.types = BRAID_EVENT_TYPE(HEAP),
	.start = copy_start,
	.tick = copy_tick,
	.stop = copy_stop,
};
