// SPDX-License-Identifier: Apache-2.0
#include "references.h"

#include "slots.h"
#include "util/compare.h"
#include "util/search.h"

#include <errno.h>
#include <stdlib.h>

static bool has_bit(const struct scratch *bits, uint32_t i)
{
	return ((const uint8_t *)bits->at)[i / 8] >> i % 8 & 1;
}

static void set_bit(const struct scratch *bits, uint32_t i)
{
	((uint8_t *)bits->at)[i / 8] |= (uint8_t)(1U << i % 8);
}

/* ---- roots ---- */

static bool is_on_stack(unsigned type)
{
	return type == HPROF_ROOT_JAVA_FRAME || type == HPROF_ROOT_JNI_LOCAL || type == HPROF_ROOT_NATIVE_STACK ||
	       type == HPROF_ROOT_THREAD_BLOCK;
}

static uint32_t object_of_thread(const struct hprof_dump *d, uint32_t serial)
{
	const struct hprof_thread *t = d->threads.at;
	size_t at = SEARCH(i, 0, d->threads.count, t[i].serial < serial);

	return at < d->threads.count && t[at].serial == serial ? hprof_find(d, t[at].id) : HPROF_NONE;
}

static int hold(struct references *r, uint32_t object)
{
	if (has_bit(&r->is_root, object))
		return 0;
	set_bit(&r->is_root, object);
	return graph_add_root(r->g, object);
}

static int more(struct references *r, uint32_t from, uint32_t to)
{
	set_bit(&r->has_more, from);
	return VEC_PUSH(&r->more, (struct reference){from, to});
}

static int add_roots(struct references *r)
{
	struct hprof_dump *d = r->d;
	int err = 0;

	for (size_t i = 0; i < d->roots.count && !err; i++) {
		struct hprof_root_of *root = &d->roots.at[i];

		root->object = hprof_find(d, root->id);
		if (root->object == HPROF_NONE)
			continue;
		if (is_on_stack(root->type))
			root->thread = object_of_thread(d, root->serial);
		if (root->thread != HPROF_NONE)
			err = more(r, root->thread, root->object);
		else
			err = hold(r, root->object);
	}
	return err;
}

/* The JVM keeps classes without a loader for ever. */
static int add_classes(struct references *r)
{
	struct hprof_dump *d = r->d;
	int err = 0;

	for (size_t i = 0; i < d->classes.count && !err; i++) {
		const struct hprof_class *c = &d->classes.at[i];
		uint32_t object = c->id ? hprof_find(d, c->id) : HPROF_NONE;
		uint32_t loader = hprof_find(d, c->loader);

		if (object == HPROF_NONE)
			continue;
		if (loader != HPROF_NONE)
			err = more(r, loader, object);
		else if (!has_bit(&r->is_root, object))
			err = VEC_PUSH(&d->roots, (struct hprof_root_of){.id = c->id,
									 .object = object,
									 .thread = HPROF_NONE,
									 .frame = HPROF_NO_FRAME,
									 .type = HPROF_ROOT_STICKY_CLASS}) ||
			      hold(r, object);
	}
	return err ? -ENOMEM : 0;
}

static int by_from(const void *a, const void *b)
{
	const struct reference *x = a, *y = b;

	return compare_u64(x->from, y->from);
}

/* ---- references of an object ---- */

static int refer(struct references *r, uint32_t from, uint64_t id, uint32_t weak)
{
	uint32_t to = id ? hprof_find(r->d, id) : HPROF_NONE;

	if (to == HPROF_NONE) {
		r->dangling += id != 0;
		return 0;
	}
	return to == from || has_bit(&r->is_root, to) ? 0 : graph_add(r->g, from, to | weak);
}

static int refer_class(struct references *r, uint32_t from, uint32_t class)
{
	r->class_of[from] = class;
	return refer(r, from, r->d->classes.at[class].id, 0);
}

/* The fields of an instance's class come first, then those of the class above it. */
static int read_fields(struct references *r, uint32_t from, uint32_t class, const uint8_t *bytes, uint64_t length)
{
	const struct hprof_dump *d = r->d;
	unsigned id_bytes = d->items.id_bytes;
	int err = 0;

	if (!d->classes.at[class].fields)
		class = d->classes.at[class].with_fields;
	while (!err && class != HPROF_NONE && length) {
		const struct hprof_class *c = &d->classes.at[class];

		for (uint32_t f = c->field; !err && f < c->field + c->fields; f++) {
			const struct hprof_field *field = &d->fields.at[f];

			if (field->type == HPROF_REFERENCE && (uint64_t)field->offset + id_bytes <= length)
				err = refer(r, from, hprof_number(bytes + field->offset, id_bytes),
					    f == d->referent ? GRAPH_WEAK : 0);
		}
		if (c->own_bytes > length)
			return hprof_items_bad(&r->d->items, hprof_objects(d)[from].at,
					       "an instance is shorter than its class says");
		bytes += c->own_bytes;
		length -= c->own_bytes;
		class = c->with_fields;
	}
	return err;
}

static int read_instance(struct references *r, uint32_t from, const struct hprof_item *item)
{
	uint32_t class = hprof_find_class(r->d, item->class);
	const uint8_t *bytes =
		hprof_file_take(&r->d->file, item->length < HPROF_TAKE_MAX ? item->length : HPROF_TAKE_MAX);
	int err;

	if (class == HPROF_NONE)
		class = r->d->unknown_class;
	err = refer_class(r, from, class);
	if (err)
		return err;
	if (item->length > HPROF_TAKE_MAX)
		return hprof_items_bad(&r->d->items, item->at, "an instance has more than 1 MiB of fields");
	if (!bytes)
		return hprof_items_bad(&r->d->items, item->at, "the file has changed while it was read");
	return read_fields(r, from, class, bytes, item->length);
}

static int read_array(struct references *r, uint32_t from, const struct hprof_item *item)
{
	unsigned id_bytes = r->d->items.id_bytes;
	uint32_t class =
		item->kind == HPROF_PRIMITIVES ? r->d->array_of[item->type] : hprof_find_class(r->d, item->class);
	int err;

	r->length[from] = item->count;
	if (class == HPROF_NONE)
		class = r->d->unknown_class;
	err = refer_class(r, from, class);
	if (item->kind == HPROF_PRIMITIVES)
		return err;
	for (uint32_t i = 0; !err && i < item->count; i++) {
		const uint8_t *p = hprof_file_take(&r->d->file, id_bytes);

		if (!p)
			return hprof_items_bad(&r->d->items, item->at, "the file has changed while it was read");
		err = refer(r, from, hprof_number(p, id_bytes), 0);
	}
	return err;
}

struct referrer {
	struct references *r;
	uint32_t from;
};

static int refer_slot(void *ctx, const struct hprof_slot *slot)
{
	const struct referrer *f = ctx;

	return refer(f->r, f->from, slot->id, 0);
}

static int read_more(struct references *r, uint32_t from)
{
	size_t at = SEARCH(i, 0, r->more.count, r->more.at[i].from < from);
	int err = 0;

	for (; !err && at < r->more.count && r->more.at[at].from == from; at++)
		if (!has_bit(&r->is_root, r->more.at[at].to) && r->more.at[at].to != from)
			err = graph_add(r->g, from, r->more.at[at].to);
	return err;
}

/* Stacks without frames are placeholders. */
static void note_trace(struct references *r, uint32_t object, uint32_t serial)
{
	struct hprof_trace *t = serial ? hprof_trace_find(r->d, serial) : NULL;

	if (!t || !t->count)
		return;
	r->trace_of[object] = (uint32_t)(t - r->d->traces.at) + 1;
	t->objects++;
}

static int read_object(struct references *r, const struct hprof_item *item)
{
	uint32_t from = hprof_find(r->d, item->id);
	int err;

	if (from == HPROF_NONE || hprof_objects(r->d)[from].at != item->at)
		return 0; /* another object has the same id */
	err = graph_begin(r->g, from);
	if (err)
		return err;
	if (item->kind == HPROF_CLASS) {
		r->class_of[from] = r->d->class_class;
		err = hprof_class_slots(r->d, item->at, refer_slot, &(struct referrer){r, from});
	} else {
		hprof_file_seek(&r->d->file, item->body);
		if (r->trace_of)
			note_trace(r, from, item->serial);
		err = item->kind == HPROF_INSTANCE ? read_instance(r, from, item) : read_array(r, from, item);
	}
	if (!err && has_bit(&r->has_more, from))
		err = read_more(r, from);
	return err;
}

int references_read(struct references *r)
{
	struct hprof_dump *d = r->d;
	struct hprof_item item;
	int got = 1, err;

	err = scratch_resize(&r->is_root, &d->room, d->count / 8 + 1);
	err = err ? err : scratch_resize(&r->has_more, &d->room, d->count / 8 + 1);
	err = err ? err : add_roots(r);
	err = err ? err : add_classes(r);
	if (err)
		return err;
	VEC_SORT(&r->more, by_from);
	hprof_items_rewind(&d->items);
	while (!err && (got = hprof_items_next(&d->items, &item)) > 0)
		if (item.kind >= HPROF_CLASS)
			err = read_object(r, &item);
	return err ? err : got;
}

void references_free(struct references *r)
{
	scratch_free(&r->is_root);
	scratch_free(&r->has_more);
	free(r->more.at);
}
