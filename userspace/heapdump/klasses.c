// SPDX-License-Identifier: Apache-2.0
#include "klasses.h"

#include "fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUPERS_MAX 4096
#define OOP_BLOCKS_MAX 65536U
#define INSTANCE_MAX (1U << 20) /* 65,535 fields of eight bytes are half as much */
#define ARRAY_HEADER_MAX 64U
#define ITEMS_MAX (8U << 20)	 /* fields, and oop blocks, of all classes */
#define WASTED_MAX (16ULL << 20) /* some seconds: a heap whose objects have no classes is not searched for them */

/* Klass::_layout_helper (klass.hpp): positive, the bytes of an instance; negative, a description of an array. */
#define HELPER_SLOW 1U
#define HELPER_BYTES(h) ((h) & ~7U)
#define HELPER_IS_ARRAY(h) ((h) >> 31)
#define HELPER_IS_VALUES(h) ((h) >> 30 == 3)
#define HELPER_HEADER(h) ((h) >> 16 & 0xff)
#define HELPER_TYPE(h) ((h) >> 8 & 0xff)
#define HELPER_LOG2(h) ((h)&0xff)

/* ---- names ---- */

size_t klasses_symbol(const struct vm *vm, uint64_t symbol, char *to, size_t size)
{
	size_t length;

	if (!symbol || symbol & 7)
		return 0;
	length = copy_short(vm->copy, symbol + vm->layout.symbol_length);
	length = length < size ? length : size;
	return length && copy_peek(vm->copy, symbol + vm->layout.symbol_body, to, length) ? length : 0;
}

bool klasses_symbol_is(const struct vm *vm, uint64_t symbol, const char *text)
{
	char name[128];
	size_t length = strlen(text);

	return copy_short(vm->copy, symbol + vm->layout.symbol_length) == length &&
	       klasses_symbol(vm, symbol, name, sizeof(name)) == length && memcmp(name, text, length) == 0;
}

/* ---- one class ---- */

static bool in_heap(const struct vm *vm, uint64_t object)
{
	return object >= vm->heap_low && object < vm->heap_high && !(object & 7);
}

/* BasicType of an array's elements as HPROF has it; both count alike from boolean to long. */
static bool element_take(struct class *k, uint32_t helper)
{
	uint32_t type = HELPER_TYPE(helper);

	k->kind = HELPER_IS_VALUES(helper) ? CLASS_VALUES : CLASS_OBJECTS;
	k->size = HELPER_HEADER(helper);
	k->element = k->kind == CLASS_OBJECTS ? VALUE_OBJECT : (uint8_t)type;
	k->element_log2 = HELPER_LOG2(helper);
	if (k->size < 12 || k->size > ARRAY_HEADER_MAX)
		return false;
	if (k->kind == CLASS_OBJECTS)
		return k->element_log2 == 2 || k->element_log2 == 3;
	return type >= VALUE_BOOLEAN && type <= VALUE_LONG && 1U << k->element_log2 == value_bytes(type);
}

static bool oops_take(struct klasses *c, struct class *k)
{
	const struct vm *vm = c->vm;
	const struct copy *m = vm->copy;
	uint64_t words =
		copy_int(m, k->klass + vm->klass_vtable) + (uint64_t)copy_int(m, k->klass + vm->instance_itable);
	uint64_t at = k->klass + (vm->instance_size + 7U) / 8 * 8 + words * 8, refs = 0;
	uint32_t count = copy_int(m, k->klass + vm->instance_oop_maps), wide = vm_reference_bytes(vm);

	if (words > 1U << 20 || count > OOP_BLOCKS_MAX || count > ITEMS_MAX - c->oops.count)
		return false;
	k->oops_first = (uint32_t)c->oops.count;
	for (uint32_t i = 0; i < count; i++) {
		struct class_oops o;

		if (!copy_peek(m, at + i * sizeof(o), &o, sizeof(o)) || o.offset < 8 || o.offset > k->size ||
		    o.count > (k->size - o.offset) / wide || (refs += o.count ?: 1) > k->size / wide ||
		    VEC_PUSH(&c->oops, o))
			return false;
	}
	k->oops_count = count;
	return true;
}

static void flags_take(struct klasses *c, struct class *k)
{
	static const struct {
		const char *name;
		uint8_t flags;
	} known[] = {
		{"java/lang/Class", CLASS_IS_CLASS},
		{"java/lang/ClassLoader", CLASS_IS_LOADER},
		{"java/lang/ref/Reference", CLASS_IS_REFERENCE},
		{"java/lang/ref/WeakReference", CLASS_IS_WEAK},
		{"java/lang/ref/PhantomReference", CLASS_IS_WEAK},
		{"jdk/internal/vm/StackChunk", CLASS_IS_CHUNK},
	};

	if (k->super)
		k->flags |= c->at.at[k->super - 1].flags & (CLASS_IS_LOADER | CLASS_IS_WEAK | CLASS_IS_REFERENCE);
	if (c->loaders.at[k->loader].object)
		return;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (klasses_symbol_is(c->vm, k->name, known[i].name))
			k->flags |= known[i].flags;
}

/* The offset of a field of the class itself; 0: there is none of this type. */
static uint32_t field_named(const struct klasses *c, const struct class *k, const char *name, enum value_type type)
{
	for (uint32_t i = 0; i < k->field_count; i++) {
		const struct class_field *f = &c->fields.at[k->field_first + i];

		if (f->type == type && !f->is_static && klasses_symbol_is(c->vm, f->name, name))
			return f->offset;
	}
	return 0;
}

static uint32_t reference_named(const struct klasses *c, const struct class *k, const char *name)
{
	return field_named(c, k, name, VALUE_OBJECT);
}

/* The frames of a virtual thread become an array that a field of the chunk refers to, see chunks.h. */
static int frames_add(struct klasses *c, struct class *k)
{
	if (VEC_PUSH(&c->fields,
		     (struct class_field){.name = CHUNK_FRAMES_NAME, .offset = CHUNK_FRAMES_AT, .type = VALUE_OBJECT}))
		return -ENOMEM;
	k->field_count++;
	k->value_bytes += value_bytes(VALUE_OBJECT);
	return 0;
}

static bool is_of_boot(const struct klasses *c, const struct class *k, const char *name)
{
	return !c->loaders.at[k->loader].object && klasses_symbol_is(c->vm, k->name, name);
}

/* Takes the offsets of fields that are needed by name. */
static void named_take(struct klasses *c, const struct class *k, const struct fields_injected *injected)
{
	if (k->flags & CLASS_IS_CHUNK) {
		c->chunk_sp = field_named(c, k, "sp", VALUE_INT);
		c->chunk_words = field_named(c, k, "size", VALUE_INT);
		c->chunk_flags = injected->flags;
	}
	if (k->flags & CLASS_IS_CLASS) {
		c->domain_at = injected->protection_domain ?: reference_named(c, k, "protectionDomain");
		c->signers_at = injected->signers ?: reference_named(c, k, "signers");
	}
	if (k->flags & CLASS_IS_LOADER && (!k->super || !(c->at.at[k->super - 1].flags & CLASS_IS_LOADER)))
		c->loader_name = reference_named(c, k, "name");
	if (is_of_boot(c, k, "java/lang/Thread"))
		c->thread_name = reference_named(c, k, "name");
	if (is_of_boot(c, k, "java/lang/String")) {
		c->string_value = reference_named(c, k, "value");
		c->string_coder = field_named(c, k, "coder", VALUE_BYTE);
	}
	if (k->flags & CLASS_IS_REFERENCE && !c->referent) {
		c->referent = reference_named(c, k, "referent");
		c->discovered = reference_named(c, k, "discovered");
	}
}

/* An instance has its superclass's fields, where that has them. */
static bool super_fits(const struct klasses *c, const struct class *k)
{
	const struct class *super = k->super ? &c->at.at[k->super - 1] : NULL;

	return !super || (super->kind == CLASS_INSTANCE && super->size <= k->size);
}

static bool instance_take(struct klasses *c, struct class *k)
{
	struct fields_injected injected = {0};

	flags_take(c, k);
	if (k->size < 8 || k->size > INSTANCE_MAX || !super_fits(c, k) || !oops_take(c, k) ||
	    c->fields.count > ITEMS_MAX || fields_take(c, k, &injected))
		return false;
	named_take(c, k, &injected);
	return (!(k->flags & CLASS_IS_CHUNK) || !frames_add(c, k)) && k->value_bytes <= CLASS_VALUES_MAX;
}

/* ---- loaders ---- */

static uint32_t loader_of(struct klasses *c, uint64_t data)
{
	const struct pair_entry *e = pair_find(&c->of_data, data, 0);
	struct class_loader l = {.data = data};

	if (e)
		return e->value;
	l.object = vm_handle(c->vm, data + c->vm->loader_data_loader);
	if (!data || (l.object && !in_heap(c->vm, l.object)) || VEC_PUSH(&c->loaders, l) ||
	    !pair_put(&c->of_data, data, 0, (uint32_t)c->loaders.count))
		return 0;
	/* Some hidden classes have data of their own, beside those of their loader. */
	if (l.object && !pair_find(&c->of_loader, l.object, 0) &&
	    !pair_put(&c->of_loader, l.object, 0, (uint32_t)c->loaders.count))
		return 0;
	return (uint32_t)c->loaders.count;
}

/* ---- all classes ---- */

static int64_t class_add(struct klasses *c, uint64_t klass, int64_t super)
{
	const struct vm *vm = c->vm;
	struct class k = {.klass = klass, .super = (uint32_t)(super + 1)};
	uint32_t helper = copy_int(vm->copy, klass + vm->klass_layout), loader;
	size_t fields = c->fields.count, oops = c->oops.count;
	bool ok;

	k.name = copy_word(vm->copy, klass + vm->layout.klass_name);
	k.mirror = vm_handle(vm, klass + vm->klass_mirror);
	loader = loader_of(c, copy_word(vm->copy, klass + vm->klass_loader_data));
	k.loader = loader - 1;
	if (!helper || !loader || !in_heap(vm, k.mirror) || !klasses_symbol(vm, k.name, (char[1]){0}, 1) ||
	    c->at.count >= CLASSES_MAX)
		return -EINVAL;
	k.size = HELPER_BYTES(helper);
	ok = HELPER_IS_ARRAY(helper) ? element_take(&k, helper) : instance_take(c, &k);
	if (!ok) {
		c->wasted += c->fields.count - fields + c->oops.count - oops;
		c->fields.count = fields;
		c->oops.count = oops;
		return -EINVAL;
	}
	if (VEC_PUSH(&c->at, k) || !pair_put(&c->of_klass, klass, 0, (uint32_t)c->at.count))
		return -ENOMEM;
	c->at.at[c->at.count - 1].next = c->loaders.at[k.loader].first;
	c->loaders.at[k.loader].first = (uint32_t)c->at.count;
	return (int64_t)c->at.count - 1;
}

/* The superclasses that are not known yet are added first, from the first one down. */
int64_t klasses_find(struct klasses *c, uint64_t klass)
{
	uint64_t chain[SUPERS_MAX];
	const struct pair_entry *e = NULL;
	uint32_t depth = 0;
	int64_t super = -1;

	while (klass && !(e = pair_find(&c->of_klass, klass, 0))) {
		if (klass & 7 || depth == SUPERS_MAX || c->wasted > WASTED_MAX) {
			c->wasted += depth;
			return -EINVAL;
		}
		chain[depth++] = klass;
		klass = copy_word(c->vm->copy, klass + c->vm->klass_super);
	}
	if (e)
		super = e->value - 1;
	while (depth) {
		super = class_add(c, chain[--depth], super);
		if (super < 0) {
			c->bad++;
			c->wasted += depth + 1;
			return super;
		}
	}
	return super;
}

int64_t klasses_of_mirror(struct klasses *c, uint64_t object)
{
	uint64_t klass = copy_word(c->vm->copy, object + c->vm->class_klass), bad = c->bad;
	int64_t i = klass ? klasses_find(c, klass) : CLASSES_PRIMITIVE;

	c->bad = bad;
	return i < 0 && klass ? CLASSES_NONE : i;
}

/* Arrays of instances of a class, and arrays of those. */
static int arrays_read(struct klasses *c, const struct class *k)
{
	uint64_t array = k->kind == CLASS_INSTANCE ? copy_word(c->vm->copy, k->klass + c->vm->instance_arrays) : 0;

	for (int dimension = 0; array && dimension < 255; dimension++) {
		int64_t i = klasses_find(c, array);

		if (i < 0)
			return (int)i;
		array = copy_word(c->vm->copy, array + c->vm->array_higher);
	}
	return 0;
}

int klasses_read(struct klasses *c, uint64_t klass)
{
	const struct vm *vm = c->vm;
	VEC(uint64_t) left = {0};
	uint64_t super, taken = 0;
	int err = 0;

	for (int i = 0; i < SUPERS_MAX && (super = copy_word(vm->copy, klass + vm->klass_super)); i++)
		klass = super;
	err = VEC_PUSH(&left, klass);
	while (left.count && !err) {
		int64_t i = klasses_find(c, klass = left.at[--left.count]);
		uint64_t down = copy_word(vm->copy, klass + vm->klass_subklass);
		uint64_t beside = copy_word(vm->copy, klass + vm->klass_sibling);

		if (taken++ > CLASSES_MAX)
			err = -E2BIG;
		/* A class that is being loaded is not complete, and nothing is of it yet. */
		if (i >= 0)
			err = err ?: arrays_read(c, &c->at.at[i]);
		else if (i == -ENOMEM)
			err = -ENOMEM;
		err = err == -EINVAL ? 0 : err;
		if (!err && beside)
			err = VEC_PUSH(&left, beside);
		if (!err && down)
			err = VEC_PUSH(&left, down);
		err = err ?: copy_check(vm->copy);
	}
	free(left.at);
	return err;
}

uint64_t klasses_resolved(const struct klasses *c, const struct class *k)
{
	const struct vm *vm = c->vm;
	uint64_t pool, handle;

	if (k->kind != CLASS_INSTANCE)
		return 0;
	pool = copy_word(vm->copy, k->klass + vm->instance_constants);
	if (pool && vm->handles)
		pool = copy_word(vm->copy, pool + vm->pool_cache);
	handle = pool ? copy_word(vm->copy, pool + vm->resolved) : 0;
	return handle ? vm_where(vm, copy_word(vm->copy, handle)) : 0;
}

void klasses_open(struct klasses *c, const struct vm *vm)
{
	*c = (struct klasses){.vm = vm};
}

void klasses_free(struct klasses *c)
{
	free(c->at.at);
	free(c->fields.at);
	free(c->oops.at);
	free(c->loaders.at);
	pair_map_free(&c->of_klass);
	pair_map_free(&c->of_data);
	pair_map_free(&c->of_loader);
}
