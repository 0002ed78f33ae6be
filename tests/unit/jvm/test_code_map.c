// SPDX-License-Identifier: Apache-2.0
/* Tests of the code map: code at reused addresses, found by time and by the compile id that a frame has. */
#include "jvm/code_map.h"

#include <braid/frame.h>
#include <braid/ring.h>

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct code_map map;

static void setup(void)
{
	map = (struct code_map){0};
}

static void teardown(void)
{
	code_map_free(&map);
}

static struct code *add(uint64_t address, uint64_t size, uint64_t load_ns, uint32_t compile_id, const char *name)
{
	struct code *c = calloc(1, sizeof(*c));

	*c = (struct code){.address = address, .size = size, .load_ns = load_ns, .compile_id = compile_id};
	c->name = name ? strdup(name) : NULL;
	ck_assert_int_eq(code_map_add(&map, c), 0);
	return c;
}

START_TEST(by_time)
{
	struct code *first = add(1000, 100, 10, 0, NULL), *second;

	first->unload_ns = 20;
	second = add(1050, 100, 30, 0, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1060, 0, 15), first);
	ck_assert_ptr_eq(code_map_find(&map, 1060, 0, 25), second); /* its record arrived late */
	ck_assert_ptr_eq(code_map_find(&map, 1060, 0, 35), second);
	ck_assert_ptr_null(code_map_find(&map, 1010, 0, 35));
	ck_assert_ptr_null(code_map_find(&map, 999, 0, 15));
	ck_assert_ptr_null(code_map_find(&map, 1150, 0, 35));
}
END_TEST

/* Records of code arrive late: only the id identifies the code that ran. */
START_TEST(by_id)
{
	struct code *first = add(1000, 100, 10, 5, NULL), *second;

	ck_assert_ptr_null(code_map_find(&map, 1010, 6, 15)); /* not arrived yet */
	first->unload_ns = 20;
	second = add(1000, 100, 30, 6, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 6, 15), second);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 40), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 0, 40), second);
	ck_assert_ptr_null(code_map_find(&map, 1010, 7, 40));
}
END_TEST

/* Code that was read from memory gives way to the same code as reported, whatever the times of both. */
START_TEST(from_memory)
{
	struct code *read = add(1000, 100, 30, 5, NULL), *told, *other;

	read->from_memory = read->replay = true;
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), read);
	told = add(1000, 90, 20, 5, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), told);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 25), told);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 35), told);
	other = add(1000, 100, 40, 6, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 6, 45), other);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 45), told);
}
END_TEST

/* A frame has only the low bits; time selects among several codes with the same bits. */
START_TEST(by_id_and_time)
{
	struct code *first = add(1000, 100, 10, 5, NULL), *second;

	first->unload_ns = 20;
	second = add(1000, 100, 30, 5 + 2048, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 40), second);
}
END_TEST

/* Bits that are all 0 would mean that the frame has no id. */
START_TEST(id_of_zeroes)
{
	struct code *first = add(1000, 100, 10, 2048, NULL), *second;

	second = add(1000, 100, 30, 2049, NULL);
	ck_assert_uint_ne(braid_code_id(2048), 0);
	ck_assert_uint_eq(braid_code_id(0), 0);
	ck_assert_ptr_eq(code_map_find(&map, 1010, braid_code_id(2048), 40), first);
	ck_assert_ptr_eq(code_map_find(&map, 1010, braid_code_id(2049), 20), second);
}
END_TEST

/* The id of a frame in a stub means nothing, and a record without an id matches any. */
START_TEST(without_id)
{
	struct code *blob = add(1000, 100, 10, 0, "blob"), *routine = add(1020, 10, 10, 0, "routine"),
		    *method = add(2000, 100, 10, 0, NULL);

	ck_assert_ptr_eq(code_map_find(&map, 1010, 77, 15), blob);
	ck_assert_ptr_eq(code_map_find(&map, 1025, 77, 15), routine);
	ck_assert_ptr_eq(code_map_find(&map, 2010, 77, 15), method);
}
END_TEST

START_TEST(purged)
{
	struct code *first = add(1000, 100, 10, 5, NULL);

	first->unload_ns = 20;
	add(3000, 100, 10, 6, NULL);
	code_map_purge(&map, 20);
	ck_assert_ptr_eq(code_map_find(&map, 1010, 5, 15), first);
	code_map_purge(&map, 21);
	ck_assert_ptr_null(code_map_find(&map, 1010, 5, 15));
	ck_assert_ptr_nonnull(code_map_find(&map, 3010, 6, 15));
}
END_TEST

/* The longest piece is found below hundreds of pieces inside it, and removed pieces do not count. */
START_TEST(nested)
{
	struct code *blob = add(1000, 100000, 10, 0, "blob"), *wide = add(500, 1000000, 10, 5, NULL);

	for (uint64_t i = 0; i < 500; i++)
		add(1100 + 100 * i, 50, 10, 0, "routine");
	ck_assert_ptr_eq(code_map_find(&map, 1100 + 100 * 499 + 60, 0, 15), blob);
	ck_assert_ptr_eq(code_map_find(&map, 200000, 0, 15), wide);
	wide->unload_ns = 20;
	code_map_purge(&map, 21);
	ck_assert_ptr_null(code_map_find(&map, 200000, 0, 15));
	ck_assert_ptr_eq(code_map_find(&map, 1100 + 100 * 499 + 60, 0, 15), blob);
}
END_TEST

/* No JVM has such code: each piece ends where the last one does or later. The work for each is bounded. */
#define OVERLAPPING 100000U

START_TEST(all_overlap)
{
	struct code *last = NULL;

	for (uint64_t i = 0; i < OVERLAPPING; i++)
		last = add(0x1000 + i * 16, UINT32_MAX, 10 + i, 5, NULL);
	ck_assert_ptr_eq(code_map_find(&map, 0x1000 + OVERLAPPING * 16ULL, 0, 2 * OVERLAPPING), last);
	for (uint64_t i = 0; i < OVERLAPPING; i++) /* they ended before, and their ids differ */
		ck_assert_ptr_null(code_map_find(&map, 0x1000 + OVERLAPPING * 16ULL, 6, 2 * OVERLAPPING));
}
END_TEST

START_TEST(too_many)
{
	struct code like = {.size = 1}, *one_more = calloc(1, sizeof(*one_more));
	size_t n = 0;
	int err;

	ck_assert_ptr_nonnull(one_more);
	while (!(err = code_map_add(&map, one_more))) {
		like.address = ++n;
		one_more = malloc(sizeof(*one_more));
		ck_assert_ptr_nonnull(one_more);
		*one_more = like;
	}
	ck_assert_int_eq(err, -ENOSPC);
	ck_assert_uint_ge(n, 100000);
	free(one_more);
}
END_TEST

/* ---- scopes ---- */

#define ROWS 200
#define DEPTH_MAX 5

static struct row {
	struct braid_scope_row head;
	struct braid_scope scopes[DEPTH_MAX];
} rows[ROWS];

/* Numbers of every size, and pcs with every distance between them. */
static void make_rows(void)
{
	uint32_t pc = 0, seed = 1;

	for (int i = 0; i < ROWS; i++) {
		pc += 1 + (i % 7 == 0 ? 1000000U : (uint32_t)i);
		rows[i].head = (struct braid_scope_row){.pc_offset = pc, .depth = 1 + (uint32_t)i % DEPTH_MAX};
		for (uint32_t d = 0; d < rows[i].head.depth; d++) {
			seed = seed * 1664525U + 1013904223U;
			rows[i].scopes[d] = (struct braid_scope){.method = seed >> (seed >> 27),
								 .bci = (int32_t)(seed % 70000U) - 1};
		}
	}
}

/* The rows [first, end) as a record has them. */
static size_t record_of(int first, int end, uint8_t *to)
{
	uint8_t *p = to;

	for (int i = first; i < end; i++) {
		memcpy(p, &rows[i], sizeof(rows[i].head) + rows[i].head.depth * sizeof(struct braid_scope));
		p += sizeof(rows[i].head) + rows[i].head.depth * sizeof(struct braid_scope);
	}
	return (size_t)(p - to);
}

static void assert_row(const struct code *c, uint64_t offset, bool exact, const struct row *wanted)
{
	struct braid_scope scopes[DEPTH_MAX];
	uint32_t depth = code_scopes_at(c, offset, exact, scopes, DEPTH_MAX);

	ck_assert_uint_eq(depth, wanted ? wanted->head.depth : 0);
	for (uint32_t d = 0; d < depth; d++) {
		ck_assert_uint_eq(scopes[d].method, wanted->scopes[d].method);
		ck_assert_int_eq(scopes[d].bci, wanted->scopes[d].bci);
	}
}

/* A row covers the code up to and including its pc; rows come in several records. */
START_TEST(scopes)
{
	struct code *c = add(1000, 1U << 30, 10, 5, NULL);
	uint8_t record[sizeof(rows)];
	struct braid_scope one;

	c->method = 77;
	make_rows();
	for (int first = 0; first < ROWS; first += ROWS / 4)
		ck_assert(code_add_scopes(c, record, record_of(first, first + ROWS / 4, record), ROWS / 4));
	for (int i = 0; i < ROWS; i++) {
		assert_row(c, rows[i].head.pc_offset, false, &rows[i]);
		assert_row(c, rows[i].head.pc_offset, true, i + 1 < ROWS ? &rows[i + 1] : NULL);
	}
	ck_assert_uint_eq(code_scopes_at(c, rows[4].head.pc_offset, false, &one, 1), 1); /* of five */
	ck_assert_uint_eq(one.method, rows[4].scopes[0].method);
}
END_TEST

/* A record that is truncated, or deeper than its length permits, is refused as a whole. */
START_TEST(scopes_cut)
{
	struct code *c = add(1000, 1U << 30, 10, 5, NULL);
	uint8_t record[sizeof(rows)];
	size_t bytes;

	make_rows();
	bytes = record_of(0, 3, record);
	for (size_t cut = 0; cut < bytes; cut++)
		ck_assert(!code_add_scopes(c, record, cut, 3));
	assert_row(c, 0, false, NULL);
	((struct braid_scope_row *)record)->depth = UINT32_MAX;
	ck_assert(!code_add_scopes(c, record, bytes, 3));
	ck_assert(code_add_scopes(c, record, record_of(0, 3, record), 3));
	assert_row(c, 0, false, &rows[0]);
}
END_TEST

Suite *test_code_map(void);

Suite *test_code_map(void)
{
	Suite *suite = suite_create("code_map");
	TCase *tc = tcase_create("code_map");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, by_time);
	tcase_add_test(tc, by_id);
	tcase_add_test(tc, from_memory);
	tcase_add_test(tc, by_id_and_time);
	tcase_add_test(tc, id_of_zeroes);
	tcase_add_test(tc, without_id);
	tcase_add_test(tc, purged);
	tcase_add_test(tc, nested);
	tcase_add_test(tc, all_overlap);
	tcase_add_test(tc, too_many);
	tcase_add_test(tc, scopes);
	tcase_add_test(tc, scopes_cut);
	suite_add_tcase(suite, tc);
	return suite;
}
