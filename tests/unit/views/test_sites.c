// SPDX-License-Identifier: Apache-2.0
/* Tests of sites: how long the objects lived that collections have freed, and which sites grow. */
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

#define ALLOCATION(at, n, ...)                                                                                         \
	{                                                                                                              \
		.kind = TRACE_JVM_EVENT, .jvm_event = {                                                                \
			.process = 1,                                                                                  \
			AT(at),                                                                                        \
			.kind = BRAID_JVM_ALLOC,                                                                       \
			.thread = 1,                                                                                   \
			.value = 16,                                                                                   \
			.weight = 160,                                                                                 \
			.number = n,                                                                                   \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}
#define ENDED(at, n, what, ...)                                                                                        \
	{                                                                                                              \
		.kind = TRACE_JVM_EVENT, .jvm_event = {                                                                \
			.process = 1,                                                                                  \
			AT(at),                                                                                        \
			.kind = BRAID_JVM_##what,                                                                      \
			.number = n,                                                                                   \
			.weight = 160,                                                                                 \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}

#define EACH 25 /* objects of each site */

/* Two histograms, between which the class of the suspect has grown in two loaders, and shrunk in a third one. */
#define HEAP_ROW(ms, n, loader, bytes, objects)                                                                        \
	JVM(AT(ms), .kind = BRAID_JVM_HEAP_CLASS, .number = n, .name = C_LOCK, .detail = loader, .value = bytes,       \
	    .weight = objects)
static const struct trace_rec histograms[] = {
	HEAP_ROW(210, 1, N_LOADER, 100, 5),
	HEAP_ROW(210, 1, N_OP, 50, 2),
	HEAP_ROW(210, 1, N_INIT, 50, 2),
	JVM(AT(211), .kind = BRAID_JVM_HEAP, .number = 1, .value = 200, .weight = 9, .duration_ns = MS),
	HEAP_ROW(430, 2, N_LOADER, 700, 35),
	HEAP_ROW(430, 2, N_OP, 150, 7),
	HEAP_ROW(430, 2, N_INIT, 25, 1),
	JVM(AT(431), .kind = BRAID_JVM_HEAP, .number = 2, .value = 875, .weight = 43, .duration_ns = MS),
};

/* An object of a site, the i-th of EACH. */
static void feed(struct run *r, uint32_t class, uint64_t ms, uint64_t number, uint64_t life_ms, bool survived)
{
	const struct trace_rec alloc = ALLOCATION(ms, number, .node = ON_INLINE, .name = class),
			       live = ENDED(1000, number, LIVE, .flags = 4),
			       died = ENDED(ms, number, DIED, .flags = survived, .duration_ns = life_ms * MS);

	run_feed(r, &alloc, 1);
	run_feed(r, life_ms ? &died : &live, 1);
}

/*
 * One site loses nothing. The others have as many objects: those of one go without a collection but for the last one;
 * another has a bound; one was filled at the start.
 */
START_TEST(what_grows_is_a_suspect)
{
	struct run r = run_begin(NULL);
	const struct event_views *e;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	run_feed(&r, more, COUNT(more));
	run_feed(&r, histograms, COUNT(histograms));
	for (uint32_t i = 0; i < EACH; i++) {
		feed(&r, C_LOCK, 200 + 10 * i, 100 + i, 0, true);
		feed(&r, C_BYTES, 200 + 10 * i, 200 + i, i < EACH - 1 ? 5 : 0, false);
		feed(&r, C_QUEUE, 200 + 10 * i, 300 + i, i < EACH - 5 ? 50 : 0, true);
		feed(&r, C_HTML, 200 + i, 400 + i, 0, true);
	}
	run_analyze(&r, NULL);
	e = r.v->events;
	ck_assert_uint_eq(e->suspects.count, 1);
	ck_assert_str_eq(e->suspects.at[0]->class, "demo.Lock");
	/* in three quarters of 240 ms: all but the seven that came before 260 ms */
	ck_assert_uint_eq(e->suspects.at[0]->grown_bytes, (EACH - 6) * 160);
	ck_assert_double_eq_tol(e->suspects.at[0]->grown_per_hour, (EACH - 6) * 160 / 0.180 * 3600, 1);
	ck_assert_double_eq_tol(e->suspects.at[0]->live_survived, 4, 1e-9);
	ck_assert_uint_eq(e->suspects.at[0]->process, 1);
	out = open_memstream(&text, &size);
	text_leaks(out, r.v, 30);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "demo.Lock, demo.Util.inline"));
	ck_assert_ptr_nonnull(
		strstr(text, "braid heap 100 --dump FILE, and then braid heap FILE --class 'demo.Lock'\n"));
	ck_assert_ptr_nonnull(strstr(text, "the heap has 700 B more of demo.Lock than at the first histogram"));
	ck_assert_ptr_null(strstr(text, "demo.Queue"));
	free(text);
	run_free(&r);
}
END_TEST

/* As many objects, but so few in one quarter that chance may have brought them. */
START_TEST(chance_is_no_suspect)
{
	struct run r = run_begin(NULL);

	run_feed(&r, more, COUNT(more));
	for (uint32_t i = 0; i < EACH; i++)
		feed(&r, C_LOCK, i < 4 ? 200 + i : i < EACH - 1 ? 261 + 5 * i : 440, 100 + i, 0, true);
	run_analyze(&r, NULL);
	ck_assert_uint_eq(r.v->events->suspects.count, 0);
	run_free(&r);
}
END_TEST

Suite *test_sites(void)
{
	Suite *s = suite_create("sites");
	TCase *c = tcase_create("all");

	tcase_add_test(c, how_old_objects_got);
	tcase_add_test(c, what_grows_is_a_suspect);
	tcase_add_test(c, chance_is_no_suspect);
	suite_add_tcase(s, c);
	return s;
}
