// SPDX-License-Identifier: Apache-2.0
/* Tests of which names the kernel's are parts of. */
#include <util/comm.h>

#include <check.h>

Suite *test_comm(void);

static bool is_cut(const char *comm, const char *name)
{
	return comm_is_cut(comm, name, strlen(name));
}

START_TEST(a_beginning)
{
	ck_assert(is_cut("C2 CompilerThre", "C2 CompilerThread0"));
	ck_assert(is_cut("pool-1-thread-1", "pool-1-thread-12"));
	ck_assert(!is_cut("C2 CompilerThre", "C1 CompilerThread0"));
	ck_assert(!is_cut("C2 CompilerThr", "C2 CompilerThread0")); /* the kernel would have kept more */
	ck_assert(!is_cut("pool-1-thread-1", "pool-1-thread-1"));   /* this is whole */
	ck_assert(!is_cut("pool-1-thread-1", "pool"));
	ck_assert(!is_cut("", "pool-1-thread-12"));
	ck_assert(!is_cut("C2 CompilerThre", ""));
}
END_TEST

/* From JDK 26 on. */
START_TEST(a_beginning_and_an_end)
{
	ck_assert(is_cut("C2 Comp..hread0", "C2 CompilerThread0"));
	ck_assert(is_cut("Monitor..Thread", "Monitor Deflation Thread"));
	ck_assert(is_cut("1234567..abcdef", "1234567890abcdef"));
	ck_assert(!is_cut("C2 Comp..hread0", "C2 CompilerThread1"));
	ck_assert(!is_cut("C2 Comp..hread0", "C1 CompilerThread0"));
	ck_assert(!is_cut("C2 Comp.-hread0", "C2 CompilerThread0"));
	ck_assert(!is_cut("1234567..abcdef", "1234567..abcdef"));
}
END_TEST

Suite *test_comm(void)
{
	Suite *s = suite_create("comm");
	TCase *t = tcase_create("cut");

	tcase_add_test(t, a_beginning);
	tcase_add_test(t, a_beginning_and_an_end);
	suite_add_tcase(s, t);
	return s;
}
