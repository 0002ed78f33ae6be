// SPDX-License-Identifier: Apache-2.0
/* Tests of scopes of compiled code, line numbers and source files in a JVM's memory, which is an array here. */
#include "hotspot/hotspot.h"

#include <braid/ring.h>

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BASE 0x7f0000000000ULL
#define MEMORY 65536U

static unsigned char mem[MEMORY];
static struct braid_layout layout;
static struct braid_names names;

static int fake_read(void *ctx, uint64_t address, void *to, size_t size)
{
	(void)ctx;
	if (address < BASE || address - BASE > MEMORY || size > MEMORY - (address - BASE))
		return -EFAULT;
	memcpy(to, mem + (address - BASE), size);
	return 0;
}

static void put(uint32_t at, uint64_t value, size_t size)
{
	memcpy(mem + at, &value, size);
}

enum { NMETHOD = 0xa000, SCOPES = 0xa400, PCS = 0xa500, PCS_COUNT = 5, METADATA = 0xa300 };
enum { METHOD = 0x100, CONST = 0x200, POOL = 0x300, SYMBOL = 0x500 };

/* A number in HotSpot's five-byte form; `no_zero` as in unsigned5.hpp since 20. */
static uint32_t put_compressed(uint32_t at, uint32_t n, bool no_zero)
{
	uint32_t x = no_zero, low = 192 - x;

	for (int i = 0; i < 4 && n >= low; i++) {
		n -= low;
		mem[at++] = (unsigned char)(x + low + (n & 63));
		n >>= 6;
	}
	mem[at++] = (unsigned char)(x + n);
	return at;
}

static uint32_t put_scope(uint32_t at, uint32_t sender, uint32_t method, int32_t bci, bool no_zero)
{
	at = put_compressed(at, sender, no_zero);
	at = put_compressed(at, method, no_zero);
	return put_compressed(at, (uint32_t)bci + 1, no_zero);
}

/* The method of metadata 1 with method 2 inlined at 300, and the method of 3 inlined in that, without a byte code. */
static uint32_t put_scopes(bool no_zero)
{
	uint32_t outer = SCOPES + 1, middle, inner, at;

	at = middle = put_scope(outer, 0, 1, 300, no_zero);
	at = inner = put_scope(at, outer - SCOPES, 2, 70000, no_zero);
	at = put_scope(at, middle - SCOPES, 3, -1, no_zero);
	for (uint32_t i = 0; i < PCS_COUNT; i++) {
		static const int32_t offsets[PCS_COUNT] = {-1, 0x10, 0x20, 0x40, 0x1000};
		uint32_t scopes[PCS_COUNT] = {0, outer - SCOPES, inner - SCOPES, 0, 0};

		put(PCS + 16 * i, (uint32_t)offsets[i], 4);
		put(PCS + 16 * i + 4, scopes[i], 4);
	}
	for (uint32_t i = 0; i < 3; i++)
		put(METADATA + 8 * i, BASE + METHOD + i, 8);
	return at;
}

/* Lays an nmethod out as JDK 17 does. */
static void setup(void)
{
	memset(mem, 0, sizeof(mem));
	layout = (struct braid_layout){
		.nmethod_method = 40,
		.const_size = 56,
		.const_constants = 8,
		.const_code_size = 34,
		.pool_size = 72,
		.symbol_length = 4,
		.symbol_body = 6,
	};
	put(CONST + 8, BASE + POOL, 8);
	put(CONST + 34, 17, 2);
	put(POOL + 72 + 8, BASE + SYMBOL, 8);
	put(SYMBOL + 4, 6, 2);
	memcpy(mem + SYMBOL + 6, "A.java", 6);
	names = (struct braid_names){
		.flags = BRAID_NAMES_SCOPES | BRAID_NAMES_POINTER,
		.nmethod_scopes_data = 120,
		.nmethod_scopes_pcs = 268,
		.nmethod_dependencies = 272,
		.nmethod_metadata = 260,
		.pc_offset = 0,
		.pc_scope = 4,
		.pc_size = 16,
		.const_method_size = 24,
		.const_flags = 28,
		.pool_source = 54,
	};
	put(NMETHOD + 120, BASE + SCOPES, 8);
	put(NMETHOD + 260, METADATA - NMETHOD, 4);
	put(NMETHOD + 268, PCS - NMETHOD, 4);
	put(NMETHOD + 272, PCS + 16 * PCS_COUNT - NMETHOD, 4);
}

static int read_scopes(uint32_t offset, bool exact, struct hotspot_scope *to)
{
	return hotspot_scopes_read(&layout, &names, fake_read, NULL, BASE + NMETHOD, offset, exact, to, 8);
}

static void check_scopes(void)
{
	struct hotspot_scope s[8];

	ck_assert_int_eq(read_scopes(0x20, false, s), 3);
	ck_assert_uint_eq(s[0].method, BASE + METHOD + 2);
	ck_assert_int_eq(s[0].bci, 0); /* no byte code: the method's entry */
	ck_assert_uint_eq(s[1].method, BASE + METHOD + 1);
	ck_assert_int_eq(s[1].bci, 70000);
	ck_assert_uint_eq(s[2].method, BASE + METHOD);
	ck_assert_int_eq(s[2].bci, 300);
	ck_assert_int_eq(read_scopes(0x10, true, s), 3); /* an exact pc belongs to the scope that ends after it */
	ck_assert_int_eq(read_scopes(0x10, false, s), 1);
	ck_assert_int_eq(s[0].bci, 300);
	ck_assert_int_eq(read_scopes(0x21, false, s), 0); /* recorded without scopes */
	ck_assert_int_eq(read_scopes(0x41, false, s), 0); /* after the last meaningful one */
}

START_TEST(scopes_inside)
{
	setup();
	put_scopes(false);
	check_scopes();
	put(NMETHOD + 120, SCOPES - NMETHOD, 4); /* JDK 8 */
	names.flags = BRAID_NAMES_SCOPES;
	check_scopes();
}
END_TEST

/* As in JDK 25: all data apart from the nmethod, and another encoding of numbers. */
START_TEST(scopes_outside)
{
	setup();
	names.flags = BRAID_NAMES_SCOPES | BRAID_NAMES_IMMUTABLE | BRAID_NAMES_MUTABLE | BRAID_NAMES_NO_ZERO;
	names.nmethod_scopes_data = 200;
	names.nmethod_scopes_pcs = 196;
	names.nmethod_immutable = 96;
	names.nmethod_immutable_size = 160;
	names.blob_mutable = 16;
	names.blob_mutable_size = 48;
	names.blob_relocation_size = 28;
	memset(mem + NMETHOD, 0, 0x300);
	put_scopes(true);
	memmove(mem + PCS + 16 * PCS_COUNT, mem + SCOPES, 0x80);
	put(NMETHOD + 96, BASE + PCS - 64, 8);
	put(NMETHOD + 160, 64 + 16 * PCS_COUNT + 0x80, 4);
	put(NMETHOD + 196, 64, 4);
	put(NMETHOD + 200, 64 + 16 * PCS_COUNT, 4);
	put(NMETHOD + 16, BASE + METADATA - 32, 8);
	put(NMETHOD + 48, 32 + 24, 4);
	put(NMETHOD + 28, 32, 4);
	check_scopes();
}
END_TEST

START_TEST(scopes_hostile)
{
	struct hotspot_scope s[8];
	uint32_t end;

	setup();
	end = put_scopes(false);
	ck_assert_int_eq(hotspot_scopes_read(&layout, &names, fake_read, NULL, BASE + NMETHOD, 0x20, false, s, 2), 2);
	put(METADATA, 1ULL << 60, 8); /* only a number, which its reader checks */
	ck_assert_int_eq(read_scopes(0x10, false, s), 1);
	put(PCS + 16 + 4, 0x7fffffff, 4);
	ck_assert_int_lt(read_scopes(0x10, false, s), 0);
	put(PCS + 16 + 4, (uint32_t)-5, 4);
	ck_assert_int_lt(read_scopes(0x10, false, s), 0);
	put_scope(end, end - SCOPES, 1, 1, false); /* it is its own caller */
	put(PCS + 16 + 4, end - SCOPES, 4);
	ck_assert_int_lt(read_scopes(0x10, false, s), 0);
	put_scope(end, 0, 99999, 1, false); /* no such metadata */
	ck_assert_int_lt(read_scopes(0x10, false, s), 0);
	put_scope(end, 0, 0, 1, false);
	ck_assert_int_lt(read_scopes(0x10, false, s), 0);
	put(NMETHOD + 272, 0x7fffffff, 4);
	ck_assert_int_lt(read_scopes(0x10, false, s), 0);
	names.flags = 0;
	ck_assert_int_eq(read_scopes(0x10, false, s), -EINVAL);
	/* Whatever the memory holds: a result or an error, and never more scopes than there is room for. */
	names.flags = BRAID_NAMES_SCOPES | BRAID_NAMES_POINTER;
	srandom(7);
	for (int i = 0; i < 20000; i++) {
		setup();
		put_scopes(i & 1);
		for (int k = 0; k < 6; k++)
			mem[NMETHOD + (random() % (PCS + 16 * PCS_COUNT - NMETHOD))] = (unsigned char)random();
		ck_assert_int_le(read_scopes((uint32_t)random() & 0x3f, i & 2, s), 8);
	}
}
END_TEST

/* A table as the class file parser writes it: short pairs in one byte, long ones after 0xff. */
static void put_lines(bool no_zero)
{
	uint32_t at = CONST + layout.const_size + 17;

	mem[at++] = 0xff;
	at = put_compressed(at, 0, no_zero);
	at = put_compressed(at, 2 * 1234, no_zero);
	mem[at++] = 4 << 3 | 1;
	mem[at++] = 0xff;
	at = put_compressed(at, 2 * 9, no_zero);
	at = put_compressed(at, 2 * 35 - 1, no_zero); /* back by 35 */
	mem[at++] = 0;
	put(CONST + 24, 16, 4);
	put(CONST + 28, 1, 2);
}

START_TEST(lines)
{
	struct braid_line l[8];

	for (int no_zero = 0; no_zero < 2; no_zero++) {
		setup();
		names.flags |= no_zero ? BRAID_NAMES_NO_ZERO : 0;
		put_lines(no_zero);
		ck_assert_int_eq(hotspot_lines_read(&layout, &names, fake_read, NULL, BASE + CONST, l, 8), 3);
		ck_assert_uint_eq(l[0].bci, 0);
		ck_assert_uint_eq(l[0].line, 1234);
		ck_assert_uint_eq(l[1].bci, 4);
		ck_assert_uint_eq(l[1].line, 1235);
		ck_assert_uint_eq(l[2].bci, 13);
		ck_assert_uint_eq(l[2].line, 1200);
	}
	ck_assert_int_eq(hotspot_lines_read(&layout, &names, fake_read, NULL, BASE + CONST, l, 2), 2);
	put(CONST + 28, 0, 2);
	ck_assert_int_eq(hotspot_lines_read(&layout, &names, fake_read, NULL, BASE + CONST, l, 8), 0);
	put(CONST + 28, 1, 2);
	put(CONST + 24, 9, 4); /* it ends before the table does */
	ck_assert_int_lt(hotspot_lines_read(&layout, &names, fake_read, NULL, BASE + CONST, l, 8), 0);
	put(CONST + 24, (uint32_t)-1, 4);
	ck_assert_int_lt(hotspot_lines_read(&layout, &names, fake_read, NULL, BASE + CONST, l, 8), 0);
}
END_TEST

START_TEST(source)
{
	char text[16];

	setup();
	put(POOL + 54, 1, 2);
	ck_assert_int_eq(hotspot_source_read(&layout, &names, fake_read, NULL, BASE + CONST, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "A.java");
	put(POOL + 54, 0, 2);
	ck_assert_int_eq(hotspot_source_read(&layout, &names, fake_read, NULL, BASE + CONST, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
	put(POOL + 54, 60000, 2);
	ck_assert_int_lt(hotspot_source_read(&layout, &names, fake_read, NULL, BASE + CONST, text, sizeof(text)), 0);
}
END_TEST

Suite *test_hotspot_scopes(void);

Suite *test_hotspot_scopes(void)
{
	Suite *suite = suite_create("hotspot_scopes");
	TCase *tc = tcase_create("hotspot_scopes");

	tcase_add_test(tc, scopes_inside);
	tcase_add_test(tc, scopes_outside);
	tcase_add_test(tc, scopes_hostile);
	tcase_add_test(tc, lines);
	tcase_add_test(tc, source);
	suite_add_tcase(suite, tc);
	return suite;
}
