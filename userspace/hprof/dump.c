// SPDX-License-Identifier: Apache-2.0
/* The first time through a dump: everything but what refers to what. */
#include "classes.h"

#include "util/compare.h"
#include "util/search.h"
#include "util/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX 0x7ffffff0U /* the top bit of a number says that a reference is weak, see graph.h */

int hprof_dump_fail(struct hprof_dump *d, int err)
{
	if (!err || d->why[0])
		return err;
	if (err == -EBADMSG && d->items.why)
		snprintf(d->why, sizeof(d->why), "at byte %" PRIu64 ": %s", d->items.error_at, d->items.why);
	else if (err == -ENOSPC || err == -EDQUOT || err == -EACCES || err == -EROFS || err == -ENOENT)
		snprintf(d->why, sizeof(d->why),
			 "what it contains cannot be kept in %s: %s; TMPDIR names another directory", d->room.dir,
			 strerror(-err));
	else
		snprintf(d->why, sizeof(d->why), "%s", strerror(-err));
	return err;
}

/* ---- what the records are ---- */

static int bad_item(struct hprof_dump *d, const struct hprof_item *item, const char *why)
{
	return hprof_items_bad(&d->items, item->at, why);
}

static int add_object(struct hprof_dump *d, const struct hprof_item *item)
{
	struct hprof_object *o;
	int err;

	if (d->count >= OBJECTS_MAX)
		return bad_item(d, item, "it has more than 2,147,483,632 objects");
	err = scratch_more(&d->objects, &d->room, d->count, sizeof(*o));
	if (err)
		return err;
	o = d->objects.at;
	o[d->count++] = (struct hprof_object){item->id, item->at};
	return 0;
}

struct class_reader {
	struct hprof_dump *d;
	unsigned id_bytes;
	bool cut;
};

static uint64_t take(struct class_reader *r, unsigned bytes)
{
	const uint8_t *p = hprof_file_take(&r->d->file, bytes);

	r->cut |= !p;
	return p ? hprof_number(p, bytes) : 0;
}

/* hprof_items_next() has checked that all of it is there. */
static void take_constants(struct class_reader *r)
{
	for (uint64_t n = take(r, 2); n && !r->cut; n--) {
		(void)take(r, 2);
		(void)take(r, hprof_type_bytes((unsigned)take(r, 1), r->id_bytes));
	}
}

static int take_fields(struct class_reader *r, struct hprof_class *c)
{
	struct hprof_dump *d = r->d;

	for (uint64_t n = take(r, 2); n && !r->cut; n--) {
		uint64_t name = take(r, r->id_bytes);
		uint8_t type = (uint8_t)take(r, 1);

		if (d->fields.count >= HPROF_NONE || c->own_bytes > UINT32_MAX - 8)
			return hprof_items_bad(&d->items, c->at, "it has too many fields");
		if (VEC_PUSH(&d->fields, (struct hprof_field){.name = name, .offset = c->own_bytes, .type = type}))
			return -ENOMEM;
		c->own_bytes += hprof_type_bytes(type, r->id_bytes);
		c->fields++;
	}
	return 0;
}

static int add_class(struct hprof_dump *d, const struct hprof_item *item)
{
	struct hprof_class c = {.id = item->id, .at = item->at, .super = HPROF_NONE, .with_fields = HPROF_NONE};
	struct class_reader r = {.d = d, .id_bytes = d->items.id_bytes};
	int err;

	hprof_file_seek(&d->file, item->body);
	(void)take(&r, 4);
	c.super_id = take(&r, r.id_bytes);
	c.loader = take(&r, r.id_bytes);
	for (int reserved = 0; reserved < 4; reserved++)
		(void)take(&r, r.id_bytes);
	(void)take(&r, 4); /* bytes of an instance */
	take_constants(&r);
	for (uint64_t n = take(&r, 2); n && !r.cut; n--) {
		unsigned type;

		(void)take(&r, r.id_bytes);
		type = (unsigned)take(&r, 1);
		(void)take(&r, hprof_type_bytes(type, r.id_bytes));
		c.statics += type == HPROF_REFERENCE ? 0 : hprof_type_bytes(type, r.id_bytes);
		c.static_refs += type == HPROF_REFERENCE;
	}
	c.field = (uint32_t)d->fields.count;
	err = take_fields(&r, &c);
	if (r.cut)
		return bad_item(d, item, "a class cannot be read");
	if (err || VEC_PUSH(&d->classes, c))
		return err ? err : -ENOMEM;
	return add_object(d, item);
}

static int add_root(struct hprof_dump *d, const struct hprof_item *item)
{
	struct hprof_root_of root = {.id = item->id,
				     .type = item->type,
				     .serial = item->thread,
				     .frame = item->number,
				     .thread = HPROF_NONE};

	if (item->type == HPROF_ROOT_THREAD &&
	    VEC_PUSH(&d->threads, (struct hprof_thread){item->thread, item->number, item->id}))
		return -ENOMEM;
	return VEC_PUSH(&d->roots, root);
}

static int add_sites(struct hprof_dump *d, const struct hprof_item *item)
{
	int err = 0;

	hprof_file_seek(&d->file, item->body);
	for (uint32_t i = 0; i < item->count && !err; i++) {
		const uint8_t *p = hprof_file_take(&d->file, HPROF_SITE_BYTES);

		if (!p)
			return bad_item(d, item, "its sites cannot be read");
		err = VEC_PUSH(&d->sites, (struct hprof_site_of){.trace = (uint32_t)hprof_number(p + 5, 4),
								 .live = (uint32_t)hprof_number(p + 9, 4)});
	}
	return err;
}

static int add(struct hprof_dump *d, const struct hprof_item *item)
{
	switch (item->kind) {
	case HPROF_STRING:
		return VEC_PUSH(&d->strings, (struct hprof_string){item->id, item->body, (uint32_t)item->length});
	case HPROF_LOAD_CLASS:
		return VEC_PUSH(&d->loads, (struct hprof_load){item->id, item->name, item->serial});
	case HPROF_FRAME:
		return VEC_PUSH(&d->frames, (struct hprof_frame){item->id, item->body});
	case HPROF_TRACE:
		return VEC_PUSH(&d->traces, (struct hprof_trace){item->serial, item->count, item->body, 0, 0});
	case HPROF_SITES:
		return add_sites(d, item);
	case HPROF_ROOT:
		return add_root(d, item);
	case HPROF_CLASS:
		return add_class(d, item);
	case HPROF_END:
		return 0;
	default:
		return add_object(d, item);
	}
}

static int read_items(struct hprof_dump *d)
{
	struct hprof_item item;
	int got, err = 0;

	while (!err && (got = hprof_items_next(&d->items, &item)) > 0)
		err = add(d, &item);
	if (d->file.err)
		return d->file.err;
	if (!err && got < 0)
		return got;
	if (!err && !d->count)
		return hprof_items_bad(&d->items, d->file.size, "it has no objects");
	return err;
}

/* ---- order ---- */

#define BY(type, key)                                                                                                  \
	static int by_##key##_of_##type(const void *a, const void *b)                                                  \
	{                                                                                                              \
		const struct hprof_##type *x = a, *y = b;                                                              \
                                                                                                                       \
		return compare_u64(x->key, y->key);                                                                    \
	}
BY(string, id)
BY(class, id)
BY(thread, serial)
BY(trace, serial)
BY(frame, id)
BY(load, serial)

#define DIGIT_BITS 11
#define DIGITS (1U << DIGIT_BITS)

static void sort_by_digit(const struct hprof_object *from, struct hprof_object *to, uint32_t count, unsigned shift)
{
	uint32_t first[DIGITS] = {0}, sum = 0;

	for (uint32_t i = 0; i < count; i++)
		first[from[i].id >> shift & (DIGITS - 1)]++;
	for (uint32_t i = 0; i < DIGITS; i++) {
		uint32_t n = first[i];

		first[i] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < count; i++)
		to[first[from[i].id >> shift & (DIGITS - 1)]++] = from[i];
}

/* By id, from the lowest digit that differs to the highest. Most collectors' dumps are in order. */
static int sort_objects(struct hprof_dump *d)
{
	struct hprof_object *o = d->objects.at;
	struct scratch other = {0}, swap;
	uint64_t differ = 0;
	bool sorted = true;
	int err;

	for (uint32_t i = 1; i < d->count; i++) {
		differ |= o[i].id ^ o[0].id;
		sorted &= o[i - 1].id <= o[i].id;
	}
	if (sorted)
		return 0;
	err = scratch_resize(&other, &d->room, (uint64_t)d->count * sizeof(*o));
	for (unsigned shift = 0; !err && shift < 64 && differ >> shift; shift += DIGIT_BITS) {
		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(d->objects.at, other.at, d->count, shift);
		swap = d->objects;
		d->objects = other;
		other = swap;
	}
	scratch_free(&other);
	return err;
}

static void drop_duplicates(struct hprof_dump *d)
{
	struct hprof_object *o = d->objects.at;
	uint32_t kept = 1;

	for (uint32_t i = 1; i < d->count; i++)
		if (o[i].id != o[kept - 1].id)
			o[kept++] = o[i];
	d->duplicates = d->count - kept;
	d->count = kept;
}

static uint64_t bucket_of(const struct hprof_dump *d, uint64_t id)
{
	return (id - hprof_objects(d)[0].id) >> d->bucket_shift;
}

/* About as many buckets as objects, each for the same range of ids. */
static int make_buckets(struct hprof_dump *d)
{
	const struct hprof_object *o = d->objects.at;
	uint64_t last, next = 0;
	uint32_t *first;
	int err;

	while (bucket_of(d, o[d->count - 1].id) > d->count)
		d->bucket_shift++;
	last = bucket_of(d, o[d->count - 1].id);
	err = scratch_resize(&d->buckets, &d->room, (last + 2) * sizeof(*first));
	if (err)
		return err;
	first = d->buckets.at;
	for (uint32_t i = 0; i < d->count; i++)
		while (next <= bucket_of(d, o[i].id))
			first[next++] = i;
	first[next] = d->count;
	return 0;
}

uint32_t hprof_find(const struct hprof_dump *d, uint64_t id)
{
	const struct hprof_object *o = d->objects.at;
	const uint32_t *first = d->buckets.at;
	size_t at;

	if (id < o[0].id || id > o[d->count - 1].id)
		return HPROF_NONE;
	first += bucket_of(d, id);
	at = SEARCH(i, first[0], first[1], o[i].id < id);
	return at < d->count && o[at].id == id ? (uint32_t)at : HPROF_NONE;
}

uint32_t hprof_find_class(const struct hprof_dump *d, uint64_t id)
{
	const struct hprof_class *c = d->classes.at;
	size_t at = SEARCH(i, 0, d->classes.count, c[i].id && c[i].id < id);

	return id && at < d->classes.count && c[at].id == id ? (uint32_t)at : HPROF_NONE;
}

struct hprof_trace *hprof_trace_find(const struct hprof_dump *d, uint32_t serial)
{
	struct hprof_trace *t = d->traces.at;
	size_t at = SEARCH(i, 0, d->traces.count, t[i].serial < serial);

	return at < d->traces.count && t[at].serial == serial ? &t[at] : NULL;
}

/* Of equal ones the first stays. */
static void unique_classes(struct hprof_dump *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->classes.count; i++)
		if (d->classes.at[i].id && (!kept || d->classes.at[kept - 1].id != d->classes.at[i].id))
			d->classes.at[kept++] = d->classes.at[i];
	d->classes.count = kept;
}

static void sort_tables(struct hprof_dump *d)
{
	VEC_SORT(&d->strings, by_id_of_string);
	VEC_SORT(&d->classes, by_id_of_class);
	VEC_SORT(&d->threads, by_serial_of_thread);
	VEC_SORT(&d->traces, by_serial_of_trace);
	VEC_SORT(&d->frames, by_id_of_frame);
	VEC_SORT(&d->loads, by_serial_of_load);
	unique_classes(d);
	for (size_t i = 0; i < d->loads.count; i++) {
		uint32_t class = hprof_find_class(d, d->loads.at[i].id);

		if (class == HPROF_NONE)
			continue;
		d->classes.at[class].name = d->loads.at[i].name;
		d->classes.at[class].serial = d->loads.at[i].serial;
		d->classes.at[class].flags |= HPROF_CLASS_LOADED;
	}
	for (size_t i = 0; i < d->sites.count; i++) {
		struct hprof_trace *t = hprof_trace_find(d, d->sites.at[i].trace);

		if (t)
			t->live += d->sites.at[i].live;
	}
}

/* ---- names ---- */

static const struct hprof_string *find_string(const struct hprof_dump *d, uint64_t id)
{
	const struct hprof_string *s = d->strings.at;
	size_t at = SEARCH(i, 0, d->strings.count, s[i].id < id);

	return at < d->strings.count && s[at].id == id ? &s[at] : NULL;
}

/* Its bytes, and how many; 0: it is not there. */
static size_t raw_string(const struct hprof_dump *d, uint64_t id, char *raw, size_t size)
{
	const struct hprof_string *s = find_string(d, id);
	size_t length = !s ? 0 : s->length < size ? s->length : size;

	return s && hprof_file_read(&d->file, s->at, raw, length) ? length : 0;
}

const char *hprof_string_text(const struct hprof_dump *d, uint64_t id, char buf[HPROF_NAME])
{
	char raw[HPROF_NAME];
	size_t length = raw_string(d, id, raw, sizeof(raw));

	if (!utf8_printable(buf, HPROF_NAME, raw, length))
		snprintf(buf, HPROF_NAME, "?");
	return buf;
}

const char *hprof_class_text(const struct hprof_dump *d, uint32_t class, char buf[HPROF_NAME])
{
	const struct hprof_class *c = &d->classes.at[class];
	char raw[HPROF_NAME], name[HPROF_NAME];
	size_t length = c->flags & HPROF_CLASS_LOADED ? raw_string(d, c->name, raw, sizeof(raw)) : 0;

	if (length)
		length = class_name_from_signature(name, sizeof(name), raw, length);
	else if (c->primitive)
		length = (size_t)snprintf(name, sizeof(name), "%s", hprof_array_name(c->primitive));
	else
		length = (size_t)snprintf(name, sizeof(name), "class without a name, 0x%" PRIx64, c->id);
	utf8_printable(buf, HPROF_NAME, name, length);
	return buf;
}

bool hprof_string_is(const struct hprof_dump *d, uint64_t id, const char *text)
{
	char raw[HPROF_NAME];
	size_t length = raw_string(d, id, raw, sizeof(raw));

	return length == strlen(text) && !memcmp(raw, text, length);
}

/* ---- opening ---- */

static int organise(struct hprof_dump *d)
{
	int err;

	sort_tables(d);
	err = sort_objects(d);
	if (err)
		return err;
	drop_duplicates(d);
	return make_buckets(d);
}

int hprof_dump_open(struct hprof_dump *d, const char *path, uint64_t memory)
{
	const char *why;
	int err;

	*d = (struct hprof_dump){.class_class = HPROF_NONE};
	scratch_room(&d->room, path, memory);
	err = hprof_file_open(&d->file, path, &d->room, &why);
	if (err) {
		if (why)
			snprintf(d->why, sizeof(d->why), "%s", why);
		return hprof_dump_fail(d, err);
	}
	err = hprof_items_open(&d->items, &d->file);
	if (!err)
		err = read_items(d);
	if (!err)
		err = organise(d);
	if (!err)
		err = hprof_classes_link(d);
	return hprof_dump_fail(d, err);
}

void hprof_dump_close(struct hprof_dump *d)
{
	hprof_file_close(&d->file);
	free(d->strings.at);
	free(d->classes.at);
	free(d->supers_first);
	free(d->fields.at);
	free(d->threads.at);
	free(d->traces.at);
	free(d->frames.at);
	free(d->loads.at);
	free(d->roots.at);
	free(d->sites.at);
	scratch_free(&d->objects);
	scratch_free(&d->buckets);
}
