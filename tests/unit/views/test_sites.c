// SPDX-License-Identifier: Apache-2.0
/* Tests of sites: how long the objects lived that collections have freed. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <report/events.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_sites(void);

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Ages are by objects, of which the first two events have ten each, and the third one twenty. */
START_TEST(how_old_objects_got)
{
	static const struct trace_rec died[] = {
		JVM(AT(1), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .value = 16,
		    .weight = 160, .number = 31),
		JVM(AT(1), .kind = BRAID_JVM_DIED, .number = 31, .name = C_LOCK, .value = 16, .weight = 160,
		    .duration_ns = 5 * MS),
		JVM(AT(2), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .value = 16,
		    .weight = 160, .number = 32),
		JVM(AT(2), .kind = BRAID_JVM_DIED, .number = 32, .name = C_LOCK, .value = 16, .weight = 160,
		    .duration_ns = 90 * MS, .flags = 2),
		JVM(AT(3), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE, .name = C_LOCK, .value = 8,
		    .weight = 160, .number = 33),
		JVM(AT(3), .kind = BRAID_JVM_DIED, .number = 33, .name = C_LOCK, .value = 8, .weight = 160,
		    .duration_ns = 7 * MS),
		JVM(AT(190), .kind = BRAID_JVM_LIVE, .number = 1, .flags = 3),
	};
	struct run r = run_begin(NULL);
	const struct event_views *e;
	const struct site_view *s;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	run_feed(&r, more, COUNT(more));
	run_feed(&r, died, COUNT(died));
	run_analyze(&r, NULL);
	e = r.v->events;
	ck_assert_uint_eq(e->died.count, 1);
	s = e->died.at[0];
	ck_assert_str_eq(s->class, "demo.Lock");
	ck_assert_uint_eq(s->died_bytes, s->allocated_bytes);
	ck_assert_double_eq_tol(s->died_objects, 40, 1e-6);
	ck_assert_double_eq_tol(s->died_survived, 10, 1e-6);
	ck_assert_uint_eq(s->age_p50_ns, 7 * MS);
	ck_assert_uint_eq(s->age_p90_ns, 90 * MS);
	ck_assert_uint_eq(s->age_max_ns, 90 * MS);
	out = open_memstream(&text, &size);
	text_sites(out, r.v, 30);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "\nHow long objects lived "));
	free(text);
	run_free(&r);
}
END_TEST

Suite *test_sites(void)
{
	Suite *s = suite_create("sites");
	TCase *c = tcase_create("all");

	tcase_add_test(c, how_old_objects_got);
	suite_add_tcase(s, c);
	return s;
}
