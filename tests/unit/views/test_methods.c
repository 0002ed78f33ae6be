// SPDX-License-Identifier: Apache-2.0
/* Tests of the table of methods, and of sums by stack only. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <views/views.h>

#include "unit/run.h"

Suite *test_methods(void);

#define METHODS 12U
#define STACKS 3000U
#define FIRST 100U /* of methods, frames and nodes: after the synthetic trace's */

/* Methods call each other and themselves; every third frame has another one inlined, and every fifth is interpreted. */
static void feed_stacks(struct run *r)
{
	char name[8] = "m0";

	for (uint32_t m = 0; m < METHODS; m++) {
		struct trace_scope scopes[] = {{FIRST + (m * 5 + 1) % METHODS, 2}, {FIRST + m, 1}};
		struct trace_rec method = REC(TRACE_METHOD, method, FIRST + m, 1, 0, S("x.X"), {name, 2});
		struct trace_rec code = REC(TRACE_CODE, code, .code = FIRST + m, .process = 1, .method = FIRST + m,
					    .tier = m % 2 ? 4 : 1);
		struct trace_rec frame = REC(TRACE_FRAME, frame, .frame = FIRST + m, .process = 1, .code = FIRST + m,
					     .kind = m % 5 ? BRAID_FRAME_CODE_CACHE : BRAID_FRAME_INTERPRETED,
					     .scope_count = m % 3 ? 1 : 2, .scopes = m % 3 ? scopes + 1 : scopes);

		name[1] = (char)('a' + m);
		run_feed(r, &method, 1);
		run_feed(r, &code, 1);
		run_feed(r, &frame, 1);
	}
	srand48(11);
	for (uint32_t n = 0; n < STACKS; n++) {
		uint32_t parent = n ? FIRST + (uint32_t)lrand48() % n : 0;
		struct trace_rec node =
			REC(TRACE_NODE, node, FIRST + n, lrand48() % 50 ? parent : 0,
			    FIRST + (uint32_t)lrand48() % (METHODS + 1)); /* the last frame is missing */

		run_feed(r, &node, 1);
	}
	for (uint32_t i = 0; i < 2 * STACKS; i++) {
		struct trace_rec sample = REC(TRACE_SAMPLE, sample, BASE_NS + i, 1 + i % 3, 0,
					      FIRST + (uint32_t)lrand48() % (STACKS + 10), 1 + (uint64_t)lrand48() % 3);

		run_feed(r, &sample, 1);
	}
}

/* What the table says of a method, found by going through each stack's frames. */
struct found {
	const char *name;
	enum stack_domain domain;
	uint64_t self, total, kinds[KIND_COUNT];
	bool seen;
};

static void visit(void *ctx, const struct analysis *an, const struct xframe *x)
{
	const struct sym *sym = &an->syms.at[x->sym];
	struct found *f = ctx;

	if (f->name != analysis_sym_name(an, x->sym) || f->domain != kind_domain((enum stack_kind)sym->kind))
		return;
	f->kinds[sym->kind] += f->self;
	f->seen = true;
}

static bool is_innermost(const struct analysis *an, uint32_t row, const struct method_view *m)
{
	uint32_t frame = an->stacks[row].frame;
	const struct expansion *e = frame == ROW_NONE ? NULL : &an->expansions[frame];
	uint32_t sym = e ? an->xframes.at[e->first + e->count - 1].sym : 0;

	return e && analysis_sym_name(an, sym) == m->name &&
	       kind_domain((enum stack_kind)an->syms.at[sym].kind) == m->domain;
}

static void assert_method(const struct analysis *an, const struct method_view *m)
{
	uint64_t self = 0, total = 0, kinds[KIND_COUNT] = {0};

	for (uint32_t row = 0; row < an->a->nodes.count; row++) {
		struct found f = {.name = m->name, .domain = m->domain, .self = an->samples.on[row].self};

		analysis_each_frame(an, row, visit, &f);
		total += f.seen ? f.self : 0;
		self += is_innermost(an, row, m) ? f.self : 0;
		for (int k = 0; k < KIND_COUNT; k++)
			kinds[k] += f.kinds[k];
	}
	ck_assert_uint_eq(m->self, self);
	ck_assert_uint_eq(m->total, total);
	ck_assert_mem_eq(m->kind_weight, kinds, sizeof(kinds));
	for (int k = 0; k < KIND_COUNT; k++)
		ck_assert_uint_le(kinds[k], kinds[m->kind]);
}

START_TEST(methods_are_those_of_all_stacks)
{
	struct run r = run_begin(NULL);

	feed_stacks(&r);
	run_analyze(&r, NULL);
	ck_assert_uint_gt(r.v->methods.count, METHODS);
	for (size_t i = 0; i < r.v->methods.count; i++) {
		const struct method_view *m = &r.v->methods.at[i];

		assert_method(r.an, m);
		ck_assert_uint_gt(m->total, 0);
		ck_assert_int_ne(m->domain, DOMAIN_INCOMPLETE);
		ck_assert(i == 0 || m[-1].self >= m->self);
	}
	run_free(&r);
}
END_TEST

/* Without threads, samples are on the same stacks, also those whose stack is missing or comes later. */
START_TEST(sums_by_stack)
{
	struct run r = run_begin(NULL), only = {0};

	ck_assert_int_eq(analyzer_new(&only.a), 0);
	analyzer_sum_stacks(only.a);
	run_feed(&only, synthetic, SYNTHETIC_COUNT);
	feed_stacks(&r);
	feed_stacks(&only);
	run_analyze(&r, NULL);
	run_analyze(&only, NULL);
	ck_assert_uint_eq(r.a->nodes.count, only.a->nodes.count);
	ck_assert_mem_eq(r.an->samples.on, only.an->samples.on, r.a->nodes.count * sizeof(*r.an->samples.on));
	ck_assert_mem_eq(&r.an->samples.quality, &only.an->samples.quality, sizeof(r.an->samples.quality));
	ck_assert_uint_gt(r.an->samples.quality.by_cause[CAUSE_DAMAGED], 0);
	ck_assert_uint_eq(only.v->threads.count, 1);
	run_free(&r);
	run_free(&only);
}
END_TEST

Suite *test_methods(void)
{
	Suite *s = suite_create("methods");
	TCase *tc = tcase_create("methods");

	tcase_add_test(tc, methods_are_those_of_all_stacks);
	tcase_add_test(tc, sums_by_stack);
	suite_add_tcase(s, tc);
	return s;
}
