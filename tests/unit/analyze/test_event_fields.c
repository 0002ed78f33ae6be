// SPDX-License-Identifier: Apache-2.0
/* Tests of the fields of events, which scripts and other exports print. */
#include <check.h>
#include <string.h>

#include <analyze/event_fields.h>
#include <analyze/events.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_event_fields(void);

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct found {
	const char *key;
	uint64_t value;
	bool is_there;
};

static void text(void *ctx, const char *key, const char *value)
{
	const struct found *f = ctx;

	(void)value;
	ck_assert_str_ne(key, f->key);
}

static void number(void *ctx, const char *key, uint64_t value, enum field_form form)
{
	struct found *f = ctx;

	(void)form;
	if (strcmp(key, f->key) != 0)
		return;
	f->value = value;
	f->is_there = true;
}

/* Of the row of that number among the test's own, which are the last `rows`. */
static struct found field(const struct run *r, size_t rows, size_t row, const char *key)
{
	static const struct field_sink sink = {text, number};
	struct found f = {.key = key};
	struct event e;

	ck_assert(events_get(r->an, r->a->events.count - rows + row, &e));
	event_fields(r->an, &e, &sink, &f);
	return f;
}

/*
 * The number of a time off the CPU is the address of a futex or an inode, whatever the thread waited for in that call.
 */
START_TEST(numbers_of_calls)
{
	static const struct trace_rec recs[] = {
		JVM(AT(1), .kind = BRAID_JVM_OFFCPU, .thread = 1, .number = 0x7fa5f00,
		    .flags = BRAID_OFFCPU_RUNNABLE << BRAID_OFFCPU_CLASS_SHIFT | 202),
		JVM(AT(2), .kind = BRAID_JVM_OFFCPU, .thread = 1, .number = 0x7fa5f01,
		    .flags = BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT | 455),
		JVM(AT(3), .kind = BRAID_JVM_OFFCPU, .thread = 1, .number = 0x1234,
		    .flags = BRAID_OFFCPU_PIPE << BRAID_OFFCPU_CLASS_SHIFT),
	};
	struct run r = run_begin(NULL);

	run_feed(&r, recs, COUNT(recs));
	run_analyze(&r, NULL);
	ck_assert_uint_eq(field(&r, COUNT(recs), 0, "futex").value, 0x7fa5f00);
	ck_assert_uint_eq(field(&r, COUNT(recs), 1, "futex").value, 0x7fa5f01);
	ck_assert_uint_eq(field(&r, COUNT(recs), 2, "inode").value, 0x1234);
	ck_assert(!field(&r, COUNT(recs), 0, "inode").is_there);
	ck_assert(!field(&r, COUNT(recs), 2, "futex").is_there);
	run_free(&r);
}
END_TEST

/* That nobody looked what a Java thread was parked for is not that it was parked for nothing. */
START_TEST(blockers)
{
	enum { NATIVE = 77, FUTEX = BRAID_OFFCPU_FUTEX << BRAID_OFFCPU_CLASS_SHIFT };
	static const struct trace_rec recs[] = {
		NAME(77, "demo.Lock"),
		REC(TRACE_THREAD, thread, NATIVE, 1, 177, 177, 0, 0, S("native"), S("")),
		JVM(AT(1), .kind = BRAID_JVM_OFFCPU, .thread = 1, .flags = FUTEX),
		JVM(AT(2), .kind = BRAID_JVM_OFFCPU, .thread = 1, .flags = FUTEX | BRAID_OFFCPU_LOOKED),
		JVM(AT(3), .kind = BRAID_JVM_OFFCPU, .thread = 1, .flags = FUTEX | BRAID_OFFCPU_LOOKED, .name = 77),
		JVM(AT(4), .kind = BRAID_JVM_OFFCPU, .thread = 1,
		    .flags = BRAID_OFFCPU_PIPE << BRAID_OFFCPU_CLASS_SHIFT),
		JVM(AT(5), .kind = BRAID_JVM_OFFCPU, .thread = NATIVE, .flags = FUTEX),
		JVM(AT(6), .kind = BRAID_JVM_OFFCPU,
		    .flags = BRAID_OFFCPU_UNMOUNTED << BRAID_OFFCPU_CLASS_SHIFT | BRAID_OFFCPU_LOOKED),
		JVM(AT(7), .kind = BRAID_JVM_WAIT, .thread = 1, .flags = FUTEX),
	};
	static const char *const names[] = {"not read", "none", "read", NULL, NULL, "none", NULL};
	struct run r = run_begin(NULL);
	size_t first;

	run_feed(&r, recs, COUNT(recs));
	run_analyze(&r, NULL);
	first = r.a->events.count - COUNT(names);
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *name = event_blocker_name(event_blocker(r.an, &r.a->events.at[first + i]));

		ck_assert_msg(names[i] ? name && strcmp(name, names[i]) == 0 : !name, "%zu: %s", i, name);
	}
	run_free(&r);
}
END_TEST

Suite *test_event_fields(void)
{
	Suite *s = suite_create("event_fields");
	TCase *tc = tcase_create("event_fields");

	tcase_add_test(tc, numbers_of_calls);
	tcase_add_test(tc, blockers);
	suite_add_tcase(s, tc);
	return s;
}
