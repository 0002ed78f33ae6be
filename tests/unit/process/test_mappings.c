// SPDX-License-Identifier: Apache-2.0
/* Tests of mappings: what was at an address, and when. */
#include "process/processes.h"

#include <check.h>
#include <stdlib.h>

Suite *test_mappings(void);

static struct module first = {.id = 1, .kind = TRACE_MODULE_ELF}, other = {.id = 2, .kind = TRACE_MODULE_ELF};
static struct module anon = {.id = 3, .kind = TRACE_MODULE_ANON};
static struct process pr;

static void map(uint64_t start, uint64_t end, struct module *module, uint64_t bias, uint64_t time_ns, int done,
		bool changes)
{
	struct process_mapping m = {
		.fact = {.start = start, .end = end}, .module = module, .bias = bias, .from_ns = time_ns};
	bool changed;

	ck_assert_int_eq(process_map(&pr, &m, &changed), done);
	ck_assert_int_eq(changed, changes);
}

static const struct module *at(uint64_t address, uint64_t time_ns)
{
	const struct process_mapping *m = process_mapping_at(&pr, address, time_ns);

	return m ? m->module : NULL;
}

static void reset(void)
{
	free(pr.mappings.at);
	free(pr.past.at);
	pr = (struct process){0};
}

START_TEST(reused_address)
{
	map(0x1000, 0x3000, &first, 0x1000, 10, 1, false);
	map(0x1000, 0x3000, &first, 0x1000, 15, 0, false); /* reported twice */
	map(0x2000, 0x5000, &other, 0x2000, 20, 1, true);
	ck_assert_ptr_eq(at(0x2800, 19), &first);
	ck_assert_ptr_eq(at(0x2800, 20), &other);
	ck_assert_ptr_eq(at(0x1800, 25), &first);
	ck_assert_ptr_eq(at(0x4000, 25), &other);
	ck_assert_ptr_eq(at(0x5000, 25), NULL);
	map(0x2000, 0x3000, &first, 0, 30, 1, true);
	ck_assert_ptr_eq(at(0x2800, 29), &other);
	ck_assert_ptr_eq(at(0x2800, 19), &first);
	ck_assert_uint_eq(process_mapping_at(&pr, 0x2800, 19)->bias, 0x1000);
	ck_assert_uint_eq(process_mapping_at(&pr, 0x2800, 31)->bias, 0);
	ck_assert_ptr_eq(at(0x3800, 31), &other);
	reset();
}
END_TEST

START_TEST(what_changes_nothing)
{
	map(0x1000, 0x2000, &anon, 0x1000, 10, 1, false);
	map(0x1000, 0x3000, &anon, 0x5000, 20, 1, false); /* anonymous memory that grew */
	map(0x8000, 0x9000, &first, 0x1000, 30, 1, false);
	map(0x8000, 0xa000, &first, 0x1000, 40, 1, false); /* the same file at the same address */
	ck_assert_uint_eq(pr.past.count, 0);
	reset();
}
END_TEST

START_TEST(split)
{
	map(0x1000, 0x9000, &first, 0x1000, 10, 1, false);
	map(0x3000, 0x4000, &other, 0x3000, 20, 1, true);
	ck_assert_uint_eq(pr.mappings.count, 3);
	ck_assert_ptr_eq(at(0x2fff, 30), &first);
	ck_assert_ptr_eq(at(0x3000, 30), &other);
	ck_assert_ptr_eq(at(0x4000, 30), &first);
	ck_assert_uint_eq(process_mapping_at(&pr, 0x4000, 30)->bias, 0x1000);
	ck_assert_ptr_eq(at(0x3800, 15), &first);
	reset();
}
END_TEST

/* A process that maps and unmaps for ever does not make the table grow for ever. */
START_TEST(the_past_is_forgotten)
{
	for (uint64_t i = 1; i < 2000; i++)
		map(0x1000, 0x2000, i % 2 ? &first : &other, 0x1000, i * 100000000ULL, 1, i > 1);
	ck_assert_uint_le(pr.past.count, 110); /* those of five seconds, and as many again */
	ck_assert_ptr_eq(at(0x1800, 1998 * 100000000ULL + 5), &other);
	ck_assert_ptr_eq(at(0x1800, 1999 * 100000000ULL), &first);
	reset();
}
END_TEST

/* What takes a process a microsecond must not take the recorder a millisecond. */
START_TEST(many_at_once)
{
	const uint32_t count = 65000;

	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < count; i++)
			map(0x100000 + i * 0x2000, 0x101000 + i * 0x2000, &first, i, 10, 1, false);
		ck_assert_uint_eq(pr.mappings.count, count);
		ck_assert_ptr_eq(at(0x100800, 20), &first);
		ck_assert_ptr_eq(at(0x101800, 20), NULL);
		map(0x100800, 0x100000 + count * 0x2000UL, &other, 0, 30, 1, true);
		ck_assert_uint_eq(pr.mappings.count, 2);
		ck_assert_uint_eq(pr.mappings.at[0].fact.end, 0x100800);
		reset();
	}
}
END_TEST

/* The end of the one before, those between, and the beginning of the one behind. */
START_TEST(several_are_covered)
{
	for (uint64_t i = 1; i < 6; i++)
		map(i * 0x1000, (i + 1) * 0x1000, &first, i, 10, 1, false);
	map(0x1800, 0x4800, &other, 0, 20, 1, true);
	ck_assert_uint_eq(pr.mappings.count, 4);
	ck_assert_uint_eq(pr.mappings.at[0].fact.end, 0x1800);
	ck_assert_ptr_eq(pr.mappings.at[1].module, &other);
	ck_assert_uint_eq(pr.mappings.at[2].fact.start, 0x4800);
	ck_assert_uint_eq(pr.mappings.at[2].fact.file_offset, 0x800);
	ck_assert_uint_eq(pr.mappings.at[2].bias, 4);
	ck_assert_uint_eq(pr.past.count, 4);
	reset();
}
END_TEST

/* A table that was read means longer walks, not that those without it were wrong. */
START_TEST(which_walks_hold)
{
	struct process walked = {.layout = 7, .layout_replaced = 5, .layout_ns = 100};

	ck_assert(process_layout_known(&walked, 7, 200));
	ck_assert(process_layout_known(&walked, 5, 200));
	ck_assert(!process_layout_known(&walked, 4, 200));
	ck_assert(process_layout_known(&walked, 4, 99)); /* before the replacement */
	ck_assert(process_layout_known(&walked, 0, 200));
}
END_TEST

Suite *test_mappings(void)
{
	Suite *s = suite_create("mappings");
	TCase *t = tcase_create("mappings");

	tcase_add_test(t, reused_address);
	tcase_add_test(t, what_changes_nothing);
	tcase_add_test(t, split);
	tcase_add_test(t, the_past_is_forgotten);
	tcase_add_test(t, which_walks_hold);
	tcase_add_test(t, many_at_once);
	tcase_add_test(t, several_are_covered);
	suite_add_tcase(s, t);
	return s;
}
