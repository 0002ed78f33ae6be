// SPDX-License-Identifier: Apache-2.0
/* Tests of differences between recordings: simulated programs whose methods are sampled at random times. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>
#include <compare/slices.h>
#include <report/diff.h>

#include "unit/many.h"
#include "unit/synthetic.h"

Suite *test_diff(void);

#define METHODS 40
#define LENGTH_NS (10000 * MS)

/* What a program does: weights of its methods, of which the first is called by the others, too. */
struct program {
	double weight[METHODS];
	unsigned samples;
	bool phases;	     /* method 3 runs in the first quarter only, and the others more then */
	unsigned interrupts; /* samples of method 3 in the handler of an interrupt */
};

#define IN_INTERRUPT (METHODS + 3) /* the node of these */

static struct program program_of(unsigned samples)
{
	struct program p = {.samples = samples};
	double weight = 0.3;

	for (unsigned i = 0; i < METHODS; i++, weight *= 0.8)
		p.weight[i] = weight;
	return p;
}

static double at_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)(*state * 0x2545f4914f6cdd1dULL >> 11) / (double)(1ULL << 53);
}

static void feed(struct analyzer *a, struct trace_rec rec)
{
	ck_assert_int_eq(analyzer_feed(a, &rec), 0);
}

static void define_interrupt(struct analyzer *a)
{
	uint64_t address = 0xffffffff82000000ULL;

	feed(a, (struct trace_rec)REC(TRACE_SYMBOL, symbol, METHODS + 2, 1, address, 256,
				      S("asm_sysvec_apic_timer_interrupt")));
	feed(a, (struct trace_rec)REC(TRACE_FRAME, frame, METHODS + 2, BRAID_FRAME_KERNEL, 0, 1, address + 4, 1,
				      METHODS + 2, 0, 0, NULL));
	feed(a, (struct trace_rec)REC(TRACE_NODE, node, METHODS + 2, 1, METHODS + 2));
	feed(a, (struct trace_rec)REC(TRACE_NODE, node, IN_INTERRUPT, METHODS + 2, 4));
}

/* A caller of all methods, and the methods as functions of the kernel. */
static void define(struct analyzer *a)
{
	feed(a, (struct trace_rec)REC(TRACE_INFO, info, S("record.frequency_hz"), S("1000")));
	feed(a, (struct trace_rec)REC(TRACE_CLOCK, clock, BASE_NS, 1, START_REALTIME_NS));
	feed(a, (struct trace_rec)REC(TRACE_PROCESS, process, 1, 100, 0, 5, S("java"), S("/usr/bin/java")));
	feed(a, (struct trace_rec)REC(TRACE_THREAD, thread, 1, 1, 101, 101, 0, 0, S("main"), S("main")));
	for (uint32_t i = 0; i <= METHODS; i++) {
		uint64_t address = 0xffffffff81000000ULL + 256 * i;
		char name[16];

		snprintf(name, sizeof(name), "m%u", i);
		feed(a, (struct trace_rec){.kind = TRACE_SYMBOL,
					   .symbol = {i + 1, 1, address, 256, str_of(i < METHODS ? name : "caller")}});
		feed(a, (struct trace_rec)REC(TRACE_FRAME, frame, i + 1, BRAID_FRAME_KERNEL, 0, 1, address + 4, 1,
					      i + 1, 0, 0, NULL));
	}
	feed(a, (struct trace_rec)REC(TRACE_NODE, node, 1, 0, METHODS + 1));
	for (uint32_t i = 0; i < METHODS; i++)
		feed(a, (struct trace_rec)REC(TRACE_NODE, node, i + 2, 1, i + 1));
	define_interrupt(a);
}

static unsigned method_at(const struct program *p, double part, uint64_t *state)
{
	double sum = 0, at;
	unsigned i = 0;

	for (unsigned k = 0; k < METHODS; k++)
		sum += p->weight[k] * (p->phases && k == 3 && part > 0.25 ? 0 : 1);
	at = at_random(state) * sum;
	while (i < METHODS - 1 && (at -= p->weight[i] * (p->phases && i == 3 && part > 0.25 ? 0 : 1)) >= 0)
		i++;
	return i;
}

static struct analyzer *run(const struct program *p, uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
	struct analyzer *a;

	ck_assert_int_eq(analyzer_new(&a), 0);
	analyzer_keep_samples(a);
	define(a);
	for (unsigned i = 0; i < p->samples + p->interrupts; i++) {
		double part = at_random(&state);
		uint64_t time_ns = BASE_NS + (uint64_t)(part * (double)LENGTH_NS);
		uint32_t node = i < p->samples ? method_at(p, part, &state) + 2 : IN_INTERRUPT;

		feed(a, (struct trace_rec)REC(TRACE_SAMPLE, sample, time_ns, 1, 0, node, 1, 0));
	}
	feed(a, (struct trace_rec)REC(TRACE_END, end, BASE_NS + LENGTH_NS));
	return a;
}

struct both {
	struct analyzer *a[DIFF_SIDES];
	struct analysis *an[DIFF_SIDES];
};

static struct both both(const struct program *before, const struct program *after, uint64_t seed)
{
	static const struct filter everything;
	struct both b = {.a = {run(before, 2 * seed), run(after, 2 * seed + 1)}};

	for (int side = 0; side < DIFF_SIDES; side++)
		ck_assert_int_eq(analysis_new(&b.an[side], b.a[side], &everything), 0);
	return b;
}

static struct diff *compare(const struct program *before, const struct program *after, uint64_t seed,
			    struct diff_options options)
{
	struct both b = both(before, after, seed);
	struct diff *d;

	ck_assert_int_eq(diff_new(&d, (const struct analysis *const *)b.an, (const double[]){1, 1}, &options), 0);
	for (int side = 0; side < DIFF_SIDES; side++) {
		analysis_free(b.an[side]);
		analyzer_free(b.a[side]);
	}
	return d;
}

static const struct diff_options amounts, shares = {.normalise = true};

/* Nothing differs: at the 1 % level, one of 20 pairs at most has a method that seems to. */
static void same(const struct program *p, struct diff_options options)
{
	unsigned alarms = 0;

	for (uint64_t seed = 1; seed <= MANY(20); seed++) {
		struct diff *d = compare(p, p, seed, options);

		alarms += d->significant > 0;
		diff_free(d);
	}
	ck_assert_uint_le(alarms, 1);
}

START_TEST(same_program_twice)
{
	struct program p = program_of(5000);

	same(&p, amounts);
	same(&p, shares);
	p.phases = true;
	same(&p, amounts);
	same(&p, shares);
}
END_TEST

/* A method makes the program 5 % slower: by amounts and by shares, it alone differs. */
START_TEST(slower_by_a_method)
{
	struct program before = program_of(20000), after = program_of(21000);
	double all = 0;

	for (unsigned i = 0; i < METHODS; i++)
		all += before.weight[i];
	after.weight[2] += 0.05 * all;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct diff *by_amount = compare(&before, &after, seed, amounts),
			    *by_share = compare(&before, &after, seed, shares);

		ck_assert_uint_eq(by_amount->significant, 1);
		ck_assert_str_eq(by_amount->rows.at[0].name, "m2");
		ck_assert_uint_eq(by_share->significant, 1);
		ck_assert_str_eq(by_share->rows.at[0].name, "m2");
		diff_free(by_amount);
		diff_free(by_share);
	}
}
END_TEST

/*
 * Methods of one or two samples, which are most of them, do not hide what a larger one has gained: 3.5 standard errors
 * are found among 40 methods, and 14 of these pairs have as much. By the error of the recording alone (OWN_ERROR 0), 11
 * are found.
 */
START_TEST(slower_among_rare_methods)
{
	struct program before = program_of(3000), after = before;
	unsigned found = 0;

	for (unsigned i = 8; i < METHODS; i++)
		before.weight[i] = after.weight[i] = 0.0007;
	after.weight[3] *= 1.4;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct diff *d = compare(&before, &after, seed, amounts);

		found += d->significant > 0 && strcmp(d->rows.at[0].name, "m3") == 0;
		diff_free(d);
	}
	ck_assert_uint_ge(found, 13);
}
END_TEST

/* The same samples of a method are a difference if the program has them, and none if interrupts have. */
START_TEST(interrupts_are_not_compared)
{
	struct program before = program_of(3000), after = before;
	struct diff *d;
	double sample;

	after.interrupts = 600;
	d = compare(&before, &after, 1, amounts);
	ck_assert_uint_eq(d->significant, 0);
	ck_assert(d->interrupts[DIFF_BEFORE] == 0);
	sample = d->total[DIFF_BEFORE] / 3000;
	ck_assert_double_eq_tol(d->interrupts[DIFF_AFTER], 600 * sample, 1);
	ck_assert_double_eq_tol(d->total[DIFF_AFTER], 3600 * sample, 1);
	diff_free(d);

	after.interrupts = 0;
	after.samples = 3600;
	after.weight[3] *= 3;
	d = compare(&before, &after, 1, amounts);
	ck_assert_uint_gt(d->significant, 0);
	diff_free(d);
}
END_TEST

/* What concerns all methods alike is a difference of amounts only; and callers count with what they call. */
START_TEST(twice_as_long)
{
	struct program before = program_of(4000), after = program_of(8000);
	struct diff *d = compare(&before, &after, 3, (struct diff_options){.total = true});

	ck_assert_uint_gt(d->significant, 5);
	ck_assert_str_eq(d->rows.at[0].name, "caller");
	ck_assert_double_eq_tol(d->rows.at[0].amount[DIFF_BEFORE], 4000, 0.001);
	ck_assert_double_eq_tol(d->rows.at[0].amount[DIFF_AFTER], 8000, 0.001);
	diff_free(d);
	d = compare(&before, &after, 3, shares);
	ck_assert_uint_eq(d->significant, 0);
	diff_free(d);
}
END_TEST

START_TEST(new_and_gone)
{
	struct program before = program_of(5000), after = before;
	struct diff *d;

	before.weight[5] = after.weight[6] = 0;
	d = compare(&before, &after, 1, amounts);
	ck_assert_uint_eq(d->significant, 2);
	for (int i = 0; i < 2; i++)
		ck_assert(d->rows.at[i].amount[strcmp(d->rows.at[i].name, "m5") == 0 ? DIFF_BEFORE : DIFF_AFTER] == 0);
	diff_free(d);
}
END_TEST

/* An empty recording is compared without a division by zero. */
START_TEST(nothing_to_compare)
{
	struct program none = program_of(0), some = program_of(1000);
	struct diff *d = compare(&none, &none, 1, shares);

	ck_assert_uint_eq(d->rows.count, 0);
	diff_free(d);
	d = compare(&none, &some, 1, shares);
	ck_assert_double_eq(d->total[DIFF_BEFORE], 0);
	ck_assert_double_eq_tol(d->total[DIFF_AFTER], 1000, 0.001);
	diff_free(d);
}
END_TEST

/*
 * A method, with one of two others inlined into it, and a function: samples of the first two, by `first`, and of the
 * function.
 */
static struct analyzer *run_unit(double unit, bool first, uint64_t seed)
{
	static const struct trace_scope one[] = {{3, 0}, {2, 6}}, other[] = {{4, 0}, {2, 6}};
	static const struct trace_rec code[] = {
		REC(TRACE_METHOD, method, 2, 1, 9, S("demo.Main"), S("work"), S("()V"), S("")),
		REC(TRACE_METHOD, method, 3, 1, 9, S("demo.Util"), S("one"), S("()V"), S("")),
		REC(TRACE_METHOD, method, 4, 1, 9, S("demo.Util"), S("other"), S("()V"), S("")),
		REC(TRACE_CODE, code, 1, 1, TRACE_CODE_METHOD, 2, BRAID_TIER_C2, 7, 0, CODE_AT, 256, 1, S("")),
		REC(TRACE_FRAME, frame, METHODS + 2, BRAID_FRAME_CODE_CACHE, 1, 1, CODE_AT + 16, 0, 0, 1, 2, one),
		REC(TRACE_FRAME, frame, METHODS + 3, BRAID_FRAME_CODE_CACHE, 1, 1, CODE_AT + 32, 0, 0, 1, 2, other),
		REC(TRACE_NODE, node, METHODS + 2, 0, METHODS + 2),
		REC(TRACE_NODE, node, METHODS + 3, 0, METHODS + 3),
	};
	uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
	struct analyzer *a;

	ck_assert_int_eq(analyzer_new(&a), 0);
	analyzer_keep_samples(a);
	define(a);
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		feed(a, code[i]);
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t time_ns = BASE_NS + (uint64_t)(at_random(&state) * (double)LENGTH_NS);
		uint32_t node = at_random(&state) >= unit ? 2 : METHODS + (first ? 2 : 3);

		feed(a, (struct trace_rec)REC(TRACE_SAMPLE, sample, time_ns, 1, 0, node, 1, 0));
	}
	feed(a, (struct trace_rec)REC(TRACE_END, end, BASE_NS + LENGTH_NS));
	return a;
}

/* What differs if the unit has `before` and `after` of all samples, in another inlined method if it `moves`. */
static size_t units_that_differ(double before, double after, bool moves)
{
	static const struct filter everything;
	const double unit[DIFF_SIDES] = {before, after};
	struct analyzer *a[DIFF_SIDES];
	struct analysis *an[DIFF_SIDES];
	struct diff *d;
	size_t significant;

	for (int side = 0; side < DIFF_SIDES; side++) {
		a[side] = run_unit(unit[side], side == DIFF_BEFORE || !moves, (uint64_t)side + 1);
		ck_assert_int_eq(analysis_new(&an[side], a[side], &everything), 0);
	}
	ck_assert_int_eq(diff_new(&d, (const struct analysis *const *)an, (const double[]){1, 1}, &amounts), 0);
	significant = d->significant;
	diff_free(d);
	for (int side = 0; side < DIFF_SIDES; side++) {
		analysis_free(an[side]);
		analyzer_free(a[side]);
	}
	return significant;
}

/*
 * Which inlined method has the time of a unit says the compiler: none differs unless the unit does, and by its own
 * time.
 */
START_TEST(time_that_moves_inside_a_unit)
{
	ck_assert_uint_eq(units_that_differ(0.4, 0.4, true), 0);
	ck_assert_uint_eq(units_that_differ(0.4, 0.5, true), 1); /* the function */
	ck_assert_uint_eq(units_that_differ(0.4, 0.5, false), 2);
}
END_TEST

static char *printed(const struct diff *d, const struct diff_options *options,
		     void (*print)(FILE *out, const struct diff_report *r))
{
	const struct diff_report r = {.diff = d,
				      .row = "method",
				      .options = options,
				      .path = {"a.trace", "b.trace"},
				      .duration_ns = {LENGTH_NS, LENGTH_NS},
				      .what = "CPU time",
				      .unit = UNIT_NS,
				      .top = 1};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(out, &r);
	fclose(out);
	return text;
}

START_TEST(as_text_and_json)
{
	struct diff d = {.total = {1e9, 1.5e9}, .methods = 7, .significant = 2};
	const struct diff_row rows[] = {{"a.B.c", DOMAIN_JAVA, {0, 6e8}, 1e7, 0.001},
					{"<x>", DOMAIN_NATIVE, {2e8, 1e8}, 1e7, 0.004}};
	char *text;

	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(VEC_PUSH(&d.rows, rows[i]), 0);
	text = printed(&d, &amounts, diff_text);
	ck_assert_str_eq(text,
			 "CPU time of methods in a.trace and in b.trace\n"
			 "                     before        after\n"
			 "  duration          10.00 s      10.00 s\n"
			 "  CPU time           1.00 s       1.50 s  +50.0 %\n"
			 "\n"
			 "2 of 7 methods differ by more than chance (at the 1 % level, for all of them together)\n"
			 "         change                  before        after  method\n"
			 "  +   600.00 ms        new         0 ns    600.00 ms  a.B.c\n"
			 "  and 1 more\n");
	free(text);
	text = printed(&d, &amounts, diff_json);
	ck_assert_ptr_nonnull(strstr(text, "{\"method\":\"a.B.c\",\"kind\":\"java\",\"before\":0.000000,"
					   "\"after\":600000000.000000,\"change\":600000000.000000,"));
	ck_assert_ptr_null(strstr(text, "<x>"));
	free(text);
	free(d.rows.at);
}
END_TEST

/* Times off the CPU that the recorder added up are in the slices, as they are in the tree. */
START_TEST(sums_are_in_slices)
{
	static const struct filter everything = {.each = true};
	const struct trace_rec summed = {.kind = TRACE_JVM_EVENT,
					 .jvm_event = {.time_ns = BASE_NS + 5 * MS,
						       .kind = BRAID_JVM_COUNTED,
						       .process = 1,
						       .thread = 1,
						       .node = 3,
						       .number = BRAID_JVM_OFFCPU,
						       .value = 4,
						       .weight = 5 * MS}};
	struct analyzer *a;
	struct analysis *an;
	struct slices s;

	ck_assert_int_eq(analyzer_new(&a), 0);
	analyzer_keep_samples(a);
	define(a);
	feed(a, summed);
	ck_assert_int_eq(analysis_new(&an, a, &everything), 0);
	ck_assert_int_eq(slices_new(&s, an, &(struct diff_options){.kind = BRAID_JVM_OFFCPU}, 1), 0);
	ck_assert_double_eq_tol(s.weight, 5 * MS, 0.1);
	slices_free(&s);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

/* Samples without times are counted in a number of pieces that does not grow with their weights. */
START_TEST(weights_without_times)
{
	static const struct filter everything = {0};
	struct analyzer *a;
	struct analysis *an;
	struct slices s;

	ck_assert_int_eq(analyzer_new(&a), 0);
	define(a);
	feed(a, (struct trace_rec)REC(TRACE_INFO, info, S(IMPORT_FACT_CLOCK), S(IMPORT_NO_CLOCK)));
	for (uint32_t i = 0; i < 3; i++)
		feed(a, (struct trace_rec)REC(TRACE_SAMPLE, sample, BASE_NS, 1, 0, i + 2, UINT64_MAX, 0));
	ck_assert_int_eq(analysis_new(&an, a, &everything), 0);
	ck_assert_uint_eq(an->samples.quality.total, UINT64_MAX);
	ck_assert_int_eq(slices_new(&s, an, &(struct diff_options){0}, 1), 0);
	ck_assert_double_gt(s.weight, 5e19);
	ck_assert_double_lt(s.weight * s.weight / s.squares, 2.1e6);
	slices_free(&s);
	analysis_free(an);
	analyzer_free(a);
}
END_TEST

Suite *test_diff(void)
{
	Suite *s = suite_create("diff");
	TCase *t = tcase_create("diff");

	tcase_add_test(t, same_program_twice);
	tcase_add_test(t, slower_by_a_method);
	tcase_add_test(t, slower_among_rare_methods);
	tcase_add_test(t, interrupts_are_not_compared);
	tcase_add_test(t, twice_as_long);
	tcase_add_test(t, new_and_gone);
	tcase_add_test(t, time_that_moves_inside_a_unit);
	tcase_add_test(t, nothing_to_compare);
	tcase_add_test(t, as_text_and_json);
	tcase_add_test(t, sums_are_in_slices);
	tcase_add_test(t, weights_without_times);
	suite_add_tcase(s, t);
	return s;
}
