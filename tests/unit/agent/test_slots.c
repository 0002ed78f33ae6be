// SPDX-License-Identifier: Apache-2.0
/* Tests of the hash tables of the ids that events refer to. */
#include <check.h>

#include <core/slots.h>

Suite *test_slots(void);

#define COUNT 10000U

struct item {
	uint64_t key[2];
	uint32_t value;
};

/* The second word distinguishes keys with the same first word. */
START_TEST(what_is_put_is_found)
{
	struct slots s = SLOTS_OF(struct item, 2, 16);
	uint64_t key[2] = {1, 1};

	ck_assert_ptr_null(slots_find(&s, key));
	for (uint32_t i = 0; i < COUNT; i++) {
		struct item *item;

		key[0] = i / 3 + 1;
		key[1] = i;
		ck_assert(slots_reserve(&s));
		item = slots_find(&s, key);
		ck_assert_uint_eq(item->key[0], 0);
		*item = (struct item){{key[0], key[1]}, i};
		s.used++;
	}
	ck_assert_uint_ge(s.room, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		const struct item *item;

		key[0] = i / 3 + 1;
		key[1] = i;
		item = slots_find(&s, key);
		ck_assert(item->key[0] == key[0] && item->key[1] == i && item->value == i);
		key[1] = COUNT;
		item = slots_find(&s, key);
		ck_assert_uint_eq(item->key[0], 0);
	}
	slots_free(&s);
	ck_assert_ptr_null(slots_find(&s, key));
}
END_TEST

/* Every third one is removed while others are added, so that runs of entries close and open again. */
START_TEST(what_is_removed_is_gone)
{
	struct slots s = SLOTS_OF(struct item, 2, 16);
	uint64_t key[2];

	for (uint32_t i = 0; i < COUNT; i++) {
		key[0] = i / 3 + 1;
		key[1] = i;
		ck_assert(slots_reserve(&s));
		*(struct item *)slots_find(&s, key) = (struct item){{key[0], key[1]}, i};
		s.used++;
		if (i % 3 != 2)
			continue;
		key[0] = i / 6 + 1;
		key[1] = i / 6 * 3 + i / 3 % 2;
		slots_remove(&s, slots_find(&s, key));
	}
	ck_assert_uint_eq(s.used, COUNT - COUNT / 3);
	for (uint32_t i = 0; i < COUNT; i++) {
		bool removed = i % 3 < 2 && i / 3 * 2 + i % 3 < COUNT / 3;
		const struct item *item;

		key[0] = i / 3 + 1;
		key[1] = i;
		item = slots_find(&s, key);
		ck_assert_uint_eq(item->key[0], removed ? 0 : key[0]);
		ck_assert(removed || item->value == i);
	}
	slots_free(&s);
}
END_TEST

/* A failed allocation adds nothing and loses nothing. */
START_TEST(no_memory_changes_nothing)
{
	struct slots s = SLOTS_OF(uint64_t, 1, 4);
	uint64_t key = 7;

	ck_assert(slots_reserve(&s));
	*(uint64_t *)slots_find(&s, &key) = key;
	s.used = 3;
	s.entry_words = SIZE_MAX / 16;
	ck_assert(!slots_reserve(&s));
	s.entry_words = 1;
	ck_assert_uint_eq(s.room, 4);
	ck_assert_uint_eq(*(uint64_t *)slots_find(&s, &key), key);
	slots_free(&s);
}
END_TEST

/* Pairs of texts with the same concatenation are different keys. */
START_TEST(texts_keep_their_ends)
{
	ck_assert_uint_ne(hash_text(hash_text(HASH_BEGIN, "ab"), "c"), hash_text(hash_text(HASH_BEGIN, "a"), "bc"));
	ck_assert_uint_eq(hash_text(HASH_BEGIN, "ab"), hash_text(HASH_BEGIN, "ab"));
}
END_TEST

Suite *test_slots(void)
{
	Suite *s = suite_create("agent slots");
	TCase *t = tcase_create("slots");

	tcase_add_test(t, what_is_put_is_found);
	tcase_add_test(t, what_is_removed_is_gone);
	tcase_add_test(t, no_memory_changes_nothing);
	tcase_add_test(t, texts_keep_their_ends);
	suite_add_tcase(s, t);
	return s;
}
