// SPDX-License-Identifier: Apache-2.0
/* Tests of where the time of threads went, from hand-made and hostile records to sums and stacks. */
#include <string.h>
#include <sys/syscall.h>

#include <analyze/events.h>
#include <wall/profile.h>
#include <wall/runs.h>
#include <export/export.h>

#include "unit/wall_fixture.h"

Suite *test_wall(void);

/* ---- what always holds ---- */

struct checking {
	uint64_t end_ns, ns;
	bool gapless;
};

static int check_segment(void *ctx, const struct wall_thread *t, const struct wall_segment *s)
{
	struct checking *c = ctx;

	ck_assert_uint_lt(s->start_ns, s->end_ns);
	ck_assert_uint_ge(s->start_ns, t->start_ns);
	ck_assert_uint_le(s->end_ns, t->end_ns);
	if (c->end_ns && c->gapless)
		ck_assert_uint_eq(s->start_ns, c->end_ns);
	ck_assert_uint_ge(s->start_ns, c->end_ns);
	c->end_ns = s->end_ns;
	c->ns += s->end_ns - s->start_ns;
	return 0;
}

/* The segments are a life without gaps, and all sums add up to it: the thread's, the tables' and the stacks'. */
static void check_sums(const struct walled *x, bool gapless)
{
	uint64_t all = 0, on_stacks = 0, in_groups = 0;
	const struct stack_sum *sum;
	struct stack_sums_cursor sums;
	struct wall_view *v;
	struct profile p;

	for (size_t i = 0; i < x->w->threads.count; i++) {
		const struct wall_thread *t = &x->w->threads.at[i];
		struct checking c = {.gapless = gapless};
		uint64_t ns = 0;

		for (int s = 0; s < WALL_STATES; s++)
			ns = add_saturating(ns, t->ns[s]);
		ck_assert_uint_eq(ns, t->life_ns);
		ck_assert_int_eq(wall_each(x->w, t, check_segment, &c), 0);
		if (gapless)
			ck_assert_uint_eq(c.ns, t->life_ns);
		all = add_saturating(all, t->life_ns);
	}
	ck_assert_int_eq(wall_profile(x->w, true, &p), 0);
	for (stack_sums_begin(&sums, &p.sums); (sum = stack_sums_next(&sums));)
		on_stacks = add_saturating(on_stacks, sum->weight);
	ck_assert_uint_eq(on_stacks, all);
	profile_free(&p);
	ck_assert_int_eq(wall_view_new(&v, x->w, true), 0);
	for (size_t i = 0; i < v->groups.count; i++)
		in_groups = add_saturating(in_groups, v->groups.at[i].sums.life_ns);
	ck_assert_uint_eq(in_groups, all);
	ck_assert_uint_eq(v->all.life_ns, all);
	wall_view_free(v);
}

/* ---- sums ---- */

START_TEST(parts_add_up)
{
	struct walled x = wall_of(life, COUNT(life), NULL);
	const struct wall_thread *t = thread(&x, 1);

	ck_assert(t->known);
	ck_assert_uint_eq(t->life_ns, 200 * MS);
	ck_assert_uint_eq(t->ns[WALL_RUNNING], 100 * MS);
	/* 5 at the end of the park, 10 preempted, 5 counted, and 5 of which no record says where */
	ck_assert_uint_eq(t->ns[WALL_RUNNABLE], 25 * MS);
	ck_assert_uint_eq(t->ns[WALL_PARKED], 25 * MS);
	ck_assert_uint_eq(t->ns[WALL_SLEEPING], 10 * MS);
	ck_assert_uint_eq(t->ns[WALL_SOCKET], 10 * MS);
	ck_assert_uint_eq(t->ns[WALL_FAULT], 5 * MS);
	ck_assert_uint_eq(t->ns[WALL_IDLE], 10 * MS);
	ck_assert_uint_eq(t->ns[WALL_FUTEX], 15 * MS);
	ck_assert_uint_eq(t->ns[WALL_UNKNOWN], 0);
	ck_assert_uint_eq(t->excess_ns, 0);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* The time at the end of short waits, in which the thread could run, was counted with the waits. */
START_TEST(what_was_runnable_is_not_counted_twice)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 100, 60, .weight = 10 * MS),
		COUNTED(1, 30 * MS, CLASS(FUTEX)),
		COUNTED(1, 10 * MS, CLASS(PIPE)),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	const struct wall_thread *t = thread(&x, 1);

	ck_assert_uint_eq(t->ns[WALL_RUNNING], 60 * MS);
	ck_assert_uint_eq(t->ns[WALL_RUNNABLE], 10 * MS);
	ck_assert_uint_eq(t->ns[WALL_FUTEX], 30 * MS * 3 / 4);
	ck_assert_uint_eq(t->ns[WALL_PIPE], 10 * MS * 3 / 4);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* A thread that was followed for locks, until offcpu was enabled. */
START_TEST(what_was_counted_before_a_life_is_not_of_it)
{
	const struct trace_rec recs[] = {
		COUNTED(1, 500 * MS, CLASS(FUTEX)),
		LIFE(1, 191, 391, 100),
		OFF(1, 200, 270, PARKED, CLASS(FUTEX)),
		JVM(AT(391), .kind = BRAID_JVM_COUNTED, .thread = 1, .value = 1, .weight = 30 * MS,
		    .number = BRAID_JVM_OFFCPU, CLASS(PIPE)),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	const struct wall_thread *t = thread(&x, 1);

	ck_assert_uint_eq(t->life_ns, 200 * MS);
	ck_assert_uint_eq(t->ns[WALL_RUNNING], 100 * MS);
	ck_assert_uint_eq(t->ns[WALL_PARKED], 70 * MS);
	ck_assert_uint_eq(t->ns[WALL_PIPE], 30 * MS);
	ck_assert_uint_eq(t->ns[WALL_FUTEX], 0);
	ck_assert_uint_eq(t->excess_ns, 0);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

START_TEST(what_is_lost_is_not_known)
{
	const struct trace_rec recs[] = {LIFE(1, 0, 100, 30),
					 OFF(1, 50, 60, PARKED, CLASS(FUTEX)),
					 LIFE(2, 0, 100, 300),
					 OFF(2, 50, 60, PARKED, CLASS(FUTEX)),
					 OFF(3, 50, 60, 0, CLASS(POLL)),
					 OFF(3, 80, 90, 0, CLASS(POLL)),
					 OFF(99, 1, 2, 0, CLASS(POLL))};
	struct walled x = wall_of(recs, COUNT(recs), NULL);

	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_UNKNOWN], 60 * MS);
	ck_assert_uint_eq(thread(&x, 2)->ns[WALL_RUNNING], 90 * MS);
	ck_assert_uint_eq(thread(&x, 2)->excess_ns, 210 * MS);
	/* without a life */
	ck_assert(!thread(&x, 3)->known);
	ck_assert_uint_eq(thread(&x, 3)->life_ns, 40 * MS);
	ck_assert_uint_eq(thread(&x, 3)->ns[WALL_UNKNOWN], 20 * MS);
	ck_assert_uint_eq(x.w->nobodys, 1);
	ck_assert_uint_eq(x.w->nobodys_ns, MS);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* The OS thread of main becomes DestroyJavaVM: it has one life. */
START_TEST(names_of_one_thread)
{
	const struct trace_rec recs[] = {
		REC(TRACE_THREAD, thread, 4, 1, 101, 101, TRACE_THREAD_JAVA, 0, S("DestroyJavaVM"), S("main")),
		OFF(1, 10, 20, PARKED, CLASS(FUTEX)),
		OFF(1, 30, 40, PARKED, CLASS(FUTEX), .other = 4),
		OFF(4, 150, 160, ON_INLINE, CLASS(FUTEX)),
		OFF(2, 50, 60, PARKED, CLASS(FUTEX)),
		LIFE(4, 0, 200, 150),
		COUNTED(1, 20 * MS, CLASS(PIPE)),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	const struct wall_thread *t = thread(&x, 4);

	ck_assert_uint_eq(thread(&x, 1)->life_ns, 0);
	ck_assert_str_eq(analysis_thread_name(x.r.an, t->thread), "main");
	ck_assert_uint_eq(t->life_ns, 200 * MS);
	ck_assert_uint_eq(t->ns[WALL_RUNNING], 150 * MS);
	ck_assert_uint_eq(t->ns[WALL_PARKED], 20 * MS);
	ck_assert_uint_eq(t->ns[WALL_FUTEX], 10 * MS);
	ck_assert_uint_eq(t->ns[WALL_PIPE], 20 * MS);
	ck_assert_uint_eq(thread(&x, 2)->life_ns, 10 * MS);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* ---- pauses: the synthetic trace has a GC pause from 51 to 56 ms ---- */

START_TEST(who_stands_still_for_a_pause)
{
	const struct trace_rec recs[] = {
		JVM(AT(48), .kind = BRAID_JVM_SAFEPOINT, .name = N_OP, .duration_ns = 10 * MS),
		LIFE(1, 0, 200, 0),
		LIFE(2, 0, 200, 0),
		/* at the safepoint from its start, until after its end */
		OFF(1, 49, 60, AT_SAFEPOINT, CLASS(FUTEX), .value = MS),
		/* the VM's thread took its CPU when it was about to */
		OFF(1, 61, 62, AT_SAFEPOINT, CLASS(RUNNABLE), .value = MS),
		JVM(AT(61), .kind = BRAID_JVM_GC_PAUSE, .name = N_OP, .duration_ns = MS / 2),
		/* parked before, and during the pause */
		OFF(2, 40, 60, PARKED, CLASS(FUTEX)),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	const struct wall_thread *t = thread(&x, 1);

	ck_assert_uint_eq(t->ns[WALL_GC], 5 * MS + MS / 2);
	ck_assert_uint_eq(t->ns[WALL_SAFEPOINT], 5 * MS);
	ck_assert_uint_eq(t->ns[WALL_RUNNABLE], MS + MS / 2);
	ck_assert_uint_eq(thread(&x, 2)->ns[WALL_GC] + thread(&x, 2)->ns[WALL_SAFEPOINT], 0);
	ck_assert_uint_eq(thread(&x, 2)->ns[WALL_PARKED], 20 * MS);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

START_TEST(native_code_goes_on_in_a_pause)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 0),
		LIFE(2, 0, 200, 0),
		/* no name says so, but a wait in the VM during the pause is one for its end */
		OFF(1, 52, 58, IN_VM, CLASS(FUTEX)),
		OFF(1, 181, 186, IN_VM, CLASS(FUTEX)),
		JVM(AT(182), .kind = BRAID_JVM_GC_PAUSE, .name = N_OP, .duration_ns = 2 * MS),
		OFF(2, 52, 58, IN_LIBRARY, CLASS(FUTEX)),
		JVM_OF(2, AT(52), .kind = BRAID_JVM_OFFCPU, .thread = 3, .node = OF_VM, .duration_ns = 3 * MS,
		       CLASS(FUTEX)),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);

	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_GC], 6 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_FUTEX], 5 * MS);
	ck_assert_uint_eq(thread(&x, 2)->ns[WALL_FUTEX], 6 * MS);
	ck_assert_uint_eq(thread(&x, 3)->ns[WALL_FUTEX], 3 * MS); /* no Java thread */
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* The weight of events of a kind with that name. */
static uint64_t weight_of(const struct walled *x, uint32_t kind, const char *name)
{
	uint64_t weight = 0;
	struct event e;

	for (size_t i = 0; i < events_count(x->r.an); i++)
		if (events_get(x->r.an, i, &e) && e.kind == kind && strcmp(e.name, name) == 0)
			weight += e.weight;
	return weight;
}

/* After a park, the thread still has its blocker, but the VM stops it. */
START_TEST(what_is_no_lock)
{
	enum { AT_ITS_END = 60 };
	const struct trace_rec recs[] = {
		REC(TRACE_NODE, node, AT_ITS_END, PARKED, 40),
		LIFE(1, 0, 200, 170),
		JVM(AT(10), .kind = BRAID_JVM_LOCK, .thread = 1, .node = PARKED, .name = C_QUEUE,
		    .flags = BRAID_LOCK_PARKED, .source = BRAID_SOURCE_KERNEL, .duration_ns = 10 * MS),
		OFF(1, 10, 20, PARKED, CLASS(FUTEX) | SYS_futex, .name = C_QUEUE),
		JVM(AT(30), .kind = BRAID_JVM_LOCK, .thread = 1, .node = AT_ITS_END, .name = C_QUEUE,
		    .flags = BRAID_LOCK_PARKED, .source = BRAID_SOURCE_KERNEL, .duration_ns = 20 * MS),
		OFF(1, 30, 50, AT_ITS_END, CLASS(FUTEX) | SYS_futex, .name = C_QUEUE),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);

	ck_assert_uint_eq(weight_of(&x, BRAID_JVM_LOCK, "demo.Queue"), 10 * MS);
	ck_assert_uint_eq(weight_of(&x, BRAID_JVM_OFFCPU, "parked"), 0);
	ck_assert_uint_eq(weight_of(&x, BRAID_JVM_OFFCPU, "futex"), 20 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_PARKED], 10 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_SAFEPOINT], 20 * MS);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* The VM locks something, or stops the thread, while Java code is in Thread.sleep. */
START_TEST(what_is_no_sleep)
{
	enum { IN_MUTEX = 60, AT_ITS_END };
	const struct trace_rec recs[] = {
		REC(TRACE_SYMBOL, symbol, 60, 4, 0x3000, 64, S("_ZN5Mutex14lock_contendedEP6Thread")),
		REC(TRACE_FRAME, frame, 60, BRAID_FRAME_NATIVE, 1, 0, 0x3010, 4, 60, 0, 0, NULL),
		REC(TRACE_NODE, node, IN_MUTEX, SLEEPING, 60),
		REC(TRACE_NODE, node, AT_ITS_END, SLEEPING, 40),
		LIFE(1, 0, 200, 140),
		OFF(1, 10, 20, IN_MUTEX, CLASS(FUTEX) | SYS_futex),
		OFF(1, 30, 50, AT_ITS_END, CLASS(FUTEX) | SYS_futex),
		OFF(1, 60, 90, SLEEPING, CLASS(FUTEX) | SYS_futex),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);

	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_FUTEX], 10 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_SAFEPOINT], 20 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_SLEEPING], 30 * MS);
	ck_assert_uint_eq(weight_of(&x, BRAID_JVM_OFFCPU, "sleeping"), 30 * MS);
	ck_assert_uint_eq(weight_of(&x, BRAID_JVM_OFFCPU, "futex"), 30 * MS);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* ---- selections ---- */

START_TEST(windows_cut_lives)
{
	struct filter f = {0};
	struct walled x;

	/* from 60 to 110 ms of the events, which begin 1 ms after the recording */
	ck_assert_int_eq(moment_parse("61ms", &f.from), 0);
	ck_assert_int_eq(moment_parse("111ms", &f.to), 0);
	f.has_from = f.has_to = true;
	x = wall_of(life, COUNT(life), &f);
	ck_assert_uint_eq(thread(&x, 1)->life_ns, 50 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_PARKED], 5 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_SLEEPING], 10 * MS);
	/* 20 of the 125 ms that are in no segment */
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_RUNNING], 100 * MS * 20 / 125);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_FUTEX], 15 * MS * 20 / 125);
	check_sums(&x, true);
	wall_end(&x);
	filter_free(&f);
}
END_TEST

START_TEST(stacks_are_selected)
{
	struct filter f = {0};
	char why[128];
	struct walled x;

	ck_assert_int_eq(filter_add_include(&f, "Unsafe.park", why, sizeof(why)), 0);
	x = wall_of(life, COUNT(life), &f);
	ck_assert_uint_eq(thread(&x, 1)->life_ns, 35 * MS);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_PARKED], 25 * MS);
	check_sums(&x, false);
	wall_end(&x);
	filter_free(&f);

	/* 6 of the thread's 10 samples are in Util.inline, as are all its waits */
	ck_assert_int_eq(filter_add_exclude(&f, "Util.inline", why, sizeof(why)), 0);
	x = wall_of(life, COUNT(life), &f);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_PARKED] + thread(&x, 1)->ns[WALL_SOCKET], 0);
	ck_assert_uint_eq(thread(&x, 1)->ns[WALL_RUNNING], 100 * MS * 3 / 10);
	check_sums(&x, false);
	wall_end(&x);
	filter_free(&f);
}
END_TEST

/* ---- stacks ---- */

START_TEST(stacks_of_a_life)
{
	struct walled x = wall_of(life, COUNT(life), NULL);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct profile p;

	ck_assert_int_eq(wall_profile(x.w, false, &p), 0);
	ck_assert_int_eq(collapsed_write(out, x.r.an, &p, &(struct collapsed_options){0}), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "demo.Main.work;demo.Util.inline;[socket 10.0.0.1:80] 10000000\n"));
	ck_assert_ptr_nonnull(strstr(text, "demo.Util.inline;jdk.internal.misc.Unsafe.park;[parked] 25000000\n"));
	ck_assert_ptr_nonnull(strstr(text, "demo.Util.inline;jdk.internal.misc.Unsafe.park;[runnable] 5000000\n"));
	ck_assert_ptr_nonnull(strstr(text, "demo.Util.inline;[runnable] 10000000\n"));
	ck_assert_ptr_nonnull(strstr(text, "[incomplete: no_stack];[futex] 15000000\n"));
	ck_assert_ptr_null(strstr(text, "getTask"));
	free(text);
	profile_free(&p);
	wall_end(&x);
}
END_TEST

/* A carrier's running time is that of its virtual threads, too. */
START_TEST(carriers_run_virtual_threads)
{
	const struct trace_rec recs[] = {
		REC(TRACE_VTHREAD, vthread, .vthread = 1, .process = 1, .number = 30, .name = S("task-30")),
		LIFE(1, 0, 200, 100),
		REC(TRACE_SAMPLE, sample, .time_ns = BASE_NS + 100 * MS, .thread = 1, .node = ON_NATIVE, .weight = 10,
		    .vthread = 1),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	struct profile p;

	ck_assert_int_eq(wall_profile(x.w, true, &p), 0);
	/* 10 of its own samples, and 10 of the virtual thread */
	ck_assert_uint_eq(p.on[table_find(&x.r.a->nodes, ON_NATIVE)].self, 50 * MS);
	profile_free(&p);
	check_sums(&x, true);
	wall_end(&x);
}
END_TEST

/* The second thread ends while the third has the CPU, and the first one is back when the third leaves it. */
START_TEST(runs_do_not_overlap)
{
	const struct trace_rec recs[] = {
		OFF(1, 0, 5, ON_KERNEL, CLASS(FUTEX)),	OFF(1, 100, 110, ON_KERNEL, CLASS(FUTEX)),
		OFF(2, 0, 10, ON_KERNEL, CLASS(FUTEX)), OFF(2, 20, 90, ON_KERNEL, CLASS(FUTEX)),
		OFF(3, 0, 15, ON_KERNEL, CLASS(FUTEX)), OFF(3, 50, 90, ON_KERNEL, CLASS(FUTEX)),
	};
	static const struct {
		uint32_t thread;
		uint64_t from, to;
	} expected[] = {{1, 5, 10}, {2, 10, 15}, {3, 15, 50}, {1, 50, 100}};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	wall_runs runs = {0};

	ck_assert_int_eq(wall_runs_find(x.w, false, &runs), 0);
	ck_assert_uint_eq(runs.count, COUNT(expected));
	for (size_t i = 0; i < runs.count; i++) {
		ck_assert_uint_eq(runs.at[i].cpu, 0);
		ck_assert_uint_eq(runs.at[i].thread, table_find(&x.r.a->threads, expected[i].thread));
		ck_assert_uint_eq(runs.at[i].start_ns, BASE_NS + expected[i].from * MS);
		ck_assert_uint_eq(runs.at[i].end_ns, BASE_NS + expected[i].to * MS);
	}
	free(runs.at);
	wall_end(&x);
}
END_TEST

struct followed {
	const struct wall *w;
	uint32_t ids[8], count;
};

static int note_followed(void *ctx, const struct wall_thread *t)
{
	struct followed *f = ctx;
	struct wall_thread one;

	ck_assert(wall_vthread(f->w, t->vthread, &one));
	ck_assert_uint_eq(one.vthread, t->vthread);
	ck_assert_uint_eq(one.rows.first, t->rows.first);
	ck_assert_uint_eq(one.rows.count, t->rows.count);
	ck_assert_uint_eq(one.life_ns, t->life_ns);
	f->ids[f->count++] = t->vthread;
	return 0;
}

/* The second one is known of a carrier only. */
START_TEST(virtual_threads_by_id)
{
	const struct trace_rec recs[] = {
		REC(TRACE_VTHREAD, vthread, .vthread = 1, .process = 1, .number = 30, .name = S("task-30")),
		REC(TRACE_VTHREAD, vthread, .vthread = 2, .process = 1, .number = 31, .name = S("task-31")),
		REC(TRACE_VTHREAD, vthread, .vthread = 4, .process = 1, .number = 33, .name = S("task-33")),
		JVM(AT(50), .kind = BRAID_JVM_OFFCPU, .vthread = 4, .duration_ns = 5 * MS, CLASS(UNMOUNTED)),
		JVM(AT(50), .kind = BRAID_JVM_OFFCPU, .thread = 1, .vthread = 2, .duration_ns = 5 * MS, CLASS(FUTEX)),
		JVM(AT(60), .kind = BRAID_JVM_OFFCPU, .vthread = 1, .duration_ns = 5 * MS, CLASS(UNMOUNTED)),
		JVM(AT(60), .kind = BRAID_JVM_LOCK, .vthread = 1, .name = C_QUEUE, .flags = BRAID_LOCK_PARKED,
		    .source = BRAID_SOURCE_KERNEL, .duration_ns = 5 * MS),
		JVM(AT(70), .kind = BRAID_JVM_OFFCPU, .vthread = 4, .duration_ns = 5 * MS, CLASS(UNMOUNTED)),
	};
	struct walled x = wall_of(recs, COUNT(recs), NULL);
	struct followed f = {.w = x.w};
	struct wall_thread t;

	ck_assert_int_eq(wall_each_vthread(x.w, note_followed, &f), 0);
	ck_assert_uint_eq(x.w->nobodys, 0); /* a LOCK says more about a time of the virtual thread */
	ck_assert_uint_eq(f.count, 2);
	ck_assert_uint_eq(f.ids[0], 1);
	ck_assert_uint_eq(f.ids[1], 4);
	ck_assert(!wall_vthread(x.w, 2, &t));
	ck_assert(!wall_vthread(x.w, 3, &t));
	ck_assert(!wall_vthread(x.w, 5, &t));
	wall_end(&x);
}
END_TEST

/* ---- hostile rows ---- */

START_TEST(hostile_rows)
{
	for (int round = 0; round < 30; round++) {
		struct trace_rec recs[500];
		struct filter f = {0};
		struct walled x;

		srand48(round);
		f.has_from = f.has_to = round % 2;
		ck_assert_int_eq(moment_parse("50ms", &f.from), 0);
		ck_assert_int_eq(moment_parse("120ms", &f.to), 0);
		for (size_t i = 0; i < COUNT(recs); i++)
			recs[i] = odd_row();
		x = wall_of(recs, COUNT(recs), &f);
		check_sums(&x, true);
		for (int form = 0; form < 4; form++) {
			char *text = report(&x, form & 1, form & 2);

			ck_assert_ptr_null(strchr(text, '\033'));
			free(text);
		}
		wall_end(&x);
		filter_free(&f);
	}
}
END_TEST

/* Only time shows that the work grows with the square of the rows, and the sanitizers' build is no measure of time. */
#ifdef BRAID_SANITIZED
#define MANY_ROWS 50000
#else
#define MANY_ROWS 200000
#endif

START_TEST(many_rows)
{
	const size_t count = MANY_ROWS;
	struct walled x = {.r = run_begin(NULL)};
	struct wall_view *v;

	run_feed(&x.r, more, COUNT(more));
	for (size_t i = 0; i < count; i++) {
		const struct trace_rec rec = JVM(.time_ns = BASE_NS + i * 1000, .kind = BRAID_JVM_OFFCPU,
						 .thread = 1 + i % 3, .node = 1 + i % 11, .duration_ns = 2500,
						 CLASS(FUTEX), .other = 1 + (i + 1) % 3, .other_node = 1 + i % 7);

		ck_assert_int_eq(analyzer_feed(x.r.a, &rec), 0);
	}
	run_analyze(&x.r, NULL);
	ck_assert_int_eq(wall_new(&x.w, x.r.an), 0);
	ck_assert_int_eq(wall_view_new(&v, x.w, true), 0);
	ck_assert_uint_eq(v->all.threads, 3);
	ck_assert_uint_ge(v->of[WALL_FUTEX].count, count * 99 / 100);
	wall_view_free(v);
	wall_end(&x);
}
END_TEST

Suite *test_wall(void)
{
	Suite *s = suite_create("wall");
	TCase *tc = tcase_create("wall");

	tcase_add_test(tc, parts_add_up);
	tcase_add_test(tc, what_was_runnable_is_not_counted_twice);
	tcase_add_test(tc, what_was_counted_before_a_life_is_not_of_it);
	tcase_add_test(tc, what_is_lost_is_not_known);
	tcase_add_test(tc, names_of_one_thread);
	tcase_add_test(tc, who_stands_still_for_a_pause);
	tcase_add_test(tc, native_code_goes_on_in_a_pause);
	tcase_add_test(tc, what_is_no_lock);
	tcase_add_test(tc, what_is_no_sleep);
	tcase_add_test(tc, windows_cut_lives);
	tcase_add_test(tc, stacks_are_selected);
	tcase_add_test(tc, stacks_of_a_life);
	tcase_add_test(tc, carriers_run_virtual_threads);
	tcase_add_test(tc, runs_do_not_overlap);
	tcase_add_test(tc, virtual_threads_by_id);
	tcase_add_test(tc, hostile_rows);
	tcase_add_test(tc, many_rows);
	suite_add_tcase(s, tc);
	return s;
}
