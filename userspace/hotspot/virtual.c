// SPDX-License-Identifier: Apache-2.0
#include "virtual.h"

#include "conditions.h"
#include "thread_sets.h"
#include "virtual_states.h"

#include "util/clock.h"
#include "util/pair_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 256U	       /* threads that are read together */
#define OBJECT_BYTES 256U      /* of a VirtualThread */
#define FIELDS_BYTES 256U      /* of a chunk, before its stack */
#define FRAMES_MAX (16U << 20) /* bytes of a group's frames */
#define WORDS_MAX (1 << 20)    /* of a chunk's stack */
#define TRIES 3		       /* more, at a thread that runs while it is read */

struct virtuals {
	const struct java_heap *heap;
	struct thread_sets sets;
	struct java_moment moment;
	thread_objects objects;		/* of the present slice */
	size_t next;			/* of these; 0: the slice is to be read */
	int tries;			/* at these */
	thread_objects again;		/* those of its threads that ran while they were read */
	struct pair_map seen;		/* numbers of threads that were reported */
	int32_t suspended;		/* a bit of the state */
	int32_t states[VIRTUAL_STATES]; /* the constants' values; -1: there is no such constant */
	uint16_t state, carrier;
	uint16_t waiter;     /* see read_monitors(); 0: the VM has no such field, before 24 */
	uint16_t lock_count; /* of a chunk: the number of objects that the thread has locked; the same */
	uint32_t size;	     /* of a VirtualThread */
	uint64_t unreadable;
	bool too_many;
	/* The group: what was read of each thread. */
	size_t count;
	struct virtual_thread threads[GROUP];
	struct place {
		uint64_t object, cont, tail, name, array, owner, next; /* next: the chunk to be read */
		int32_t state, state_again, sp_again;
		uint64_t tail_again;
		const struct java_read *asked; /* of frames; NULL: none */
		uint8_t bytes[OBJECT_BYTES];
	} places[GROUP];
	struct java_read reads[GROUP * 3];
	size_t read_count;
	uint8_t fields[GROUP * VIRTUAL_CHUNKS][FIELDS_BYTES];
	uint8_t *frames;
	size_t frames_used;
	struct conditions conditions;
};

/* Whether all fields are among the first `size` bytes of an object. */
static bool are_within(const uint16_t *fields, size_t count, uint32_t size)
{
	for (size_t i = 0; i < count; i++)
		if (!fields[i] || fields[i] + 8U > size)
			return false;
	return true;
}

/* Whether all that is read of a VirtualThread, and of a chunk, is in what is copied of it. */
static bool fits(const struct virtuals *v)
{
	const struct braid_objects *o = &v->heap->layout.objects;
	const struct braid_vthreads *l = &v->heap->layout.vthreads;
	const uint16_t thread[] = {v->state,	   v->carrier,	      o->thread_id,
				   o->thread_name, o->thread_blocker, l->thread_cont};
	const uint16_t chunk[] = {l->chunk_sp, l->chunk_bottom, l->chunk_parent};

	return v->size <= OBJECT_BYTES && are_within(thread, sizeof(thread) / sizeof(thread[0]), v->size) &&
	       l->chunk_stack <= FIELDS_BYTES && v->lock_count < FIELDS_BYTES &&
	       are_within(chunk, sizeof(chunk) / sizeof(chunk[0]), FIELDS_BYTES);
}

/* Finds the fields of VirtualThread, and what the values of its state mean. */
static void find_states(struct virtuals *v)
{
	uint16_t suspended = 0, constants[VIRTUAL_STATES] = {0};
	struct class_wanted classes[] = {{.name = "java/lang/VirtualThread"}, {.name = "jdk/internal/vm/StackChunk"}};
	struct field_wanted fields[VIRTUAL_STATES + 5] = {{0, "state", "I", &v->state},
							  {0, "carrierThread", "Ljava/lang/Thread;", &v->carrier},
							  {0, "SUSPENDED", "I", &suspended},
							  {0, "objectWaiter", "J", &v->waiter},
							  {1, "lockStackSize", "B", &v->lock_count}};

	for (size_t i = 0; i < VIRTUAL_STATES; i++)
		fields[5 + i] = (struct field_wanted){0, virtual_states[i].name, "I", &constants[i]};
	classes_find(&v->heap->classes, classes, 2, fields, VIRTUAL_STATES + 5);
	for (size_t i = 0; i < VIRTUAL_STATES; i++)
		if (!java_heap_static_int(v->heap, classes[0].klass, constants[i], &v->states[i]))
			v->states[i] = -1;
	if (!java_heap_static_int(v->heap, classes[0].klass, suspended, &v->suspended))
		v->suspended = 0;
	v->size = java_heap_instance_bytes(v->heap, classes[0].klass);
}

int virtuals_new(struct virtuals **out, const struct java_heap *h)
{
	struct virtuals *v = *out = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->heap = h;
	if (!(h->layout.vthreads.flags & BRAID_VTHREADS_FROZEN) || thread_sets_open(&v->sets, h))
		return -ENOENT;
	find_states(v);
	if (!fits(v))
		return -ENOENT;
	v->frames = malloc(FRAMES_MAX);
	return v->frames ? 0 : -ENOMEM;
}

void virtuals_free(struct virtuals *v)
{
	if (!v)
		return;
	thread_sets_close(&v->sets);
	free(v->objects.at);
	free(v->again.at);
	pair_map_free(&v->seen);
	free(v->frames);
	free(v);
}

struct virtuals_left_out virtuals_left_out(const struct virtuals *v)
{
	return (struct virtuals_left_out){.unreadable = v->unreadable + v->sets.damaged,
					  .untracked = thread_sets_untracked(&v->sets),
					  .too_many = v->too_many};
}

/* ---- reads of the group ---- */

/* Asks for a part of an object; nothing is read of object 0. */
static void ask(struct virtuals *v, uint64_t object, uint64_t at, void *to, uint32_t size)
{
	v->reads[v->read_count++] = (struct java_read){.address = object + at, .to = to, .size = object ? size : 0};
}

/* Makes the reads that were asked for. */
static void make_reads(struct virtuals *v)
{
	java_heap_read(v->heap, v->reads, v->read_count);
	v->read_count = 0;
}

static uint64_t decode(const struct virtuals *v, const void *reference)
{
	return java_heap_decode(v->heap, &v->moment, reference);
}

/* A reference into a word of its own. */
static void ask_reference(struct virtuals *v, uint64_t object, uint64_t at, uint64_t *to)
{
	*to = 0;
	ask(v, object, at, to, java_heap_reference_bytes(v->heap));
}

static enum braid_vthread_state state_of(const struct virtuals *v, int32_t value, bool *timed)
{
	for (size_t i = 0; i < VIRTUAL_STATES; i++)
		if (v->states[i] == (value & ~v->suspended)) {
			*timed = virtual_states[i].timed;
			return virtual_states[i].state;
		}
	return BRAID_VTHREAD_UNKNOWN;
}

/* The fields of a VirtualThread. False: it is none, it has ended, or it was reported before. */
static bool take_object(struct virtuals *v, const struct place *p, struct virtual_thread *t)
{
	const struct braid_objects *o = &v->heap->layout.objects;

	*t = (struct virtual_thread){.collections = v->moment.collections};
	memcpy(&t->number, p->bytes + o->thread_id, sizeof(t->number));
	t->state = state_of(v, p->state, &t->timed);
	return java_heap_klass_of(v->heap, p->bytes) == o->virtual_klass && t->number &&
	       t->state != BRAID_VTHREAD_ENDED && !pair_find(&v->seen, t->number, 0);
}

/* Reads the objects of the group, and keeps those that are to be reported. */
static void read_objects(struct virtuals *v, const uint64_t *objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ask(v, objects[i], 0, v->places[i].bytes, v->size);
	make_reads(v);
	v->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct place *p = &v->places[v->count], *from = &v->places[i];

		v->unreadable += !v->reads[i].ok;
		if (!v->reads[i].ok)
			continue;
		memmove(p->bytes, from->bytes, v->size);
		p->object = objects[i];
		memcpy(&p->state, p->bytes + v->state, sizeof(p->state));
		p->cont = decode(v, p->bytes + v->heap->layout.vthreads.thread_cont);
		v->count += take_object(v, p, &v->threads[v->count]);
	}
}

/* ---- frames ---- */

/* Whether its frames are in the heap. */
static bool is_frozen(const struct virtual_thread *t)
{
	return t->state == BRAID_VTHREAD_PARKED || t->state == BRAID_VTHREAD_QUEUED ||
	       t->state == BRAID_VTHREAD_BLOCKED || t->state == BRAID_VTHREAD_WAITING ||
	       t->state == BRAID_VTHREAD_UNKNOWN;
}

static void read_tails(struct virtuals *v)
{
	for (size_t i = 0; i < v->count; i++)
		ask_reference(v, v->places[i].cont, v->heap->layout.vthreads.cont_tail, &v->places[i].tail);
	make_reads(v);
	for (size_t i = 0; i < v->count; i++) {
		struct place *p = &v->places[i];

		p->tail = p->cont && v->reads[i].ok ? decode(v, &p->tail) : 0;
		p->next = is_frozen(&v->threads[i]) ? p->tail : 0;
	}
}

/* Copies the fields of each thread's next chunk. */
static void read_fields(struct virtuals *v, int level)
{
	uint32_t size = v->heap->layout.vthreads.chunk_stack;

	for (size_t i = 0; i < v->count; i++)
		ask(v, v->places[i].next, 0, v->fields[i * VIRTUAL_CHUNKS + (size_t)level], size);
	make_reads(v);
	for (size_t i = 0; i < v->count; i++)
		if (!v->reads[i].ok)
			v->places[i].next = 0;
}

/* The bytes to be copied of a chunk's stack; 0: it is no chunk. */
static uint32_t frame_bytes(const struct virtuals *v, const uint8_t *fields, int32_t *sp)
{
	const struct braid_vthreads *l = &v->heap->layout.vthreads;
	int32_t bottom;

	memcpy(sp, fields + l->chunk_sp, sizeof(*sp));
	memcpy(&bottom, fields + l->chunk_bottom, sizeof(bottom));
	return *sp < 2 || bottom < *sp || bottom > WORDS_MAX ? 0 : 8U * (uint32_t)(bottom - *sp + 2);
}

/*
 * Asks for the frames of a chunk: from the two words below the first frame, its return address and frame pointer, on.
 * p->next becomes the chunk with their callers, or 0.
 */
static void ask_frames(struct virtuals *v, struct virtual_thread *t, struct place *p, const uint8_t *fields)
{
	const struct braid_vthreads *l = &v->heap->layout.vthreads;
	struct virtual_chunk *c = &t->chunks[t->chunk_count];
	int32_t sp;

	*c = (struct virtual_chunk){.chunk = p->next, .fields = fields, .bytes = frame_bytes(v, fields, &sp)};
	v->unreadable += !c->bytes;
	t->deep = c->bytes > FRAMES_MAX - v->frames_used;
	if (!c->bytes || t->deep) {
		p->next = 0;
		return;
	}
	c->at = p->next + l->chunk_stack + 8 * ((uint64_t)(uint32_t)sp - 2);
	c->frames = v->frames + v->frames_used;
	p->asked = &v->reads[v->read_count];
	ask(v, c->at, 0, v->frames + v->frames_used, c->bytes);
	v->frames_used += c->bytes;
	t->chunk_count++;
	p->next = decode(v, fields + l->chunk_parent);
}

/* Makes the reads of frames. What cannot be read is no part of the stack, nor are the callers. */
static void read_frames(struct virtuals *v)
{
	make_reads(v);
	for (size_t i = 0; i < v->count; i++) {
		struct place *p = &v->places[i];

		if (p->asked && !p->asked->ok) {
			v->unreadable++;
			v->threads[i].chunk_count--;
			p->next = 0;
		}
		p->asked = NULL;
	}
}

/* Copies the chunks of all threads, level by level: each chunk refers to the one with its callers. */
static void read_chunks(struct virtuals *v)
{
	bool more = true;

	v->frames_used = 0;
	for (int level = 0; level < VIRTUAL_CHUNKS && more; level++) {
		more = false;
		read_fields(v, level);
		for (size_t i = 0; i < v->count; i++) {
			if (!v->places[i].next)
				continue;
			ask_frames(v, &v->threads[i], &v->places[i], v->fields[i * VIRTUAL_CHUNKS + (size_t)level]);
		}
		read_frames(v);
		for (size_t i = 0; i < v->count; i++)
			more = more || v->places[i].next;
	}
	for (size_t i = 0; i < v->count; i++)
		v->threads[i].deep = v->threads[i].deep || v->places[i].next;
}

/* Whether each thread is as it was before its frames were copied: a thread that runs changes its state first. */
static void check_again(struct virtuals *v)
{
	const struct braid_vthreads *l = &v->heap->layout.vthreads;

	for (size_t i = 0; i < v->count; i++) {
		struct place *p = &v->places[i];

		p->sp_again = 0;
		ask(v, p->object, v->state, &p->state_again, sizeof(p->state_again));
		ask_reference(v, p->cont, l->cont_tail, &p->tail_again);
		ask(v, p->tail, l->chunk_sp, &p->sp_again, sizeof(p->sp_again));
	}
	make_reads(v);
	for (size_t i = 0; i < v->count; i++) {
		struct virtual_thread *t = &v->threads[i];
		struct place *p = &v->places[i];
		int32_t sp = 0;

		if (t->chunk_count)
			memcpy(&sp, t->chunks[0].fields + l->chunk_sp, sizeof(sp));
		t->moved = p->state_again != p->state || (p->cont && decode(v, &p->tail_again) != p->tail) ||
			   (t->chunk_count && sp != p->sp_again);
		if (t->moved)
			t->chunk_count = 0;
	}
}

/* ---- names, carriers, and what they wait for ---- */

static void read_names(struct virtuals *v)
{
	const struct braid_objects *o = &v->heap->layout.objects;
	struct java_read *r = v->reads;
	uint32_t lengths[GROUP];

	for (size_t i = 0; i < v->count; i++) {
		struct place *p = &v->places[i];

		p->name = decode(v, p->bytes + o->thread_name);
		ask_reference(v, p->name, o->string_value, &p->array);
		ask(v, p->name, o->string_coder, &v->threads[i].coder, 1);
	}
	make_reads(v);
	for (size_t i = 0; i < v->count; i++) {
		struct place *p = &v->places[i];

		p->array = p->name && r[i * 2].ok && r[i * 2 + 1].ok ? decode(v, &p->array) : 0;
	}
	for (size_t i = 0; i < v->count; i++)
		ask(v, v->places[i].array, o->array_length, &lengths[i], sizeof(lengths[i]));
	make_reads(v);
	for (size_t i = 0; i < v->count; i++) {
		uint32_t n = v->places[i].array && r[i].ok ? lengths[i] : 0;

		v->threads[i].name_bytes = n = n < VIRTUAL_NAME_BYTES ? n : VIRTUAL_NAME_BYTES;
		ask(v, v->places[i].array, o->array_data, v->threads[i].name, n);
	}
	make_reads(v);
	for (size_t i = 0; i < v->count; i++)
		if (!r[i].ok)
			v->threads[i].name_bytes = 0;
}

/* A lock's owner is a field of it. Other blockers have none. */
static void read_blockers(struct virtuals *v)
{
	const struct braid_objects *o = &v->heap->layout.objects;
	uint8_t headers[GROUP][16];

	for (size_t i = 0; i < v->count; i++) {
		struct place *p = &v->places[i];
		struct virtual_thread *t = &v->threads[i];

		t->blocker = decode(v, p->bytes + o->thread_blocker);
		ask(v, t->blocker, 0, headers[i], 16);
		ask_reference(v, o->ownable_thread ? t->blocker : 0, o->ownable_thread, &p->owner);
	}
	make_reads(v);
	for (size_t i = 0; i < v->count; i++) {
		struct virtual_thread *t = &v->threads[i];

		t->blocker = v->reads[i * 2].ok ? t->blocker : 0;
		t->class = t->blocker ? java_heap_klass_of(v->heap, headers[i]) : 0;
		v->places[i].owner = t->class && v->reads[i * 2 + 1].ok && java_heap_is_ownable(v->heap, t->class)
					     ? decode(v, &v->places[i].owner)
					     : 0;
		t->lock_class = conditions_lock(&v->conditions, v->heap->pid, &v->heap->layout, t->blocker, t->class);
	}
}

static void read_owners(struct virtuals *v)
{
	const struct braid_objects *o = &v->heap->layout.objects;

	for (size_t i = 0; i < v->count; i++) {
		ask(v, v->places[i].owner, o->thread_eetop, &v->threads[i].owner, sizeof(uint64_t));
		ask(v, v->places[i].owner, o->thread_id, &v->threads[i].owner_number, sizeof(uint64_t));
	}
	make_reads(v);
	for (size_t i = 0; i < v->count; i++)
		if (!v->places[i].owner || !v->reads[i * 2].ok || !v->reads[i * 2 + 1].ok)
			v->threads[i].owner = v->threads[i].owner_number = 0;
}

/*
 * objectMonitor.hpp, 24 and later: while a virtual thread waits for a monitor, it has the address of an ObjectWaiter,
 * which begins with next, previous, JavaThread, handle of the virtual thread, monitor.
 */
struct waiter {
	uint64_t next, previous, thread, handle, monitor;
};

/* The monitor, if the ObjectWaiter is this thread's. */
static uint64_t monitor_of(struct virtuals *v, const struct place *p)
{
	struct waiter w;
	uint64_t object;
	struct java_read waiter = {.to = &w, .size = sizeof(w)}, handle = {.to = &object, .size = sizeof(object)};

	memcpy(&waiter.address, p->bytes + v->waiter, sizeof(waiter.address));
	java_heap_read(v->heap, &waiter, 1);
	if (!waiter.ok)
		return 0;
	handle.address = w.handle;
	java_heap_read(v->heap, &handle, 1);
	return handle.ok && java_heap_decode_root(v->heap, &v->moment, object) == p->object ? w.monitor : 0;
}

static void read_monitors(struct virtuals *v)
{
	for (size_t i = 0; i < v->count && v->waiter && v->waiter + 8U <= v->size; i++)
		if (v->threads[i].state == BRAID_VTHREAD_BLOCKED || v->threads[i].state == BRAID_VTHREAD_WAITING)
			v->threads[i].monitor = monitor_of(v, &v->places[i]);
}

/*
 * stackChunkOop.cpp, 24 and later: the objects that the thread has locked without a monitor of the VM's are at the
 * beginning of its newest chunk's stack, a word each.
 */
static void read_locked(struct virtuals *v)
{
	for (size_t i = 0; i < v->count && v->lock_count; i++) {
		struct virtual_thread *t = &v->threads[i];

		t->locked_count = t->chunk_count ? t->chunks[0].fields[v->lock_count] : 0;
		if (t->locked_count > VIRTUAL_LOCKED)
			t->locked_count = VIRTUAL_LOCKED;
		ask(v, t->locked_count ? t->chunks[0].chunk : 0, v->heap->layout.vthreads.chunk_stack, t->locked,
		    t->locked_count * 8U);
	}
	make_reads(v);
	for (size_t i = 0; i < v->count && v->lock_count; i++) {
		struct virtual_thread *t = &v->threads[i];

		t->locked_count = v->reads[i].ok ? t->locked_count : 0;
		for (uint32_t k = 0; k < t->locked_count; k++)
			t->locked[k] = java_heap_decode_frozen(v->heap, &v->moment, t->chunks[0].chunk, t->locked[k]);
	}
}

static void read_carriers(struct virtuals *v)
{
	for (size_t i = 0; i < v->count; i++) {
		uint64_t carrier = decode(v, v->places[i].bytes + v->carrier);

		ask(v, carrier, v->heap->layout.objects.thread_eetop, &v->threads[i].carrier, 8);
	}
	make_reads(v);
	for (size_t i = 0; i < v->count; i++)
		if (!v->reads[i].ok)
			v->threads[i].carrier = 0;
}

/* ---- groups ---- */

static bool is_same_moment(struct virtuals *v)
{
	struct java_moment now;

	return java_heap_now(v->heap, &now) && java_moment_same(&now, &v->moment);
}

/* Those that have moved are kept for another look, unless it is the last one. */
static int report(struct virtuals *v, bool last, virtual_fn fn, void *ctx)
{
	for (size_t i = 0; i < v->count; i++) {
		if (v->threads[i].moved && !last) {
			if (VEC_PUSH(&v->again, v->places[i].object))
				return -ENOMEM;
			continue;
		}
		if (pair_find(&v->seen, v->threads[i].number, 0)) /* it is twice among these */
			continue;
		if (v->seen.count >= VIRTUAL_THREADS_MAX) {
			v->too_many = true;
			return 0;
		}
		if (!pair_put(&v->seen, v->threads[i].number, 0, 1))
			return -ENOMEM;
		fn(ctx, &v->threads[i]);
	}
	return 0;
}

/* Reads the threads of the objects, from the next one on. 0, 1 when the time has come, -EAGAIN or -ENOMEM. */
static int read_threads(struct virtuals *v, uint64_t until_ns, virtual_fn fn, void *ctx)
{
	int err = 0;

	while (v->next < v->objects.count && !err && !v->too_many) {
		size_t left = v->objects.count - v->next;

		read_objects(v, &v->objects.at[v->next], left < GROUP ? left : GROUP);
		read_tails(v);
		read_chunks(v);
		read_names(v);
		read_blockers(v);
		read_owners(v);
		read_carriers(v);
		read_monitors(v);
		read_locked(v);
		check_again(v);
		err = is_same_moment(v) ? report(v, v->tries == TRIES, fn, ctx) : -EAGAIN;
		v->next += GROUP;
		err = err ?: now_ns() >= until_ns;
	}
	return err;
}

/* 1: there may be more. */
static int end_slice(struct virtuals *v)
{
	if (v->too_many || thread_sets_ended(&v->sets))
		return 0;
	if (!is_same_moment(v))
		return -EAGAIN;
	thread_sets_advance(&v->sets);
	return 1;
}

/* 1: the objects of the next slice are there; 0: there is none. */
static int begin_slice(struct virtuals *v)
{
	v->objects.count = v->again.count = v->next = 0;
	v->tries = 0;
	return thread_sets_read(&v->sets, &v->moment, &v->objects);
}

/* Threads that ran are read again after the others. */
static void begin_again(struct virtuals *v)
{
	thread_objects moved = v->again;

	v->again = v->objects;
	v->objects = moved;
	v->again.count = v->next = 0;
	v->tries++;
}

int virtuals_next(struct virtuals *v, uint64_t until_ns, virtual_fn fn, void *ctx)
{
	bool begun = v->next && is_same_moment(v);
	int err = 1;

	if (!begun && !java_heap_now(v->heap, &v->moment))
		return -EAGAIN;
	if (!begun)
		err = begin_slice(v);
	if (err > 0)
		err = read_threads(v, until_ns, fn, ctx);
	while (!err && v->again.count && v->tries < TRIES) {
		begin_again(v);
		err = read_threads(v, until_ns, fn, ctx);
	}
	if (err > 0 || err == -ENOMEM)
		return err;
	v->next = 0;
	err = err ?: end_slice(v);
	if (err == -EAGAIN)
		thread_sets_retry(&v->sets);
	return err;
}
