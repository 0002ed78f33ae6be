// SPDX-License-Identifier: Apache-2.0
/* Tests of arrays in files: what is sorted there. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <util/scratch.h>

Suite *test_scratch(void);

struct item {
	uint32_t key;
	uint64_t more;
};

static int compare(const void *x, const void *y)
{
	const struct item *p = x, *q = y;

	return (p->key > q->key) - (p->key < q->key);
}

/* Of 0 to 3,000 items with many equal keys, none is lost, and all are in order. */
START_TEST(items_are_sorted_where_they_are)
{
	struct scratch_room room;
	uint64_t counts[] = {0, 1, 2, 3, 1000, 3000};

	scratch_room(&room, "/tmp/x", 0);
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		struct scratch s = {0};
		struct item *items;
		uint64_t sum = 0;

		for (uint64_t i = 0; i < counts[c]; i++) {
			ck_assert_int_eq(scratch_more(&s, &room, i, sizeof(struct item)), 0);
			((struct item *)s.at)[i] = (struct item){.key = (uint32_t)(i * 7919 % 503), .more = i};
		}
		scratch_sort(&s, counts[c], sizeof(struct item), compare);
		items = s.at;
		for (uint64_t i = 0; i < counts[c]; i++) {
			ck_assert(i == 0 || items[i - 1].key <= items[i].key);
			ck_assert_uint_eq(items[i].key, items[i].more * 7919 % 503);
			sum += items[i].more;
		}
		ck_assert_uint_eq(sum, counts[c] ? counts[c] * (counts[c] - 1) / 2 : 0);
		scratch_free(&s);
	}
}
END_TEST

Suite *test_scratch(void)
{
	Suite *s = suite_create("scratch");
	TCase *t = tcase_create("scratch");

	tcase_add_test(t, items_are_sorted_where_they_are);
	suite_add_tcase(s, t);
	return s;
}
