// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the table of native methods: samples, times off the CPU and probed calls in the code that each is bound to.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include <analyze/hits.h>
#include <report/events.h>
#include <views/views.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_event_natives(void);

#define LIBZ 0x7c0000000000ULL
#define LIBJVM 0x7b0000000000ULL
#define NATIVE 0x109U

/* Nodes: Main.work calls demo.Zip.deflate, which calls the JVM, which calls Java, which calls demo.Zip.deflate. */
enum { WRAPPER = 40, IN_LIBRARY, IN_JVM, IN_KERNEL, IN_JAVA, AGAIN, IN_LIBRARY_AGAIN, OTHER };

enum { N_RETURN = 40 };

static const struct trace_scope zip_scope[] = {{40, -1}}, other_scope[] = {{41, -1}};

#define HIT(ms, n, values) REC(TRACE_SAMPLE, sample, BASE_NS + (ms)*MS, 1, 0, n, 1, 0, N_RETURN, 0, S(values))

static const struct trace_rec recs[] = {
	NAME(N_RETURN, "uretprobe:/usr/lib/libz.so:deflate{elapsed}"),
	REC(TRACE_MODULE, module, 40, TRACE_MODULE_ELF, S("/usr/lib/libz.so"), S("")),
	REC(TRACE_MODULE, module, 41, TRACE_MODULE_ELF, S("/usr/lib/libjvm.so"), S("")),
	REC(TRACE_MAPPING, mapping, 1, 40, LIBZ, LIBZ + 0x100000, 0, LIBZ, 1),
	REC(TRACE_MAPPING, mapping, 1, 41, LIBJVM, LIBJVM + 0x100000, 0, LIBJVM, 1),
	REC(TRACE_METHOD, method, 40, 1, NATIVE, S("demo.Zip"), S("deflate"), S("()V"), S("")),
	REC(TRACE_METHOD, method, 41, 1, NATIVE, S("demo.Other"), S("call"), S("()V"), S("")),
	REC(TRACE_FRAME, frame, 40, BRAID_FRAME_INTERPRETED, 1, 0, 0xa00, 0, 0, 0, 1, zip_scope),
	REC(TRACE_FRAME, frame, 41, BRAID_FRAME_NATIVE, 1, 0, LIBZ + 0x100, 40, 0, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 42, BRAID_FRAME_NATIVE, 1, 0, LIBJVM + 0x100, 41, 0, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 43, BRAID_FRAME_INTERPRETED, 1, 0, 0xa10, 0, 0, 0, 1, other_scope),
	REC(TRACE_NODE, node, WRAPPER, 3, 40),
	REC(TRACE_NODE, node, IN_LIBRARY, WRAPPER, 41),
	REC(TRACE_NODE, node, IN_JVM, IN_LIBRARY, 42),
	REC(TRACE_NODE, node, IN_KERNEL, IN_JVM, 5),
	REC(TRACE_NODE, node, IN_JAVA, IN_JVM, 4),
	REC(TRACE_NODE, node, AGAIN, IN_JAVA, 40),
	REC(TRACE_NODE, node, IN_LIBRARY_AGAIN, AGAIN, 41),
	REC(TRACE_NODE, node, OTHER, IN_LIBRARY_AGAIN, 43),
	SAMPLE(131, 1, 0, WRAPPER),
	SAMPLE(132, 1, 0, IN_LIBRARY),
	SAMPLE(133, 1, 0, IN_LIBRARY),
	SAMPLE(134, 1, 0, IN_JVM),
	SAMPLE(135, 1, 0, IN_KERNEL),
	SAMPLE(136, 1, 0, IN_JAVA),
	SAMPLE(137, 1, 0, IN_LIBRARY_AGAIN),
	SAMPLE(138, 1, 0, OTHER),
	JVM(AT(140), .kind = BRAID_JVM_OFFCPU, .thread = 1, .node = IN_KERNEL, .duration_ns = 7 * MS, .flags = 202),
	JVM(AT(150), .kind = BRAID_JVM_COUNTED, .thread = 1, .node = IN_KERNEL, .duration_ns = 9 * MS, .value = 3,
	    .weight = 20 * MS, .number = BRAID_JVM_OFFCPU),
	HIT(160, WRAPPER, "elapsed=5000ns"),
	HIT(161, WRAPPER, "retval=1 elapsed=7000ns"),
	HIT(162, WRAPPER, "retval=1"),
	HIT(163, 3, "elapsed=900ns"), /* no native method called it */
};

static struct run begin(void)
{
	struct run r = run_begin(NULL);

	run_feed(&r, more, sizeof(more) / sizeof(more[0]));
	run_feed(&r, events, sizeof(events) / sizeof(events[0]));
	run_feed(&r, recs, sizeof(recs) / sizeof(recs[0]));
	run_analyze(&r, NULL);
	return r;
}

START_TEST(samples_and_times)
{
	struct run r = begin();
	const struct native_view *n = r.v->events->natives.at;

	ck_assert_uint_eq(r.v->events->natives.count, 2);
	ck_assert_str_eq(n->method, "demo.Zip.deflate");
	ck_assert_uint_eq(n->self, 6);
	ck_assert_uint_eq(n->total, 8);
	ck_assert_uint_eq(n->vm, 1);
	ck_assert_uint_eq(n->kernel, 1);
	ck_assert_uint_eq(n->blocks, 4);
	ck_assert_uint_eq(n->blocked_ns, 27 * MS);
	ck_assert_uint_eq(n->longest_block_ns, 9 * MS);
	ck_assert_uint_eq(n->calls, 2);
	ck_assert_uint_eq(n->call_ns, 12000);
	ck_assert_uint_eq(n->longest_call_ns, 7000);
	ck_assert_str_eq(n[1].method, "demo.Other.call");
	ck_assert_uint_eq(n[1].self, 1);
	ck_assert_uint_eq(n[1].total, 1);
	ck_assert_uint_eq(n[1].blocks, 0);
	ck_assert_uint_eq(n[1].calls, 0);
	run_free(&r);
}
END_TEST

static void check_text(const char *line)
{
	struct run r = begin();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	text_natives(out, r.v, 10);
	fclose(out);
	ck_assert_msg(strstr(text, line), "no '%s' in %s", line, text);
	free(text);
	run_free(&r);
}

START_TEST(text)
{
	check_text("          6           1          1     27.00 ms          4     9.00 ms  demo.Zip.deflate\n");
	check_text("          1           0          0            -          -           -  demo.Other.call\n");
	check_text("             2     12.00 \302\265s     6.00 \302\265s     7.00 \302\265s  demo.Zip.deflate\n");
}
END_TEST

START_TEST(elapsed)
{
	static const char *const without[] = {"",
					      "retval=1",
					      "elapsed=",
					      "elapsed=5",
					      "elapsed=5ns2",
					      "x_elapsed=5ns",
					      "elapsed=99999999999999999999ns"};
	uint64_t ns = 0;

	ck_assert(hits_elapsed("elapsed=5ns", &ns) && ns == 5);
	ck_assert(hits_elapsed("retval=2 elapsed=18446744073709551615ns pid=1", &ns) && ns == UINT64_MAX);
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		ck_assert_msg(!hits_elapsed(without[i], &ns), "'%s'", without[i]);
}
END_TEST

Suite *test_event_natives(void)
{
	Suite *s = suite_create("native methods");
	TCase *t = tcase_create("natives");

	tcase_add_test(t, samples_and_times);
	tcase_add_test(t, text);
	tcase_add_test(t, elapsed);
	suite_add_tcase(s, t);
	return s;
}
