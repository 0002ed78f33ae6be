// SPDX-License-Identifier: Apache-2.0
/*
 * A class has six u2 for each of its fields (fieldInfo.hpp, up to 20), or a stream of compressed numbers (fieldInfo.hpp
 * and unsigned5.hpp, 21 and later). Fields that the VM adds have no entry in the constant pool: their names are the
 * VM's own symbols.
 */
#include "fields.h"

#include "hotspot/unsigned5.h"

#include <errno.h>
#include <stdlib.h>

#define FIELDS_MAX 65535U
#define STREAM_MAX (1U << 20)
#define SHORTS 6U /* access, name, signature, initial value, offset low, offset high */
#define OFFSET_TAG 2
#define ACC_STATIC 0x8U

/* FieldInfo::FieldFlags */
#define FLAG_INITIALIZED 0x1U
#define FLAG_INJECTED 0x2U
#define FLAG_GENERIC 0x4U
#define FLAG_CONTENDED 0x10U

struct raw {
	uint32_t name, signature, offset, access;
	bool injected;
};

static bool type_of(const struct vm *vm, uint64_t signature, uint8_t *type)
{
	static const struct {
		char letter;
		uint8_t type;
	} letters[] = {{'L', VALUE_OBJECT}, {'[', VALUE_OBJECT}, {'Z', VALUE_BOOLEAN}, {'C', VALUE_CHAR},
		       {'F', VALUE_FLOAT},  {'D', VALUE_DOUBLE}, {'B', VALUE_BYTE},    {'S', VALUE_SHORT},
		       {'I', VALUE_INT},    {'J', VALUE_LONG}};
	char letter;

	if (!klasses_symbol(vm, signature, &letter, 1))
		return false;
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == letter) {
			*type = letters[i].type;
			return true;
		}
	return false;
}

static void injected_take(const struct vm *vm, const struct raw *r, struct fields_injected *to)
{
	uint64_t name = vm->symbols ? copy_word(vm->copy, vm->symbols + 8ULL * r->name) : 0;

	if (klasses_symbol_is(vm, name, "protection_domain"))
		to->protection_domain = r->offset;
	else if (klasses_symbol_is(vm, name, "signers"))
		to->signers = r->offset;
	else if (klasses_symbol_is(vm, name, "flags"))
		to->flags = r->offset;
}

/* Older versions may tag the low bit of a symbol. */
static uint64_t pool_symbol(const struct vm *vm, uint64_t pool, uint32_t index)
{
	return copy_word(vm->copy, pool + vm->layout.pool_size + 8ULL * index) & ~1ULL;
}

static int field_add(struct klasses *c, struct class *k, uint64_t pool, const struct raw *r,
		     struct fields_injected *injected)
{
	const struct vm *vm = c->vm;
	struct class_field f = {.offset = r->offset, .is_static = r->access & ACC_STATIC};
	uint32_t room = f.is_static ? UINT16_MAX * 8U : k->size;

	if (r->injected) {
		injected_take(vm, r, injected);
		return 0;
	}
	f.name = pool_symbol(vm, pool, r->name);
	if (!klasses_symbol(vm, f.name, (char[1]){0}, 1) || !type_of(vm, pool_symbol(vm, pool, r->signature), &f.type))
		return -EINVAL;
	if (f.offset < 8 || f.offset > room ||
	    (!f.is_static && f.type != VALUE_OBJECT && value_bytes(f.type) > room - f.offset) ||
	    (!f.is_static && f.type == VALUE_OBJECT && vm_reference_bytes(vm) > room - f.offset))
		return -EINVAL;
	if (VEC_PUSH(&c->fields, f))
		return -ENOMEM;
	k->field_count++;
	k->value_bytes += f.is_static ? 0 : value_bytes(f.type);
	return 0;
}

static int shorts_take(struct klasses *c, struct class *k, uint64_t pool, uint64_t array,
		       struct fields_injected *injected)
{
	const struct vm *vm = c->vm;
	uint32_t length = copy_int(vm->copy, array), java = copy_short(vm->copy, k->klass + vm->instance_java_fields);
	int err = 0;

	/* The indexes of generic signatures follow the fields, so the number of added fields is not known. */
	if (length > FIELDS_MAX * SHORTS || java > length / SHORTS)
		return -EINVAL;
	for (uint32_t i = 0; i < length / SHORTS && !err; i++) {
		uint16_t s[SHORTS];
		struct raw r;

		if (!copy_peek(vm->copy, array + vm->shorts_data + i * sizeof(s), s, sizeof(s)))
			return -EFAULT;
		r = (struct raw){.access = s[0],
				 .name = s[1],
				 .signature = s[2],
				 .offset = ((uint32_t)s[5] << 16 | s[4]) >> OFFSET_TAG,
				 .injected = i >= java};
		if (i >= java && !(k->flags & CLASS_IS_CLASS))
			break;
		err = field_add(c, k, pool, &r, injected);
	}
	return err;
}

static void stream_field(struct stream *s, struct raw *r)
{
	uint32_t flags;

	r->name = take_unsigned(s);
	r->signature = take_unsigned(s);
	r->offset = take_unsigned(s);
	r->access = take_unsigned(s);
	flags = take_unsigned(s);
	r->injected = flags & FLAG_INJECTED;
	if (flags & FLAG_INITIALIZED)
		take_unsigned(s);
	if (flags & FLAG_GENERIC)
		take_unsigned(s);
	if (flags & FLAG_CONTENDED)
		take_unsigned(s);
}

static int stream_take(struct klasses *c, struct class *k, uint64_t pool, uint64_t array,
		       struct fields_injected *injected)
{
	const struct vm *vm = c->vm;
	uint32_t length = copy_int(vm->copy, array), count;
	uint8_t *bytes = length <= STREAM_MAX ? malloc(length + 1) : NULL;
	struct stream s = {.at = bytes, .no_zero = true};
	int err = 0;

	if (!bytes)
		return -EINVAL;
	s.end = bytes + length;
	if (!copy_peek(vm->copy, array + vm->bytes_data, bytes, length))
		err = -EFAULT;
	count = err ? 0 : take_unsigned(&s);
	count += err ? 0 : take_unsigned(&s);
	err = err ?: count > FIELDS_MAX ? -EINVAL : 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		struct raw r = {0};

		stream_field(&s, &r);
		err = s.failed ? -EINVAL : field_add(c, k, pool, &r, injected);
	}
	free(bytes);
	return err;
}

int fields_take(struct klasses *c, struct class *k, struct fields_injected *injected)
{
	const struct vm *vm = c->vm;
	uint64_t array = copy_word(vm->copy, k->klass + vm->instance_fields);
	uint64_t pool = copy_word(vm->copy, k->klass + vm->instance_constants);

	k->field_first = (uint32_t)c->fields.count;
	if (k->super)
		k->value_bytes = c->at.at[k->super - 1].value_bytes;
	if (!array || !pool)
		return -EINVAL;
	return vm->field_stream ? stream_take(c, k, pool, array, injected) : shorts_take(c, k, pool, array, injected);
}
