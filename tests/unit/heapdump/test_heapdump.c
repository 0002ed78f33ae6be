// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of heap dumps on a heap that this program builds in its own memory, with classes as the VM of JDK 8 has them:
 * what is reachable, and what is damaged.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <heapdump/chunks.h>
#include <heapdump/histogram.h>
#include <heapdump/writer.h>

Suite *test_heapdump(void);

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

static uint64_t name(const char *text)
{
	struct symbol_of *s = &f->names[f->name_count++];

	s->length = (uint16_t)strlen(text);
	memcpy(s->text, text, s->length);
	return AT(s);
}

static uint64_t new_object(const struct fake_klass *k, size_t bytes)
{
	uint64_t at = AT(f->heap) + f->used;

	f->used += (bytes + 7) & ~7UL;
	ck_assert_uint_le(f->used, HEAP_BYTES);
	*(uint64_t *)(at + 8) = AT(k);
	return at;
}

static uint64_t new_array(const struct fake_klass *k, uint32_t length, size_t each)
{
	uint64_t at = new_object(k, 24 + length * each);

	*(uint32_t *)(at + 16) = length;
	return at;
}

static uint64_t *word(uint64_t object, size_t offset)
{
	return (uint64_t *)(object + offset);
}

static void klass_init(struct fake_klass *k, const char *text, struct fake_klass *super, uint32_t helper)
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
static void field_init(struct fake_klass *k, struct fake_fields *to, int i, uint16_t pool, const char *text,
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

static void vm_init(struct vm *v)
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

static void build(void)
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

static void reach_begin(void)
{
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->node)), 0);
	ck_assert_int_eq(reach_open(&f->reach, &f->vm, &f->classes, HEAP_BYTES), 0);
}

static void demolish(void)
{
	reach_free(&f->reach);
	klasses_free(&f->classes);
	copy_close(&f->copy);
	munmap(f->heap, HEAP_BYTES);
	free(f);
}

static int count(void *ctx, const struct reach_object *o)
{
	size_t *counts = ctx;

	counts[o->class->klass == AT(&f->node) ? 0 : o->class->kind == CLASS_INSTANCE ? 1 : 2]++;
	return 0;
}

/* ---- the graph ---- */

START_TEST(classes_have_their_fields)
{
	const struct class *k;
	int64_t i;

	build();
	reach_begin();
	ck_assert_uint_eq(f->classes.at.count, 9);
	i = klasses_find(&f->classes, AT(&f->node));
	k = &f->classes.at.at[i];
	ck_assert_uint_eq(k->size, 40);
	ck_assert_uint_eq(k->field_count, 3);
	ck_assert_uint_eq(k->value_bytes, 8 + 4 + 8);
	ck_assert_uint_eq(f->classes.fields.at[k->field_first + 1].type, VALUE_INT);
	ck_assert_uint_eq(f->classes.fields.at[k->field_first + 1].offset, 24);
	ck_assert_uint_eq(f->classes.referent, 16);
	ck_assert_uint_eq(f->classes.discovered, 24);
	ck_assert_int_eq(klasses_find(&f->classes, AT(&f->ints)), klasses_find(&f->classes, AT(&f->ints)));
	ck_assert_int_eq(klasses_of_mirror(&f->classes, f->node.mirror), i);
	demolish();
}
END_TEST

/* A list of nodes, every tenth with an array; garbage beside it; a weak and a strong way to an object. */
static void fill(uint32_t nodes, uint64_t *first)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < nodes; i++) {
		uint64_t node = new_object(&f->node, 40);

		*word(node, 16) = last;
		last = node;
		new_object(&f->node, 40); /* garbage */
		if (i % 10 == 0)
			*word(node, 32) = new_array(&f->ints, i % 7, 4);
	}
	*first = last;
}

static void reachable_is(uint64_t root, size_t nodes, size_t arrays)
{
	size_t counts[3] = {0};

	reach_mark(&f->reach, root);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	ck_assert_int_eq(reach_each(&f->reach, count, counts), 0);
	ck_assert_uint_eq(counts[0], nodes);
	ck_assert_uint_eq(counts[2], arrays);
	ck_assert_uint_eq(counts[1], 9); /* the classes of its loader */
}

START_TEST(what_is_reachable)
{
	uint64_t first, refs;

	build();
	fill(3000, &first);
	refs = new_array(&f->refs, 5000, 8);
	for (size_t i = 0; i < 5000; i += 2)
		*word(refs, 24 + 8 * i) = new_object(&f->node, 40);
	*word(refs, 24 + 8 * 4999) = first;
	reach_begin();
	reachable_is(refs, 3000 + 2500, 300 + 1);
	ck_assert_uint_eq(f->reach.bad, 0);
	demolish();
}
END_TEST

/* The same objects are found when the list of those that are left has room for a few only. */
START_TEST(little_room)
{
	uint64_t first, refs;

	build();
	fill(300, &first);
	refs = new_array(&f->refs, 1000, 8);
	for (size_t i = 0; i < 1000; i++)
		*word(refs, 24 + 8 * i) = new_object(&f->node, 40);
	*word(*word(refs, 24), 32) = first;
	reach_begin();
	f->reach.room = 3;
	reachable_is(refs, 300 + 1000, 30 + 1);
	demolish();
}
END_TEST

START_TEST(weak_references_keep_nothing)
{
	uint64_t weak, strong;

	build();
	weak = new_object(&f->weak, 32);
	*word(weak, 16) = new_object(&f->node, 40);
	strong = new_object(&f->reference, 32);
	*word(strong, 16) = new_object(&f->node, 40);
	*word(strong, 24) = weak;
	reach_begin();
	reach_mark(&f->reach, strong);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	ck_assert(marks_has(&f->reach.marks, weak));
	ck_assert(marks_has(&f->reach.marks, *word(strong, 16)));
	ck_assert(!marks_has(&f->reach.marks, *word(weak, 16)));
	demolish();
}
END_TEST

/* A chunk with ten words of stack, of which those from `sp` on are in use, and a bitmap behind them. */
static uint64_t new_chunk(uint32_t sp, uint32_t words, uint64_t bitmap)
{
	uint64_t chunk = new_object(&f->chunk, 32 + 8 * (10 + 1));

	*(uint32_t *)(chunk + 16) = sp;
	*(uint32_t *)(chunk + 20) = words;
	*(uint8_t *)(chunk + 24) = bitmap ? 0x10 : 0;
	*word(chunk, 32 + 8 * 10) = bitmap;
	return chunk;
}

/* With a bitmap, its words are references; without, all that lead to an object's begin. */
START_TEST(frames_in_the_heap)
{
	uint64_t exact, any, nodes[4];

	build();
	exact = new_chunk(2, 10, 1 << 1 | 1 << 4);
	any = new_chunk(2, 10, 0);
	for (int i = 0; i < 4; i++)
		nodes[i] = new_object(&f->node, 40);
	*word(exact, 32 + 8 * 1) = nodes[0]; /* below the first frame */
	*word(exact, 32 + 8 * 4) = nodes[1];
	*word(exact, 32 + 8 * 5) = nodes[2];
	*word(any, 32 + 8 * 2) = nodes[1] + 8;
	*word(any, 32 + 8 * 8) = 0x77;
	*word(any, 32 + 8 * 9) = nodes[3];
	reach_begin();
	f->classes.chunk_flags = 24;
	reach_mark(&f->reach, exact);
	reach_mark(&f->reach, any);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(marks_has(&f->reach.marks, nodes[i]), i % 2);
	ck_assert(!marks_has(&f->reach.marks, nodes[1] + 8));
	ck_assert_uint_eq(f->reach.bad, 0);
	demolish();
}
END_TEST

/* ---- histograms ---- */

/* Marks what `root` leads to, and counts it. */
static void counted(struct histogram *h, uint64_t root)
{
	struct writer w;

	reach_begin();
	reach_mark(&f->reach, root);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	w = (struct writer){.copy = f->copy, .vm = f->vm, .classes = f->classes, .reach = f->reach};
	*h = (struct histogram){0};
	ck_assert_int_eq(histogram_count(&w, h), 0);
}

static const struct histogram_row *row_of(const struct histogram *h, const char *class)
{
	for (size_t i = 0; i < h->rows.count; i++)
		if (strcmp(h->rows.at[i].class, class) == 0)
			return &h->rows.at[i];
	ck_abort_msg("no row for %s", class);
}

static void row_is(const struct histogram *h, const char *class, uint64_t objects, uint64_t bytes)
{
	ck_assert_uint_eq(row_of(h, class)->objects, objects);
	ck_assert_uint_eq(row_of(h, class)->bytes, bytes);
}

START_TEST(histograms)
{
	uint64_t first, refs, chunk, loader;
	struct histogram h;

	build();
	f->vm.class_words = 24;
	*(uint32_t *)(f->node.mirror + 24) = 9;
	fill(3000, &first);
	refs = new_array(&f->refs, 10, 8);
	chunk = new_chunk(2, 10, 0);
	loader = new_object(&f->loader, 16);
	*word(loader, 0) = 0x1f2eULL << 8 | 1;
	f->loader_data[1] = loader;
	f->node.loader_data = AT(&f->loader_data[1]);
	*word(refs, 24) = first;
	*word(refs, 32) = chunk;
	counted(&h, refs);
	row_is(&h, "Node", 3000, 3000 * 40);
	/* 300 arrays of 0 to 6 ints, with what aligns them. */
	ck_assert_uint_eq(row_of(&h, "[I")->objects, 300);
	ck_assert_uint_gt(row_of(&h, "[I")->bytes, 300 * 24 + (300 / 7) * 21 * 4);
	ck_assert_uint_eq(row_of(&h, "[I")->bytes % 8, 0);
	row_is(&h, "[Ljava/lang/Object;", 1, 24 + 10 * 8);
	row_is(&h, "jdk/internal/vm/StackChunk", 1, 32 + 8 * 10 + 8);
	/* Nine classes, of which one says how long it is. */
	row_is(&h, "java/lang/Class", 9, 8 * 32 + 9 * 8);
	ck_assert_str_eq(row_of(&h, "Node")->loader, "java/lang/ClassLoader");
	ck_assert_uint_eq(row_of(&h, "Node")->loader_number, 0x1f2e);
	ck_assert_ptr_null(row_of(&h, "Node")->loader_name);
	ck_assert_ptr_null(row_of(&h, "[I")->loader);
	ck_assert_uint_eq(h.rest_classes, 0);
	for (size_t i = 1; i < h.rows.count; i++)
		ck_assert_uint_ge(h.rows.at[i - 1].bytes, h.rows.at[i].bytes);
	histogram_free(&h);
	demolish();
}
END_TEST

/* What objects and loaders say of themselves may be anything. */
START_TEST(damaged_histograms)
{
	struct histogram h;
	uint64_t refs;

	build();
	f->vm.class_words = 24;
	*(uint32_t *)(f->node.mirror + 24) = UINT32_MAX;
	refs = new_array(&f->refs, 2, 8);
	*word(refs, 24) = new_array(&f->ints, 5, 4);
	*word(refs, 32) = new_object(&f->node, 40);
	*(uint32_t *)(*word(refs, 24) + 16) = INT32_MAX;
	f->loader_data[1] = AT(f->heap) + HEAP_BYTES - 8; /* no object */
	f->node.loader_data = AT(&f->loader_data[1]);
	counted(&h, refs);
	row_is(&h, "[I", 1, 24);
	row_is(&h, "java/lang/Class", 9, 9 * 32);
	ck_assert_str_eq(row_of(&h, "Node")->loader, "?");
	histogram_free(&h);
	demolish();
}
END_TEST

START_TEST(damaged_frames)
{
	const uint32_t heads[][2] = {
		{11, 10}, {UINT32_MAX, 10}, {0, UINT32_MAX}, {0, 1U << 20}, {UINT32_MAX, UINT32_MAX}};
	uint64_t chunks[5];

	build();
	for (size_t i = 0; i < 5; i++)
		chunks[i] = new_chunk(heads[i][0], heads[i][1], 1);
	reach_begin();
	f->classes.chunk_flags = 24;
	for (size_t i = 0; i < 5; i++) {
		reach_mark(&f->reach, chunks[i]);
		ck_assert_int_eq(reach_close_over(&f->reach), 0);
		ck_assert_uint_eq(f->reach.bad, i + 1);
	}
	demolish();
}
END_TEST

/* References that lead nowhere, objects without a class, an array that is longer than the heap. */
START_TEST(damage)
{
	uint64_t refs, node, array;
	size_t counts[3] = {0};

	build();
	refs = new_array(&f->refs, 6, 8);
	node = new_object(&f->node, 40);
	array = new_array(&f->refs, 1, 8);
	*word(refs, 24) = 0x1234567;
	*word(refs, 32) = AT(f->heap) + HEAP_BYTES;
	*word(refs, 40) = node + 4;
	*word(refs, 48) = node;
	*word(refs, 56) = array;
	*word(refs, 64) = AT(f->heap) + HEAP_BYTES - 8;
	*word(node, 8) = 0x666;
	*(uint32_t *)(array + 16) = INT32_MAX;
	reach_begin();
	reach_mark(&f->reach, refs);
	ck_assert_int_eq(reach_close_over(&f->reach), 0);
	ck_assert_uint_ge(f->reach.bad, 5);
	ck_assert_int_eq(reach_each(&f->reach, count, counts), 0);
	ck_assert_uint_eq(counts[0], 0);
	ck_assert_uint_eq(counts[2], 2);
	f->stop = true;
	reach_mark(&f->reach, new_object(&f->node, 40));
	ck_assert_int_eq(reach_close_over(&f->reach), -EINTR);
	demolish();
}
END_TEST

/* Classes whose description makes no sense are none. */
START_TEST(damaged_classes)
{
	build();
	f->node.oops[1].count = 1000;
	f->weak.super = AT(&f->weak); /* a loop */
	f->ints.helper = ARRAY_HELPER(3U, 10, 7);
	f->reference_fields.at[4] = 0xfff0;
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->class)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->node)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->weak)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->ints)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->reference)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, 0x10), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->refs)), 0);
	demolish();
}
END_TEST

/* What an instance is copied from and into has room for its own class's fields only. */
START_TEST(classes_that_do_not_fit)
{
	build();
	f->weak.helper = 24;		/* smaller than its superclass, whose fields are beyond its end */
	f->loader.super = AT(&f->ints); /* an instance of an array */
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->class)), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->reference)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->weak)), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->ints)), 0);
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->loader)), 0);
	demolish();
}
END_TEST

/* Fields that are all at one place. */
START_TEST(more_fields_than_room)
{
	const uint32_t count = 40000;
	struct fake_fields *many;
	uint16_t *at;

	build();
	many = calloc(1, sizeof(*many) + count * 12UL);
	at = many->at; /* it goes on behind the array of the type */
	for (uint32_t i = 0; i < count; i++)
		memcpy(at + 6 * i, f->node_fields.at, 12);
	many->length = (int32_t)(6 * count);
	f->node.fields = f->weak.fields = AT(many);
	f->node.java_fields = f->weak.java_fields = (uint16_t)count;
	f->weak.super = AT(&f->node);
	f->weak.helper = 48;
	ck_assert_int_eq(klasses_read(&f->classes, AT(&f->class)), 0);
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->node)), 0);
	/* With those of its superclass, its values take more than 512 KiB. */
	ck_assert_int_lt(klasses_find(&f->classes, AT(&f->weak)), 0);
	ck_assert_uint_lt(f->classes.fields.count, 2 * count); /* what was refused takes no room */
	free(many);
	demolish();
}
END_TEST

/* Classes that are refused again and again are not looked at for ever. */
START_TEST(classes_that_take_time)
{
	uint64_t wasted;

	build();
	reach_begin();
	f->reference_fields.at[4] = 0xfff0;
	f->weak.fields = AT(&f->reference_fields);
	f->classes.wasted = 0;
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_int_lt(klasses_find(&f->classes, AT(f->heap) + 8 * (i + 1)), 0);
	ck_assert_uint_ge(f->classes.wasted, 100);
	f->classes.wasted = wasted = 1ULL << 40;
	ck_assert_int_ge(klasses_find(&f->classes, AT(&f->node)), 0); /* it is known */
	ck_assert_int_lt(klasses_find(&f->classes, AT(f->heap)), 0);
	ck_assert_uint_eq(f->classes.wasted, wasted);
	demolish();
}
END_TEST

/* Each of a thousand arrays has all that follows it: together, they are much longer than the heap. */
START_TEST(objects_that_overlap)
{
	size_t counts[3] = {0};
	uint64_t first;

	build();
	first = AT(f->heap) + f->used;
	f->used += 2000 * 32UL;
	reach_begin();
	f->reach.left = f->reach.most = 8 * HEAP_BYTES;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t array = first + 64 * i;

		*word(array, 8) = AT(&f->ints);
		*(uint32_t *)(array + 16) = HEAP_BYTES / 4 - 65536;
		reach_mark(&f->reach, array);
	}
	ck_assert_int_eq(reach_close_over(&f->reach), -EFBIG);
	f->reach.exhausted = false;
	ck_assert_int_eq(reach_each(&f->reach, count, counts), -EFBIG);
	ck_assert_uint_lt(counts[2], 16);
	demolish();
}
END_TEST

START_TEST(marks)
{
	struct marks m;

	ck_assert_int_eq(marks_open(&m, 0x1000000, 0x9000000, 0), 0);
	ck_assert(marks_cover(&m, 0x1000000) && !marks_cover(&m, 0x9000000) && !marks_cover(&m, 0x1000004));
	ck_assert_uint_eq(marks_next(&m, 0x1000000), 0);
	ck_assert(marks_set(&m, 0x8fffff8) && !marks_set(&m, 0x8fffff8));
	ck_assert(marks_set(&m, 0x1200000));
	ck_assert_uint_eq(marks_next(&m, 0x1000000), 0x1200000);
	ck_assert_uint_eq(marks_next(&m, 0x1200000), 0x1200000);
	ck_assert_uint_eq(marks_next(&m, 0x1200008), 0x8fffff8);
	marks_clear(&m, 0x8fffff8);
	ck_assert(!marks_has(&m, 0x8fffff8) && marks_has(&m, 0x1200000));
	ck_assert_uint_eq(marks_next(&m, 0x1200008), 0);
	m.most = m.used;
	ck_assert(!marks_set(&m, 0x4000000) && m.exhausted);
	marks_free(&m);
}
END_TEST

Suite *test_heapdump(void)
{
	Suite *s = suite_create("heapdump");
	TCase *c = tcase_create("all");

	tcase_add_test(c, classes_have_their_fields);
	tcase_add_test(c, what_is_reachable);
	tcase_add_test(c, little_room);
	tcase_add_test(c, weak_references_keep_nothing);
	tcase_add_test(c, frames_in_the_heap);
	tcase_add_test(c, histograms);
	tcase_add_test(c, damaged_histograms);
	tcase_add_test(c, damaged_frames);
	tcase_add_test(c, damage);
	tcase_add_test(c, damaged_classes);
	tcase_add_test(c, classes_that_do_not_fit);
	tcase_add_test(c, more_fields_than_room);
	tcase_add_test(c, classes_that_take_time);
	tcase_add_test(c, objects_that_overlap);
	tcase_add_test(c, marks);
	suite_add_tcase(s, c);
	return s;
}
