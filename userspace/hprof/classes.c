// SPDX-License-Identifier: Apache-2.0
#include "classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 8U
#define FIRST_PRIMITIVE 4
#define LAST_PRIMITIVE 11

/* ---- which is above which ---- */

enum { UNSEEN, ON_THE_WAY, DONE };

static void inherit(struct hprof_dump *d, struct hprof_class *c)
{
	const struct hprof_class *super = c->super == HPROF_NONE ? NULL : &d->classes.at[c->super];

	if (!super)
		return;
	c->with_fields = super->fields ? c->super : super->with_fields;
	c->flags |= super->flags & HPROF_CLASS_REFERENCE;
}

/* Of a class and those above it, the highest first. A class above itself is an error. */
static int link_chain(struct hprof_dump *d, uint32_t from, uint8_t *state, uint32_t *way, uint32_t *order, size_t *done)
{
	size_t n = 0;

	for (uint32_t c = from; c != HPROF_NONE && state[c] != DONE; c = d->classes.at[c].super) {
		if (state[c] == ON_THE_WAY)
			return hprof_items_bad(&d->items, d->classes.at[c].at, "a class is above itself");
		state[c] = ON_THE_WAY;
		way[n++] = c;
	}
	while (n) {
		uint32_t c = way[--n];

		inherit(d, &d->classes.at[c]);
		state[c] = DONE;
		order[(*done)++] = c;
	}
	return 0;
}

static int link_all(struct hprof_dump *d)
{
	size_t count = d->classes.count, done = 0;
	uint8_t *state = calloc(count + 1, 1);
	uint32_t *way = malloc((count + 1) * sizeof(*way));
	int err = 0;

	d->supers_first = malloc((count + 1) * sizeof(*d->supers_first));
	if (!state || !way || !d->supers_first)
		err = -ENOMEM;
	for (uint32_t c = 0; !err && c < count; c++)
		err = link_chain(d, c, state, way, d->supers_first, &done);
	free(state);
	free(way);
	return err;
}

/* Fields that HotSpot adds to instances, which a dump does not have (its javaClasses.hpp). */
static const struct injected {
	const char *class;
	uint8_t words, references;
} injected[] = {
	{"java/lang/Class", 3, 3},
	{"java/lang/ClassLoader", 1, 0},
	{"java/lang/Module", 1, 0},
	{"java/lang/invoke/MemberName", 1, 0},
	{"java/lang/invoke/ResolvedMethodName", 1, 1},
};

static void add_injected(struct hprof_class *c, const char *name)
{
	for (size_t i = 0; i < sizeof(injected) / sizeof(injected[0]); i++)
		if (!strcmp(name, injected[i].class)) {
			c->injected_words = injected[i].words;
			c->injected_references = injected[i].references;
		}
}

/* Names that mean something. */
static void recognise(struct hprof_dump *d, uint32_t class)
{
	static const char letters[] = "ZCFDBSIJ"; /* by type, from 4 on */
	struct hprof_class *c = &d->classes.at[class];
	char name[HPROF_NAME];
	const char *letter;

	if (!(c->flags & HPROF_CLASS_LOADED))
		return;
	hprof_string_text(d, c->name, name);
	c->is_array = name[0] == '[';
	add_injected(c, name);
	letter = c->is_array && name[1] && !name[2] ? strchr(letters, name[1]) : NULL;
	if (letter) {
		c->primitive = (uint8_t)(letter - letters + FIRST_PRIMITIVE);
		d->array_of[c->primitive] = class;
	} else if (!strcmp(name, "java/lang/Record")) {
		d->has_records = true;
	} else if (!strcmp(name, "java/lang/Class")) {
		d->class_class = class;
	} else if (!strcmp(name, "java/lang/ref/Reference")) {
		c->flags |= HPROF_CLASS_REFERENCE;
		for (uint32_t f = c->field; f < c->field + c->fields; f++)
			if (hprof_string_is(d, d->fields.at[f].name, "referent"))
				d->referent = f;
	}
}

/* Classes of arrays that the dump has not, and one for objects whose class it has not. */
static int add_missing(struct hprof_dump *d)
{
	struct hprof_class none = {.super = HPROF_NONE, .with_fields = HPROF_NONE};

	for (uint8_t type = FIRST_PRIMITIVE; type <= LAST_PRIMITIVE; type++) {
		if (d->array_of[type] != HPROF_NONE)
			continue;
		none.primitive = type;
		none.is_array = true;
		d->array_of[type] = (uint32_t)d->classes.count;
		if (VEC_PUSH(&d->classes, none))
			return -ENOMEM;
	}
	none.primitive = 0;
	none.is_array = false;
	d->unknown_class = (uint32_t)d->classes.count;
	if (d->class_class == HPROF_NONE)
		d->class_class = d->unknown_class;
	return VEC_PUSH(&d->classes, none);
}

int hprof_classes_link(struct hprof_dump *d)
{
	int err;

	d->referent = HPROF_NONE;
	for (unsigned type = 0; type <= LAST_PRIMITIVE; type++)
		d->array_of[type] = HPROF_NONE;
	for (uint32_t c = 0; c < d->classes.count; c++) {
		d->classes.at[c].super = hprof_find_class(d, d->classes.at[c].super_id);
		recognise(d, c);
	}
	err = add_missing(d);
	return err ? err : link_all(d);
}

/* ---- sizes ---- */

/* How a JVM lays objects out. */
struct layout {
	unsigned reference; /* bytes */
	unsigned head;	    /* before the first field */
	unsigned array;	    /* before the first element; those of 8 bytes are aligned */
};

/* The usual one, and those without compressed references or class pointers, or with compact headers. */
static const struct layout layouts[] = {{4, 12, 16}, {8, 16, 24}, {8, 16, 20}, {8, 12, 16}, {8, 8, 12}, {4, 8, 12}};
static const struct layout layout_32 = {4, 8, 12};
#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

#define GAPS 4
struct extent { /* of an instance's fields */
	uint32_t end;
	struct {
		uint32_t at, end;
	} gaps[GAPS]; /* before aligned fields */
};

static uint32_t aligned(uint64_t bytes, uint32_t to)
{
	uint64_t up = (bytes + to - 1) / to * to;

	return up < UINT32_MAX ? (uint32_t)up : UINT32_MAX / to * to;
}

static void add_gap(struct extent *e, uint32_t at, uint32_t end)
{
	for (int i = 0; at < end && i < GAPS; i++)
		if (e->gaps[i].at == e->gaps[i].end) {
			e->gaps[i].at = at;
			e->gaps[i].end = end;
			return;
		}
}

/* HotSpot puts a field into the smallest gap that it fits in, or at the end. */
static void place_field(struct extent *e, uint32_t bytes)
{
	uint32_t at, end;
	int best = -1;

	for (int i = 0; i < GAPS; i++)
		if (aligned(e->gaps[i].at, bytes) + (uint64_t)bytes <= e->gaps[i].end &&
		    (best < 0 || e->gaps[i].end - e->gaps[i].at < e->gaps[best].end - e->gaps[best].at))
			best = i;
	if (best >= 0) {
		at = aligned(e->gaps[best].at, bytes);
		end = e->gaps[best].end;
		e->gaps[best].end = at;
		add_gap(e, at + bytes, end);
		return;
	}
	at = aligned(e->end, bytes);
	add_gap(e, e->end, at);
	e->end = at < UINT32_MAX - bytes ? at + bytes : at;
}

static void place_fields(const struct hprof_dump *d, const struct hprof_class *c, const struct layout *l,
			 struct extent *e)
{
	/* Before JDK 15, which always loads this class, a class did not use the gaps of those above it. */
	if (!d->has_records)
		*e = (struct extent){.end = aligned(e->end, l->reference)};
	for (unsigned i = 0; i < c->injected_words; i++)
		place_field(e, 8);
	for (unsigned bytes = 8; bytes; bytes /= 2)
		for (uint32_t f = c->field; f < c->field + c->fields; f++)
			if (d->fields.at[f].type != HPROF_REFERENCE &&
			    hprof_type_bytes(d->fields.at[f].type, 0) == bytes)
				place_field(e, bytes);
	for (uint32_t f = c->field; f < c->field + c->fields; f++)
		if (d->fields.at[f].type == HPROF_REFERENCE)
			place_field(e, l->reference);
	for (unsigned i = 0; i < c->injected_references; i++)
		place_field(e, l->reference);
}

/* The sizes of all classes' instances. */
static void measure_classes(const struct hprof_dump *d, const struct layout *l, uint32_t align, struct extent *extents,
			    uint32_t *sizes)
{
	for (size_t i = 0; i < d->classes.count; i++) {
		uint32_t c = d->supers_first[i];
		const struct hprof_class *class = &d->classes.at[c];

		if (class->super == HPROF_NONE)
			extents[c] = (struct extent){.end = l->head};
		else
			extents[c] = extents[class->super];
		place_fields(d, class, l, &extents[c]);
		sizes[c] = aligned(extents[c].end, align);
	}
}

static uint64_t array_bytes(const struct hprof_class *c, const struct layout *l, uint32_t align, uint32_t length)
{
	unsigned element = c->primitive ? hprof_type_bytes(c->primitive, 0) : l->reference;
	uint64_t head = element == 8 ? aligned(l->array, 8) : l->array;

	return (head + (uint64_t)length * element + align - 1) / align * align;
}

struct measure {
	const struct hprof_dump *d;
	const struct layout *layout;
	uint32_t align;
	const uint32_t *sizes; /* by class */
};

static uint64_t class_object_bytes(const struct measure *m, uint64_t id)
{
	uint32_t class = hprof_find_class(m->d, id);
	const struct hprof_class *c = &m->d->classes.at[class == HPROF_NONE ? m->d->unknown_class : class];

	return aligned(m->sizes[m->d->class_class] + (uint64_t)c->statics +
			       (uint64_t)c->static_refs * m->layout->reference,
		       m->align);
}

static uint64_t object_bytes(const struct measure *m, uint32_t number, uint32_t class, uint32_t length)
{
	const struct hprof_class *c = &m->d->classes.at[class];

	if (c->is_array)
		return array_bytes(c, m->layout, m->align, length);
	if (class == m->d->class_class)
		return class_object_bytes(m, hprof_objects(m->d)[number].id);
	return m->sizes[class];
}

/* The bytes from an object to the next one. */
static uint64_t distance(const struct hprof_dump *d, uint32_t number)
{
	const struct hprof_object *o = hprof_objects(d);

	return number + 1 < d->count ? o[number + 1].id - o[number].id : UINT64_MAX;
}

#define EXCEPTIONS 1000 /* one object of this number may have another size than a layout says */

/* The sum of all sizes; 0: objects would overlap. What class objects have besides static fields differs too much. */
static uint64_t try_layout(const struct measure *m, const uint32_t *class_of, const uint32_t *length)
{
	uint32_t overlap = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->d->count; i++) {
		uint64_t bytes = object_bytes(m, i, class_of[i], length[i]);

		overlap += bytes > distance(m->d, i) && class_of[i] != m->d->class_class;
		sum += bytes;
	}
	return overlap <= m->d->count / EXCEPTIONS ? sum : 0;
}

/* What all addresses are multiples of. */
static uint32_t alignment(const struct hprof_dump *d)
{
	uint64_t bits = 256;

	for (uint32_t i = 0; i < d->count; i++)
		bits |= hprof_objects(d)[i].id;
	bits &= 0 - bits;
	return bits < UNIT ? UNIT : (uint32_t)bits;
}

static const struct layout *choose_layout(struct measure *m, const uint32_t *class_of, const uint32_t *length,
					  struct extent *extents, uint32_t *sizes)
{
	const struct layout *best = &layouts[0];
	uint64_t most = 0;

	if (m->d->items.id_bytes == 4)
		return &layout_32;
	for (size_t i = 0; i < LAYOUTS; i++) {
		uint64_t sum;

		m->layout = &layouts[i];
		measure_classes(m->d, m->layout, m->align, extents, sizes);
		sum = try_layout(m, class_of, length);
		if (sum > most) {
			most = sum;
			best = m->layout;
		}
	}
	return best;
}

int hprof_sizes(struct hprof_dump *d, const uint32_t *class_of, uint32_t *length)
{
	struct extent *extents = calloc(d->classes.count, sizeof(*extents));
	uint32_t *sizes = calloc(d->classes.count, sizeof(*sizes));
	struct measure m = {.d = d, .align = alignment(d), .sizes = sizes};

	if (!extents || !sizes) {
		free(extents);
		free(sizes);
		return -ENOMEM;
	}
	m.layout = choose_layout(&m, class_of, length, extents, sizes);
	measure_classes(d, m.layout, m.align, extents, sizes);
	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t bytes = object_bytes(&m, i, class_of[i], length[i]), most = distance(d, i);

		if (bytes > most)
			bytes = most;
		length[i] = bytes / UNIT < UINT32_MAX ? (uint32_t)(bytes / UNIT) : UINT32_MAX;
	}
	free(extents);
	free(sizes);
	return 0;
}
