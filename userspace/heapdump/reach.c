// SPDX-License-Identifier: Apache-2.0
#include "chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH COPY_PIECES
#define HEAD 128U  /* bytes of an object that are read at first */
#define HEADER 24U /* the least that says what it is; arrays of plain VMs have their length there */
#define NEAR 512U  /* objects this close are read together */
#define OBJECTS_MAX (4U << 20)
#define SLICES_MAX (1U << 20)
#define SLICE_REFERENCES (REACH_WINDOW / 8)
#define BYTES_SPARE (1ULL << 30)
#define MOVED 3U       /* low bits of the first byte of an object that may be elsewhere, see vm_where() */
#define BAD_BYTES 256U /* what looking at something that is no object counts for */

struct reach_batch {
	uint64_t address[BATCH];
	struct copy_piece piece[BATCH];
	const uint8_t *head[BATCH];
	uint32_t readable[BATCH];
	uint8_t bytes[BATCH * (HEAD + NEAR)];
	uint8_t slice[REACH_WINDOW];
};

int reach_open(struct reach *g, const struct vm *vm, struct klasses *classes, uint64_t bytes)
{
	*g = (struct reach){.vm = vm, .classes = classes, .room = OBJECTS_MAX};
	/* An object may be gone through twice at a time, and what is in memory is an estimate. */
	g->left = g->most = 8 * bytes + BYTES_SPARE;
	g->batch = malloc(sizeof(*g->batch));
	g->window = malloc(REACH_WINDOW);
	if (!g->batch || !g->window || marks_open(&g->marks, vm->heap_low, vm->heap_high, bytes) ||
	    marks_open(&g->moved, vm->heap_low, vm->heap_high, bytes)) {
		reach_free(g);
		return -ENOMEM;
	}
	return 0;
}

int reach_by_root(struct reach *g, uint64_t bytes)
{
	g->by_root = true;
	return marks_open(&g->later, g->marks.low, g->marks.high, bytes) ||
			       marks_open(&g->counted, g->marks.low, g->marks.high, bytes)
		       ? -ENOMEM
		       : 0;
}

void reach_free(struct reach *g)
{
	marks_free(&g->marks);
	marks_free(&g->moved);
	marks_free(&g->later);
	marks_free(&g->counted);
	free(g->turns.at);
	pair_map_free(&g->dormant);
	free(g->objects.at);
	free(g->slices.at);
	free(g->batch);
	free(g->window);
}

/* ---- marking ---- */

static void keep_class(struct reach *g, uint32_t class);

int64_t reach_class_that_is(struct reach *g, uint64_t object)
{
	uint8_t header[16];
	int64_t i = copy_peek(g->vm->copy, object, header, sizeof(header))
			    ? klasses_find(g->classes, vm_klass(g->vm, header))
			    : -1;

	return i >= 0 && g->classes->at.at[i].flags & CLASS_IS_CLASS ? klasses_of_mirror(g->classes, object) : -1;
}

void reach_mark(struct reach *g, uint64_t object)
{
	if (!object)
		return;
	if (!marks_cover(&g->marks, object)) {
		g->bad++;
		return;
	}
	object = reach_where(g, object);
	if (g->by_root && marks_has(&g->later, object)) {
		int64_t class = reach_class_that_is(g, object);

		if (class >= 0)
			keep_class(g, (uint32_t) class);
		return;
	}
	if (g->dormant.count && pair_find(&g->dormant, object, 0))
		return;
	if (marks_set(&g->marks, object) && (g->objects.count >= g->room || VEC_PUSH(&g->objects, object)))
		g->overflow = true;
}

void reach_mark_root(struct reach *g, uint64_t object)
{
	if (!g->by_root)
		reach_mark(g, object);
	else if (object && marks_cover(&g->later, object) && !marks_has(&g->marks, object))
		marks_set(&g->later, object);
}

void reach_turn(struct reach *g, uint64_t object)
{
	if (marks_has(&g->later, object))
		marks_clear(&g->later, object);
	reach_mark(g, object);
}

static void mark_class_live(struct reach *g, uint32_t class)
{
	struct class *k = &g->classes->at.at[class];

	k->flags |= CLASS_IS_LIVE;
	reach_mark_root(g, k->mirror);
	if (!g->by_root)
		reach_mark(g, klasses_resolved(g->classes, k));
	else if (VEC_PUSH(&g->turns, class))
		g->marks.exhausted = true;
}

/* With by_root, a loader counts with its classes. */
void reach_mark_loader(struct reach *g, uint32_t loader)
{
	struct klasses *c = g->classes;
	struct class_loader *l = &c->loaders.at[loader];

	if (l->live)
		return;
	l->live = true;
	if (!g->by_root)
		reach_mark(g, l->object);
	for (uint32_t i = l->first; i; i = c->at.at[i - 1].next)
		mark_class_live(g, i - 1);
}

/* The class of an object that is there; it may have become known after its loader was marked. */
static void keep_class(struct reach *g, uint32_t class)
{
	struct class *k = &g->classes->at.at[class];

	if (k->flags & CLASS_IS_LIVE)
		return;
	reach_mark_loader(g, k->loader);
	if (!(k->flags & CLASS_IS_LIVE))
		mark_class_live(g, class);
}

static void mark_references(struct reach *g, const uint8_t *at, uint64_t count)
{
	uint32_t wide = vm_reference_bytes(g->vm);

	for (uint64_t i = 0; i < count; i++)
		reach_mark(g, vm_reference(g->vm, at + i * wide));
}

/* References of an object of which `readable` bytes are there; the others are read later. */
static void mark_part(struct reach *g, uint64_t object, const uint8_t *head, uint32_t readable, uint64_t offset,
		      uint64_t count)
{
	uint32_t wide = vm_reference_bytes(g->vm);
	uint64_t room = object + offset < g->marks.high ? (g->marks.high - object - offset) / wide : 0;

	count = count < room ? count : room;
	if (!count)
		return;
	if (offset + count * wide <= readable)
		mark_references(g, head + offset, count);
	else if (g->slices.count >= SLICES_MAX ||
		 VEC_PUSH(&g->slices, (struct reach_slice){.address = object + offset, .count = count}))
		g->overflow = true;
}

/* One that is elsewhere than in the bytes at hand. */
static void mark_at(struct reach *g, uint64_t address)
{
	reach_mark(g, vm_reference_at(g->vm, address));
}

/* The class that an object of java.lang.Class represents, if it is no primitive type. */
static void mark_class(struct reach *g, uint64_t object)
{
	struct klasses *c = g->classes;
	int64_t i = klasses_of_mirror(c, object);
	const struct class *k;

	if (i < 0)
		return;
	keep_class(g, (uint32_t)i);
	k = &c->at.at[i];
	for (uint32_t f = 0; f < k->field_count; f++) {
		const struct class_field *field = &c->fields.at[k->field_first + f];

		if (field->is_static && field->type == VALUE_OBJECT)
			mark_at(g, object + field->offset);
	}
}

static void mark_one(void *ctx, uint64_t object)
{
	reach_mark(ctx, object);
}

/* Soft and final references keep what they refer to, as a collection does. */
static void mark_special(struct reach *g, uint8_t flags, uint64_t object)
{
	struct klasses *c = g->classes;

	if (flags & CLASS_IS_CLASS)
		mark_class(g, object);
	if (flags & CLASS_IS_LOADER) {
		const struct pair_entry *e = pair_find(&c->of_loader, object, 0);

		if (e)
			reach_mark_loader(g, e->value - 1);
	}
	if (flags & CLASS_IS_REFERENCE && c->discovered)
		mark_at(g, object + c->discovered);
	if (flags & CLASS_IS_REFERENCE && c->referent && !(flags & CLASS_IS_WEAK))
		mark_at(g, object + c->referent);
}

static uint64_t array_length(const struct vm *vm, const uint8_t *head)
{
	int32_t length;

	memcpy(&length, head + vm->array_length, sizeof(length));
	return length > 0 ? (uint64_t)length : 0;
}

/* The object's class; -1: it is no object. */
static int64_t class_of(struct reach *g, const uint8_t *head, uint64_t readable)
{
	int64_t i = readable >= g->vm->header ? klasses_find(g->classes, vm_klass(g->vm, head)) : -1;

	return i >= 0 && g->classes->at.at[i].kind != CLASS_INSTANCE && readable < g->vm->array_length + 4 ? -1 : i;
}

bool reach_charge(struct reach *g, uint64_t bytes)
{
	if (bytes > g->left)
		g->exhausted = true;
	else
		g->left -= bytes;
	return !g->exhausted;
}

static bool charge_object(struct reach *g, uint64_t object, uint64_t bytes)
{
	return reach_charge(g, bytes < g->marks.high - object ? bytes : g->marks.high - object);
}

/* Marks what an object has become that was here. False: it still is. */
static bool follow_moved(struct reach *g, uint64_t object)
{
	uint64_t to = vm_where(g->vm, object);
	uint8_t header[HEADER];
	size_t n = to == object ? 0 : copy_read_some(g->vm->copy, to, header, sizeof(header));

	if (class_of(g, header, n) < 0) /* the kernel has copied the one page before and the other one after the move */
		return false;
	marks_clear(&g->marks, object);
	marks_set(&g->moved, object);
	reach_mark(g, to);
	return true;
}

static void count_object(struct reach *g, uint64_t object, struct class *k, uint64_t length, const uint8_t *head,
			 uint32_t readable)
{
	struct reach_object o = {.address = object,
				 .class = k,
				 .length = length,
				 .bytes = k->size + (length << k->element_log2),
				 .at = readable >= k->size ? head : reach_bytes(g, object, k->size)};

	if (o.at && marks_set(&g->counted, object))
		g->count(g->ctx, &o);
}

static void scan(struct reach *g, uint64_t object, const uint8_t *head, uint32_t readable)
{
	struct klasses *c = g->classes;
	int64_t i = class_of(g, head, readable);
	struct class *k;
	uint64_t length;

	if (readable && (*head & MOVED) == MOVED && follow_moved(g, object))
		return;
	if (i < 0) {
		reach_charge(g, BAD_BYTES);
		g->bad++;
		marks_clear(&g->marks, object);
		return;
	}
	if (c->at.at[i].flags & CLASS_IS_CLASS && klasses_of_mirror(c, object) == CLASSES_NONE) {
		marks_clear(&g->marks, object);
		if (g->dormant.count < CLASSES_MAX && !pair_put(&g->dormant, object, 0, 1))
			g->overflow = true;
		return;
	}
	keep_class(g, (uint32_t)i);
	k = &c->at.at[i];
	length = k->kind == CLASS_INSTANCE ? 0 : array_length(g->vm, head);
	if (!charge_object(g, object, k->size + (length << k->element_log2)))
		return;
	if (g->count)
		count_object(g, object, k, length, head, readable);
	if (k->kind == CLASS_OBJECTS)
		mark_part(g, object, head, readable, k->size, length);
	for (uint32_t n = 0; n < k->oops_count; n++)
		mark_part(g, object, head, readable, c->oops.at[k->oops_first + n].offset,
			  c->oops.at[k->oops_first + n].count);
	if (k->flags & CLASS_IS_CHUNK && chunk_each(g, k, object, mark_one, g))
		g->marks.exhausted = true;
	if (k->flags & (CLASS_IS_CLASS | CLASS_IS_LOADER | CLASS_IS_REFERENCE))
		mark_special(g, k->flags, object);
}

/* ---- batches ---- */

static int compare_addresses(const void *x, const void *y)
{
	uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;

	return (p > q) - (p < q);
}

/* Objects that are close to each other are one piece. Returns the number of pieces. */
static size_t batch_plan(struct reach *g, size_t count)
{
	struct reach_batch *b = g->batch;
	size_t pieces = 0, used = 0;

	for (size_t i = 0; i < count; i++) {
		struct copy_piece *last = pieces ? &b->piece[pieces - 1] : NULL;
		uint64_t end = b->address[i] + HEAD;

		end = end < g->marks.high ? end : g->marks.high;
		if (last && b->address[i] <= last->address + last->size + NEAR - HEAD) {
			if (end > last->address + last->size) {
				used += end - last->address - last->size;
				last->size = (uint32_t)(end - last->address);
			}
		} else {
			b->piece[pieces++] = (struct copy_piece){.address = b->address[i],
								 .size = (uint32_t)(end - b->address[i]),
								 .to = b->bytes + used};
			used += end - b->address[i];
		}
	}
	return pieces;
}

static void batch_scan(struct reach *g, size_t count)
{
	struct reach_batch *b = g->batch;
	size_t pieces = batch_plan(g, count), p = 0;

	copy_gather(g->vm->copy, b->piece, pieces);
	for (size_t i = 0; i < count; i++) {
		const struct copy_piece *piece;
		uint8_t head[HEAD];
		uint64_t within;

		while (p + 1 < pieces && b->address[i] >= b->piece[p + 1].address)
			p++;
		piece = &b->piece[p];
		within = b->address[i] - piece->address;
		if (piece->to) {
			uint32_t left = piece->size - (uint32_t)within;

			scan(g, b->address[i], piece->to + within, left < HEAD ? left : HEAD);
			continue;
		}
		/* It is at the end of what is readable. */
		scan(g, b->address[i], head, (uint32_t)copy_read_some(g->vm->copy, b->address[i], head, HEAD));
	}
}

static void scan_slice(struct reach *g)
{
	struct reach_slice *s = &g->slices.at[g->slices.count - 1];
	uint64_t n = s->count < SLICE_REFERENCES ? s->count : SLICE_REFERENCES, at = s->address;
	uint32_t wide = vm_reference_bytes(g->vm);

	s->address += n * wide;
	s->count -= n;
	g->slices.count -= !s->count;
	if (copy_read(g->vm->copy, at, g->batch->slice, n * wide))
		g->bad++;
	else
		mark_references(g, g->batch->slice, n);
}

static int drain(struct reach *g)
{
	struct reach_batch *b = g->batch;
	int err = 0;

	while ((g->objects.count || g->slices.count) && !err) {
		if (g->slices.count) {
			scan_slice(g);
		} else {
			size_t n = g->objects.count < BATCH ? g->objects.count : BATCH;

			g->objects.count -= n;
			memcpy(b->address, g->objects.at + g->objects.count, n * sizeof(*b->address));
			qsort(b->address, n, sizeof(*b->address), compare_addresses);
			batch_scan(g, n);
		}
		err = err ?: copy_check(g->vm->copy);
		if (g->marks.exhausted || g->moved.exhausted || g->later.exhausted || g->counted.exhausted)
			err = -ENOMEM;
		if (g->exhausted)
			err = -EFBIG;
	}
	return err;
}

/* ---- in order ---- */

const uint8_t *reach_bytes(struct reach *g, uint64_t address, size_t size)
{
	if (address < g->window_at || address + size > g->window_at + g->window_bytes) {
		uint64_t left = address < g->marks.high ? g->marks.high - address : 0;

		g->window_at = address;
		g->window_bytes =
			copy_read_some(g->vm->copy, address, g->window, left < REACH_WINDOW ? left : REACH_WINDOW);
	}
	if (size > g->window_bytes - (address - g->window_at))
		return NULL;
	return g->window + (address - g->window_at);
}

/* Takes an array's length, which is 0 if it would end outside the heap. */
static void take_length(struct reach *g, struct reach_object *o, uint64_t length)
{
	if (length > (g->marks.high - o->address - o->class->size) >> o->class->element_log2)
		g->bad++;
	else
		o->length = length;
}

/* False: it cannot be read any more. */
static bool object_get(struct reach *g, uint64_t address, struct reach_object *o)
{
	uint32_t length_end = g->vm->array_length + 4, size = length_end > g->vm->header ? length_end : g->vm->header;
	const uint8_t *head = reach_bytes(g, address, size);
	uint64_t length;
	int64_t i;

	if (!head) { /* what is no array can be as short as its header */
		size = g->vm->header;
		head = reach_bytes(g, address, size);
	}
	i = head ? class_of(g, head, size) : -1;
	if (i < 0)
		return false;
	*o = (struct reach_object){.address = address, .class = &g->classes->at.at[i]};
	length = o->class->kind == CLASS_INSTANCE ? 0 : array_length(g->vm, head);
	o->at = reach_bytes(g, address, o->class->size);
	if (o->at)
		take_length(g, o, length);
	o->bytes = o->class->size + (o->length << o->class->element_log2);
	return o->at;
}

int reach_each(struct reach *g, int (*fn)(void *ctx, const struct reach_object *o), void *ctx)
{
	uint64_t at = g->marks.low, checked = 0;
	int err = 0;

	g->left = g->most;
	while (!err && (at = marks_next(&g->marks, at))) {
		struct reach_object o;

		if (object_get(g, at, &o))
			err = reach_charge(g, o.bytes) ? fn(ctx, &o) : -EFBIG;
		else
			g->bad++;
		if (!err && ++checked % BATCH == 0)
			err = copy_check(g->vm->copy);
		at += 8;
		if (at >= g->marks.high)
			break;
	}
	return err;
}

/* ---- all that can be reached ---- */

/* Marks what a marked object refers to once more: it may have found no room before. */
static int rescan(void *ctx, const struct reach_object *o)
{
	struct reach *g = ctx;

	scan(g, o->address, o->at, o->class->size);
	return g->objects.count > g->room / 2 || g->slices.count > SLICES_MAX / 2 ? drain(g) : 0;
}

int reach_close_over(struct reach *g)
{
	int err = drain(g);

	while (g->overflow && !err) {
		g->overflow = false;
		err = reach_each(g, rescan, g);
		err = err ?: drain(g);
	}
	return err;
}
