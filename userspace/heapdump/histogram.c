// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

#include "chunks.h"
#include "writer.h"

#include "util/compare.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 1024U /* of a class or a loader; more is cut */
#define MARK_STATE 7U	 /* low bits of an object's first word (markWord.hpp): */
#define MARK_UNLOCKED 1U /* the word has the hash code, if there is one */
#define HASH_MASK 0x7fffffffU

struct tally {
	uint64_t bytes, objects;
	uint32_t class; /* index */
};

struct tallies {
	struct writer *w;
	VEC(struct tally) at; /* by class */
};

/* ---- counting ---- */

static uint32_t int_at(const struct reach_object *o, uint32_t offset)
{
	uint32_t value = 0;

	if (offset && offset + sizeof(value) <= o->class->size)
		memcpy(&value, o->at + offset, sizeof(value));
	return value;
}

uint64_t histogram_bytes(const struct writer *w, const struct reach_object *o)
{
	uint64_t bytes = o->bytes;

	if (o->class->flags & CLASS_IS_CLASS)
		bytes = 8ULL * int_at(o, w->vm.class_words);
	else if (o->class->flags & CLASS_IS_CHUNK)
		bytes += chunk_bytes(&w->vm, int_at(o, w->classes.chunk_words));
	bytes = (bytes + w->alignment - 1) & ~(w->alignment - 1);
	return bytes >= o->class->size && bytes <= w->vm.heap_high - o->address ? bytes : o->class->size;
}

/* Classes can become known while objects are gone through. */
static int count(void *ctx, const struct reach_object *o)
{
	struct tallies *t = ctx;
	size_t class = (size_t)(o->class - t->w->classes.at.at);

	while (t->at.count <= class) {
		struct tally fresh = {.class = (uint32_t)t->at.count};

		if (VEC_PUSH(&t->at, fresh))
			return -ENOMEM;
	}
	t->at.at[class].bytes += histogram_bytes(t->w, o);
	t->at.at[class].objects++;
	return 0;
}

static int compare_tallies(const void *x, const void *y)
{
	const struct tally *p = x, *q = y;
	int c = compare_u64(q->bytes, p->bytes);

	return c ? c : compare_u64(p->class, q->class);
}

/* ---- names ---- */

char *histogram_symbol(const struct vm *vm, uint64_t symbol)
{
	char text[NAME_BYTES];

	return strndup(text, klasses_symbol(vm, symbol, text, sizeof(text)));
}

char *histogram_string(struct klasses *c, uint64_t string)
{
	const struct vm *vm = c->vm;
	uint64_t array = string && c->string_value ? vm_reference_at(vm, string + c->string_value) : 0;
	uint8_t header[16], units[NAME_BYTES], coder = 0;
	char text[2 * NAME_BYTES];
	const struct class *k;
	uint64_t bytes;
	int64_t class;

	class = array && copy_peek(vm->copy, array, header, sizeof(header)) ? klasses_find(c, vm_klass(vm, header))
									    : -1;
	if (class < 0 || (c->string_coder && !copy_peek(vm->copy, string + c->string_coder, &coder, sizeof(coder))) ||
	    coder > 1)
		return NULL;
	k = &c->at.at[class];
	if (k->kind != CLASS_VALUES || (k->element != VALUE_BYTE && k->element != VALUE_CHAR))
		return NULL;
	bytes = (uint64_t)copy_int(vm->copy, array + vm->array_length) << k->element_log2;
	bytes = bytes < sizeof(units) ? bytes : sizeof(units);
	if (!bytes || !copy_peek(vm->copy, array + k->size, units, bytes))
		return NULL;
	return strndup(text, utf8_put_units(text, units, bytes, coder || k->element == VALUE_CHAR));
}

static uint32_t number_of(const struct vm *vm, uint64_t object)
{
	uint64_t mark = copy_word(vm->copy, object);
	uint32_t hash = (uint32_t)(mark >> vm->hash_shift) & HASH_MASK;

	return (mark & MARK_STATE) == MARK_UNLOCKED && hash ? hash : (uint32_t)(object >> 3);
}

static int loader_describe(struct writer *w, uint64_t loader, struct histogram_row *row)
{
	uint8_t header[16];
	int64_t class = copy_peek(&w->copy, loader, header, sizeof(header))
				? klasses_find(&w->classes, vm_klass(&w->vm, header))
				: -1;

	row->loader = class < 0 ? strdup("?") : histogram_symbol(&w->vm, w->classes.at.at[class].name);
	if (w->classes.loader_name)
		row->loader_name =
			histogram_string(&w->classes, vm_reference_at(&w->vm, loader + w->classes.loader_name));
	row->loader_number = number_of(&w->vm, loader);
	return row->loader ? 0 : -ENOMEM;
}

static int row_add(struct histogram *h, struct writer *w, const struct tally *t)
{
	const struct class *k = &w->classes.at.at[t->class];
	struct histogram_row row = {
		.bytes = t->bytes, .objects = t->objects, .class = histogram_symbol(&w->vm, k->name)};
	uint64_t loader = w->classes.loaders.at[k->loader].object;
	int err = row.class ? 0 : -ENOMEM;

	if (!err && loader)
		err = loader_describe(w, loader, &row);
	err = err ?: VEC_PUSH(&h->rows, row);
	if (err) {
		free(row.class);
		free(row.loader);
		free(row.loader_name);
	}
	return err;
}

int histogram_count(struct writer *w, struct histogram *h)
{
	struct tallies t = {.w = w};
	int err;

	w->alignment = marks_alignment(&w->reach.marks);
	err = reach_each(&w->reach, count, &t);
	VEC_SORT(&t.at, compare_tallies);
	for (size_t i = 0; i < t.at.count && t.at.at[i].objects && !err; i++) {
		if (i < BRAID_HEAP_ROWS_MAX) {
			err = row_add(h, w, &t.at.at[i]);
			continue;
		}
		h->rest_classes++;
		h->rest_bytes += t.at.at[i].bytes;
		h->rest_objects += t.at.at[i].objects;
	}
	free(t.at.at);
	return err;
}

void histogram_free(struct histogram *h)
{
	for (size_t i = 0; i < h->rows.count; i++) {
		free(h->rows.at[i].class);
		free(h->rows.at[i].loader);
		free(h->rows.at[i].loader_name);
	}
	free(h->rows.at);
	*h = (struct histogram){0};
}
