// SPDX-License-Identifier: Apache-2.0
/* Tests of stacks that an analyzer forgets. */
#include <check.h>
#include <stdlib.h>

#include <analyze/state.h>
#include <braid/jvm_event.h>

Suite *test_forget(void);

#define NODES 1000U

static void feed(struct analyzer *a, const struct trace_rec *rec)
{
	ck_assert_int_eq(analyzer_feed(a, rec), 0);
}

/* Needed are the stacks of samples and events, and all that they stand on. */
START_TEST(needed_stacks_are_kept)
{
	static const uint32_t kept[] = {1, 2, 4, 40, 41, 400, 402, 5000};
	struct analyzer *a;

	ck_assert_int_eq(analyzer_new(&a), 0);
	analyzer_keep_samples(a);
	for (uint32_t i = 1; i <= NODES; i++)
		feed(a, &(struct trace_rec){.kind = TRACE_NODE, .node = {i, i / 10, i + 7}});
	feed(a, &(struct trace_rec){.kind = TRACE_SAMPLE, .sample = {.time_ns = 1, .node = 400, .weight = 1}});
	feed(a, &(struct trace_rec){.kind = TRACE_SAMPLE, .sample = {.time_ns = 2, .node = 402, .weight = 1}});
	feed(a, &(struct trace_rec){.kind = TRACE_SAMPLE, .sample = {.time_ns = 3, .node = NODES + 1, .weight = 1}});
	feed(a, &(struct trace_rec){.kind = TRACE_NAME, .name = {1, {"probe", 5}}});
	feed(a,
	     &(struct trace_rec){.kind = TRACE_SAMPLE, .sample = {.time_ns = 3, .node = 2, .weight = 1, .event = 1}});
	feed(a, &(struct trace_rec){.kind = TRACE_JVM_EVENT,
				    .jvm_event = {.time_ns = 4, .kind = BRAID_JVM_LOCK, .node = 41, .other_node = 1}});
	feed(a, &(struct trace_rec){.kind = TRACE_NODE, .node = {5000, 2, 9}});
	feed(a, &(struct trace_rec){.kind = TRACE_JVM_EVENT,
				    .jvm_event = {.time_ns = 5, .kind = BRAID_JVM_LOCK, .node = 5000}});
	ck_assert_int_eq(analyzer_forget_stacks(a), 0);
	ck_assert_uint_eq(a->nodes.count, sizeof(kept) / sizeof(kept[0]));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		const struct node_row *n = table_get(&a->nodes, kept[i]);

		ck_assert_uint_eq(table_find(&a->nodes, kept[i]), i);
		ck_assert_ptr_nonnull(n);
		ck_assert_uint_eq(n->parent, kept[i] == 5000 ? 2 : kept[i] / 10);
		ck_assert_uint_eq(n->frame, kept[i] == 5000 ? 9 : kept[i] + 7);
	}
	ck_assert_ptr_null(table_get(&a->nodes, 3));

	/* a forgotten one can come again, and go again, and those with ids far from their rows are still found */
	feed(a, &(struct trace_rec){.kind = TRACE_NODE, .node = {3, 1, 30}});
	feed(a, &(struct trace_rec){.kind = TRACE_NODE, .node = {700, 3, 31}});
	ck_assert_uint_eq(((const struct node_row *)table_get(&a->nodes, 3))->frame, 30);
	feed(a, &(struct trace_rec){.kind = TRACE_SAMPLE, .sample = {.time_ns = 9, .node = 700, .weight = 1}});
	ck_assert_int_eq(analyzer_forget_stacks(a), 0);
	ck_assert_uint_eq(a->nodes.count, sizeof(kept) / sizeof(kept[0]) + 2);
	ck_assert_uint_eq(((const struct node_row *)table_get(&a->nodes, 700))->parent, 3);
	ck_assert_uint_eq(((const struct node_row *)table_get(&a->nodes, 5000))->parent, 2);
	ck_assert_ptr_null(table_get(&a->nodes, 5));
	analyzer_free(a);
}
END_TEST

Suite *test_forget(void)
{
	Suite *s = suite_create("forget");
	TCase *tc = tcase_create("forget");

	tcase_add_test(tc, needed_stacks_are_kept);
	suite_add_tcase(s, tc);
	return s;
}
