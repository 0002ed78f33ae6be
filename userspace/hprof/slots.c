// SPDX-License-Identifier: Apache-2.0
#include "slots.h"

#include <errno.h>

static const char changed[] = "the file has changed while it was read";

/* ---- classes ---- */

struct class_reader {
	struct hprof_dump *d;
	hprof_slot_fn fn;
	void *ctx;
	bool cut;
};

static uint64_t take(struct class_reader *r, unsigned bytes)
{
	const uint8_t *p = hprof_file_take(&r->d->file, bytes);

	r->cut |= !p;
	return p ? hprof_number(p, bytes) : 0;
}

/* A value after its type; only references are reported. */
static int value(struct class_reader *r, enum hprof_slot_kind kind, uint64_t name)
{
	struct hprof_slot slot = {.kind = kind, .name = name, .field = HPROF_NONE};

	slot.type = (uint8_t)take(r, 1);
	slot.id = take(r, hprof_type_bytes(slot.type, r->d->items.id_bytes));
	return slot.type == HPROF_REFERENCE && !r->cut ? r->fn(r->ctx, &slot) : 0;
}

static int head(struct class_reader *r)
{
	static const enum hprof_slot_kind kinds[] = {HPROF_SLOT_SUPER,	HPROF_SLOT_LOADER,   HPROF_SLOT_SIGNERS,
						     HPROF_SLOT_DOMAIN, HPROF_SLOT_RESERVED, HPROF_SLOT_RESERVED};
	int got = 0;

	(void)take(r, 1);
	(void)take(r, r->d->items.id_bytes);
	(void)take(r, 4);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !got; i++) {
		struct hprof_slot slot = {.kind = kinds[i], .type = HPROF_REFERENCE, .field = HPROF_NONE};

		slot.id = take(r, r->d->items.id_bytes);
		got = r->cut ? 0 : r->fn(r->ctx, &slot);
	}
	(void)take(r, 4);
	return got;
}

int hprof_class_slots(struct hprof_dump *d, uint64_t at, hprof_slot_fn fn, void *ctx)
{
	struct class_reader r = {d, fn, ctx, false};
	int got;

	hprof_file_seek(&d->file, at);
	got = head(&r);
	for (uint64_t n = take(&r, 2); n && !got && !r.cut; n--) {
		(void)take(&r, 2);
		got = value(&r, HPROF_SLOT_CONSTANT, 0);
	}
	if (got)
		return got;
	for (uint64_t n = take(&r, 2); n && !got && !r.cut; n--) {
		uint64_t name = take(&r, d->items.id_bytes);

		got = value(&r, HPROF_SLOT_STATIC, name);
	}
	return r.cut ? hprof_items_bad(&d->items, at, changed) : got;
}

/* ---- instances and arrays ---- */

static int instance(struct hprof_dump *d, const struct hprof_item *item, bool values, hprof_slot_fn fn, void *ctx)
{
	uint32_t class = hprof_find_class(d, item->class);
	uint64_t base = 0;
	const uint8_t *bytes = hprof_file_take(&d->file, item->length);
	int got = 0;

	if (!bytes)
		return hprof_items_bad(&d->items, item->at, changed);
	for (; class != HPROF_NONE && !got; class = d->classes.at[class].with_fields) {
		const struct hprof_class *c = &d->classes.at[class];

		for (uint32_t f = c->field; f < c->field + c->fields && !got; f++) {
			const struct hprof_field *field = &d->fields.at[f];
			unsigned size = hprof_type_bytes(field->type, d->items.id_bytes);
			uint64_t at = base + field->offset;
			struct hprof_slot slot = {
				.kind = HPROF_SLOT_FIELD, .name = field->name, .field = f, .type = field->type};

			if (at + size > item->length)
				return 0;
			slot.id = hprof_number(bytes + at, size);
			if (values || field->type == HPROF_REFERENCE)
				got = fn(ctx, &slot);
		}
		base += c->own_bytes;
	}
	return got;
}

static int elements(struct hprof_dump *d, const struct hprof_item *item, hprof_slot_fn fn, void *ctx)
{
	struct hprof_slot slot = {.kind = HPROF_SLOT_ELEMENT, .type = HPROF_REFERENCE, .field = HPROF_NONE};
	int got = 0;

	for (slot.index = 0; slot.index < item->count && !got; slot.index++) {
		const uint8_t *p = hprof_file_take(&d->file, d->items.id_bytes);

		if (!p)
			return hprof_items_bad(&d->items, item->at, changed);
		slot.id = hprof_number(p, d->items.id_bytes);
		got = fn(ctx, &slot);
	}
	return got;
}

int hprof_slots(struct hprof_dump *d, uint32_t object, bool values, hprof_slot_fn fn, void *ctx)
{
	struct hprof_slot slot = {.kind = HPROF_SLOT_CLASS, .type = HPROF_REFERENCE, .field = HPROF_NONE};
	struct hprof_item item;
	int got = hprof_items_at(&d->items, hprof_objects(d)[object].at, &item);

	if (got < 0)
		return got;
	if (item.kind == HPROF_CLASS)
		return hprof_class_slots(d, item.at, fn, ctx);
	hprof_file_seek(&d->file, item.body);
	got = 0;
	if (item.kind == HPROF_INSTANCE)
		got = instance(d, &item, values, fn, ctx);
	else if (item.kind == HPROF_OBJECTS)
		got = elements(d, &item, fn, ctx);
	slot.id = item.class;
	return got || !item.class ? got : fn(ctx, &slot);
}
