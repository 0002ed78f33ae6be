// SPDX-License-Identifier: Apache-2.0
/* Tests of JVM events, from records to tables and stacks, with hand-made and hostile records. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <analyze/events.h>
#include <views/views.h>
#include <report/events.h>
#include <export/export.h>
#include <report/report.h>
#include <page/html.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_events(void);

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct run run_of(const struct trace_rec *recs, size_t count, const struct filter *filter)
{
	struct run r = run_begin(filter);

	run_feed(&r, more, COUNT(more));
	run_feed(&r, recs, count);
	run_analyze(&r, filter);
	return r;
}

static const struct kind_view *kind(const struct run *r, enum braid_jvm_event_kind k)
{
	return &r->v->events->kinds[k];
}

static char *collapsed(const struct filter *filter, enum braid_jvm_event_kind k, struct collapsed_options options)
{
	struct run r = run_of(events, COUNT(events), filter);
	struct profile p;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(events_profile(r.an, k, &p), 0);
	ck_assert_int_eq(collapsed_write(out, r.an, &p, &options), 0);
	fclose(out);
	profile_free(&p);
	run_free(&r);
	return text;
}

static char *everything(const struct run *r)
{
	static const struct trace_damage no_damage;
	static const struct report_source source = {&no_damage, 4321, false};
	const struct jvm_event_row *row = r->a->events.at;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	report_text(out, r->v, &source, 30);
	report_json(out, r->v, &source, 30);
	ck_assert_int_eq(report_html(out, r->v, &(struct page_request){.titles = {"x"}}), 0);
	for (size_t i = 0; i < r->a->events.count; i++) {
		struct trace_rec rec = {.kind = TRACE_JVM_EVENT, .jvm_event.kind = row[i].kind};

		script_print(out, r->an, &rec, &row[i], &(struct script_options){0});
	}
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS; k++) {
		struct profile p;

		ck_assert_int_eq(events_profile(r->an, k, &p), 0);
		ck_assert_int_eq(collapsed_write(out, r->an, &p, &(struct collapsed_options){.threads = true}), 0);
		profile_free(&p);
	}
	fclose(out);
	return text;
}

/* ---- estimates ---- */

START_TEST(allocations_are_estimated)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct kind_view *k = kind(&r, BRAID_JVM_ALLOC);
	double big = 1048576 / (1 - exp(-2.0)), small = 16 / (1 - exp(-16.0 / 524288));
	const struct event_sum *s = k->by[BY_NAME].sums.at;

	ck_assert_uint_eq(k->count, 4);
	ck_assert_double_eq_tol((double)k->weight, big + small + 2000, 2);
	ck_assert_double_eq_tol(k->variance, big * (big - 1048576) + small * (small - 16) + 2 * 1000 * 900.0, 1e6);
	ck_assert_uint_eq(k->by[BY_NAME].sums.count, 2);
	ck_assert_str_eq(s[0].name, "byte[]");
	ck_assert_double_eq_tol((double)s[0].weight, big + small, 2);
	ck_assert_uint_eq(s[0].value, (1 << 20) + 16);
	ck_assert_str_eq(s[1].name, "<b>?[2J;x");
	ck_assert_double_eq_tol(event_error(s[1].variance, s[1].weight), sqrt(2 * 1000 * 900.0) / 2000, 1e-9);
	ck_assert_str_eq(k->by[BY_SITE].sums.at[0].name, "demo.Util.inline");
	ck_assert_uint_eq(k->by[BY_SITE].sums.at[0].line, 30);
	ck_assert_str_eq(k->by[BY_THREAD].sums.at[1].name, "http nio 8080");
	run_free(&r);
}
END_TEST

/* Many small allocations at one site: the estimate must be as close to the truth as its error permits. */
START_TEST(estimates_are_unbiased)
{
	const double interval = 512 << 10, size = 4096, p = 1 - exp(-size / interval);
	const double truth = 2e5 * size;
	unsigned within = 0;
	double sum = 0;

	srand48(42);
	for (int run = 0; run < 50; run++) {
		double estimate = 0, variance = 0;

		for (int i = 0; i < 200000; i++)
			if (drand48() < p) {
				double w = size / p;

				estimate += w;
				variance += w * (w - size);
			}
		sum += estimate;
		within += fabs(estimate - truth) < 2 * sqrt(variance);
	}
	ck_assert_double_eq_tol(sum / 50 / truth, 1, 0.02);
	ck_assert_uint_ge(within, 44);
}
END_TEST

/* Intervals of the kernel: tables by what they were about and by what they did, stacks in nanoseconds. */
START_TEST(kernel_events_have_times_and_bytes)
{
	static const struct trace_rec calls[] = {
		JVM(AT(1), .kind = BRAID_JVM_SYSCALL, .thread = 1, .node = ON_INLINE, .name = C_QUEUE, .detail = R_NULL,
		    .duration_ns = 5 * MS, .value = 1 << 20),
		JVM(AT(9), .kind = BRAID_JVM_SYSCALL, .thread = 1, .node = ON_INLINE, .name = C_QUEUE, .detail = N_INIT,
		    .duration_ns = 2 * MS, .value = 1 << 20),
		JVM(AT(12), .kind = BRAID_JVM_SYSCALL, .thread = 2, .name = C_LOCK, .detail = R_NULL,
		    .duration_ns = 1 * MS),
	};
	struct run r = run_of(calls, COUNT(calls), NULL);
	const struct kind_view *k = kind(&r, BRAID_JVM_SYSCALL);
	struct profile p;
	char *text;

	ck_assert_uint_eq(k->count, 3);
	ck_assert_uint_eq(k->weight, 8 * MS);
	ck_assert_uint_eq(k->max, 5 * MS);
	ck_assert_uint_eq(k->by[BY_NAME].sums.count, 2);
	ck_assert_str_eq(k->by[BY_NAME].sums.at[0].name, "demo.Queue");
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].weight, 7 * MS);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].value, 2 << 20);
	ck_assert_uint_eq(k->by[BY_DETAIL].sums.at[0].count, 2);
	ck_assert_int_eq(events_profile(r.an, BRAID_JVM_SYSCALL, &p), 0);
	ck_assert_uint_eq(p.quality.total, 8 * MS);
	profile_free(&p);
	text = everything(&r);
	ck_assert_ptr_nonnull(strstr(text, "2.00 MiB  demo.Queue"));
	ck_assert_uint_eq(kind_named("syscall"), BRAID_JVM_SYSCALL);
	ck_assert_uint_eq(kind_named("file"), BRAID_JVM_SYSCALL);
	free(text);
	run_free(&r);
}
END_TEST

START_TEST(live_objects_are_allocations_that_stayed)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct kind_view *k = kind(&r, BRAID_JVM_LIVE);

	ck_assert_uint_eq(k->count, 3);
	ck_assert_uint_eq(k->by[BY_NAME].sums.count, 3);
	ck_assert_str_eq(k->by[BY_NAME].sums.at[2].name, "demo.Queue");
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[2].duration_ns, 90 * MS);
	ck_assert_str_eq(k->by[BY_NAME].sums.at[0].name, "byte[]");
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].duration_ns, 189 * MS);
	ck_assert_str_eq(k->by[BY_NAME].sums.at[1].name, "<b>?[2J;x");
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[1].weight, 2000);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[1].duration_ns, 186 * MS);
	ck_assert_uint_eq(k->by[BY_NAME].sums.at[0].survived, 3);
	run_free(&r);
}
END_TEST

/* Sums by class and stack, the most live bytes first; nothing of them is lost, and nothing counts twice. */
START_TEST(sites_have_what_is_live_and_what_was_allocated)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct event_views *e = r.v->events;
	uint64_t live = 0, allocated = 0;
	double objects = 0;
	char *text = everything(&r);

	for (size_t i = 0; i < e->sites.count; i++) {
		const struct site_view *s = &e->sites.at[i];

		live += s->live_bytes;
		allocated += s->allocated_bytes;
		objects += s->live_objects;
		ck_assert(!i || s[-1].live_bytes >= s->live_bytes);
		ck_assert_int_eq(s->live_bytes > 0, s->live_objects > 0);
	}
	ck_assert_uint_eq(live, kind(&r, BRAID_JVM_LIVE)->weight);
	ck_assert_uint_eq(e->live_bytes, live);
	ck_assert_uint_eq(allocated, kind(&r, BRAID_JVM_ALLOC)->weight);
	ck_assert_double_gt(objects, 3); /* each of the three represents more than one */
	ck_assert_str_eq(e->sites.at[0].class, "byte[]");
	ck_assert_ptr_nonnull(strstr(text, "\nSites: "));
	free(text);
	run_free(&r);
}
END_TEST

START_TEST(what_no_collection_has_looked_at_is_not_live)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct kind_view *k = kind(&r, BRAID_JVM_UNCOLLECTED);

	ck_assert_uint_eq(k->count, 1);
	ck_assert_uint_eq(k->weight, 500);
	ck_assert_double_eq_tol(k->variance, 500.0 * (500 - 8), 1e-6);
	ck_assert_str_eq(k->by[BY_NAME].sums.at[0].name, "demo.Queue");
	ck_assert_uint_eq(kind(&r, BRAID_JVM_LIVE)->count, 3);
	run_free(&r);
}
END_TEST

/* ---- locks and waits ---- */

START_TEST(who_blocked_whom)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct kind_view *k = kind(&r, BRAID_JVM_LOCK);
	const struct blocker_view *b = r.v->events->blockers.at;

	ck_assert_uint_eq(k->weight, 21 * MS);
	ck_assert_uint_eq(k->max, 15 * MS);
	ck_assert_uint_eq(k->p99, 15 * MS);
	ck_assert_uint_eq(k->counted, 40);
	ck_assert_uint_eq(k->counted_ns, 2 * MS);
	ck_assert_uint_eq(r.v->events->blockers.count, 2);
	ck_assert_str_eq(analysis_thread_name(r.an, b[0].blocked), "http nio 8080");
	ck_assert_str_eq(analysis_thread_name(r.an, b[0].owner), "main");
	ck_assert_str_eq(events_site_name(r.an, b[0].site), "<script>alert(1)</script>.run");
	ck_assert_str_eq(b[0].monitor, "demo.Lock");
	ck_assert_uint_eq(b[0].ns, 20 * MS);
	ck_assert_uint_eq(b[0].count, 2);
	ck_assert_uint_eq(b[1].owner, ROW_NONE);
	b = r.v->events->pools.at;
	ck_assert_uint_eq(r.v->events->pools.count, 2);
	ck_assert_str_eq(b[0].blocked_name, "http nio *");
	ck_assert_uint_eq(b[0].ns, 20 * MS);
	run_free(&r);
}
END_TEST

static const struct event_sum *sum_of(const struct kind_view *k, enum event_by by, const char *name)
{
	for (size_t i = 0; i < k->by[by].sums.count; i++)
		if (strcmp(k->by[by].sums.at[i].name, name) == 0)
			return &k->by[by].sums.at[i];
	return NULL;
}

START_TEST(blocked_by_what)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct kind_view *k = kind(&r, BRAID_JVM_OFFCPU);

	ck_assert_uint_eq(k->count, 5);
	ck_assert_uint_eq(sum_of(k, BY_NAME, "parked")->weight, 30 * MS);
	ck_assert_uint_eq(sum_of(k, BY_NAME, "sleeping")->weight, 10 * MS);
	ck_assert_uint_eq(sum_of(k, BY_NAME, "waiting for notify")->weight, 10 * MS);
	ck_assert_uint_eq(sum_of(k, BY_NAME, "blocked on a monitor")->weight, 10 * MS);
	ck_assert_uint_eq(sum_of(k, BY_NAME, "read")->weight, 4 * MS);
	/* the site is where the program parks, not where the JDK does */
	ck_assert_uint_eq(sum_of(k, BY_SITE, "demo.Util.inline")->count, 4);
	run_free(&r);
}
END_TEST

/* ---- code, classes, threads ---- */

START_TEST(compilations)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct event_views *e = r.v->events;

	ck_assert_uint_eq(e->levels[4].count, 3);
	ck_assert_uint_eq(e->levels[4].failed, 1);
	ck_assert_uint_eq(e->levels[3].ns, 2 * MS);
	ck_assert_str_eq(e->compiles.at[0].method, "demo.Main.other");
	ck_assert_uint_eq(e->storms.count, 1);
	ck_assert_str_eq(e->storms.at[0].method, "demo.Main.work");
	ck_assert_uint_eq(e->storms.at[0].count, 4);
	ck_assert_uint_eq(e->storms.at[0].deopts, 1);
	ck_assert_str_eq(kind(&r, BRAID_JVM_DEOPT)->by[BY_DETAIL].sums.at[0].name, "null_check");
	ck_assert_uint_eq(e->heaps.count, 1);
	ck_assert_uint_eq(e->heaps.at[0].first, 1 << 20);
	ck_assert_uint_eq(e->heaps.at[0].last, 2 << 20);
	ck_assert_uint_eq(e->heaps.at[0].max, 3 << 20);
	run_free(&r);
}
END_TEST

START_TEST(classes_and_start)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct event_views *e = r.v->events;
	uint64_t loaded_at_init = UINT64_MAX;

	ck_assert_uint_eq(e->classes.count, 1);
	ck_assert_uint_eq(e->classes.at[0].loaded, 2);
	ck_assert_uint_eq(e->classes.at[0].unloaded, 3);
	ck_assert_str_eq(kind(&r, BRAID_JVM_CLASS_LOAD)->by[BY_DETAIL].sums.at[0].name, "app");
	ck_assert_uint_eq(kind(&r, BRAID_JVM_EXCEPTION)->weight, 5);
	for (size_t i = 0; i < e->starts.count; i++)
		if (strcmp(e->starts.at[i].phase, "init") == 0)
			loaded_at_init = e->starts.at[i].loaded;
	ck_assert_uint_eq(loaded_at_init, 0);
	ck_assert_uint_eq(e->starts.at[e->starts.count - 1].loaded, 2);
	ck_assert_uint_eq(e->starts.at[e->starts.count - 1].compiled, 5);
	run_free(&r);
}
END_TEST

/* Without probes, compilations have no durations; types that a JVM refuses are not recorded. */
START_TEST(what_is_not_known_is_not_zero)
{
	static const struct trace_rec untimed[] = {
		NAME(M_WORK, "demo.Main.work"),
		JVM(AT(60), .kind = BRAID_JVM_COMPILE, .name = M_WORK, .value = 512, .flags = 4),
		JVM(AT(61), .kind = BRAID_JVM_COMPILE, .name = M_WORK, .value = 2048, .flags = 4),
		JVM(AT(62), .kind = BRAID_JVM_ALLOC, .name = M_WORK, .value = 16, .weight = 16),
	};
	struct run r = run_of(untimed, COUNT(untimed), NULL);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	text_compiles(out, r.v, 10);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "            2         -            -     2.50 KiB  4 C2\n"));
	ck_assert_ptr_nonnull(strstr(text, "largest\n"));
	ck_assert_ptr_null(strstr(text, "0 ns"));
	free(text);
	/* The synthetic JVM of process 1 has no sampled allocations; process 2 is no JVM. */
	ck_assert(events_recorded(r.an, BRAID_EVENT_TYPE_ALLOC));
	ck_assert(!events_recorded_of(r.an, 1, BRAID_EVENT_TYPE_ALLOC));
	ck_assert(events_recorded_of(r.an, 1, BRAID_EVENT_TYPE_JIT));
	ck_assert(!events_recorded_of(r.an, 2, BRAID_EVENT_TYPE_JIT));
	run_free(&r);
}
END_TEST

START_TEST(lives_of_threads)
{
	struct run r = run_of(events, COUNT(events), NULL);
	const struct life_view *l = r.v->events->lives.at;

	ck_assert_uint_ge(r.v->events->lives.count, 2);
	ck_assert_str_eq(analysis_thread_name(r.an, l[0].thread), "http nio 8080");
	ck_assert_uint_eq(l[0].started_ns, BASE_NS + 5 * MS);
	ck_assert_uint_eq(l[0].ended_ns, BASE_NS + 125 * MS);
	ck_assert_uint_eq(l[0].cpu_ns, 70 * MS);
	ck_assert_uint_eq(l[0].lock_ns, 20 * MS);
	ck_assert_uint_eq(l[1].blocked_ns, 60 * MS);
	run_free(&r);
}
END_TEST

/* ---- filters and stacks ---- */

/* Milliseconds since the first event, which is one millisecond after the start. */
static struct filter window_of(uint64_t from_ms, uint64_t to_ms)
{
	return (struct filter){.has_from = true,
			       .from = {MOMENT_SINCE_START, (from_ms + 1) * MS},
			       .has_to = true,
			       .to = {MOMENT_SINCE_START, (to_ms + 1) * MS}};
}

/* A thread that is parked from 40 to 70 is parked in each window of that time. */
START_TEST(windows_share_an_interval)
{
	static const struct {
		uint64_t from, to, parked;
	} windows[] = {{0, 40, 0}, {0, 41, 1}, {39, 45, 5}, {50, 60, 10}, {69, 71, 1}, {70, 71, 0}, {40, 70, 30}};

	for (size_t i = 0; i < COUNT(windows); i++) {
		struct filter f = window_of(windows[i].from, windows[i].to);
		struct run r = run_of(events, COUNT(events), &f);

		ck_assert_uint_eq(kind(&r, BRAID_JVM_OFFCPU)->count, windows[i].parked != 0);
		ck_assert_uint_eq(kind(&r, BRAID_JVM_OFFCPU)->weight, windows[i].parked * MS);
		run_free(&r);
	}
}
END_TEST

START_TEST(filters_apply)
{
	struct filter f = {0};
	struct run r;
	char why[64];

	ck_assert_int_eq(filter_add_tids(&f, "102"), 0);
	r = run_of(events, COUNT(events), &f);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_ALLOC)->count, 2);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_LOCK)->count, 2);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_COMPILE)->count, 0); /* no known thread's */
	run_free(&r);
	filter_free(&f);

	ck_assert_int_eq(filter_add_pids(&f, "200"), 0);
	r = run_of(events, COUNT(events), &f);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_OFFCPU)->count, 1);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_COMPILE)->count, 0);
	run_free(&r);
	filter_free(&f);

	/* their parts in the window: from 20 to 35 and from 30 to 31 */
	f = window_of(30, 36);
	r = run_of(events, COUNT(events), &f);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_LOCK)->count, 2);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_LOCK)->weight, 6 * MS);
	run_free(&r);
	filter_free(&f);

	ck_assert_int_eq(filter_add_include(&f, "^demo.Queue$", why, sizeof(why)), 0);
	r = run_of(events, COUNT(events), &f);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_LOCK)->count, 1);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_ALLOC)->count, 0);
	run_free(&r);
	filter_free(&f);

	ck_assert_int_eq(filter_add_exclude(&f, "inline|Queue", why, sizeof(why)), 0);
	r = run_of(events, COUNT(events), &f);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_LOCK)->count, 0);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_ALLOC)->count, 2);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_CLASS_LOAD)->count, 1);
	run_free(&r);
	filter_free(&f);
}
END_TEST

START_TEST(stacks_of_events)
{
	char *text = collapsed(NULL, BRAID_JVM_LOCK, (struct collapsed_options){0});

	ck_assert_str_eq(text, "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline;demo.Lock 20000000\n"
			       "__libc_start_main;demo.Main.main;demo.Main.work;demo.Util.inline;demo.Queue 1000000\n");
	free(text);
	text = collapsed(NULL, BRAID_JVM_EXCEPTION, (struct collapsed_options){.annotate = true, .threads = true});
	ck_assert_str_eq(text, "[main tid=101];__libc_start_main;demo.Main.main_[0];demo.Main.work_[j];"
			       "demo.Util.inline_[i];<b>?[2J:x_[i] 5\n");
	free(text);
	text = collapsed(NULL, BRAID_JVM_COMPILE, (struct collapsed_options){0});
	ck_assert_str_eq(text, "demo.Main.other 9000000\ndemo.Main.work 6000000\n");
	free(text);
	text = collapsed(NULL, BRAID_JVM_VTHREAD_END, (struct collapsed_options){0});
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(script_lines)
{
	struct run r = run_of(events, COUNT(events), NULL);
	char *text = everything(&r);

	ck_assert_ptr_nonnull(strstr(text, "http_nio_8080 100/102 [000] 0.011000000: braid:lock: class=\"demo.Lock\" "
					   "duration_ns=5000000 monitor=9 owner=\"main\" owner_tid=101 "
					   "at=\"<script>alert(1)</script>.run\"\n"
					   "http_nio_8080 100/102 [000] 0.011000000:    5000000 braid:lock:\n"
					   "\t               0 demo.Lock ([class])\n"
					   "\t    7d0000001010 demo.Util.inline (/tmp/perf-100.map)\n"));
	ck_assert_ptr_nonnull(strstr(text, "braid:compile: method=\"demo.Main.work\" duration_ns=1000000 size_bytes=0 "
					   "flags=0x14\n"));
	ck_assert_ptr_nonnull(strstr(text, "braid:offcpu: reason=\"parked\" duration_ns=30000000 flags=0xca\n"));
	ck_assert_ptr_nonnull(strstr(text, "<b>?[2J;x"));
	ck_assert_ptr_null(strchr(text, '\033'));
	ck_assert_ptr_nonnull(strstr(text, "\\u003cb\\u003e?[2J;x"));
	free(text);
	run_free(&r);
}
END_TEST

/* ---- hostile rows ---- */

static uint64_t odd_number(void)
{
	static const uint64_t odd[] = {0, 1, 2, 20, 0x7fffffff, UINT32_MAX, 1ULL << 40, UINT64_MAX - 1, UINT64_MAX};

	return odd[(size_t)lrand48() % COUNT(odd)];
}

START_TEST(hostile_events)
{
	struct run r;

	for (int round = 0; round < 20; round++) {
		struct trace_rec recs[400];
		char *text;

		srand48(round);
		for (size_t i = 0; i < COUNT(recs); i++)
			recs[i] = (struct trace_rec){.kind = TRACE_JVM_EVENT,
						     .jvm_event = {.time_ns = odd_number(),
								   .kind = (uint32_t)lrand48() % (BRAID_JVM_EVENTS + 3),
								   .process = (uint32_t)odd_number(),
								   .thread = (uint32_t)odd_number(),
								   .duration_ns = odd_number(),
								   .node = (uint32_t)odd_number(),
								   .name = (uint32_t)lrand48() % 14,
								   .value = odd_number(),
								   .weight = odd_number(),
								   .number = odd_number(),
								   .flags = (uint32_t)odd_number(),
								   .detail = (uint32_t)lrand48() % 14,
								   .vthread = (uint32_t)odd_number(),
								   .other = (uint32_t)odd_number(),
								   .other_node = (uint32_t)odd_number(),
								   .source = (uint32_t)odd_number(),
								   .text = S("\033]0;x\a")}};
		r = run_of(recs, COUNT(recs), NULL);
		text = everything(&r);
		ck_assert_ptr_null(strchr(text, '\033'));
		free(text);
		run_free(&r);
	}
}
END_TEST

START_TEST(many_events)
{
	struct run r;
	struct trace_rec *recs = calloc(200000, sizeof(*recs));

	ck_assert_ptr_nonnull(recs);
	for (size_t i = 0; i < 200000; i++)
		recs[i] = (struct trace_rec)JVM(AT(i % 190), .kind = i % 2 ? BRAID_JVM_ALLOC : BRAID_JVM_OFFCPU,
						.thread = 1 + i % 2, .node = 1 + i % 11, .name = 1 + i % 4,
						.value = i % 4096, .duration_ns = i);
	r = run_of(recs, 200000, NULL);
	ck_assert_uint_eq(kind(&r, BRAID_JVM_ALLOC)->count, 100000);
	run_free(&r);
	free(recs);
}
END_TEST

Suite *test_events(void)
{
	Suite *s = suite_create("events");
	TCase *tc = tcase_create("events");

	tcase_add_test(tc, allocations_are_estimated);
	tcase_add_test(tc, estimates_are_unbiased);
	tcase_add_test(tc, kernel_events_have_times_and_bytes);
	tcase_add_test(tc, live_objects_are_allocations_that_stayed);
	tcase_add_test(tc, sites_have_what_is_live_and_what_was_allocated);
	tcase_add_test(tc, what_no_collection_has_looked_at_is_not_live);
	tcase_add_test(tc, who_blocked_whom);
	tcase_add_test(tc, blocked_by_what);
	tcase_add_test(tc, compilations);
	tcase_add_test(tc, classes_and_start);
	tcase_add_test(tc, what_is_not_known_is_not_zero);
	tcase_add_test(tc, lives_of_threads);
	tcase_add_test(tc, filters_apply);
	tcase_add_test(tc, windows_share_an_interval);
	tcase_add_test(tc, stacks_of_events);
	tcase_add_test(tc, script_lines);
	tcase_add_test(tc, hostile_events);
	tcase_add_test(tc, many_events);
	suite_add_tcase(s, tc);
	return s;
}
