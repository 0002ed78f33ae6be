// SPDX-License-Identifier: Apache-2.0
/* Tests of names and blobs in a JVM's memory, which is an array here: valid ones, and every kind of invalid one. */
#include "hotspot/hotspot.h"

#include <braid/ring.h>

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/names_layout.h"

#define BASE 0x7f0000000000ULL
#define MEMORY 65536U

enum {
	METHOD = 0x100,
	CONST = 0x200,
	POOL = 0x300,
	KLASS = 0x400,
	SYM_CLASS = 0x500,
	SYM_NAME = 0x600,
	SYM_SIG = 0x700
};
enum { HEAP = 0x4000, HEAP_END = 0x8000, SEGMAP = 0x8000, NAME = 0x9000, NAME_STUB = 0x9100 };

static unsigned char mem[MEMORY];
static struct braid_layout layout;
static unsigned int reads;

static int fake_read(void *ctx, uint64_t address, void *to, size_t size)
{
	(void)ctx;
	reads++;
	if (address < BASE || address - BASE > MEMORY || size > MEMORY - (address - BASE))
		return -EFAULT;
	memcpy(to, mem + (address - BASE), size);
	return 0;
}

static void put(uint32_t at, uint64_t value, size_t size)
{
	memcpy(mem + at, &value, size);
}

static void put_symbol(uint32_t at, const char *text, size_t length)
{
	put(at + layout.symbol_length, length, 2);
	memcpy(mem + at + layout.symbol_body, text, length);
}

static void put_blob(uint32_t segment, uint32_t segments, uint32_t name)
{
	uint32_t blob = HEAP + (segment << 7) + layout.heap_block_header;

	put(blob + layout.blob_name, BASE + name, 8);
	put(blob + layout.blob_size, (segments << 7) - layout.heap_block_header, 4);
	put(blob + layout.blob_code, BASE + blob + 64, 8);
	for (uint32_t i = 0; i < segments; i++)
		mem[SEGMAP + segment + i] = (unsigned char)(i < 0xfe ? i : 0xfd);
}

static void setup(void)
{
	memset(mem, 0, sizeof(mem));
	layout = (struct braid_layout){
		.flags = BRAID_LAYOUT_NAMES | BRAID_LAYOUT_WALKABLE,
		.heap_count = 1,
		.heaps = {{.low = BASE + HEAP, .high = BASE + HEAP_END, .segmap = BASE + SEGMAP, .log2_segment = 7}},
		.heap_block_header = 16,
		.blob_name = 8,
		.blob_size = 16,
		.blob_frame_size = 28,
		.blob_frame_complete = 20,
		.blob_code = 32,
		.nmethod_method = 40,
		.nmethod_compile_id = 48,
		.nmethod_comp_level = 52,
		.nmethod_comp_level_size = 4,
		NAMES_LAYOUT,
	};
	put(METHOD + 8, BASE + CONST, 8);
	put(METHOD + 40, 0x81000009, 4);
	put(CONST + 8, BASE + POOL, 8);
	put(CONST + 34, 17, 2);
	put(CONST + 36, 1, 2);
	put(CONST + 38, 2, 2);
	put(POOL + 24, BASE + KLASS, 8);
	put(POOL + 72 + 8, BASE + SYM_NAME, 8);
	put(POOL + 72 + 16, BASE + SYM_SIG + 1, 8); /* tagged */
	put(KLASS + 24, BASE + SYM_CLASS, 8);
	put_symbol(SYM_CLASS, "a/b/C$$Lambda+0x12ab", 20);
	put_symbol(SYM_NAME, "run", 3);
	put_symbol(SYM_SIG, "(I)V", 4);
	memcpy(mem + NAME, "nmethod", 8);
	memcpy(mem + NAME_STUB, "StubRoutines (1)", 17);
	memset(mem + SEGMAP, 0xff, 0x100);
	reads = 0;
}

START_TEST(method_names)
{
	struct hotspot_method m;

	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), 0);
	ck_assert_str_eq(m.class_name, "a.b.C$$Lambda/0x12ab");
	ck_assert_str_eq(m.name, "run");
	ck_assert_str_eq(m.signature, "(I)V");
	ck_assert_uint_eq(m.modifiers, 9);
	ck_assert_uint_eq(m.code_size, 17);
}
END_TEST

START_TEST(method_layout_short)
{
	struct hotspot_method m;

	layout.flags &= ~BRAID_LAYOUT_NAMES;
	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), -EINVAL);
	ck_assert_uint_eq(reads, 0);
	layout.flags |= BRAID_LAYOUT_NAMES;
	layout.pool_holder = 0;
	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), -EINVAL);
}
END_TEST

START_TEST(method_hostile_pointers)
{
	static const uint64_t bad[] = {0, 8, 0xfff, BASE + 1, BASE + MEMORY, 1ULL << 47, UINT64_MAX, UINT64_MAX - 7};
	static const uint32_t slots[] = {METHOD + 8, CONST + 8, POOL + 24, KLASS + 24, POOL + 72 + 8, POOL + 72 + 16};
	struct hotspot_method m;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, bad[i], &m), -EFAULT);
		for (size_t k = 0; k < sizeof(slots) / sizeof(slots[0]); k++) {
			setup();
			if (slots[k] >= POOL + 72 && bad[i] == BASE + 1)
				continue; /* the low bit is a tag there */
			put(slots[k], bad[i], 8);
			ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), -EFAULT);
		}
	}
	setup(); /* everything points to itself */
	put(METHOD + 8, BASE + METHOD, 8);
	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), -EFAULT);
	ck_assert_uint_lt(reads, 32);
}
END_TEST

START_TEST(method_hostile_lengths)
{
	struct hotspot_method m;

	put(POOL + 72 + 8, BASE + 0xa000, 8); /* longer than the output, so it is truncated */
	memset(mem + 0xa000, 'x', 0x3000);
	put(0xa000 + 4, 0xffff, 2);
	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), 0);
	ck_assert_uint_eq(strlen(m.name), HOTSPOT_NAME_MAX - 1);
	setup();
	put(SYM_NAME + 4, 0, 2);
	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), -EFAULT);
	setup();
	put(CONST + 36, 0, 2);
	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), -EFAULT);
	setup(); /* the symbol is at the very end of readable memory, its body after it */
	put(POOL + 72 + 8, BASE + MEMORY - 8, 8);
	put(MEMORY - 4, 64, 2);
	ck_assert_int_eq(hotspot_method_read(&layout, fake_read, NULL, BASE + METHOD, &m), -EFAULT);
}
END_TEST

START_TEST(blob_found)
{
	struct hotspot_blob b;
	uint32_t blob = HEAP + (2 << 7) + 16;

	put_blob(2, 20, NAME);
	put(blob + 40, BASE + METHOD, 8);
	put(blob + 48, 77, 4);
	put(blob + 52, 4, 4);
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, BASE + HEAP + (15 << 7) + 5, &b), 0);
	ck_assert_uint_eq(b.address, BASE + blob);
	ck_assert_uint_eq(b.code_begin, BASE + blob + 64);
	ck_assert_uint_eq(b.method, BASE + METHOD);
	ck_assert_uint_eq(b.tier, BRAID_TIER_C2);
	ck_assert_uint_eq(b.compile_id, 77);
	ck_assert_uint_eq(b.size, (20 << 7) - 16);
	ck_assert_str_eq(b.name, "nmethod");

	layout.nmethod_comp_level_size = 1; /* JDK 21: one signed byte */
	layout.flags |= BRAID_LAYOUT_CODE_OFFSET;
	put(blob + 32, 48, 4);
	put(blob + 52, 0xff, 1);
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, BASE + HEAP + (15 << 7) + 5, &b), 0);
	ck_assert_uint_eq(b.tier, BRAID_TIER_UNKNOWN);
	ck_assert_uint_eq(b.code_begin, BASE + blob + 48);
}
END_TEST

START_TEST(blob_stub)
{
	struct hotspot_blob b;

	put_blob(0, 4, NAME_STUB);
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, BASE + HEAP + 130, &b), 0);
	ck_assert_str_eq(b.name, "StubRoutines (1)");
	ck_assert_uint_eq(b.method, 0);
	ck_assert_uint_eq(b.tier, BRAID_TIER_UNKNOWN);
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, BASE + HEAP + 8, &b), -ENOENT); /* block header */
}
END_TEST

START_TEST(blob_hostile)
{
	struct hotspot_blob b;
	uint32_t blob = HEAP + (2 << 7) + 16;
	uint64_t pc = BASE + HEAP + (5 << 7);

	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -ENOENT); /* free segments: no blob */
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, BASE, &b), -ENOENT);
	mem[SEGMAP + 5] = 6; /* leads back beyond the heap's start */
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -ENOENT);
	put_blob(2, 20, NAME);
	put(blob + 16, 0x7fffffff, 4); /* longer than the heap */
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -ENOENT);
	put(blob + 16, 0x80000000, 4); /* negative */
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -ENOENT);
	put_blob(2, 20, NAME);
	put(blob + 8, BASE + MEMORY - 4, 8); /* a name that runs into unreadable memory */
	memset(mem + MEMORY - 4, 'n', 4);
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -EFAULT);
	memset(mem + 0xb001, 'n', 200); /* a name without a terminating zero, unaligned */
	put(blob + 8, BASE + 0xb001, 8);
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), 0);
	ck_assert_uint_lt(strlen(b.name), sizeof(b.name));
	put(blob + 8, BASE + NAME, 8);
	put(blob + 32, BASE + HEAP_END, 8); /* code outside of the blob */
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -ENOENT);
	put(blob + 32, BASE + blob + 64, 8);
	put(blob + 40, BASE + 3, 8); /* a misaligned Method */
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -EFAULT);
	layout.heap_count = UINT32_MAX;
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, UINT64_MAX, &b), -ENOENT);
	layout.heaps[0].log2_segment = 200;
	ck_assert_int_eq(hotspot_blob_find(&layout, fake_read, NULL, pc, &b), -ENOENT);
}
END_TEST

START_TEST(noise)
{
	struct hotspot_method m;
	struct hotspot_blob b;

	srand((unsigned int)_i);
	for (size_t i = 0; i < sizeof(mem) / 8; i++)
		put((uint32_t)i * 8, rand() % 3 ? BASE + ((uint64_t)rand() % MEMORY & ~7ULL) : (uint64_t)rand(), 8);
	for (int i = 0; i < 2000; i++) {
		uint64_t at = BASE + ((uint64_t)rand() % MEMORY & ~7ULL);

		if (hotspot_method_read(&layout, fake_read, NULL, at, &m) == 0) {
			ck_assert_ptr_nonnull(memchr(m.class_name, 0, sizeof(m.class_name)));
			ck_assert_int_eq(m.signature[0], '(');
		}
		if (hotspot_blob_find(&layout, fake_read, NULL, at, &b) == 0)
			ck_assert(b.address <= at && at < b.address + b.size);
	}
}
END_TEST

START_TEST(own_memory)
{
	pid_t pid = getpid();
	char here[16] = "here it stands", there[16];

	ck_assert_int_eq(hotspot_read_process(&pid, (uint64_t)(uintptr_t)here, there, sizeof(there)), 0);
	ck_assert_str_eq(here, there);
	ck_assert_int_eq(hotspot_read_process(&pid, 64, there, sizeof(there)), -EFAULT);
	pid = -1;
	ck_assert_int_eq(hotspot_read_process(&pid, (uint64_t)(uintptr_t)here, there, sizeof(there)), -ESRCH);
}
END_TEST

static const struct {
	const char *from;
	size_t length;
	const char *to;
} conversions[] = {
	{"plain", 5, "plain"},
	{"", 0, ""},
	{"\xc3\xa4\xe2\x82\xac", 5, "\xc3\xa4\xe2\x82\xac"},
	{"a\xc0\x80z", 4, "a\xe2\x90\x80z"},
	{"\xed\xa0\xbd\xed\xb8\x80", 6, "\xf0\x9f\x98\x80"},	     /* surrogate pair */
	{"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"},		     /* already UTF-8 */
	{"\xed\xa0\xbdx", 4, "\xef\xbf\xbdx"},			     /* high half alone */
	{"\xed\xb8\x80x", 4, "\xef\xbf\xbdx"},			     /* low half alone */
	{"\xed\xa0\xbd\xed\xa0\xbd", 6, "\xef\xbf\xbd\xef\xbf\xbd"}, /* two high halves */
	{"a\0b", 3,
	 "a\xef\xbf\xbd"
	 "b"},
	{"\xc1\xbf", 2, "\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
	{"\xe0\x80\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd"}, /* cut off */
	{"\x80\xff", 2, "\xef\xbf\xbd\xef\xbf\xbd"},
	{"\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* above U+10FFFF */
};

START_TEST(modified_utf8)
{
	char out[64], *exact = malloc(conversions[_i].length + 1); /* so that valgrind detects a read beyond the end */

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, conversions[_i].from, conversions[_i].length);
	ck_assert_uint_eq(utf8_from_modified(out, sizeof(out), exact, conversions[_i].length),
			  strlen(conversions[_i].to));
	ck_assert_str_eq(out, conversions[_i].to);
	free(exact);
}
END_TEST

START_TEST(utf8_units)
{
	static const uint16_t units[] = {'a', 0, 0x7f, 0x80, 0x7ff, 0x800, 0xd83d, 0xde00, 0xffff};
	char modified[UTF8_UNIT_MAX * 9], out[64];
	size_t length = 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		length += utf8_put_unit(modified + length, units[i]);
	utf8_from_modified(out, sizeof(out), modified, length);
	ck_assert_str_eq(out, "a\u2400\x7f\xc2\x80\u07ff\u0800\U0001f600\uffff");
}
END_TEST

START_TEST(utf8_cuts)
{
	char out[8] = "unmoved";

	ck_assert_uint_eq(utf8_from_modified(out, 0, "abc", 3), 0);
	ck_assert_str_eq(out, "unmoved");
	ck_assert_uint_eq(utf8_from_modified(out, 1, "abc", 3), 0);
	ck_assert_str_eq(out, "");
	ck_assert_uint_eq(utf8_from_modified(out, 4,
					     "ab\xe2\x82\xac"
					     "c",
					     6),
			  2); /* no partial character, nothing after it */
	ck_assert_str_eq(out, "ab");
	ck_assert_uint_eq(utf8_printable(out, sizeof(out), "a\x1b[m\xc2\x9b\x7f", 7), 6);
	ck_assert_str_eq(out, "a?[m??");
}
END_TEST

static const struct {
	const char *from, *to;
} classes[] = {
	{"Ljava/lang/String;", "java.lang.String"},
	{"java/lang/String", "java.lang.String"},
	{"Main", "Main"},
	{"LMain;", "Main"},
	{"Lib", "Lib"},
	{"I", "I"},
	{"[I", "int[]"},
	{"[[J", "long[][]"},
	{"[Ljava/lang/String;", "java.lang.String[]"},
	{"[", "[]"},
	{"", ""},
	{"L;", "L;"},
	{"a/B$$Lambda$14+0x0000000800c03000", "a.B$$Lambda$14/0x0000000800c03000"},   /* symbol, 15 and later */
	{"La/B$$Lambda$14.0x0000000800c03000;", "a.B$$Lambda$14/0x0000000800c03000"}, /* JVM TI, 15 and later */
	{"a/B$$Lambda$14/0x0000000800c03000", "a.B$$Lambda$14/0x0000000800c03000"},   /* external name */
	{"LB$$Lambda.0x0000;", "B$$Lambda/0x0000"},
	{"B$$Lambda+0x0000", "B$$Lambda/0x0000"},
	{"[LB$$Lambda.0x0000;", "B$$Lambda/0x0000[]"},
	{"La/B$$Lambda$1/791452441;", "a.B$$Lambda$1/791452441"}, /* JVM TI, 8 */
	{"scala/a+b", "scala.a+b"},
	{"a/b/0xyz", "a.b.0xyz"},
	{"a/0x", "a.0x"},
	{"+0x12", "+0x12"},
	{"a/", "a."},
};

START_TEST(class_names)
{
	char out[128];

	ck_assert_uint_eq(class_name_from_signature(out, sizeof(out), classes[_i].from, strlen(classes[_i].from)),
			  strlen(classes[_i].to));
	ck_assert_str_eq(out, classes[_i].to);
	for (size_t size = 0; size < sizeof(out); size++)
		ck_assert_uint_lt(class_name_from_signature(out, size, classes[_i].from, strlen(classes[_i].from)),
				  size + !size);
}
END_TEST

Suite *test_hotspot(void);
Suite *test_hotspot(void)
{
	Suite *s = suite_create("hotspot");
	TCase *t = tcase_create("memory");
	TCase *n = tcase_create("names");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, method_names);
	tcase_add_test(t, method_layout_short);
	tcase_add_test(t, method_hostile_pointers);
	tcase_add_test(t, method_hostile_lengths);
	tcase_add_test(t, blob_found);
	tcase_add_test(t, blob_stub);
	tcase_add_test(t, blob_hostile);
	tcase_add_loop_test(t, noise, 0, 8);
	tcase_add_test(t, own_memory);
	suite_add_tcase(s, t);
	tcase_add_loop_test(n, modified_utf8, 0, (int)(sizeof(conversions) / sizeof(conversions[0])));
	tcase_add_test(n, utf8_units);
	tcase_add_test(n, utf8_cuts);
	tcase_add_loop_test(n, class_names, 0, (int)(sizeof(classes) / sizeof(classes[0])));
	suite_add_tcase(s, n);
	return s;
}
