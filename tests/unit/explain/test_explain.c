// SPDX-License-Identifier: Apache-2.0
/* Tests of critical paths: from hand-made and hostile records to parts, trees and differences. */
#include "unit/explain_fixture.h"
#include "unit/many.h"

Suite *test_explain(void);

#define CPUS(left, back) .weight = (uint64_t)(back) << 32 | (left)

/* The ns of the parts with this state of threads of that name; NULL: of any. */
static uint64_t ns_of(const struct explain *e, enum wall_state state, const char *who)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < e->parts.count; i++) {
		const struct explain_node *n = &e->nodes.at[e->parts.at[i].node];

		if (n->state == state && (!who || strcmp(n->who, who) == 0))
			ns += e->parts.at[i].ns;
	}
	return ns;
}

static const struct explain_part *part_of(const struct explain *e, enum wall_state state)
{
	for (size_t i = 0; i < e->parts.count; i++)
		if (e->nodes.at[e->parts.at[i].node].state == state)
			return &e->parts.at[i];
	ck_abort_msg("no part is %s", wall_key(state));
}

/* Thread 1 waits for a monitor that thread 2 holds, which waits for the disk. */
static const struct trace_rec behind[] = {
	LIFE(1, 0, 200, 140),
	LIFE(2, 0, 200, 150),
	JVM(AT(20), .kind = BRAID_JVM_LOCK, .thread = 1, .node = MONITOR, .name = C_LOCK, .duration_ns = 60 * MS),
	OFF(1, 20, 80, MONITOR, CLASS(FUTEX), .other = 2, .other_node = ON_SCRIPT),
	OFF(2, 10, 60, ON_SCRIPT, CLASS(BLOCK), .name = PATH),
};

START_TEST(the_reason_is_behind_the_lock)
{
	struct explained x = explained_of(behind, COUNT(behind));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct explain *e = explain_of(&x, &s);
	const struct explain_part *disk = part_of(e, WALL_BLOCK_IO);

	ck_assert_uint_eq(ns_of(e, WALL_BLOCK_IO, "http nio *"), 40 * MS);
	ck_assert_uint_eq(ns_of(e, WALL_RUNNING, "http nio *"), 20 * MS);
	ck_assert_uint_eq(ns_of(e, WALL_RUNNING, "main"), 40 * MS);
	ck_assert_uint_eq(ns_of(e, WALL_MONITOR, NULL), 0);
	/* a wait in which others worked is in the tree only */
	ck_assert_int_eq(e->nodes.at[disk->wait].state, WALL_MONITOR);
	ck_assert_str_eq(e->nodes.at[disk->wait].object, "demo.Lock");
	ck_assert_uint_eq(e->nodes.at[disk->wait].total_ns, 60 * MS);
	ck_assert_uint_eq(e->nodes.at[disk->wait].longest.ns, 60 * MS);
	ck_assert_str_eq(e->nodes.at[disk->node].object, "10.0.0.1:80");
	ck_assert_uint_eq(disk->longest.at_ns, BASE_NS + 20 * MS);
	ck_assert_uint_eq(e->longest.ns, 40 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* Thread 1 looks at the monitor by HotSpot's timer, when thread 2 has it, and in the end when that one leaves it. */
START_TEST(timers_of_a_monitor)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 140),
		LIFE(2, 0, 200, 150),
		JVM(AT(20), .kind = BRAID_JVM_LOCK, .thread = 1, .node = MONITOR, .name = C_LOCK,
		    .duration_ns = 60 * MS, .other = 2),
		/* said to begin too early */
		OFF(1, 19, 21, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(1, 21, 30, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(1, 30, 80, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(1, 85, 95, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(2, 10, 60, ON_SCRIPT, CLASS(BLOCK)),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 20, 100);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(ns_of(e, WALL_BLOCK_IO, "http nio *"), 40 * MS);
	ck_assert_uint_eq(ns_of(e, WALL_RUNNING, "http nio *"), 20 * MS);
	/* of the last one there is no LOCK */
	ck_assert_uint_eq(ns_of(e, WALL_MONITOR, "main"), 10 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

START_TEST(it_is_said)
{
	struct explained x = explained_of(behind, COUNT(behind));
	struct stretch s = stretch_of(&x, 1, 20, 80);
	struct explain *e = explain_of(&x, &s);
	char *text = explain_report(e, false), *json = explain_report(e, true);

	ck_assert_ptr_nonnull(strstr(text,
				     "main (101) took 60.00 ms: 67% http nio * waiting for the disk 10.0.0.1:80 in "
				     "<script>alert(1)</script>.run,\n"
				     "  for which main was blocked on the monitor demo.Lock in demo.Util.inline\n"
				     "  from 0.021000 s to 0.081000 s of the recording\n"));
	ck_assert_ptr_nonnull(strstr(text, "The longest single piece: 40.00 ms at 0.021000 s, http nio 8080 waiting"));
	ck_assert_ptr_nonnull(strstr(json, "\"state\":\"block\",\"object\":\"10.0.0.1:80\""));
	free(text);
	free(json);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* ---- time on the CPU, and waiting for it ---- */

START_TEST(running_time_is_divided_by_samples)
{
	/* at 0 to 50 in Util.inline (4 and 5 in the kernel above it), at 60 to 80 in the script, at 90 in a stub */
	const struct trace_rec recs[] = {LIFE(1, 0, 200, 200)};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(e->parts.count, 2);
	ck_assert_uint_eq(e->parts.at[0].ns, 70 * MS);
	ck_assert_str_eq(events_site_name(x.x.r.an, e->nodes.at[e->parts.at[0].node].site), "demo.Util.inline");
	ck_assert_uint_eq(e->parts.at[1].ns, 30 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

START_TEST(who_had_the_cpu)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 130),
		LIFE(2, 0, 200, 100),
		LIFE(3, 0, 200, 100),
		OFF(1, 40, 100, ON_INLINE, CLASS(RUNNABLE), CPUS(1, 1)),
		/* thread 2 has CPU 1 from 50 to 60, thread 3 from 60 to 90 */
		OFF(2, 30, 50, PARKED, CLASS(FUTEX), CPUS(0, 1)),
		OFF(2, 60, 70, PARKED, CLASS(FUTEX), CPUS(1, 0)),
		JVM_OF(2, AT(40), .kind = BRAID_JVM_OFFCPU, .thread = 3, .node = 10, .duration_ns = 20 * MS,
		       CLASS(SLEEP), CPUS(1, 1)),
		JVM_OF(2, AT(90), .kind = BRAID_JVM_OFFCPU, .thread = 3, .node = 10, .duration_ns = 20 * MS,
		       CLASS(SLEEP), CPUS(1, 1)),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 40, 100);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(e->parts.count, 3);
	ck_assert_str_eq(e->nodes.at[e->parts.at[0].node].object, "worker;x (pid 200)");
	ck_assert_uint_eq(e->parts.at[0].ns, 30 * MS);
	ck_assert_str_eq(e->nodes.at[e->parts.at[1].node].object, "unrecorded threads");
	ck_assert_uint_eq(e->parts.at[1].ns, 20 * MS);
	ck_assert_str_eq(e->nodes.at[e->parts.at[2].node].object, "http nio *");
	ck_assert_uint_eq(e->parts.at[2].ns, 10 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/*
 * Thread 2 has no times off the CPU, but samples on CPU 1 at 100, 110 and 120: nobody knows who had it before and
 * after.
 */
START_TEST(samples_say_who_had_the_cpu)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 130),
		LIFE(2, 0, 200, 100),
		OFF(1, 95, 125, ON_INLINE, CLASS(RUNNABLE), CPUS(0, 1)),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 95, 125);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(e->parts.count, 2);
	ck_assert_str_eq(e->nodes.at[e->parts.at[0].node].object, "http nio *");
	ck_assert_uint_eq(e->parts.at[0].ns, 20 * MS);
	ck_assert_str_eq(e->nodes.at[e->parts.at[1].node].object, "unrecorded threads");
	ck_assert_uint_eq(e->parts.at[1].ns, 10 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* Thread 3 takes CPU 1 from thread 2 from 141 to 149. */
START_TEST(who_is_back_on_the_cpu)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 130),
		LIFE(2, 0, 200, 100),
		LIFE(3, 0, 200, 100),
		OFF(1, 130, 170, ON_INLINE, CLASS(RUNNABLE), CPUS(1, 1)),
		OFF(2, 125, 130, PARKED, CLASS(FUTEX), CPUS(1, 1)),
		OFF(2, 170, 175, PARKED, CLASS(FUTEX), CPUS(1, 1)),
		JVM_OF(2, AT(135), .kind = BRAID_JVM_OFFCPU, .thread = 3, .node = 10, .duration_ns = 6 * MS,
		       CLASS(SLEEP), CPUS(0, 1)),
		JVM_OF(2, AT(149), .kind = BRAID_JVM_OFFCPU, .thread = 3, .node = 10, .duration_ns = 51 * MS,
		       CLASS(SLEEP), CPUS(1, 0)),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 130, 170);
	struct explain *e = explain_of(&x, &s);

	ck_assert_str_eq(e->nodes.at[e->parts.at[0].node].object, "http nio *");
	ck_assert_uint_eq(e->parts.at[0].ns, 32 * MS);
	ck_assert_uint_eq(e->parts.count, 2);
	explain_free(e);
	explained_end(&x);
}
END_TEST

START_TEST(what_is_only_counted)
{
	struct explained x = explained_of(life, COUNT(life));
	struct stretch s = stretch_of(&x, 1, 0, 40);
	struct explain *e = explain_of(&x, &s);
	char *text, *json;

	/* 15 of the 125 ms that are in no segment; 10 of them it waited for a CPU */
	ck_assert_uint_eq(ns_of(e, WALL_FUTEX, "main"), 40 * MS * 15 / 125);
	ck_assert_uint_eq(ns_of(e, WALL_RUNNABLE, "main"), 40 * MS * 10 / 125);
	ck_assert_int_eq(e->nodes.at[part_of(e, WALL_FUTEX)->node].sum, EXPLAIN_COUNTED);
	/* of such times, neither how many there were nor the longest is known */
	text = explain_report(e, false);
	json = explain_report(e, true);
	ck_assert_ptr_nonnull(
		strstr(text, "4.80 ms         -           -  waiting on a futex, in times that are only counted\n"));
	ck_assert_ptr_nonnull(strstr(text, "The longest single piece: 32.00 ms at 0.001000 s, running"));
	ck_assert_ptr_nonnull(strstr(json,
				     "\"state\":\"futex\",\"object\":\"\",\"site\":null,\"only_counted\":true,"
				     "\"added_up\":false,\"share\":true,\"node\":2,\"time_s\":0.0048,\"count\":null}"));
	free(text);
	free(json);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* Of times added up by stack, the place is known; their number and the longest only if the stretch has all of them. */
START_TEST(what_was_added_up)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 100),
		JVM(AT(30), .kind = BRAID_JVM_COUNTED, .number = BRAID_JVM_OFFCPU, .thread = 1, .node = ON_INLINE,
		    .value = 400, .weight = 50 * MS, .duration_ns = MS, CLASS(BLOCK)),
		JVM(AT(120), .kind = BRAID_JVM_COUNTED, .number = BRAID_JVM_OFFCPU, .thread = 1, .node = ON_INLINE,
		    .value = 100, .weight = 10 * MS, .duration_ns = 2 * MS, CLASS(BLOCK)),
		COUNTED(1, 40 * MS, CLASS(BLOCK)),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch some = stretch_of(&x, 1, 0, 20), all = stretch_of(&x, 1, 0, 200);
	struct explain *part = explain_of(&x, &some), *e;
	char *text = explain_report(part, false), *json = explain_report(part, true);

	ck_assert_ptr_nonnull(strstr(text,
				     "6.00 ms         -           -  waiting for the disk in demo.Util.inline, as "
				     "a share of times that were added up\n"));
	ck_assert_ptr_nonnull(strstr(text,
				     "4.00 ms         -           -  waiting for the disk, in times that are only "
				     "counted\n"));
	ck_assert_ptr_nonnull(
		strstr(json, "\"only_counted\":false,\"added_up\":true,\"share\":true,\"node\":1,\"time_s\":0.006,"
			     "\"count\":null}"));
	free(text);
	free(json);
	explain_free(part);
	for (int twice = 0; twice < 2; twice++) {
		e = explain_of(&x, &all);
		text = explain_report(e, false);
		ck_assert_ptr_nonnull(strstr(text, "60.00 ms       500     2.00 ms  waiting for the disk in "
						   "demo.Util.inline, in times that were added up\n"));
		free(text);
		explain_free(e);
	}
	explained_end(&x);
}
END_TEST

/* ---- pauses: the synthetic trace has one from 51 to 56 ms ---- */

START_TEST(pauses_have_names)
{
	const struct trace_rec recs[] = {LIFE(1, 0, 200, 180), OFF(1, 50, 60, AT_SAFEPOINT, CLASS(FUTEX))};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 50, 60);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(ns_of(e, WALL_GC, "main"), 5 * MS);
	ck_assert_str_eq(e->nodes.at[part_of(e, WALL_GC)->node].object, "G1 young, System.gc()");
	ck_assert_uint_eq(ns_of(e, WALL_SAFEPOINT, "main"), 5 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

START_TEST(idle_threads_are_not_explained_by_work)
{
	const struct trace_rec recs[] = {LIFE(1, 0, 200, 100), LIFE(2, 0, 200, 200),
					 OFF(1, 0, 100, IN_POOL, CLASS(FUTEX), .other = 2)};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(ns_of(e, WALL_IDLE, "main"), 100 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* Also what of it is known in sum only; what is left adds up to the rest. */
START_TEST(idle_time_is_left_out)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 60), LIFE(2, 0, 200, 200), OFF(1, 0, 100, IN_POOL, CLASS(FUTEX), .other = 2),
		OFF(1, 120, 140, PARKED, CLASS(FUTEX)), COUNTED(1, 20 * MS, CLASS(FUTEX), .node = IN_POOL)};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 200);
	struct explain *e;
	char *text;

	ck_assert_int_eq(explain_new(&e, x.tl, &s, false), 0);
	check_explanation(e);
	ck_assert_uint_eq(e->left_out_ns, 120 * MS);
	ck_assert_uint_eq(explain_ns(e), 80 * MS);
	ck_assert_uint_eq(ns_of(e, WALL_IDLE, "main"), 0);
	ck_assert_uint_eq(ns_of(e, WALL_PARKED, "main"), 20 * MS);
	text = explain_report(e, false);
	ck_assert_ptr_nonnull(strstr(text, "took 80.00 ms, but for 120.00 ms in which it was idle: 75% running"));
	free(text);
	text = explain_report(e, true);
	ck_assert_ptr_nonnull(strstr(text, "\"time_s\":0.08,\"idle_left_out_s\":0.12"));
	free(text);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* ---- what is not there ---- */

START_TEST(outside_of_a_life)
{
	const struct trace_rec recs[] = {LIFE(1, 20, 80, 60)};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(ns_of(e, WALL_UNKNOWN, "main"), 40 * MS);
	ck_assert_uint_eq(ns_of(e, WALL_RUNNING, "main"), 60 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* Who waits for a thread that was not there yet has no further reason. */
START_TEST(wakers_that_were_not_there)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 120),
		LIFE(2, 60, 200, 140),
		OFF(1, 20, 80, PARKED, CLASS(FUTEX), .other = 2),
		OFF(1, 80, 90, PARKED, CLASS(FUTEX), .other = 3),
		OFF(1, 90, 95, PARKED, CLASS(FUTEX), .other = 77),
		OFF(1, 95, 98, PARKED, CLASS(FUTEX), .other = 1),
		OFF(1, 98, 100, PARKED, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(1, 150, 200, PARKED, CLASS(FUTEX) | BRAID_OFFCPU_OPEN, .other = 2),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(ns_of(e, WALL_PARKED, "main"), 60 * MS);
	ck_assert_uint_eq(ns_of(e, WALL_RUNNING, "http nio *"), 20 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/*
 * Thread 1 is blocked on a monitor and looks by a timer now and then (JDKs before 24), and nothing ends that: the
 * reason is what the owner, thread 2, does all the time.
 */
START_TEST(a_wait_that_has_not_ended)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 100, 0),
		LIFE(2, 0, 100, 0),
		JVM(AT(0), .kind = BRAID_JVM_LOCK, .thread = 1, .node = MONITOR, .name = C_LOCK, .other = 2,
		    .flags = BRAID_LOCK_OPEN, .source = BRAID_SOURCE_KERNEL, .duration_ns = 100 * MS),
		OFF(1, 0, 60, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_IRQ, .text = S("timer")),
		OFF(1, 60, 100, MONITOR, CLASS(FUTEX) | BRAID_OFFCPU_OPEN, .name = C_LOCK, .other = 2),
		OFF(2, 0, 100, ON_SCRIPT, CLASS(BLOCK) | BRAID_OFFCPU_OPEN, .name = PATH, .other = 1),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct explain *e = explain_of(&x, &s);
	const struct explain_part *disk = part_of(e, WALL_BLOCK_IO);

	ck_assert_uint_eq(ns_of(e, WALL_BLOCK_IO, "http nio *"), 100 * MS);
	ck_assert_uint_eq(disk->count, 2);
	ck_assert_str_eq(e->nodes.at[disk->wait].object, "demo.Lock");
	ck_assert_str_eq(e->nodes.at[disk->node].ended_by, "[not ended], held by main");
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* Each says that the other one woke it, at the same times. */
START_TEST(circles_end)
{
	const struct trace_rec recs[] = {
		LIFE(1, 0, 200, 0),
		LIFE(2, 0, 200, 0),
		OFF(1, 0, 100, PARKED, CLASS(FUTEX), .other = 2),
		OFF(2, 0, 100, PARKED, CLASS(FUTEX), .other = 1),
	};
	struct explained x = explained_of(recs, COUNT(recs));
	struct stretch s = stretch_of(&x, 1, 0, 100);
	struct explain *e = explain_of(&x, &s);

	ck_assert_uint_eq(ns_of(e, WALL_PARKED, "http nio *"), 100 * MS);
	explain_free(e);
	explained_end(&x);
}
END_TEST

/* ---- differences ---- */

START_TEST(what_differs)
{
	struct explained x = explained_of(behind, COUNT(behind));
	struct stretch first = stretch_of(&x, 1, 20, 80), then = stretch_of(&x, 1, 50, 120);
	struct explain *before = explain_of(&x, &first), *after = explain_of(&x, &then);
	struct explain_diff d;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(explain_diff_new(&d, before, after), 0);
	/* its own running time has two sites: 10 ms of each sample from 80 to 110, where the last two are others' */
	ck_assert_uint_ge(d.changes.count, 3);
	for (size_t i = 0; i < d.changes.count; i++)
		if (d.changes.at[i].before && d.changes.at[i].after)
			ck_assert_str_eq(d.changes.at[i].before->key, d.changes.at[i].after->key);
	explain_diff_text(out, &d, 10);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "main (101) took 70.00 ms, 10.00 ms more than 60.00 ms\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "  -   30.00 ms     40.00 ms     10.00 ms  http nio * waiting for the disk"));
	free(text);
	explain_diff_free(&d);
	explain_free(before);
	explain_free(after);
	explained_end(&x);
}
END_TEST

/* ---- hostile rows ---- */

static void explain_both_ways(struct explained *x, const struct stretch *s)
{
	for (int form = 0; form < 2; form++) {
		struct explain *e = explain_of(x, s);
		char *text = explain_report(e, form);

		ck_assert_ptr_null(strchr(text, '\033'));
		free(text);
		explain_free(e);
	}
}

START_TEST(hostile_rows)
{
	each_hostile(odd_row, explain_both_ways);
}
END_TEST

/* Every wait of each of three threads was ended by the next thread. */
START_TEST(many_rows)
{
	const size_t count = MANY(600000);
	struct trace_rec *recs = calloc(count, sizeof(*recs));
	struct explained x;
	struct stretch s;
	struct explain *e;

	for (uint32_t i = 0; i < 3; i++)
		recs[i] = (struct trace_rec)LIFE(1 + i, 0, 2000, 500);
	for (size_t i = 3; i < count; i++)
		recs[i] = (struct trace_rec)JVM(.time_ns = BASE_NS + i * 1000, .kind = BRAID_JVM_OFFCPU,
						.thread = 1 + i % 3, .node = 1 + i % 11, .duration_ns = 2500,
						CLASS(FUTEX), .other = 1 + (i + 1) % 3, .other_node = 1 + i % 7);
	x = explained_of(recs, count);
	s = stretch_of(&x, 1, 0, 2000);
	e = explain_of(&x, &s);
	ck_assert(!e->cut);
	explain_free(e);
	explained_end(&x);
	free(recs);
}
END_TEST

Suite *test_explain(void)
{
	Suite *s = suite_create("explain");
	TCase *tc = tcase_create("explain");

	tcase_add_test(tc, the_reason_is_behind_the_lock);
	tcase_add_test(tc, timers_of_a_monitor);
	tcase_add_test(tc, it_is_said);
	tcase_add_test(tc, running_time_is_divided_by_samples);
	tcase_add_test(tc, who_had_the_cpu);
	tcase_add_test(tc, samples_say_who_had_the_cpu);
	tcase_add_test(tc, who_is_back_on_the_cpu);
	tcase_add_test(tc, what_is_only_counted);
	tcase_add_test(tc, what_was_added_up);
	tcase_add_test(tc, pauses_have_names);
	tcase_add_test(tc, idle_threads_are_not_explained_by_work);
	tcase_add_test(tc, idle_time_is_left_out);
	tcase_add_test(tc, outside_of_a_life);
	tcase_add_test(tc, wakers_that_were_not_there);
	tcase_add_test(tc, a_wait_that_has_not_ended);
	tcase_add_test(tc, circles_end);
	tcase_add_test(tc, what_differs);
	tcase_add_test(tc, hostile_rows);
	tcase_add_test(tc, many_rows);
	suite_add_tcase(s, tc);
	return s;
}
