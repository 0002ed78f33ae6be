// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of heap dumps on a heap that this program builds in its own memory, with classes as the VM of JDK 8 has them:
 * what is reachable, what is damaged, how records and segments are written, and what becomes of files.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <heapdump/reach.h>
#include <heapdump/records.h>

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
	struct fake_klass object, class, loader, node, weak, reference, refs, ints;
	struct fake_fields node_fields, reference_fields, none;
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
	ck_assert_uint_eq(f->classes.at.count, 8);
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
	ck_assert_uint_eq(counts[1], 8); /* the classes of its loader */
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

/* ---- files ---- */

static char dir[] = "/tmp/braid-heapdump-XXXXXX";

static const char *path_of(const char *file)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return path;
}

static size_t file_read(const char *path, uint8_t **to)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	*to = malloc((size_t)st.st_size + 1);
	ck_assert_int_eq(read(fd, *to, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
}

static void write_words(const char *file, uint32_t words)
{
	atomic_bool stop = false;
	struct output *o;
	uint64_t bytes;

	ck_assert_int_eq(output_open(&o, path_of(file), &stop), 0);
	for (uint32_t i = 0; i < words; i++)
		ck_assert_int_eq(output_write(o, &i, sizeof(i)), 0);
	ck_assert_int_eq(output_close(o, true, &bytes), 0);
}

static void words_are(const uint8_t *p, size_t size, uint32_t words)
{
	ck_assert_uint_eq(size, words * sizeof(uint32_t));
	for (uint32_t i = 0, value; i < words; i++) {
		memcpy(&value, p + i * sizeof(value), sizeof(value));
		ck_assert_uint_eq(value, i);
	}
}

#define WORDS 500000U

START_TEST(compression)
{
	uint8_t *raw, *plain = malloc(WORDS * 4 + 1);
	atomic_bool stop = false;
	struct output *o;
	uint64_t bytes;
	size_t size;
	gzFile gz;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	write_words("a", WORDS);
	size = file_read(path_of("a"), &raw);
	words_are(raw, size, WORDS);
	free(raw);
	write_words("a.gz", WORDS);
	gz = gzopen(path_of("a.gz"), "rb");
	words_are(plain, (size_t)gzread(gz, plain, WORDS * 4 + 1), WORDS);
	gzclose(gz);
	write_words("a.zst", WORDS);
	size = file_read(path_of("a.zst"), &raw);
	words_are(plain, ZSTD_decompress(plain, WORDS * 4 + 1, raw, size), WORDS);
	free(raw);
	ck_assert_int_eq(output_open(&o, path_of("a"), &stop), -EEXIST);
	ck_assert_int_eq(output_open(&o, path_of("none/a"), &stop), -ENOENT);
	ck_assert_int_eq(output_open(&o, path_of("b.zst"), &stop), 0);
	ck_assert_int_eq(output_close(o, false, &bytes), 0);
	ck_assert_int_ne(access(path_of("b.zst"), F_OK), 0);
	unlink(path_of("a"));
	unlink(path_of("a.gz"));
	unlink(path_of("a.zst"));
	rmdir(dir);
	free(plain);
}
END_TEST

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Small entries share segments, a long one has its own; records lie between them, and lengths are right. */
START_TEST(segments)
{
	uint64_t entries = 0, long_bytes = 3U << 20, bytes;
	atomic_bool stop = false;
	struct output *o;
	struct records h;
	uint8_t *raw;
	size_t size, at;
	uint32_t others = 0;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(output_open(&o, path_of("h"), &stop), 0);
	ck_assert_int_eq(records_open(&h, o, 0x123456789aULL), 0);
	for (int i = 0; i < 200000; i++) {
		records_heap(&h, HPROF_ROOT_UNKNOWN, 8);
		records_u8(&h, (uint64_t)i);
		if (i == 777) {
			records_record(&h, HPROF_UTF8, 8 + 2);
			records_u8(&h, 1);
			records_u2(&h, 0x6869);
		}
		if (i == 1000) {
			records_heap(&h, HPROF_VALUES, long_bytes);
			for (uint64_t n = 0; n < long_bytes; n += 4)
				records_u4(&h, (uint32_t)n);
		}
	}
	ck_assert_int_eq(records_end(&h), 0);
	records_close(&h);
	ck_assert_int_eq(output_close(o, true, &bytes), 0);
	size = file_read(path_of("h"), &raw);
	ck_assert_uint_eq(size, bytes);
	ck_assert_str_eq((char *)raw, "JAVA PROFILE 1.0.2");
	for (at = 19 + 4 + 8; at < size; at += 9 + be32(raw + at + 5)) {
		const uint8_t *p = raw + at + 9, *end = p + be32(raw + at + 5);

		others += raw[at] != HPROF_SEGMENT;
		for (; raw[at] == HPROF_SEGMENT && p < end; entries++)
			p += 1 + (*p == HPROF_VALUES ? long_bytes : 8);
		ck_assert(raw[at] != HPROF_SEGMENT || p == end);
	}
	ck_assert_uint_eq(at, size);
	ck_assert_uint_eq(entries, 200001);
	ck_assert_uint_eq(others, 2); /* the name and the end */
	free(raw);
	unlink(path_of("h"));
	rmdir(dir);
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
	tcase_add_test(c, damage);
	tcase_add_test(c, damaged_classes);
	tcase_add_test(c, marks);
	tcase_add_test(c, compression);
	tcase_add_test(c, segments);
	suite_add_tcase(s, c);
	return s;
}
