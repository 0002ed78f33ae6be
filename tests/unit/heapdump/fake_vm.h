// SPDX-License-Identifier: Apache-2.0
/* A VM with a heap and a few classes, in the memory of the test itself. */
#ifndef TESTS_UNIT_HEAPDUMP_FAKE_VM_H
#define TESTS_UNIT_HEAPDUMP_FAKE_VM_H

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <heapdump/chunks.h>
#include <heapdump/histogram.h>
#include <heapdump/writer.h>

/* ---- a VM ---- */

#define HEAP_BYTES (4U << 20)
#define ARRAY_HELPER(tag, type, log2) ((tag) << 30 | 24U << 16 | (type) << 8 | (log2))

struct symbol_of {
	uint16_t length;
	char text[46];
};

struct fake_pool {
	uint64_t resolved; /* a handle */
	uint64_t symbols[16];
};

struct fake_fields {
	int32_t length;
	uint16_t at[6 * 6];
};

struct fake_klass {
	uint32_t helper, vtable, itable, oop_maps;
	uint64_t name, super, mirror, below, beside, loader_data, fields, pool, arrays, higher;
	uint16_t java_fields, unused[3];
	struct class_oops oops[2];
};

struct fake {
	struct copy copy;
	struct vm vm;
	struct klasses classes;
	struct reach reach;
	atomic_bool stop;
	uint8_t *heap;
	size_t used;
	uint64_t loader_data[2]; /* the loader's object first */
	struct symbol_of names[32];
	size_t name_count;
	struct fake_klass object, class, loader, node, weak, reference, refs, ints, chunk;
	struct fake_fields node_fields, reference_fields, chunk_fields, none;
	struct fake_pool pool;
};

static struct fake *f;

#define AT(p) ((uint64_t)(uintptr_t)(p))

static inline uint64_t name(const char *text)
{
	struct symbol_of *s = &f->names[f->name_count++];

	s->length = (uint16_t)strlen(text);
	memcpy(s->text, text, s->length);
	return AT(s);
}

static inline uint64_t new_object(const struct fake_klass *k, size_t bytes)
{
	uint64_t at = AT(f->heap) + f->used;

	f->used += (bytes + 7) & ~7UL;
	ck_assert_uint_le(f->used, HEAP_BYTES);
	*(uint64_t *)(at + 8) = AT(k);
	return at;
}

static inline uint64_t new_array(const struct fake_klass *k, uint32_t length, size_t each)
{
	uint64_t at = new_object(k, 24 + length * each);

	*(uint32_t *)(at + 16) = length;
	return at;
}

static inline uint64_t *word(uint64_t object, size_t offset)
{
	return (uint64_t *)(object + offset);
}

static inline void klass_init(struct fake_klass *k, const char *text, struct fake_klass *super, uint32_t helper)
{
	k->helper = helper;
	k->name = name(text);
	k->super = super ? AT(super) : 0;
	if (super) {
		k->beside = super->below;
		super->below = AT(k);
	}
	k->loader_data = AT(f->loader_data);
	k->fields = AT(&f->none);
	k->pool = AT(&f->pool);
	k->mirror = new_object(&f->class, 32);
	*word(k->mirror, 16) = AT(k);
}

/* A field of six u2, with its name and signature in the pool from `pool` on. */
static inline void field_init(struct fake_klass *k, struct fake_fields *to, int i, uint16_t pool, const char *text,
			      const char *signature, uint32_t offset)
{
	uint16_t *at = to->at + 6 * i;

	f->pool.symbols[pool] = name(text);
	f->pool.symbols[pool + 1] = name(signature);
	at[1] = pool;
	at[2] = (uint16_t)(pool + 1);
	at[4] = (uint16_t)(offset << 2);
	to->length = 6 * (i + 1);
	k->fields = AT(to);
	k->java_fields = (uint16_t)(i + 1);
}

static inline void vm_init(struct vm *v)
{
	*v = (struct vm){
		.copy = &f->copy,
		.layout = {.klass_name = offsetof(struct fake_klass, name),
			   .symbol_body = offsetof(struct symbol_of, text),
			   .pool_size = offsetof(struct fake_pool, symbols)},
		.klass_layout = offsetof(struct fake_klass, helper),
		.klass_super = offsetof(struct fake_klass, super),
		.klass_mirror = offsetof(struct fake_klass, mirror),
		.klass_subklass = offsetof(struct fake_klass, below),
		.klass_sibling = offsetof(struct fake_klass, beside),
		.klass_loader_data = offsetof(struct fake_klass, loader_data),
		.klass_vtable = offsetof(struct fake_klass, vtable),
		.instance_itable = offsetof(struct fake_klass, itable),
		.instance_oop_maps = offsetof(struct fake_klass, oop_maps),
		.instance_size = offsetof(struct fake_klass, oops),
		.instance_fields = offsetof(struct fake_klass, fields),
		.instance_java_fields = offsetof(struct fake_klass, java_fields),
		.instance_constants = offsetof(struct fake_klass, pool),
		.instance_arrays = offsetof(struct fake_klass, arrays),
		.array_higher = offsetof(struct fake_klass, higher),
		.shorts_data = offsetof(struct fake_fields, at),
		.class_klass = 16,
		.heap_low = AT(f->heap),
		.heap_high = AT(f->heap) + HEAP_BYTES,
		.header = 16,
		.array_length = 16,
	};
}

static inline void build(void)
{
	f = aligned_alloc(4096, (sizeof(*f) + 4095) & ~4095UL);
	memset(f, 0, sizeof(*f));
	f->heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_int_eq(copy_open(&f->copy, getpid(), &f->stop), 0);
	vm_init(&f->vm);
	klass_init(&f->object, "java/lang/Object", NULL, 16);
	klass_init(&f->class, "java/lang/Class", &f->object, 32);
	klass_init(&f->loader, "java/lang/ClassLoader", &f->object, 16);
	klass_init(&f->node, "Node", &f->object, 40);
	klass_init(&f->reference, "java/lang/ref/Reference", &f->object, 32);
	klass_init(&f->weak, "java/lang/ref/WeakReference", &f->reference, 32);
	klass_init(&f->refs, "[Ljava/lang/Object;", &f->object, ARRAY_HELPER(2U, 12, 3));
	klass_init(&f->ints, "[I", &f->object, ARRAY_HELPER(3U, 10, 2));
	field_init(&f->node, &f->node_fields, 0, 1, "next", "LNode;", 16);
	field_init(&f->node, &f->node_fields, 1, 3, "value", "I", 24);
	field_init(&f->node, &f->node_fields, 2, 5, "other", "Ljava/lang/Object;", 32);
	field_init(&f->reference, &f->reference_fields, 0, 7, "referent", "Ljava/lang/Object;", 16);
	field_init(&f->reference, &f->reference_fields, 1, 9, "discovered", "Ljava/lang/Object;", 24);
	klass_init(&f->chunk, "jdk/internal/vm/StackChunk", &f->object, 32);
	field_init(&f->chunk, &f->chunk_fields, 0, 11, "sp", "I", 16);
	field_init(&f->chunk, &f->chunk_fields, 1, 13, "size", "I", 20);
	f->node.oop_maps = 2;
	f->node.oops[0] = (struct class_oops){16, 1};
	f->node.oops[1] = (struct class_oops){32, 1};
	klasses_open(&f->classes, &f->vm);
}

static inline void reach_begin(void)
{
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->node)), 0);
	ck_assert_int_eq(reach_open(&f->reach, &f->vm, &f->classes, HEAP_BYTES), 0);
}

static inline void demolish(void)
{
	reach_free(&f->reach);
	klasses_free(&f->classes);
	copy_close(&f->copy);
	munmap(f->heap, HEAP_BYTES);
	free(f);
}

static inline int count(void *ctx, const struct reach_object *o)
{
	size_t *counts = ctx;

	counts[o->class->klass == AT(&f->node) ? 0 : o->class->kind == CLASS_INSTANCE ? 1 : 2]++;
	return 0;
}

/* A chunk with ten words of stack, of which those from `sp` on are in use, and a bitmap behind them. */
static inline uint64_t new_chunk(uint32_t sp, uint32_t words, uint64_t bitmap)
{
	uint64_t chunk = new_object(&f->chunk, 32 + 8 * (10 + 1));

	*(uint32_t *)(chunk + 16) = sp;
	*(uint32_t *)(chunk + 20) = words;
	*(uint8_t *)(chunk + 24) = bitmap ? 0x10 : 0;
	*word(chunk, 32 + 8 * 10) = bitmap;
	return chunk;
}

/* Marks what `root` leads to, for the dump. */
static inline struct writer writer_of(struct heapdump *d, uint64_t root)
{
	reach_begin();
	reach_mark(&f->reach, root);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	return (struct writer){.d = d, .copy = f->copy, .vm = f->vm, .classes = f->classes, .reach = f->reach};
}

/* Counts what `root` leads to. */
static inline void counted(struct histogram *h, uint64_t root)
{
	struct writer w = writer_of(NULL, root);

	*h = (struct histogram){0};
	ck_assert_int_eq(histogram_count(&w, h), 0);
}

static inline const struct histogram_row *row_of(const struct histogram *h, const char *class)
{
	for (size_t i = 0; i < h->rows.count; i++)
		if (strcmp(h->rows.at[i].class, class) == 0)
			return &h->rows.at[i];
	ck_abort_msg("no row for %s", class);
}

static inline void row_is(const struct histogram *h, const char *class, uint64_t objects, uint64_t bytes)
{
	ck_assert_uint_eq(row_of(h, class)->objects, objects);
	ck_assert_uint_eq(row_of(h, class)->bytes, bytes);
}

#endif
