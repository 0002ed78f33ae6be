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

/* An object of a site, which lives for that long; 0: it is live at the end. */
static void feed(struct run *r, uint32_t class, uint64_t ms, uint64_t number, uint64_t life_ms, bool survived)
{
	const struct trace_rec alloc = JVM(AT(ms), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE,
					   .name = class, .value = 16, .weight = 160, .number = number),
			       live = JVM(AT(1000), .kind = BRAID_JVM_LIVE, .number = number, .flags = 4),
			       died = JVM(AT(ms), .kind = BRAID_JVM_DIED, .number = number, .flags = survived,
					  .duration_ns = life_ms * MS);

	run_feed(r, &alloc, 1);
	run_feed(r, life_ms ? &died : &live, 1);
}

static char *leaks_of(const struct run *r)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	text_leaks(out, r->v, 30);
	fclose(out);
	return text;
}

/*
 * One site loses nothing. The others have as many objects: those of one go without a collection but for the last one;
 * another has a bound; one was filled at the start.
 */
START_TEST(what_grows_is_a_suspect)
{
	struct run r = run_begin(NULL);
	const struct event_views *e;
	char *text;

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
	/* in three quarters of 240 ms: all but the six that came before 260 ms */
	ck_assert_uint_eq(e->suspects.at[0]->grown_bytes, (EACH - 6) * 160);
	ck_assert_double_eq_tol(e->suspects.at[0]->grown_per_hour, (EACH - 6) * 160 / 0.180 * 3600, 1);
	ck_assert_double_eq_tol(e->suspects.at[0]->live_survived, 4, 1e-9);
	ck_assert_uint_eq(e->suspects.at[0]->process, 1);
	text = leaks_of(&r);
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

#define YOUNG 60 /* a name */

/* Of a JVM, here the second process, whose old objects no collection has looked at. */
START_TEST(old_garbage_is_said)
{
	const struct trace_rec young = JVM_OF(2, AT(300), .kind = BRAID_JVM_GC_PAUSE, .duration_ns = MS, .name = YOUNG,
					      .number = 1),
			       full = JVM_OF(2, AT(310), .kind = BRAID_JVM_GC_PAUSE, .duration_ns = MS, .name = C_LOCK,
					     .number = 2);

	const struct trace_rec name = NAME(YOUNG, "Parallel young");

	for (int pauses = 0; pauses <= 2; pauses++) {
		struct run r = run_begin(NULL);
		char *text;

		run_feed(&r, more, COUNT(more));
		run_feed(&r, &name, 1);
		for (uint32_t i = 0; i < EACH; i++) {
			const struct trace_rec of_second[] = {
				JVM_OF(2, AT(200 + 10 * i), .kind = BRAID_JVM_ALLOC, .name = C_LOCK, .value = 16,
				       .weight = 160, .number = 1 + i),
				JVM_OF(2, AT(1000), .kind = BRAID_JVM_LIVE, .number = 1 + i, .flags = 4),
			};

			run_feed(&r, of_second, COUNT(of_second));
		}
		if (pauses > 0)
			run_feed(&r, &young, 1);
		if (pauses > 1)
			run_feed(&r, &full, 1);
		run_analyze(&r, NULL);
		text = leaks_of(&r);
		ck_assert_ptr_nonnull(strstr(text, "braid heap 200 --dump"));
		ck_assert_int_eq(strstr(text, "no collection of old objects was recorded") != NULL, pauses == 1);
		free(text);
		run_free(&r);
	}
}
END_TEST

Suite *test_sites(void)
{
	Suite *s = suite_create("sites");
	TCase *c = tcase_create("all");

	tcase_add_test(c, how_old_objects_got);
	tcase_add_test(c, what_grows_is_a_suspect);
	tcase_add_test(c, chance_is_no_suspect);
	tcase_add_test(c, old_garbage_is_said);
	suite_add_tcase(s, c);
	return s;
}
