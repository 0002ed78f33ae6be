// SPDX-License-Identifier: Apache-2.0
/* Tests of the table of writes to fields. */
#include <check.h>

#include <views/event_views.h>
#include <views/views.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_event_writes(void);

#define WRITES(field, writer, count)                                                                                   \
	JVM(AT(100), .kind = BRAID_JVM_FIELD_WRITES, .name = field, .detail = writer, .value = count)
#define WRITE(field, writer)                                                                                           \
	JVM(AT(50), .kind = BRAID_JVM_FIELD, .thread = 1, .name = field, .detail = writer, .node = ON_INLINE)

static const struct trace_rec recs[] = {
	WRITES(C_QUEUE, M_WORK, 40), WRITES(C_LOCK, M_WORK, 90), WRITES(C_LOCK, M_OTHER, 95),
	WRITES(C_QUEUE, M_WORK, 60), WRITE(C_QUEUE, M_WORK),	 WRITE(C_QUEUE, M_WORK),
	WRITE(C_LOCK, M_OTHER),	     WRITE(C_BYTES, M_OTHER),
};

START_TEST(by_field_and_by_writer)
{
	static const struct write_view expected[] = {
		{.field = "demo.Lock", .writer = "demo.Main.other", .writes = 95, .events = 1, .field_writes = 185},
		{.field = "demo.Lock", .writer = "demo.Main.work", .writes = 90, .events = 0, .field_writes = 185},
		{.field = "demo.Queue", .writer = "demo.Main.work", .writes = 100, .events = 2, .field_writes = 100},
		{.field = "byte[]", .writer = "demo.Main.other", .writes = 0, .events = 1, .field_writes = 0},
	};
	struct run r = run_begin(NULL);

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, recs, sizeof(recs) / sizeof(recs[0]));
	run_analyze(&r, NULL);
	ck_assert_uint_eq(r.v->events->writes.count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct write_view *w = &r.v->events->writes.at[i];

		ck_assert_str_eq(w->field, expected[i].field);
		ck_assert_str_eq(w->writer, expected[i].writer);
		ck_assert_uint_eq(w->writes, expected[i].writes);
		ck_assert_uint_eq(w->events, expected[i].events);
		ck_assert_uint_eq(w->field_writes, expected[i].field_writes);
	}
	run_free(&r);
}
END_TEST

Suite *test_event_writes(void)
{
	Suite *s = suite_create("writes to fields");
	TCase *t = tcase_create("writes to fields");

	tcase_add_test(t, by_field_and_by_writer);
	suite_add_tcase(s, t);
	return s;
}
