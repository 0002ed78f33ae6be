// SPDX-License-Identifier: Apache-2.0
#include "classes.h"

#include "hotspot_memory.h"
#include "unsigned5.h"
#include "vm_tables.h"

#include <stdlib.h>
#include <string.h>

#define CLASSES_MAX (1U << 17) /* of the boot loader */
#define FIELDS_MAX 4096U       /* of a class */
#define NAME_MAX_BYTES 128U    /* longer names are not looked for */
#define SYMBOL_HEAD 16U	       /* bytes before its text, at most */
#define KLASS_BYTES 512U       /* of a Klass, with its name and the next one */
#define STREAM_MAX (FIELDS_MAX * 16)

enum {
	F_OBJECT,
	F_OBJECT_OLD,
	F_NEXT,
	F_LOADER,
	F_LOADER_KLASSES,
	F_SUBCLASS,
	F_SIBLING,
	F_CONSTANTS,
	F_STREAM,
	F_FIELDS,
	F_COUNT,
	F_SYMBOLS,
	FIELDS
};

static const struct vm_field wanted[FIELDS] = {
	[F_OBJECT] = {.type = "vmClasses", .name = "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]"},
	[F_OBJECT_OLD] = {.type = "SystemDictionary", /* before 17 */
			  .name = "_well_known_klasses[SystemDictionary::Object_klass_knum]"},
	[F_NEXT] = {.type = "Klass", .name = "_next_link"},
	[F_LOADER] = {.type = "Klass", .name = "_class_loader_data"},
	[F_LOADER_KLASSES] = {.type = "ClassLoaderData", .name = "_klasses"},
	[F_SUBCLASS] = {.type = "Klass", .name = "_subklass"},
	[F_SIBLING] = {.type = "Klass", .name = "_next_sibling"},
	[F_CONSTANTS] = {.type = "InstanceKlass", .name = "_constants"},
	[F_STREAM] = {.type = "InstanceKlass", .name = "_fieldinfo_stream"}, /* 21 and later */
	[F_FIELDS] = {.type = "InstanceKlass", .name = "_fields"},
	[F_COUNT] = {.type = "InstanceKlass", .name = "_java_fields_count"},
	[F_SYMBOLS] = {.type = "Symbol", .name = "_vm_symbols[0]"},
};

static int word(const struct classes *c, uint64_t address, uint64_t *to)
{
	struct memory m = {.read = hotspot_read_process, .ctx = (void *)&c->pid};

	return memory_word(&m, address, to);
}

static int bytes(const struct classes *c, uint64_t address, void *to, size_t size)
{
	struct memory m = {.read = hotspot_read_process, .ctx = (void *)&c->pid};

	return memory_read(&m, address, to, size);
}

static uint16_t offset_of(const struct vm_field *f)
{
	return f->found && f->offset <= UINT16_MAX ? (uint16_t)f->offset : 0;
}

int classes_open(struct classes *c, pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS],
		 const struct braid_layout *l)
{
	struct vm_field f[FIELDS];
	const struct vm_field *object;
	int err;

	memcpy(f, wanted, sizeof(f));
	err = vm_process_read(pid, bias, at, f, FIELDS, NULL, 0);
	if (err)
		return err;
	*c = (struct classes){.pid = pid,
			      .layout = l,
			      .next = offset_of(&f[F_NEXT]),
			      .loader = offset_of(&f[F_LOADER]),
			      .loader_klasses = offset_of(&f[F_LOADER_KLASSES]),
			      .subclass = offset_of(&f[F_SUBCLASS]),
			      .constants = offset_of(&f[F_CONSTANTS]),
			      .field_stream = offset_of(&f[F_STREAM]),
			      .fields = offset_of(&f[F_FIELDS]),
			      .field_count = offset_of(&f[F_COUNT]),
			      .symbols = f[F_SYMBOLS].address};
	if (!c->next || !c->loader || !c->loader_klasses) { /* before 9 no table has them */
		c->next = offset_of(&f[F_SIBLING]);
		c->loader = c->loader_klasses = 0;
	}
	object = f[F_OBJECT].found ? &f[F_OBJECT] : &f[F_OBJECT_OLD];
	if (!object->found || !(l->flags & BRAID_LAYOUT_NAMES) || !c->next || !(c->loader_klasses || c->subclass) ||
	    !c->constants || !(c->field_stream || (c->fields && c->field_count)))
		return -ENOENT;
	return word(c, object->address, &c->object_klass) || !c->object_klass ? -ENOENT : 0;
}

/* ---- names ---- */

/* Reads a Symbol; "" if it is longer than what is looked for. Most can be read at once, with what is behind them. */
static bool symbol_text(const struct classes *c, uint64_t symbol, char to[NAME_MAX_BYTES])
{
	const struct braid_layout *l = c->layout;
	uint8_t all[SYMBOL_HEAD + NAME_MAX_BYTES];
	bool whole = l->symbol_body <= SYMBOL_HEAD && l->symbol_length + 2U <= SYMBOL_HEAD &&
		     !bytes(c, symbol, all, sizeof(all));
	uint16_t length;

	if (whole)
		memcpy(&length, all + l->symbol_length, sizeof(length));
	else if (bytes(c, symbol + l->symbol_length, &length, sizeof(length)))
		return false;
	if (length >= NAME_MAX_BYTES)
		length = 0;
	to[length] = '\0';
	if (whole)
		memcpy(to, all + l->symbol_body, length);
	return whole || !length || !bytes(c, symbol + l->symbol_body, to, length);
}

/* The Symbol in a slot of a constant pool. */
static bool pool_text(const struct classes *c, uint64_t pool, uint32_t slot, char to[NAME_MAX_BYTES])
{
	uint64_t symbol;

	return slot && slot <= UINT16_MAX && !word(c, pool + c->layout->pool_size + 8ULL * slot, &symbol) &&
	       symbol_text(c, symbol & ~1ULL, to);
}

/* ---- fields ---- */

struct field {
	uint32_t name, signature; /* slots in the constant pool, or numbers of the VM's own symbols */
	uint32_t offset;
	bool injected; /* by the VM, which has its name */
};

/* The fields of one class, and where they go. */
struct search {
	const struct classes *classes;
	uint64_t pool;
	const struct field_wanted *wanted;
	size_t count, class;
};

static bool field_text(const struct search *s, const struct field *f, uint32_t slot, char to[NAME_MAX_BYTES])
{
	uint64_t symbol;

	if (!f->injected)
		return pool_text(s->classes, s->pool, slot, to);
	return s->classes->symbols && slot <= UINT16_MAX &&
	       !word(s->classes, s->classes->symbols + 8ULL * slot, &symbol) && symbol_text(s->classes, symbol, to);
}

static void take_field(const struct search *s, const struct field *f)
{
	char name[NAME_MAX_BYTES], signature[NAME_MAX_BYTES];

	if (f->offset > UINT16_MAX || !field_text(s, f, f->name, name))
		return;
	for (size_t i = 0; i < s->count; i++) {
		const struct field_wanted *w = &s->wanted[i];

		if (w->class == s->class && !strcmp(w->name, name) && field_text(s, f, f->signature, signature) &&
		    !strcmp(w->signature, signature))
			*w->to = (uint16_t)f->offset;
	}
}

/* fieldInfo.hpp, 21 and later: numbers of fields and of injected ones; fields as compressed numbers. */
static void fields_of_stream(const struct search *s, const uint8_t *at, size_t size)
{
	enum { INITIALIZED = 1, INJECTED = 2, GENERIC = 4, CONTENDED = 16 };
	struct stream in = {.at = at, .end = at + size, .no_zero = true};
	uint32_t count = take_unsigned(&in);

	count += take_unsigned(&in);
	for (uint32_t i = 0; i < count && i < FIELDS_MAX && !in.failed; i++) {
		struct field f = {.name = take_unsigned(&in)};
		uint32_t flags;

		f.signature = take_unsigned(&in);
		f.offset = take_unsigned(&in);
		take_unsigned(&in); /* access flags */
		flags = take_unsigned(&in);
		for (uint32_t extra = flags & (INITIALIZED | GENERIC | CONTENDED); extra; extra &= extra - 1)
			take_unsigned(&in);
		f.injected = flags & INJECTED;
		if (!in.failed)
			take_field(s, &f);
	}
}

/*
 * fieldInfo.hpp, before 21: access flags, name, signature, initial value, and the offset above two bits, low half
 * first.
 */
static void fields_of_array(const struct search *s, const uint16_t *at, size_t count)
{
	for (size_t i = 0; i < count; i++, at += 6)
		take_field(s, &(struct field){.name = at[1],
					      .signature = at[2],
					      .offset = (at[4] | (uint32_t)at[5] << 16) >> 2});
}

/* An Array has its length as an int, and its elements after it. */
static void read_fields(const struct search *s, uint64_t klass)
{
	const struct classes *c = s->classes;
	uint16_t field_count = 0;
	uint64_t array;
	int32_t length;
	size_t size;
	void *data;

	if (word(c, klass + (c->field_stream ?: c->fields), &array) || bytes(c, array, &length, sizeof(length)) ||
	    (!c->field_stream && bytes(c, klass + c->field_count, &field_count, sizeof(field_count))))
		return;
	size = c->field_stream ? (size_t)(uint32_t)length : field_count * 12U;
	if (!size || length < 0 || size > STREAM_MAX)
		return;
	data = malloc(size);
	if (data && !bytes(c, array + 4, data, size)) {
		if (c->field_stream)
			fields_of_stream(s, data, size);
		else
			fields_of_array(s, data, field_count);
	}
	free(data);
}

/* ---- classes ---- */

/* Which of the classes it is, `count` for none. Two classes of one name cannot be: it is one loader's list, or names
 * that only that loader may give. */
static size_t class_of(const struct classes *c, uint64_t symbol, const struct class_wanted *classes, size_t count)
{
	char name[NAME_MAX_BYTES];
	size_t i;

	if (!symbol_text(c, symbol, name))
		return count;
	for (i = 0; i < count && strcmp(classes[i].name, name); i++)
		;
	return i;
}

/* The addresses of a Klass's name and of the next Klass, which are close together. */
static bool klass_read(const struct classes *c, uint64_t klass, uint64_t *name, uint64_t *next)
{
	uint16_t low = c->layout->klass_name < c->next ? c->layout->klass_name : c->next;
	uint32_t size = (c->layout->klass_name > c->next ? c->layout->klass_name : c->next) + 8U - low;
	uint8_t part[KLASS_BYTES];

	if (size > sizeof(part) || bytes(c, klass + low, part, size))
		return false;
	memcpy(name, part + (c->layout->klass_name - low), sizeof(*name));
	memcpy(next, part + (c->next - low), sizeof(*next));
	return true;
}

/* The first class of the boot loader's list, or else of those that extend Object themselves. */
static bool first_class(const struct classes *c, uint64_t *klass)
{
	uint64_t loader;

	if (!c->loader_klasses)
		return !word(c, c->object_klass + c->subclass, klass);
	return !word(c, c->object_klass + c->loader, &loader) && !word(c, loader + c->loader_klasses, klass);
}

void classes_find(const struct classes *c, struct class_wanted *classes, size_t class_count,
		  const struct field_wanted *fields, size_t field_count)
{
	uint64_t klass, name, next;
	size_t left = class_count;

	for (size_t i = 0; i < class_count; i++)
		classes[i].klass = 0;
	if (!first_class(c, &klass))
		return;
	for (uint32_t i = 0; i < CLASSES_MAX && left && klass_read(c, klass, &name, &next); i++, klass = next) {
		struct search s = {.classes = c, .wanted = fields, .count = field_count};

		s.class = class_of(c, name, classes, class_count);
		if (s.class == class_count || classes[s.class].klass)
			continue;
		classes[s.class].klass = klass;
		left--;
		if (!word(c, klass + c->constants, &s.pool))
			read_fields(&s, klass);
	}
}
