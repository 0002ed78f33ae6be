// SPDX-License-Identifier: Apache-2.0
/* Tests of where threads say which request they serve. */
#include "process/contexts.h"
#include "symbol/context.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

Suite *test_contexts(void);

/* The word that a slot has: an offset from the thread pointer. */
static const int64_t nowhere = 0, somewhere = -64;

/* A process has `count` files with a slot, of which the last one's leads somewhere. */
static struct braid_context_place place_of(uint32_t count)
{
	struct context_symbols bad = {.slots = {{.kind = CONTEXT_TPOFF}}, .slot_count = 1}, good = bad;
	struct module wrong = {.context = &bad}, right = {.context = &good}, none = {0};
	struct process pr = {.pid = getpid()};
	struct braid_context_place place;

	bad.slots[0].address = (uint64_t)(uintptr_t)&nowhere;
	good.slots[0].address = (uint64_t)(uintptr_t)&somewhere;
	for (uint32_t i = 1; i <= count; i++) {
		ck_assert_int_eq(VEC_PUSH(&pr.mappings, (struct process_mapping){.module = &none}), 0);
		ck_assert_int_eq(
			VEC_PUSH(&pr.mappings, (struct process_mapping){.module = i < count ? &wrong : &right}), 0);
	}
	context_wanted(&pr);
	place = context_look(&pr);
	free(pr.mappings.at);
	return place;
}

START_TEST(some_files_are_looked_at)
{
	ck_assert_int_eq(place_of(1).offset, somewhere);
	ck_assert_int_eq(place_of(16).offset, somewhere);
	ck_assert_int_eq(place_of(17).offset, 0);
	ck_assert_int_eq(place_of(60000).offset, 0);
}
END_TEST

Suite *test_contexts(void)
{
	Suite *s = suite_create("contexts");
	TCase *t = tcase_create("contexts");

	tcase_add_test(t, some_files_are_looked_at);
	suite_add_tcase(s, t);
	return s;
}
