// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks that have allocated objects of the dump. The agent's table has the weak references of the objects that it
 * watches; an object's address is in the reference's slot, in the copy. What is there is an object of the dump if it
 * can be reached, and the watched one if it has its size.
 */
#include "writer.h"

#include "util/search.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define LINE_UNKNOWN (-1)
#define SITES_BYTES_MAX (1ULL << 44) /* of all sites: no heap is larger */

/* ---- which objects ---- */

static const struct heapdump_object *object_of(const struct heapdump_allocated *a, uint64_t number)
{
	const struct heapdump_object *o = a->objects.at;
	size_t at = SEARCH(i, 0, a->objects.count, o[i].number < number);

	return at < a->objects.count && o[at].number == number ? &o[at] : NULL;
}

static struct writer_site *site_of(struct writer *w, uint32_t stack, uint32_t class)
{
	const struct pair_entry *e = pair_find(&w->site_of, stack, class);

	if (e)
		return &w->sites.at[e->value - 1];
	if (VEC_PUSH(&w->sites, (struct writer_site){.stack = stack, .class = class}) ||
	    !pair_put(&w->site_of, stack, class, (uint32_t)w->sites.count))
		return NULL;
	return &w->sites.at[w->sites.count - 1];
}

static int add(struct writer *w, const struct braid_heap_watched *o)
{
	uint64_t object = vm_where(&w->vm, copy_word(&w->copy, o->slot));
	const struct heapdump_object *known = object_of(w->allocated, o->number);
	struct writer_site *site;
	int64_t class;

	if (!marks_has(&w->reach.marks, object))
		return 0;
	class = roots_class_at(w, object, o->bytes);
	if (class < 0)
		return 0;
	w->d->watched++;
	if (!known)
		return 0;
	if (o->weight > SITES_BYTES_MAX - w->site_bytes)
		return -EFBIG;
	site = site_of(w, known->stack, (uint32_t) class);
	if (!site)
		return -ENOMEM;
	site->objects++;
	site->bytes += o->weight;
	w->site_bytes += o->weight;
	w->d->allocated++;
	return pair_put(&w->stack_of, object, 0, known->stack + 1) ? 0 : -ENOMEM;
}

int allocations_read(struct writer *w)
{
	struct braid_heap_watched *table;
	uint32_t count = w->head.watched_count;
	int err;

	if (!w->d->allocated_read || !count)
		return 0;
	if (count > BRAID_WATCHED_MAX)
		return -EPROTO;
	w->allocated = w->d->allocated_read(w->d->ctx);
	if (!w->allocated)
		return -ENOMEM;
	table = calloc(count, sizeof(*table));
	err = table ? copy_read(&w->copy, w->head.watched, table, count * sizeof(*table)) : -ENOMEM;
	for (uint32_t i = 0; i < count && !err; i++)
		err = add(w, &table[i]);
	free(table);
	return err;
}

/* The stacks of threads come before. */
static uint32_t stack_trace(const struct writer *w, uint32_t stack)
{
	return writer_trace((uint32_t)w->threads.count + stack);
}

uint32_t allocations_trace(const struct writer *w, uint64_t object)
{
	const struct pair_entry *e = pair_find(&w->stack_of, object, 0);

	return e ? stack_trace(w, e->value - 1) : WRITER_NO_TRACE;
}

/* ---- writing ---- */

/* The number of the class with that name, of any loader; 0: the dump has none. */
static uint32_t class_named(const struct pair_map *by_name, const char *name)
{
	const struct pair_entry *e = pair_find(by_name, XXH3_64bits(name, strlen(name)), strlen(name));

	return e ? e->value : 0;
}

static int classes_by_name(struct writer *w, struct pair_map *by_name)
{
	char symbol[NAME_MAX_BYTES], name[NAME_MAX_BYTES];

	for (size_t i = 0; i < w->classes.at.count; i++) {
		const struct class *k = &w->classes.at.at[i];
		size_t length = k->flags & CLASS_IS_LIVE ? klasses_symbol(&w->vm, k->name, symbol, sizeof(symbol)) : 0;

		if (!length)
			continue;
		length = class_name_from_signature(name, sizeof(name), symbol, length);
		if (!pair_put(by_name, XXH3_64bits(name, length), length, (uint32_t)i + 1))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t text_write(struct writer *w, const char *text)
{
	uint64_t id = WRITER_TEXTS + 2 * w->texts++;

	content_text(w, id, text, strlen(text));
	return id;
}

struct method_ids {
	uint64_t name, signature, file; /* 0: not written yet */
	uint32_t class;
};

/* A method whose class is not in the dump has the class in its name. */
static void method_write(struct writer *w, const struct heapdump_method *m, struct method_ids *ids,
			 const struct pair_map *by_name)
{
	char full[2 * NAME_MAX_BYTES];

	ids->class = class_named(by_name, m->class);
	snprintf(full, sizeof(full), "%s.%s", m->class, m->name);
	ids->name = text_write(w, ids->class ? m->name : full);
	ids->signature = text_write(w, m->signature);
	ids->file = text_write(w, m->file);
}

static uint64_t frame_write(struct writer *w, const struct heapdump_frame *f, const struct method_ids *ids)
{
	uint64_t id = w->frame_of.count + 1 + w->allocation_frames++;

	records_record(&w->out, HPROF_FRAME, 8 + 8 + 8 + 8 + 4 + 4);
	records_u8(&w->out, id);
	records_u8(&w->out, ids->name);
	records_u8(&w->out, ids->signature);
	records_u8(&w->out, ids->file);
	records_u4(&w->out, ids->class);
	records_u4(&w->out, f->line ?: (uint32_t)LINE_UNKNOWN);
	return id;
}

static int stack_write(struct writer *w, uint32_t stack, struct method_ids *methods, const struct pair_map *by_name)
{
	const struct heapdump_allocated *a = w->allocated;
	const struct heapdump_stack *s = &a->stacks.at[stack];
	uint64_t *frames = calloc(s->count + 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct heapdump_frame *f = &a->frames.at[s->first + i];
		struct method_ids *ids = &methods[f->method];

		if (!ids->name)
			method_write(w, &a->methods.at[f->method], ids, by_name);
		frames[i] = frame_write(w, f, ids);
	}
	stacks_trace_write(w, stack_trace(w, stack), 0, frames, s->count);
	free(frames);
	return w->out.error;
}

/* More bytes than the format's four have several entries. */
static uint32_t site_entries(const struct writer_site *s)
{
	return 1 + (uint32_t)(s->bytes / UINT32_MAX);
}

static void site_write(struct writer *w, const struct writer_site *s)
{
	uint64_t left = s->bytes;

	for (uint32_t i = 0; i < site_entries(s); i++) {
		uint32_t bytes = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
		uint32_t objects = i ? 0 : (uint32_t)s->objects;

		left -= bytes;
		records_u1(&w->out, w->classes.at.at[s->class].kind != CLASS_INSTANCE);
		records_u4(&w->out, s->class + 1);
		records_u4(&w->out, stack_trace(w, s->stack));
		records_u4(&w->out, bytes);
		records_u4(&w->out, objects);
		records_u4(&w->out, bytes);
		records_u4(&w->out, objects);
	}
}

/* Bytes are estimates from the samples. The numbers of objects are those of the samples. */
static void sites_write(struct writer *w)
{
	uint64_t bytes = w->site_bytes, objects = 0;
	uint32_t entries = 0;

	for (size_t i = 0; i < w->sites.count; i++) {
		entries += site_entries(&w->sites.at[i]);
		objects += w->sites.at[i].objects;
	}
	records_record(&w->out, HPROF_SITES, 2 + 4 + 4 + 4 + 8 + 8 + 4 + 25 * entries);
	records_u2(&w->out, 0);
	records_u4(&w->out, 0);
	records_u4(&w->out, bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX);
	records_u4(&w->out, (uint32_t)objects);
	records_u8(&w->out, bytes);
	records_u8(&w->out, objects);
	records_u4(&w->out, entries);
	for (size_t i = 0; i < w->sites.count; i++)
		site_write(w, &w->sites.at[i]);
}

int allocations_write(struct writer *w)
{
	struct pair_map by_name = {0};
	struct method_ids *methods;
	bool *written;
	int err;

	if (!w->sites.count)
		return 0;
	methods = calloc(w->allocated->methods.count + 1, sizeof(*methods));
	written = calloc(w->allocated->stacks.count + 1, sizeof(*written));
	err = methods && written ? classes_by_name(w, &by_name) : -ENOMEM;
	for (size_t i = 0; i < w->sites.count && !err; i++) {
		uint32_t stack = w->sites.at[i].stack;

		if (!written[stack])
			err = stack_write(w, stack, methods, &by_name);
		written[stack] = true;
	}
	if (!err)
		sites_write(w);
	free(methods);
	free(written);
	pair_map_free(&by_name);
	return err ?: w->out.error;
}
