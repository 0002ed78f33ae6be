// SPDX-License-Identifier: Apache-2.0
/* Writes the classes and objects of a dump, and the names that they have. */
#include "chunks.h"
#include "writer.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_ARRAY "[Ljava/lang/Object;"
#define NAMES_BYTES_MAX (1ULL << 30) /* of all names, which may overlap; those after them are empty */
_Static_assert(CLASS_VALUES_MAX <= HPROF_ROOM_MAX, "room for the values of an instance");

/* ---- names ---- */

void content_text(struct writer *w, uint64_t id, const char *text, size_t length)
{
	records_record(&w->out, HPROF_UTF8, (uint32_t)(8 + length));
	records_u8(&w->out, id);
	records_bytes(&w->out, text, length);
}

void content_name(struct writer *w, uint64_t symbol)
{
	char text[NAME_MAX_BYTES];
	size_t length;

	if (pair_find(&w->names, symbol, 0))
		return;
	length = w->name_bytes < NAMES_BYTES_MAX ? klasses_symbol(&w->vm, symbol, text, sizeof(text)) : 0;
	w->name_bytes += length;
	content_text(w, symbol, text, length);
	if (!pair_put(&w->names, symbol, 0, 1) && !w->out.error)
		w->out.error = -ENOMEM;
}

int content_classes(struct writer *w)
{
	struct klasses *c = &w->classes;

	content_text(w, WRITER_RESOLVED_REFERENCES, "<resolved_references>", 21);
	content_text(w, CHUNK_FRAMES_NAME, "<frames>", 8);
	if (!pair_put(&w->names, CHUNK_FRAMES_NAME, 0, 1))
		return -ENOMEM;
	for (size_t i = 0; i < c->at.count && !w->out.error; i++) {
		const struct class *k = &c->at.at[i];

		if (!(k->flags & CLASS_IS_LIVE))
			continue;
		w->d->classes++;
		content_name(w, k->name);
		for (uint32_t f = 0; f < k->field_count; f++)
			content_name(w, c->fields.at[k->field_first + f].name);
		records_record(&w->out, HPROF_LOAD_CLASS, 4 + 8 + 4 + 8);
		records_u4(&w->out, (uint32_t)i + 1);
		records_u8(&w->out, k->mirror);
		records_u4(&w->out, WRITER_NO_TRACE);
		records_u8(&w->out, k->name);
	}
	return w->out.error;
}

/* ---- values ---- */

/* A reference to an object that is not dumped would lead nowhere. A collection clears weak references. */
static uint64_t reference_of(struct writer *w, uint64_t object, bool weak)
{
	if (!object)
		return 0;
	object = reach_where(&w->reach, object);
	if (marks_has(&w->reach.marks, object))
		return object;
	if (weak)
		w->d->cleared++;
	else if (!pair_find(&w->reach.dormant, object, 0))
		w->d->doubtful++;
	return 0;
}

static uint64_t reference_at(struct writer *w, uint64_t address)
{
	return reference_of(w, vm_reference_at(&w->vm, address), false);
}

/* Copies a number into the file's byte order. */
static inline void number_copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (bytes) {
	case 1:
		*to = *from;
		break;
	case 2:
		memcpy(&two, from, sizeof(two));
		two = htobe16(two);
		memcpy(to, &two, sizeof(two));
		break;
	case 4:
		memcpy(&four, from, sizeof(four));
		four = htobe32(four);
		memcpy(to, &four, sizeof(four));
		break;
	default:
		memcpy(&eight, from, sizeof(eight));
		eight = htobe64(eight);
		memcpy(to, &eight, sizeof(eight));
	}
}

static uint8_t *reference_put(struct writer *w, uint8_t *to, const uint8_t *from, bool weak)
{
	uint64_t id = reference_of(w, vm_reference(&w->vm, from), weak);

	number_copy(to, (const uint8_t *)&id, sizeof(id));
	return to + sizeof(id);
}

/* ---- classes ---- */

static void static_write(struct writer *w, const struct class *k, const struct class_field *f)
{
	uint8_t bytes[8] = {0}, value[8];
	uint32_t size = value_bytes(f->type);

	records_u8(&w->out, f->name);
	records_u1(&w->out, f->type);
	if (f->type == VALUE_OBJECT) {
		records_u8(&w->out, reference_at(w, k->mirror + f->offset));
		return;
	}
	(void)copy_peek(&w->copy, k->mirror + f->offset, bytes, size);
	number_copy(value, bytes, size);
	records_bytes(&w->out, value, size);
}

struct sizes {
	uint64_t bytes; /* of a class's record */
	uint16_t statics, instance;
};

static struct sizes class_sizes(const struct writer *w, const struct class *k)
{
	struct sizes s = {.bytes = 8 + 4 + 6 * 8 + 4 + 2 + 2 + 2};

	for (uint32_t i = 0; i < k->field_count; i++) {
		const struct class_field *f = &w->classes.fields.at[k->field_first + i];

		s.statics += f->is_static;
		s.instance += !f->is_static;
		s.bytes += f->is_static ? 8 + 1 + value_bytes(f->type) : 8 + 1;
	}
	return s;
}

/* The VM has a hierarchy of arrays; in Java, each one's superclass is Object, the first of all. */
static uint64_t super_of(const struct klasses *c, const struct class *k)
{
	uint32_t super = k->super;

	while (k->kind != CLASS_INSTANCE && super && c->at.at[super - 1].super)
		super = c->at.at[super - 1].super;
	return super ? c->at.at[super - 1].mirror : 0;
}

static void class_head_write(struct writer *w, const struct class *k)
{
	const struct klasses *c = &w->classes;

	records_u8(&w->out, k->mirror);
	records_u4(&w->out, WRITER_NO_TRACE);
	records_u8(&w->out, super_of(c, k));
	records_u8(&w->out, reference_of(w, c->loaders.at[k->loader].object, false));
	records_u8(&w->out, c->signers_at ? reference_at(w, k->mirror + c->signers_at) : 0);
	records_u8(&w->out, c->domain_at ? reference_at(w, k->mirror + c->domain_at) : 0);
	records_u8(&w->out, 0);
	records_u8(&w->out, 0);
	records_u4(&w->out, k->kind == CLASS_INSTANCE ? k->value_bytes : 0);
	records_u2(&w->out, 0); /* constants */
}

static void class_write(struct writer *w, const struct class *k)
{
	const struct class_field *fields = w->classes.fields.at + k->field_first;
	uint64_t resolved = klasses_resolved(&w->classes, k);
	struct sizes s = class_sizes(w, k);

	records_heap(&w->out, HPROF_CLASS, s.bytes + (resolved ? 8 + 1 + 8 : 0));
	class_head_write(w, k);
	records_u2(&w->out, (uint16_t)(s.statics + (resolved != 0)));
	for (uint32_t i = 0; i < k->field_count; i++)
		if (fields[i].is_static)
			static_write(w, k, &fields[i]);
	if (resolved) {
		records_u8(&w->out, WRITER_RESOLVED_REFERENCES);
		records_u1(&w->out, VALUE_OBJECT);
		records_u8(&w->out, reference_of(w, resolved, false));
	}
	records_u2(&w->out, s.instance);
	for (uint32_t i = 0; i < k->field_count; i++)
		if (!fields[i].is_static) {
			records_u8(&w->out, fields[i].name);
			records_u1(&w->out, fields[i].type);
		}
}

/* ---- objects ---- */

/* The values of a class's own fields, then those of its superclass. */
static uint8_t *fields_put(struct writer *w, const struct class *k, const struct reach_object *o, uint8_t *to)
{
	const struct klasses *c = &w->classes;

	for (uint32_t i = 0; i < k->field_count; i++) {
		const struct class_field *f = &c->fields.at[k->field_first + i];

		if (f->is_static)
			continue;
		if (f->offset == CHUNK_FRAMES_AT) {
			uint64_t frames = w->frozen.count ? chunk_frames(k, o->address) : 0;

			number_copy(to, (const uint8_t *)&frames, sizeof(frames));
			to += sizeof(frames);
			continue;
		}
		if (f->type == VALUE_OBJECT) {
			to = reference_put(w, to, o->at + f->offset,
					   f->offset == c->referent && o->class->flags & CLASS_IS_WEAK);
			continue;
		}
		number_copy(to, o->at + f->offset, value_bytes(f->type));
		to += value_bytes(f->type);
	}
	return to;
}

static void instance_write(struct writer *w, const struct reach_object *o)
{
	const struct class *k = o->class;
	uint8_t *to;

	records_heap(&w->out, HPROF_INSTANCE, 8 + 4 + 8 + 4 + (uint64_t)k->value_bytes);
	records_u8(&w->out, o->address);
	records_u4(&w->out, allocations_trace(w, o->address));
	records_u8(&w->out, k->mirror);
	records_u4(&w->out, k->value_bytes);
	to = records_room(&w->out, k->value_bytes);
	for (; k; k = k->super ? &w->classes.at.at[k->super - 1] : NULL)
		to = fields_put(w, k, o, to);
}

struct frozen_reader {
	struct writer *w;
	int err;
};

static void frozen_add(void *ctx, uint64_t object)
{
	struct frozen_reader *r = ctx;

	object = reference_of(r->w, object, false);
	if (object && !r->err)
		r->err = VEC_PUSH(&r->w->frozen, object);
}

/* What the frames in a chunk refer to. */
static int frozen_read(struct writer *w, const struct reach_object *o)
{
	struct frozen_reader r = {.w = w};

	w->frozen.count = 0;
	if (!(o->class->flags & CLASS_IS_CHUNK))
		return 0;
	return chunk_each(&w->reach, o->class, o->address, frozen_add, &r) ?: r.err;
}

static void frozen_write(struct writer *w, const struct reach_object *o)
{
	if (!w->frozen.count)
		return;
	records_heap(&w->out, HPROF_OBJECTS, 8 + 4 + 4 + 8 + 8 * (uint64_t)w->frozen.count);
	records_u8(&w->out, chunk_frames(o->class, o->address));
	records_u4(&w->out, WRITER_NO_TRACE);
	records_u4(&w->out, (uint32_t)w->frozen.count);
	records_u8(&w->out, w->object_array);
	for (size_t i = 0; i < w->frozen.count; i++)
		records_u8(&w->out, w->frozen.at[i]);
}

/* Elements of an array that are read and written at once. */
#define PART 32768U

static int elements_write(struct writer *w, const struct reach_object *o, uint64_t length)
{
	const struct class *k = o->class;
	uint32_t wide = 1U << k->element_log2;
	uint64_t address = o->address, size = k->size;
	bool references = k->kind == CLASS_OBJECTS;

	for (uint64_t i = 0; i < length; i += PART) {
		uint64_t n = length - i < PART ? length - i : PART;
		const uint8_t *from = reach_bytes(&w->reach, address + size + i * wide, n * wide);
		uint8_t *to = records_room(&w->out, n * (references ? 8 : wide));

		if (!from)
			return copy_check(&w->copy) ?: -EFAULT;
		for (uint64_t e = 0; e < n && references; e++)
			to = reference_put(w, to, from + e * wide, false);
		if (!references && wide == 1)
			memcpy(to, from, n);
		for (uint64_t e = 0; e < n && !references && wide > 1; e++)
			number_copy(to + e * wide, from + e * wide, wide);
	}
	return 0;
}

static int array_write(struct writer *w, const struct reach_object *o)
{
	const struct class *k = o->class;
	bool references = k->kind == CLASS_OBJECTS;
	uint64_t head = 8 + 4 + 4 + (references ? 8 : 1), each = references ? 8 : 1ULL << k->element_log2;
	uint64_t length = o->length;

	if (head + length * each > HPROF_HEAP_MAX) {
		length = (HPROF_HEAP_MAX - head) / each;
		w->d->cut++;
	}
	records_heap(&w->out, references ? HPROF_OBJECTS : HPROF_VALUES, head + length * each);
	records_u8(&w->out, o->address);
	records_u4(&w->out, allocations_trace(w, o->address));
	records_u4(&w->out, (uint32_t)length);
	if (references)
		records_u8(&w->out, k->mirror);
	else
		records_u1(&w->out, k->element);
	return elements_write(w, o, length);
}

static int object_write(void *ctx, const struct reach_object *o)
{
	struct writer *w = ctx;
	int err = 0;

	if (o->class->flags & CLASS_IS_CLASS && klasses_of_mirror(&w->classes, o->address) != CLASSES_PRIMITIVE)
		return 0; /* a class has its own record; those of primitive types are objects */
	w->d->objects++;
	w->d->bytes += histogram_bytes(w, o);
	if (o->class->kind == CLASS_INSTANCE) {
		err = frozen_read(w, o);
		instance_write(w, o);
		frozen_write(w, o);
	} else {
		err = array_write(w, o);
	}
	return err ?: w->out.error;
}

int content_heap(struct writer *w)
{
	struct klasses *c = &w->classes;

	w->alignment = marks_alignment(&w->reach.marks);
	for (size_t i = 0; i < c->at.count && !w->out.error; i++) {
		if (c->at.at[i].flags & CLASS_IS_LIVE)
			class_write(w, &c->at.at[i]);
		if (c->at.at[i].kind == CLASS_OBJECTS && klasses_symbol_is(&w->vm, c->at.at[i].name, OBJECT_ARRAY))
			w->object_array = c->at.at[i].mirror;
	}
	return w->out.error ?: reach_each(&w->reach, object_write, w);
}
