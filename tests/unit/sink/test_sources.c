// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the collector's loop: sources removed while others are served, and descriptors that another process can
 * change.
 */
#include "sink/sources.h"

#include <check.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

Suite *test_sources(void);

static struct sources sources;
static struct source *pair[2]; /* each removes the other one */
static unsigned calls;

static void give_up(struct source *src)
{
	source_unwatch(&sources, src);
	close(src->fd);
	free(src);
}

static void give_up_the_other(struct source *src)
{
	int other = src == pair[0];

	calls++;
	if (pair[other])
		give_up(pair[other]);
	pair[other] = NULL;
}

static void give_up_itself(struct source *src)
{
	calls++;
	give_up(src);
}

static void count_call(struct source *src)
{
	(void)src;
	calls++;
}

static struct source *ready_source(void (*ready)(struct source *src))
{
	struct source *src = malloc(sizeof(*src));

	ck_assert_ptr_nonnull(src);
	*src = (struct source){.fd = eventfd(1, EFD_CLOEXEC), .ready = ready};
	ck_assert_int_ge(src->fd, 0);
	ck_assert_int_eq(source_watch(&sources, src), 0);
	return src;
}

static void setup(void)
{
	calls = 0;
	ck_assert_int_eq(sources_open(&sources), 0);
}

static void teardown(void)
{
	sources_close(&sources);
}

/* Both are ready at once. Whichever comes first removes the other one. */
START_TEST(given_up_by_another)
{
	pair[0] = ready_source(give_up_the_other);
	pair[1] = ready_source(give_up_the_other);
	ck_assert_int_eq(sources_dispatch(&sources, 1000), 0);
	ck_assert_uint_eq(calls, 1);
	ck_assert(!pair[0] || !pair[1]);
	give_up(pair[0] ? pair[0] : pair[1]);
}
END_TEST

START_TEST(given_up_by_itself)
{
	ready_source(give_up_itself);
	ready_source(give_up_itself);
	ck_assert_int_eq(sources_dispatch(&sources, 1000), 0);
	ck_assert_uint_eq(calls, 2);
	ck_assert_int_eq(sources_dispatch(&sources, 0), 0);
	ck_assert_uint_eq(calls, 2);
}
END_TEST

/*
 * The loop notices each write without a read, which would block for ever: another process has made the descriptor a
 * blocking one.
 */
START_TEST(shared_descriptor)
{
	struct source src = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = count_call};
	int theirs = dup(src.fd);
	uint64_t value = 1;

	ck_assert_int_ge(theirs, 0);
	ck_assert_int_eq(source_watch_edges(&sources, &src), 0);
	ck_assert_int_eq(fcntl(theirs, F_SETFL, 0), 0);
	for (unsigned turn = 1; turn <= 3; turn++) {
		ck_assert_int_eq(write(theirs, &value, sizeof(value)), sizeof(value));
		ck_assert_int_eq(sources_dispatch(&sources, 1000), 0);
		ck_assert_uint_eq(calls, turn);
		ck_assert_int_eq(sources_dispatch(&sources, 0), 0);
		ck_assert_uint_eq(calls, turn);
	}
	/* Read by the other process before the loop sees it. */
	ck_assert_int_eq(write(theirs, &value, sizeof(value)), sizeof(value));
	ck_assert_int_eq(read(theirs, &value, sizeof(value)), sizeof(value));
	ck_assert_int_eq(sources_dispatch(&sources, 0), 0);
	source_unwatch(&sources, &src);
	close(theirs);
	close(src.fd);
}
END_TEST

Suite *test_sources(void)
{
	Suite *suite = suite_create("sources");
	TCase *tc = tcase_create("sources");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, given_up_by_another);
	tcase_add_test(tc, given_up_by_itself);
	tcase_add_test(tc, shared_descriptor);
	suite_add_tcase(suite, tc);
	return suite;
}
