// SPDX-License-Identifier: Apache-2.0
/* Tests of budgets: what processes may cost the recorder, each and all together. */
#include "sink/budgets.h"
#include "sink/names.h"

#include <braid/event.h>
#include <braid/share.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/said.h"

Suite *test_budgets(void);

#define STRANGER 65534U
#define OTHER 65533U
#define PART (64UL << 10)
#define HONEST (20UL << 20) /* bytes: more than a JVM with 50,000 methods needs */

static char path[64];
static struct sink sink;
static struct pools pools;

static void setup(void)
{
	int fd = mkstemp(strcpy(path, "/tmp/braid-budgets-XXXXXX"));

	said_begin();
	ck_assert_int_ge(fd, 0);
	close(fd);
	sink = (struct sink){.pools = &pools};
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	pools_open(&pools,
		   &(struct pool_room){.mappings = 1 << 16, .jvms = 256, .tables = 4096, .rows = 4000, .pages = 400});
}

static void teardown(void)
{
	pools_close(&pools);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
	said_end();
}

/* In the notice that a user has no more of some kind of room. */
#define USED_UP "have used up their part of the recorder's "

/* Reserves as many bytes as the account grants, up to `most`. */
static uint64_t take_all(struct account *a, uint64_t most)
{
	uint64_t bytes = 0;

	while (bytes < most && account_reserve(a, &sink, BUDGET_JVM_BYTES, PART))
		bytes += PART;
	return bytes;
}

static struct account of(uid_t user, uint32_t process)
{
	return (struct account){.process = process, .share = pools_share(&pools, user)};
}

START_TEST(twenty_floods_leave_room_for_another_user)
{
	struct account flood[20], honest = of(OTHER, 100), root = of(0, 101);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 20; i++) {
		flood[i] = of(STRANGER, i + 1);
		sum += take_all(&flood[i], UINT64_MAX);
	}
	ck_assert_uint_lt(sum, 96UL << 20);
	ck_assert_uint_gt(flood[19].refused[BUDGET_JVM_BYTES], 0);
	ck_assert_uint_eq(take_all(&honest, HONEST), HONEST);
	ck_assert_uint_eq(honest.refused[BUDGET_JVM_BYTES], 0);
	ck_assert_uint_eq(take_all(&root, HONEST), HONEST);
	for (uint32_t i = 0; i < 20; i++)
		account_close(&flood[i]);
	ck_assert_uint_eq(pools.strangers.used[POOL_MEMORY], HONEST);
	ck_assert_int_eq(said("processes of user 65534 " USED_UP "memory"), 1);
	ck_assert_int_eq(said("processes of user"), 1);
}
END_TEST

/* Whatever their order. */
START_TEST(all_users_together_are_bounded)
{
	struct account flood[200];
	bool more = true;

	for (uint32_t i = 0; i < 200; i++)
		flood[i] = of(1000 + i / 2, i + 1);
	while (more) {
		more = false;
		for (uint32_t i = 0; i < 200; i++)
			more |= account_reserve(&flood[i], &sink, BUDGET_JVM_BYTES, PART);
	}
	ck_assert_uint_le(pools.strangers.used[POOL_MEMORY], 128UL << 20);
	ck_assert_uint_eq(pools.known.used[POOL_MEMORY], 0);
	ck_assert_int_eq(said(USED_UP "memory"), 100);
}
END_TEST

START_TEST(what_is_given_back_can_be_taken)
{
	struct account a = of(STRANGER, 1), b = of(STRANGER, 2);

	ck_assert(account_reserve(&a, &sink, BUDGET_THREADS, 1000));
	ck_assert(account_reserve(&a, &sink, BUDGET_JVMS, 2));
	ck_assert_uint_eq(pools.strangers.used[POOL_MEMORY], 1000 * 512);
	ck_assert_uint_eq(pools.strangers.used[POOL_JVMS], 2);
	account_release(&a, BUDGET_THREADS, 400);
	ck_assert_uint_eq(pools.strangers.used[POOL_MEMORY], 600 * 512);
	account_close(&a);
	ck_assert_uint_eq(pools.strangers.used[POOL_MEMORY], 0);
	ck_assert_uint_eq(pools.strangers.used[POOL_JVMS], 0);
	ck_assert(!account_reserve(&b, &sink, BUDGET_JVMS, 5)); /* no machine has this many JVMs */
	ck_assert_uint_eq(b.refused[BUDGET_JVMS], 1);
	account_close(&b);
	ck_assert_int_eq(said("the process exceeds the limit of 4 rings"), 1);
}
END_TEST

START_TEST(a_user_has_part_of_the_slots)
{
	struct account flood[256], honest = of(OTHER, 300);
	uint32_t slots = 0;

	for (uint32_t i = 0; i < 256; i++) {
		flood[i] = of(STRANGER, i + 1);
		slots += account_reserve(&flood[i], &sink, BUDGET_JVMS, 1);
	}
	ck_assert_uint_lt(slots, 128);
	for (int i = 0; i < 4; i++)
		ck_assert(account_reserve(&honest, &sink, BUDGET_JVMS, 1));
	ck_assert_int_eq(said("processes of user 65534 " USED_UP "slots for JVMs"), 1);
}
END_TEST

/* Probes of JVMs that have ended stay until the end of the recording: more processes get no more. */
START_TEST(what_is_kept_is_not_given_back)
{
	struct account honest = of(OTHER, 300);
	uint32_t probes = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct account flood = of(STRANGER, i + 1);

		if (account_reserve(&flood, &sink, BUDGET_OWN_PROBES, 1)) {
			account_keep(&flood, BUDGET_OWN_PROBES, 1);
			probes++;
		}
		account_close(&flood);
	}
	ck_assert_uint_eq(pools.strangers.used[POOL_PROBES], probes);
	ck_assert_uint_eq(probes, 8);
	ck_assert(account_may_reserve(&honest, BUDGET_OWN_PROBES, 1));
	ck_assert(account_reserve(&honest, &sink, BUDGET_OWN_PROBES, 1));
	ck_assert(!account_may_reserve(&honest, BUDGET_OWN_PROBES, 1)); /* one of each JVM */
	ck_assert_uint_eq(honest.refused[BUDGET_OWN_PROBES], 0);
	ck_assert_int_eq(said("processes of user 65534 " USED_UP), 1);
}
END_TEST

/* A user who maps many libjvm.so files, and has many perf maps. */
START_TEST(files_of_one_user_leave_room_for_another)
{
	struct account flood[400], honest = of(OTHER, 500);

	for (uint32_t i = 0; i < 400; i++) {
		flood[i] = of(STRANGER, i + 1);
		for (int n = 0; n < 4; n++)
			(void)account_reserve(&flood[i], &sink, BUDGET_LIBJVMS, 1);
		(void)account_reserve(&flood[i], &sink, BUDGET_PERF_MAPS, 1);
		(void)account_reserve(&flood[i], &sink, BUDGET_MAP_FRAMES, 1000);
		(void)account_reserve(&flood[i], &sink, BUDGET_PROBED, 1);
	}
	ck_assert_uint_lt(pools.strangers.used[POOL_LIBJVMS], 64);
	ck_assert_uint_lt(pools.strangers.used[POOL_PERF_MAPS], 256);
	ck_assert_uint_lt(pools.strangers.used[POOL_PROBED], 128);
	ck_assert(account_reserve(&honest, &sink, BUDGET_LIBJVMS, 2));
	ck_assert(account_reserve(&honest, &sink, BUDGET_PERF_MAPS, 1));
	ck_assert(account_reserve(&honest, &sink, BUDGET_MAP_FRAMES, 10000));
	ck_assert(account_reserve(&honest, &sink, BUDGET_PROBED, 1));
	ck_assert_int_eq(said("processes of user 65534 " USED_UP), 4);
}
END_TEST

/* Names in constant use keep their numbers while names of other users come and go. */
START_TEST(names_of_others_do_not_push_out_ours)
{
	struct account flood = of(STRANGER, 1), honest = of(OTHER, 2);
	struct names *names;
	uint32_t ours;
	char text[32];

	ck_assert_int_eq(names_new(&names, &sink), 0);
	ours = names_id(names, &honest, trace_str_of("ours"));
	ck_assert_uint_ne(ours, 0);
	for (int i = 0; i < 1 << 20; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		(void)names_id(names, i % 2 ? &flood : NULL, trace_str_of(text));
		if (i % 65536 == 0)
			ck_assert_uint_eq(names_id(names, &honest, trace_str_of("ours")), ours);
	}
	ck_assert_uint_gt(flood.refused[BUDGET_NAMES], 0);
	ck_assert_uint_eq(honest.used[BUDGET_NAMES], 1);
	names_free(names);
	ck_assert_int_eq(said("the process exceeds the limit of 262144 names"), 1);
}
END_TEST

/* Takes one by one of `size`, with all that others have, until there is no more. */
static uint64_t take_share(uint64_t size, uint32_t per_free, uint64_t others, uint64_t *user)
{
	uint64_t own = 0;

	while (others + *user < size && braid_share_has(size - others - *user - 1, per_free, *user, own, 1)) {
		(*user)++;
		own++;
	}
	return own;
}

/* The kernel side's room: many processes of a user leave some for another user, and one that is alone has most. */
START_TEST(processes_of_a_user_share_what_the_user_has)
{
	uint64_t one = 0, many = 0, other = 0;

	ck_assert_uint_ge(take_share(BRAID_THREAD_TIMES, BRAID_USER_PER_FREE, 0, &one), BRAID_THREAD_TIMES / 2);
	for (int process = 0; process < 100; process++)
		(void)take_share(BRAID_THREAD_TIMES, BRAID_USER_PER_FREE, 0, &many);
	ck_assert_uint_gt(many, one);
	ck_assert_uint_le(many, BRAID_THREAD_TIMES / 3 * 2 + 1);
	ck_assert_uint_gt(take_share(BRAID_THREAD_TIMES, BRAID_USER_PER_FREE, many, &other), BRAID_THREAD_TIMES / 6);
}
END_TEST

/* The kernel side finds each user's share by a number of its map. */
START_TEST(users_have_numbers)
{
	uint32_t last = 0;

	for (uid_t user = 1; user <= POOL_USERS_MAX; user++) {
		uint32_t number = pools_share(&pools, user)->number;

		ck_assert_uint_eq(number, last + 1);
		last = number;
	}
	ck_assert_uint_eq(pools_share(&pools, 5)->number, 5);
	ck_assert_uint_lt(last + 1, BRAID_USERS);
	ck_assert_uint_eq(pools_share(&pools, STRANGER)->number, last + 1);
	ck_assert_uint_eq(pools_share(&pools, OTHER)->number, last + 1);
}
END_TEST

static void say(struct account *a)
{
	account_notice(a, &sink, BRAID_NOTICE_INFO, "a message");
}

/* One process has few, and all of one user's leave some for others. What is left out is counted for each. */
START_TEST(notices_of_one_user_leave_room_for_another)
{
	struct account honest = of(OTHER, 1), root = of(0, 2);
	uint64_t messages = 0;

	for (uint32_t i = 0; i < 200; i++) {
		struct account flood = of(STRANGER, i + 10);

		for (int n = 0; n < 1000; n++)
			say(&flood);
		ck_assert_uint_le(flood.used[BUDGET_NOTICES], 64);
		ck_assert_uint_eq(flood.refused[BUDGET_NOTICES], 1000 - (uint64_t)flood.used[BUDGET_NOTICES]);
		messages += (uint64_t)flood.used[BUDGET_NOTICES];
		account_close(&flood);
	}
	ck_assert_uint_eq(pools.strangers.used[POOL_NOTICES], messages); /* those of processes that have ended count */
	ck_assert_uint_lt(messages, 6000);
	for (int n = 0; n < 64; n++) {
		say(&honest);
		say(&root);
	}
	ck_assert_uint_eq(honest.refused[BUDGET_NOTICES], 0);
	ck_assert_uint_eq(root.refused[BUDGET_NOTICES], 0);
	ck_assert_int_eq(said("processes of user 65534 " USED_UP "messages"), 1);
	ck_assert_int_gt(said("further messages about the same process"), 0);
}
END_TEST

Suite *test_budgets(void)
{
	Suite *s = suite_create("budgets");
	TCase *t = tcase_create("budgets");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, twenty_floods_leave_room_for_another_user);
	tcase_add_test(t, all_users_together_are_bounded);
	tcase_add_test(t, what_is_given_back_can_be_taken);
	tcase_add_test(t, a_user_has_part_of_the_slots);
	tcase_add_test(t, what_is_kept_is_not_given_back);
	tcase_add_test(t, files_of_one_user_leave_room_for_another);
	tcase_add_test(t, processes_of_a_user_share_what_the_user_has);
	tcase_add_test(t, users_have_numbers);
	tcase_add_test(t, names_of_others_do_not_push_out_ours);
	tcase_add_test(t, notices_of_one_user_leave_room_for_another);
	suite_add_tcase(s, t);
	return s;
}
