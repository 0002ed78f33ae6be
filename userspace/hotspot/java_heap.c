// SPDX-License-Identifier: Apache-2.0
#include "java_heap.h"

#include "java_threads.h"
#include "objects.h"
#include "vm_tables.h"

#include "proc/procfs.h"
#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define THREADS_TRIED 64 /* to find one of the class Thread */

enum {
	F_OOP_BASE,
	F_OOP_SHIFT,
	F_KLASS_BASE,
	F_KLASS_SHIFT,
	F_OLD_X, /* X or Z GlobalsForVMStructs of the collector with one generation */
	F_OLD_BAD,
	F_Z,
	F_Z_BAD,
	F_HEAP,
	F_COLLECTIONS,
	F_ACTIVE,
	F_LIST,
	F_LIST_LENGTH,
	F_LIST_THREADS,
	F_NEXT,
	F_NAME,
	F_CARRIER,
	F_CURRENT,
	F_MIRROR,
	F_HELPER,
	F_SUPER,
	FIELDS
};

static const struct vm_place places[FIELDS] = {
	[F_OOP_BASE] = VM_PLACE_OOP_BASE,
	[F_OOP_SHIFT] = VM_PLACE_OOP_SHIFT,
	[F_KLASS_BASE] = VM_PLACE_KLASS_BASE,
	[F_KLASS_SHIFT] = VM_PLACE_KLASS_SHIFT,
	[F_OLD_X] = {{"XGlobalsForVMStructs", "ZGlobalsForVMStructs"}, {"_instance_p", "_instance_p"}},
	[F_OLD_BAD] = {{"XGlobalsForVMStructs", "ZGlobalsForVMStructs"}, {"_XAddressBadMask", "_ZAddressBadMask"}},
	[F_Z] = {{"ZGlobalsForVMStructs"}, {"_instance_p"}},
	[F_Z_BAD] = {{"ZGlobalsForVMStructs"}, {"_ZPointerLoadBadMask"}},
	[F_HEAP] = {{"Universe"}, {"_collectedHeap"}},
	[F_COLLECTIONS] = {{"CollectedHeap"}, {"_total_collections"}},
	[F_ACTIVE] = {{"CollectedHeap", "CollectedHeap"}, {"_is_stw_gc_active", "_is_gc_active"}},
	[F_LIST] = {{"ThreadsSMRSupport", "Threads"}, {"_java_thread_list", "_thread_list"}},
	[F_LIST_LENGTH] = {{"ThreadsList"}, {"_length"}},
	[F_LIST_THREADS] = {{"ThreadsList"}, {"_threads"}},
	[F_NEXT] = {{"JavaThread"}, {"_next"}},
	[F_NAME] = {{"NamedThread"}, {"_name"}},
	[F_CARRIER] = {{"JavaThread"}, {"_threadObj"}},
	[F_CURRENT] = {{"JavaThread"}, {"_vthread"}},
	[F_MIRROR] = {{"Klass"}, {"_java_mirror"}},
	[F_HELPER] = {{"Klass"}, {"_layout_helper"}},
	[F_SUPER] = {{"Klass"}, {"_super"}},
};

static int places_read(struct vm_field f[FIELDS], pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS])
{
	struct vm_field asked[VM_NAMES * FIELDS];
	int err;

	vm_places_ask(asked, places, FIELDS);
	err = vm_process_read(pid, bias, at, asked, VM_NAMES * FIELDS, NULL, 0);
	if (!err)
		vm_places_take(f, asked, FIELDS);
	return err;
}

static uint16_t offset_of(const struct vm_field *f)
{
	return f->found && f->offset <= UINT16_MAX ? (uint16_t)f->offset : 0;
}

static struct braid_walk *reader(const struct java_heap *h)
{
	return objects_reader(&h->pid);
}

static uint64_t word_at(const struct java_heap *h, uint64_t address)
{
	uint64_t word;

	return walk_read(reader(h), &word, sizeof(word), address) ? 0 : word;
}

/* ---- many reads ---- */

/*
 * The kernel takes a microsecond for each piece of memory, and much less for some hundred bytes more of one. What is
 * close together is read as one run, and taken apart here.
 */
#define RUNS 512U     /* at once; IOV_MAX is 1024 */
#define RUN_GAP 1024U /* bytes between two pieces of a run */
#define RUN_BYTES 65536U
#define RUNS_BYTES (1U << 20) /* of all runs at once */

struct run {
	uint64_t address;
	uint32_t size;
	size_t first, count; /* in java_runs.order */
};

struct java_runs {
	struct java_read **order; /* by address */
	size_t room;
	size_t count;
	struct run run[RUNS];
	uint8_t bytes[RUNS_BYTES];
};

static int compare_reads(const void *x, const void *y)
{
	return compare_u64((*(struct java_read *const *)x)->address, (*(struct java_read *const *)y)->address);
}

static void read_one(const struct java_heap *h, struct java_read *r)
{
	r->ok = !walk_read(reader(h), r->to, r->size, r->address);
}

/* Sorts the reads that can be part of a run, and makes the others. Without memory it makes all. */
static size_t order_reads(const struct java_heap *h, struct java_read *reads, size_t count)
{
	struct java_runs *runs = h->runs;
	size_t ordered = 0;
	bool room = count <= runs->room;

	if (!room) {
		struct java_read **more = realloc(runs->order, count * sizeof(struct java_read *));

		room = more;
		runs->order = more ?: runs->order;
		runs->room = more ? count : runs->room;
	}
	for (size_t i = 0; i < count; i++) {
		struct java_read *r = &reads[i];

		r->ok = false;
		if (r->size && room && r->size <= RUN_BYTES && r->address < ADDRESS_END)
			runs->order[ordered++] = r;
		else if (r->size)
			read_one(h, r);
	}
	if (ordered)
		qsort(runs->order, ordered, sizeof(struct java_read *), compare_reads);
	return ordered;
}

/* Makes runs of the ordered reads from `first` on. Returns the first one that is in none. */
static size_t make_runs(struct java_runs *runs, size_t first, size_t ordered)
{
	uint32_t total = 0;
	size_t i = first;

	for (runs->count = 0; runs->count < RUNS && i < ordered; runs->count++) {
		struct run *run = &runs->run[runs->count];

		*run = (struct run){
			.address = runs->order[i]->address, .size = runs->order[i]->size, .first = i, .count = 1};
		for (i++; i < ordered; i++, run->count++) {
			uint64_t at = runs->order[i]->address - run->address, end = at + runs->order[i]->size;

			if (at > run->size + RUN_GAP || end > RUN_BYTES)
				break;
			run->size = end > run->size ? (uint32_t)end : run->size;
		}
		if (total + run->size > RUNS_BYTES)
			return run->first;
		total += run->size;
	}
	return i;
}

/* Reads the runs; the reads of one that cannot be read as a whole are made one by one. */
static void read_runs(const struct java_heap *h, struct java_runs *runs)
{
	struct iovec local = {.iov_base = runs->bytes, .iov_len = RUNS_BYTES}, remote[RUNS];
	uint8_t *bytes = runs->bytes;
	ssize_t got;

	for (size_t i = 0; i < runs->count; i++)
		remote[i] = (struct iovec){.iov_base = (void *)(uintptr_t)runs->run[i].address,
					   .iov_len = runs->run[i].size};
	got = process_vm_readv(h->pid, &local, 1, remote, runs->count, 0);
	if (got < 0 && errno == ESRCH) /* its first thread has ended */
		got = process_vm_readv(procfs_living_thread(h->pid), &local, 1, remote, runs->count, 0);
	for (size_t i = 0; i < runs->count; bytes += runs->run[i++].size) {
		const struct run *run = &runs->run[i];

		got -= (ssize_t)run->size;
		for (size_t k = run->first; k < run->first + run->count; k++) {
			struct java_read *r = runs->order[k];

			r->ok = got >= 0;
			if (r->ok)
				memcpy(r->to, bytes + (r->address - run->address), r->size);
			else
				read_one(h, r);
		}
	}
}

void java_heap_read(const struct java_heap *h, struct java_read *reads, size_t count)
{
	size_t ordered = order_reads(h, reads, count);

	for (size_t i = 0; i < ordered;) {
		i = make_runs(h->runs, i, ordered);
		read_runs(h, h->runs);
	}
}

/* ---- references ---- */

uint32_t java_heap_reference_bytes(const struct java_heap *h)
{
	return h->layout.objects.oops == BRAID_OOPS_COMPRESSED ? 4 : 8;
}

uint64_t java_heap_decode(const struct java_heap *h, const struct java_moment *m, const void *reference)
{
	uint64_t wide = 0;

	memcpy(&wide, reference, java_heap_reference_bytes(h));
	return wide & m->bad ? 0 : walk_oop_decode(&h->layout, wide);
}

uint64_t java_heap_decode_root(const struct java_heap *h, const struct java_moment *m, uint64_t reference)
{
	if (reference & m->bad)
		return 0;
	return h->layout.objects.oops == BRAID_OOPS_COLOURED ? walk_oop_decode(&h->layout, reference) : reference;
}

/*
 * A narrow reference has no upper half, and a coloured one is shifted so far that it is more than 2^12 times any
 * address. In a new chunk there are addresses.
 */
uint64_t java_heap_decode_frozen(const struct java_heap *h, const struct java_moment *m, uint64_t chunk, uint64_t word)
{
	if (!(word >> 32))
		return java_heap_decode(h, m, &word);
	return word >> 12 > chunk ? java_heap_decode_root(h, m, word) : word;
}

uint64_t java_heap_field(const struct java_heap *h, uint64_t object, uint16_t at)
{
	return object && at ? object_field(reader(h), &h->layout, object + at) : 0;
}

uint64_t java_heap_klass(const struct java_heap *h, uint64_t object)
{
	return object_klass(reader(h), &h->layout, object);
}

uint64_t java_heap_klass_of(const struct java_heap *h, const uint8_t header[16])
{
	const struct braid_objects *o = &h->layout.objects;
	uint64_t mark, word;

	memcpy(&mark, header, sizeof(mark));
	memcpy(&word, header + 8, sizeof(word));
	if (o->klasses == BRAID_KLASSES_PLAIN)
		return word;
	word = o->klasses == BRAID_KLASSES_COMPACT ? mark >> 42 : word & UINT32_MAX;
	return word ? o->klass_base + (word << (o->klass_shift & 31)) : 0;
}

uint16_t java_heap_instance_bytes(const struct java_heap *h, uint64_t klass)
{
	int32_t helper;

	if (!klass || walk_read(reader(h), &helper, sizeof(helper), klass + h->layout_helper))
		return 0;
	helper &= ~7; /* bit 0: allocated on the slow path only */
	return helper > 0 && helper <= UINT16_MAX ? (uint16_t)helper : 0;
}

/* The object that has a class's static fields. */
static uint64_t mirror_of(const struct java_heap *h, uint64_t klass)
{
	uint64_t place = klass && h->mirror ? klass + h->mirror : 0;

	if (place && h->mirror_is_handle)
		place = word_at(h, place);
	return place ? object_at(reader(h), &h->layout, place, false) : 0;
}

uint64_t java_heap_static(const struct java_heap *h, uint64_t klass, uint16_t at)
{
	return java_heap_field(h, mirror_of(h, klass), at);
}

bool java_heap_static_int(const struct java_heap *h, uint64_t klass, uint16_t at, int32_t *to)
{
	uint64_t mirror = at ? mirror_of(h, klass) : 0;

	return mirror && !walk_read(reader(h), to, sizeof(*to), mirror + at);
}

bool java_heap_is_ownable(const struct java_heap *h, uint64_t klass)
{
	return h->layout.objects.flags & BRAID_OBJECTS_BLOCKERS && parked_is_ownable(reader(h), &h->layout, klass);
}

bool java_heap_class_name(const struct java_heap *h, uint64_t klass, char *to, size_t size)
{
	return klass_name(reader(h), &h->layout, klass, to, size);
}

/* klass.hpp: an array's layout helper has the size of its header in bits 16 to 23. */
static bool array_shape(const struct java_heap *h, uint64_t array, uint16_t *length_at, uint16_t *elements_at)
{
	uint64_t klass = array ? java_heap_klass(h, array) : 0;
	uint32_t helper;

	if (!klass || walk_read(reader(h), &helper, sizeof(helper), klass + h->layout_helper) || !(helper >> 31))
		return false;
	*length_at = braid_array_length_at(h->layout.objects.klasses);
	*elements_at = helper >> 16 & 0xff;
	return *elements_at >= *length_at + 4 && *elements_at <= 24;
}

bool java_heap_array(const struct java_heap *h, uint64_t array, uint32_t *length, uint64_t *elements)
{
	uint16_t length_at, elements_at;

	if (!array_shape(h, array, &length_at, &elements_at))
		return false;
	*elements = array + elements_at;
	return !walk_read(reader(h), length, sizeof(*length), array + length_at);
}

/* ---- moments ---- */

static bool is_quiet(const struct java_heap *h)
{
	uint8_t active;

	return !walk_read(reader(h), &active, sizeof(active), h->active_at) && !active;
}

/*
 * A collection that stops the threads is active before it is counted, and moves nothing before that. So if none is
 * active at two times, and the count is the same, none has moved anything in between.
 */
bool java_heap_now(const struct java_heap *h, struct java_moment *to)
{
	uint64_t bad = h->layout.objects.oop_bad;

	*to = (struct java_moment){0};
	return is_quiet(h) && (!bad || !walk_read(reader(h), &to->bad, sizeof(to->bad), bad)) &&
	       !walk_read(reader(h), &to->collections, sizeof(uint32_t), h->collections_at) && is_quiet(h);
}

/* ---- classes and their fields ---- */

enum { C_THREAD, C_STRING, C_OWNABLE, C_VTHREAD, C_CONTINUATION, C_CHUNK, CLASSES };

static void classes_read(struct java_heap *h, struct class_wanted classes[CLASSES])
{
	struct braid_objects *o = &h->layout.objects;
	struct braid_vthreads *v = &h->layout.vthreads;
	uint16_t loader = 0, group = 0;
	const struct field_wanted fields[] = {
		{C_THREAD, "eetop", "J", &o->thread_eetop},
		{C_THREAD, "tid", "J", &o->thread_id},
		{C_THREAD, "name", "Ljava/lang/String;", &o->thread_name},
		{C_THREAD, "contextClassLoader", "Ljava/lang/ClassLoader;", &loader},
		{C_THREAD, "group", "Ljava/lang/ThreadGroup;", &group},
		{C_THREAD, "parkBlocker", "Ljava/lang/Object;", &o->thread_blocker},
		{C_STRING, "value", "[B", &o->string_value},
		{C_STRING, "value", "[C", &h->string_chars},
		{C_STRING, "coder", "B", &o->string_coder},
		{C_OWNABLE, "exclusiveOwnerThread", "Ljava/lang/Thread;", &o->ownable_thread},
		{C_VTHREAD, "cont", "Ljdk/internal/vm/Continuation;", &v->thread_cont},
		{C_CONTINUATION, "tail", "Ljdk/internal/vm/StackChunk;", &v->cont_tail},
		{C_CHUNK, "parent", "Ljdk/internal/vm/StackChunk;", &v->chunk_parent},
		{C_CHUNK, "sp", "I", &v->chunk_sp},
		{C_CHUNK, "bottom", "I", &v->chunk_bottom},
	};

	classes_find(&h->classes, classes, CLASSES, fields, sizeof(fields) / sizeof(fields[0]));
	/*
	 * A wide one can have the value that a narrow one has, followed by null, so no reference is tried for that.
	 * Their places are multiples of their width. The loader follows the name, or the group in older JDKs.
	 */
	o->oops = (o->thread_name | loader | group) & 7 ? BRAID_OOPS_COMPRESSED : BRAID_OOPS_PLAIN;
	o->virtual_klass = classes[C_VTHREAD].klass;
	o->ownable_klass = classes[C_OWNABLE].klass;
}

/* A chunk's stack begins after the fields of its class, InstanceStackChunkKlass::offset_of_stack(). */
static void take_chunk_stack(struct java_heap *h, uint64_t klass)
{
	struct braid_vthreads *v = &h->layout.vthreads;

	v->chunk_stack = java_heap_instance_bytes(h, klass);
	if (v->chunk_stack && v->chunk_sp && v->chunk_bottom && v->chunk_parent && v->cont_tail && v->thread_cont)
		v->flags |= BRAID_VTHREADS_FROZEN;
}

/* ---- how references and classes are encoded ---- */

/* Base and shift with which narrow pointers are widened; false if they are in no table. */
static bool read_widening(const struct java_heap *h, const struct vm_field f[2], __u64 *base, __u8 *shift)
{
	int32_t bits;

	if (!f[0].found || !f[1].found || walk_read(reader(h), base, 8, f[0].address) ||
	    walk_read(reader(h), &bits, sizeof(bits), f[1].address) || bits < 0 || bits > 31)
		return false;
	*shift = (__u8)bits;
	return true;
}

/* The address of ZGC's mask of bad bits, if that collector is at work. */
static uint64_t bad_mask(const struct java_heap *h, const struct vm_field *instance, const struct vm_field *mask)
{
	uint64_t globals = instance->found && mask->found ? word_at(h, instance->address) : 0;
	uint64_t at = globals ? word_at(h, globals + mask->offset) : 0;

	return at && word_at(h, at) ? at : 0;
}

/* Tries each encoding of classes on a thread whose class is known. */
static bool find_klasses(struct java_heap *h, const struct vm_field *f, uint64_t thread, uint64_t klass)
{
	struct braid_objects *o = &h->layout.objects;
	bool narrow = read_widening(h, &f[F_KLASS_BASE], &o->klass_base, &o->klass_shift);

	for (int k = BRAID_KLASSES_PLAIN; k <= (narrow ? BRAID_KLASSES_COMPACT : BRAID_KLASSES_PLAIN); k++) {
		o->klasses = (__u8)k;
		if (object_klass(reader(h), &h->layout, thread) == klass)
			return true;
	}
	return false;
}

/* The object of a reference in the heap, which may be stale. */
static uint64_t any_at(const struct java_heap *h, uint64_t at)
{
	uint64_t wide = 0;

	return walk_read(reader(h), &wide, java_heap_reference_bytes(h), at) ? 0 : walk_oop_decode(&h->layout, wide);
}

/* The shape of byte[], from the characters of a thread's name. */
static void read_bytes_shape(struct java_heap *h, uint64_t name)
{
	struct braid_objects *o = &h->layout.objects;

	if (o->string_value && !array_shape(h, any_at(h, name + o->string_value), &o->array_length, &o->array_data))
		o->string_value = 0;
}

/* How references are widened, or where the mask of their colours is. Their width is known. */
static bool take_oops(struct java_heap *h, const struct vm_field *f)
{
	struct braid_objects *o = &h->layout.objects;

	if (o->oops == BRAID_OOPS_COMPRESSED)
		return read_widening(h, &f[F_OOP_BASE], &o->oop_base, &o->oop_shift);
	o->oop_bad = bad_mask(h, &f[F_Z], &f[F_Z_BAD]);
	if (o->oop_bad)
		o->oops = BRAID_OOPS_COLOURED;
	else
		o->oop_bad = bad_mask(h, &f[F_OLD_X], &f[F_OLD_BAD]);
	return true;
}

/*
 * References outside the heap have colours or are addresses. Those of some threads lead to a Thread, of which class and
 * name are known: what leads there is how this VM encodes them. No reference is refused for being stale here.
 */
static bool find_encodings(struct java_heap *h, const struct vm_field *f, const struct class_wanted *classes)
{
	const struct java_moment any = {0};
	struct braid_objects *o = &h->layout.objects;
	uint64_t threads[THREADS_TRIED];
	size_t count = take_oops(h, f) ? java_threads_list(h, threads, THREADS_TRIED) : 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t thread = word_at(h, threads[i] + o->carrier), name;

		thread = o->flags & BRAID_OBJECTS_HANDLES ? word_at(h, thread) : thread;
		thread = java_heap_decode_root(h, &any, thread);
		if (!thread || !find_klasses(h, f, thread, classes[C_THREAD].klass) ||
		    word_at(h, thread + o->thread_eetop) != threads[i])
			continue;
		name = any_at(h, thread + o->thread_name);
		if (java_heap_klass(h, name) == classes[C_STRING].klass) {
			read_bytes_shape(h, name);
			return true;
		}
	}
	return false;
}

/* ---- opening ---- */

static bool is_handle(const struct vm_field *f)
{
	return !strcmp(f->declared, "OopHandle");
}

/* The fields of the VM's own structures. False: one is missing. */
static bool take_places(struct java_heap *h, const struct vm_field *f)
{
	struct braid_objects *o = &h->layout.objects;
	uint64_t heap = f[F_HEAP].found ? word_at(h, f[F_HEAP].address) : 0;

	*o = (struct braid_objects){.carrier = offset_of(&f[F_CARRIER]),
				    .current = offset_of(&f[F_CURRENT]),
				    .klass_super = offset_of(&f[F_SUPER]),
				    .flags = is_handle(&f[F_CARRIER]) ? BRAID_OBJECTS_HANDLES : 0};
	h->layout.vthreads = (struct braid_vthreads){0};
	h->collections_at = heap + f[F_COLLECTIONS].offset;
	h->active_at = heap + f[F_ACTIVE].offset;
	h->thread_list = f[F_LIST].address;
	h->list_length = offset_of(&f[F_LIST_LENGTH]);
	h->list_threads = offset_of(&f[F_LIST_THREADS]);
	h->thread_next = offset_of(&f[F_NEXT]);
	h->vm_thread_name = offset_of(&f[F_NAME]);
	h->mirror = offset_of(&f[F_MIRROR]);
	h->mirror_is_handle = is_handle(&f[F_MIRROR]);
	h->layout_helper = offset_of(&f[F_HELPER]);
	return heap && f[F_COLLECTIONS].found && f[F_ACTIVE].found && f[F_LIST].found &&
	       (h->list_threads || h->thread_next) && o->carrier && h->layout_helper && o->klass_super;
}

int java_heap_open(struct java_heap *h, pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS],
		   const struct braid_layout *l)
{
	struct class_wanted classes[CLASSES] = {
		[C_THREAD] = {.name = "java/lang/Thread"},
		[C_STRING] = {.name = "java/lang/String"},
		[C_OWNABLE] = {.name = "java/util/concurrent/locks/AbstractOwnableSynchronizer"},
		[C_VTHREAD] = {.name = "java/lang/VirtualThread"},
		[C_CONTINUATION] = {.name = "jdk/internal/vm/Continuation"},
		[C_CHUNK] = {.name = "jdk/internal/vm/StackChunk"},
	};
	struct braid_objects *o = &h->layout.objects;
	struct vm_field f[FIELDS];
	int err;

	*h = (struct java_heap){.pid = pid, .layout = *l, .runs = calloc(1, sizeof(*h->runs))};
	if (!h->runs)
		return -ENOMEM;
	err = places_read(f, pid, bias, at);
	if (err)
		return err;
	if (!take_places(h, f))
		return -ENOENT;
	err = classes_open(&h->classes, pid, bias, at, &h->layout);
	if (err)
		return err;
	classes_read(h, classes);
	if (!o->thread_eetop || !o->thread_id || !o->thread_name || !find_encodings(h, f, classes))
		return -ENOENT;
	o->flags |= BRAID_OBJECTS_THREADS;
	if (o->ownable_klass && o->ownable_thread && o->thread_blocker)
		o->flags |= BRAID_OBJECTS_BLOCKERS;
	take_chunk_stack(h, classes[C_CHUNK].klass);
	return 0;
}

int java_heap_again(struct java_heap *h)
{
	h->runs = calloc(1, sizeof(*h->runs));
	return h->runs ? 0 : -ENOMEM;
}

void java_heap_close(struct java_heap *h)
{
	if (h->runs)
		free(h->runs->order);
	free(h->runs);
	h->runs = NULL;
}
