// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include "rewrite.h"

enum tag {
	TAG_UTF8 = 1,
	TAG_INTEGER = 3,
	TAG_LONG = 5,
	TAG_DOUBLE = 6,
	TAG_CLASS = 7,
	TAG_FIELDREF = 9,
	TAG_METHODREF = 10,
	TAG_NAME_AND_TYPE = 12,
	TAGS = 21,
};

/* Bytes behind the tag; 0: no such tag. That of Utf8 is without its text. */
static const uint8_t sizes[TAGS] = {[TAG_UTF8] = 2,
				    [TAG_INTEGER] = 4,
				    [4] = 4 /* Float */,
				    [TAG_LONG] = 8,
				    [TAG_DOUBLE] = 8,
				    [TAG_CLASS] = 2,
				    [8] = 2 /* String */,
				    [TAG_FIELDREF] = 4,
				    [TAG_METHODREF] = 4,
				    [11] = 4,
				    [TAG_NAME_AND_TYPE] = 4,
				    [15] = 3 /* MethodHandle */,
				    [16] = 2,
				    [17] = 4 /* Dynamic */,
				    [18] = 4 /* InvokeDynamic */,
				    [19] = 2 /* Module */,
				    [20] = 2 /* Package */};

static bool entry_read(struct pool *p, struct reader *r, uint32_t index, uint32_t *next)
{
	uint32_t at = (uint32_t)(r->at - p->entries.at), tag = read_u1(r);

	if (tag >= TAGS || !sizes[tag])
		return false;
	p->at[index] = at + 1; /* of what follows the tag: never 0 */
	if (tag == TAG_UTF8)
		read_bytes(r, read_u2(r));
	else
		read_bytes(r, sizes[tag]);
	*next = index + (tag == TAG_LONG || tag == TAG_DOUBLE ? 2 : 1);
	return !r->bad;
}

bool pool_read(struct pool *p, struct reader *r)
{
	uint32_t count = read_u2(r);

	return pool_read_entries(p, r, count);
}

bool pool_read_entries(struct pool *p, struct reader *r, uint32_t count)
{
	uint32_t next = 1;

	*p = (struct pool){.count = count, .own = count, .entries = *r, .at = calloc(count + 1, sizeof(*p->at))};
	if (!p->at || !count)
		return false;
	while (next < count)
		if (!entry_read(p, r, next, &next))
			return false;
	p->entries.end = r->at;
	return next == count; /* not a last entry that takes two places */
}

void pool_free(struct pool *p)
{
	free(p->at);
	free(p->added.bytes);
	free(p->classes);
}

/* What follows the tag of an entry of the file; NULL: it is another one. */
static const uint8_t *entry_of(const struct pool *p, uint32_t index, enum tag tag)
{
	const uint8_t *at;

	if (index >= p->own || !p->at[index])
		return NULL;
	at = p->entries.at + p->at[index];
	return at[-1] == tag ? at : NULL;
}

struct text pool_text(const struct pool *p, uint32_t index)
{
	const uint8_t *at = entry_of(p, index, TAG_UTF8);

	return at ? (struct text){.at = (const char *)at + 2, .size = get_u2(at)} : TEXT("");
}

struct text pool_class_name(const struct pool *p, uint32_t index)
{
	const uint8_t *at = entry_of(p, index, TAG_CLASS);

	return at ? pool_text(p, get_u2(at)) : TEXT("");
}

bool pool_field(const struct pool *p, uint32_t index, struct rewrite_field *f)
{
	const uint8_t *at = entry_of(p, index, TAG_FIELDREF),
		      *pair = at ? entry_of(p, get_u2(at + 2), TAG_NAME_AND_TYPE) : NULL;

	if (!pair)
		return false;
	f->class = pool_class_name(p, get_u2(at));
	f->name = pool_text(p, get_u2(pair));
	f->type = pool_text(p, get_u2(pair + 2));
	return f->class.size && f->name.size && f->type.size;
}

/* The index of a new entry, whose tag is written; 0: the pool is full. */
static uint32_t entry_add(struct pool *p, enum tag tag)
{
	if (p->count >= UINT16_MAX)
		return 0;
	write_u1(&p->added, tag);
	return p->count++;
}

uint32_t pool_add_text(struct pool *p, struct text text)
{
	uint32_t index = text.size <= UINT16_MAX ? entry_add(p, TAG_UTF8) : 0;

	if (index) {
		write_u2(&p->added, (uint32_t)text.size);
		write_bytes(&p->added, text.at, text.size);
	}
	return index;
}

uint32_t pool_add_int(struct pool *p, uint32_t value)
{
	uint32_t index = entry_add(p, TAG_INTEGER);

	if (index)
		write_u4(&p->added, value);
	return index;
}

/* An entry of one or two indices, none of which may be 0. */
static uint32_t add_pair(struct pool *p, enum tag tag, uint32_t first, uint32_t second)
{
	uint32_t index = first && second ? entry_add(p, tag) : 0;

	if (index) {
		write_u2(&p->added, first);
		if (tag != TAG_CLASS)
			write_u2(&p->added, second);
	}
	return index;
}

static uint32_t add_member(struct pool *p, enum tag tag, uint32_t class, struct text name, struct text type)
{
	uint32_t name_at = pool_add_text(p, name), type_at = pool_add_text(p, type);

	return add_pair(p, tag, class, add_pair(p, TAG_NAME_AND_TYPE, name_at, type_at));
}

uint32_t pool_add_method(struct pool *p, uint32_t class, struct text name, struct text descriptor)
{
	return add_member(p, TAG_METHODREF, class, name, descriptor);
}

uint32_t pool_add_field(struct pool *p, uint32_t class, struct text name, struct text type)
{
	return add_member(p, TAG_FIELDREF, class, name, type);
}

static struct pool_class *class_place(struct pool *p, struct text name)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < name.size; i++)
		hash = (hash ^ (uint8_t)name.at[i]) * 16777619U;
	for (uint32_t i = hash;; i++) {
		struct pool_class *c = &p->classes[i & (p->class_room - 1)];

		if (!c->index || text_equal(c->name, name))
			return c;
	}
}

/* A table that is full to three quarters takes no more: what is not found there is added again. */
static void class_keep(struct pool *p, struct pool_class *place, struct text name, uint32_t index)
{
	if (place->index || p->class_count >= p->class_room / 4 * 3)
		return;
	*place = (struct pool_class){.name = name, .index = index};
	p->class_count++;
}

static bool classes_index(struct pool *p)
{
	p->class_room = 256;
	while (p->class_room < 2 * p->own)
		p->class_room *= 2;
	p->classes = calloc(p->class_room, sizeof(*p->classes));
	for (uint32_t i = 1; p->classes && i < p->own; i++)
		if (entry_of(p, i, TAG_CLASS))
			class_keep(p, class_place(p, pool_class_name(p, i)), pool_class_name(p, i), i);
	return p->classes;
}

uint32_t pool_class(struct pool *p, struct text name)
{
	struct pool_class *place;
	uint32_t index, text;

	if (!p->classes && !classes_index(p))
		return 0;
	place = class_place(p, name);
	if (place->index)
		return place->index;
	text = pool_add_text(p, name);
	index = add_pair(p, TAG_CLASS, text, text);
	if (index)
		class_keep(p, place, name, index);
	return index;
}
