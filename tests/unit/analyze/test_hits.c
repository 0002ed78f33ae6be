// SPDX-License-Identifier: Apache-2.0
/* Tests of samples of hit events: they are kept apart from the clock's, named, filtered and counted. */
#include <errno.h>
#include <stdio.h>

#include <analyze/hits.h>
#include <page/html.h>

#include "unit/run.h"

Suite *test_hits(void);

#define HIT(ms, t, n, event) REC(TRACE_SAMPLE, sample, BASE_NS + (ms)*MS, t, 0, n, 1, 0, event)
#define VALUES(ms, t, event, text) REC(TRACE_SAMPLE, sample, BASE_NS + (ms)*MS, t, 0, 3, 1, 0, event, 0, S(text))

static const struct trace_rec recs[] = {
	REC(TRACE_NAME, name, 901, S("sched:sched_switch")),
	REC(TRACE_NAME, name, 902, S("syscalls:sys_enter_write/fd==1/")),
	HIT(1, 1, 3, 902),
	HIT(2, 1, 3, 901),
	HIT(3, 3, 0, 902), /* without a stack */
	HIT(900, 1, 2, 902),
	HIT(4, 1, 3, 999), /* of an event without a name */
	REC(TRACE_STAT, stat, BASE_NS, 0, S("hits syscalls:sys_enter_write/fd==1/"), 30),
	REC(TRACE_STAT, stat, BASE_NS, 0, S("hits sched:never"), 0),
	REC(TRACE_STAT, stat, BASE_NS, 0, S("hits cpu-clock"),
	    7), /* the sampling event, whose samples are the report */
};

static struct run run_hits(const struct filter *filter)
{
	struct run r = run_begin(filter);

	run_feed(&r, recs, sizeof(recs) / sizeof(recs[0]));
	run_analyze(&r, filter);
	return r;
}

START_TEST(events_have_their_own_samples)
{
	struct run plain = run_begin(NULL), r = run_hits(NULL);
	const struct hit_view *h = r.v->hits.events.at;

	run_analyze(&plain, NULL);
	ck_assert_uint_eq(r.an->samples.quality.total, plain.an->samples.quality.total);
	ck_assert_uint_eq(r.v->methods.at[0].self, plain.v->methods.at[0].self);
	ck_assert_uint_eq(plain.v->hits.events.count, 0);

	ck_assert_uint_eq(r.v->hits.events.count, 4);
	ck_assert_str_eq(h[0].name, "syscalls:sys_enter_write/fd==1/");
	ck_assert_uint_eq(h[0].profile->quality.total, 3);
	ck_assert_uint_eq(h[0].profile->quality.by_cause[CAUSE_NO_STACK], 1);
	ck_assert_uint_eq(h[0].hits, 30);
	ck_assert_uint_eq(h[0].sites.count, 3);
	ck_assert_str_eq(h[1].name, "[unknown]");
	ck_assert_str_eq(h[2].name, "sched:sched_switch");
	ck_assert_uint_eq(h[2].profile->quality.total, 1);
	ck_assert_uint_eq(h[2].sites.at[0].samples, 1);
	ck_assert_str_eq(h[3].name, "sched:never");
	ck_assert_uint_eq(h[3].profile->quality.total, 0);
	run_free(&plain);
	run_free(&r);
}
END_TEST

START_TEST(an_event_has_the_name_that_a_person_types)
{
	struct run r = run_hits(NULL);

	ck_assert_uint_eq(hits_profile(r.an, "sched:sched_switch")->quality.total, 1);
	ck_assert_uint_eq(hits_profile(r.an, "syscalls:sys_enter_write/fd==1/")->quality.total, 3);
	ck_assert_uint_eq(hits_profile(r.an, "syscalls:sys_enter_write")->quality.total, 3);
	ck_assert_uint_eq(hits_profile(r.an, "sched_switch")->quality.total, 1);
	ck_assert_uint_eq(hits_profile(r.an, "sys_enter_write/fd==1/")->quality.total, 3);
	ck_assert_ptr_null(hits_profile(r.an, "switch"));
	ck_assert_ptr_null(hits_profile(r.an, "sched"));
	ck_assert_ptr_null(hits_profile(r.an, "syscalls:sys_enter"));
	ck_assert_ptr_null(hits_profile(r.an, "sched:sched_switch/"));
	ck_assert_ptr_null(hits_profile(r.an, ""));
	ck_assert_ptr_eq(hits_profile(r.an, "cpu-clock"), &r.an->samples);
	run_free(&r);
}
END_TEST

START_TEST(filters_apply)
{
	struct filter window = {.has_to = true, .to = {.ns = 100 * MS}}, pid = {0};
	struct run r;

	ck_assert_int_eq(filter_add_pids(&pid, "200"), 0);
	r = run_hits(&pid);
	ck_assert_uint_eq(hits_profile(r.an, "syscalls:sys_enter_write")->quality.total, 1);
	ck_assert_uint_eq(hits_profile(r.an, "sched:sched_switch")->quality.total, 0);
	run_free(&r);
	r = run_hits(&window);
	ck_assert_uint_eq(hits_profile(r.an, "syscalls:sys_enter_write")->quality.total, 2);
	ck_assert_uint_eq(hits_profile(r.an, "sched:sched_switch")->quality.total, 1);
	run_free(&r);
	filter_free(&pid);
}
END_TEST

/* Each event's samples are drawn once: those of the sampling event are the recording's own. */
static void has_graphs(const struct run *r, const char *own)
{
	char *page = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&page, &size);

	ck_assert_int_eq(report_html(out, r->v, &(struct page_request){.titles = {"x"}}), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(page, own));
	ck_assert_ptr_null(strstr(strstr(page, own) + 1, own));
	free(page);
}

START_TEST(values_are_counted)
{
	static const struct trace_rec values[] = {
		REC(TRACE_NAME, name, 901, S("sched:sched_switch{next_pid}")),
		VALUES(1, 1, 901, "next_pid=1"),
		VALUES(2, 1, 901, "next_pid=2"),
		VALUES(3, 3, 901, "next_pid=2"),
		VALUES(4, 1, 0, "x=7"), /* of the sampling event */
	};
	struct filter pid = {0};
	struct run r = run_begin(NULL);
	const struct hit_view *h;

	run_feed(&r, values, sizeof(values) / sizeof(values[0]));
	run_analyze(&r, NULL);
	ck_assert_uint_eq(r.v->hits.events.count, 2);
	h = strcmp(r.v->hits.events.at[0].name, "cpu-clock") == 0 ? r.v->hits.events.at : r.v->hits.events.at + 1;
	ck_assert_uint_eq(h->values.count, 1);
	ck_assert_str_eq(h->values.at[0].text, "x=7");
	h = h == r.v->hits.events.at ? h + 1 : r.v->hits.events.at;
	ck_assert_str_eq(h->name, "sched:sched_switch{next_pid}");
	ck_assert_uint_eq(h->values.count, 2);
	ck_assert_str_eq(h->values.at[0].text, "next_pid=2");
	ck_assert_uint_eq(h->values.at[0].samples, 2);
	ck_assert_str_eq(h->values.at[1].text, "next_pid=1");
	ck_assert_uint_eq(hits_profile(r.an, "sched:sched_switch")->quality.total, 3);
	has_graphs(&r, "\"name\":\"cpu-clock\"");
	has_graphs(&r, "\"name\":\"sched:sched_switch{next_pid}\"");
	run_free(&r);

	ck_assert_int_eq(filter_add_pids(&pid, "200"), 0);
	r = run_begin(&pid);
	run_feed(&r, values, sizeof(values) / sizeof(values[0]));
	run_analyze(&r, &pid);
	h = r.v->hits.events.at + (strcmp(r.v->hits.events.at[0].name, "cpu-clock") == 0);
	ck_assert_uint_eq(h->values.count, 1);
	ck_assert_str_eq(h->values.at[0].text, "next_pid=2");
	ck_assert_uint_eq(h->values.at[0].samples, 1);
	run_free(&r);
	filter_free(&pid);
}
END_TEST

START_TEST(events_are_limited)
{
	struct run r = run_begin(NULL);
	char name[32];

	for (uint32_t i = 0; i < 1000; i++) {
		struct trace_rec define = {.kind = TRACE_NAME, .name = {.name = 1000 + i}};
		struct trace_rec hit = HIT(1, 1, 3, 1000 + i);

		snprintf(name, sizeof(name), "many:e%u", i);
		define.name.text = str_of(name);
		run_feed(&r, &define, 1);
		run_feed(&r, &hit, 1);
		run_feed(&r, &hit, 1);
	}
	run_analyze(&r, NULL);
	ck_assert_uint_eq(r.v->hits.events.count, 64);
	ck_assert_uint_eq(r.v->hits.events.at[0].profile->quality.total, 2);
	ck_assert_uint_eq(r.a->ignored, 2 * (1000 - 64));
	run_free(&r);
}
END_TEST

/* The same of those that only figures mention. */
START_TEST(figures_are_limited)
{
	struct run r = run_begin(NULL);
	char key[32];

	for (uint32_t i = 0; i < 5000; i++) {
		struct trace_rec figure = {.kind = TRACE_STAT, .stat = {.time_ns = BASE_NS, .value = i}};

		snprintf(key, sizeof(key), "hits many:e%u", i);
		figure.stat.key = str_of(key);
		run_feed(&r, &figure, 1);
	}
	run_analyze(&r, NULL);
	ck_assert_uint_eq(r.v->hits.events.count, 64);
	run_free(&r);
}
END_TEST

Suite *test_hits(void)
{
	Suite *s = suite_create("hits");
	TCase *tc = tcase_create("hits");

	tcase_add_test(tc, events_have_their_own_samples);
	tcase_add_test(tc, an_event_has_the_name_that_a_person_types);
	tcase_add_test(tc, filters_apply);
	tcase_add_test(tc, values_are_counted);
	tcase_add_test(tc, events_are_limited);
	tcase_add_test(tc, figures_are_limited);
	suite_add_tcase(s, tc);
	return s;
}
