// SPDX-License-Identifier: Apache-2.0
/* Tests of what a JVM's own thread dump says about monitors, in the forms of JDK 8 to 27, and of texts that lie. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <dump/owned.h>

Suite *test_owned(void);

static const char jvm[] =
	"2026-11-23 13:37:33\n"
	"Full thread dump OpenJDK 64-Bit Server VM (25.0.3):\n"
	"\n"
	"\"own\" nid=7\"er\" #8 prio=5 os_prio=0 tid=0x00007f6a7815b000 nid=0x3361 waiting on condition [0x00007f6a6818f000]\n"
	"   java.lang.Thread.State: TIMED_WAITING (sleeping)\n"
	"\tat java.lang.Thread.sleep(Native Method)\n"
	"\tat L.a(L.java:2)\n"
	"\t- locked <0x0000000742acccf8> (a java.lang.Object)\n"
	"\t- eliminated <0x0000000742acccff> (a java.lang.Object)\n"
	"\t- locked <0x0000000742770068> (a java.lang.Class for L)\n"
	"\tat L.b(L.java:3)\n"
	"\t- locked <0x0000000742accce8> (a L)\n"
	"\n"
	"\"waits\" #21 [13270] prio=5 os_prio=0 cpu=0.23ms elapsed=1.43s tid=0x00007f4b680ca390 nid=13270 in Object.wait()  [0x1]\n"
	"   java.lang.Thread.State: WAITING (on object monitor)\n"
	"\tat java.lang.Object.wait0(java.base@25.0.3/Native Method)\n"
	"\t- waiting on <0x00000000aa> (a demo.Queue)\n"
	"\tat demo.Queue.take(Queue.java:9)\n"
	"\t- locked <0x00000000aa> (a demo.Queue)\n"
	"\t- locked <0x00000000bb> (a demo.Other)\n"
	"\n"
	"\"ForkJoinPool-1-worker-1\" #31 [13280] daemon prio=5 tid=0x1 nid=13280 [0x0]\n"
	"   Carrying virtual thread #30\n"
	"\tat jdk.internal.vm.Continuation.run(java.base/Continuation.java:248)\n"
	"\t- locked <0x00000000c1> (a demo.Carriers)\n"
	"   Mounted virtual thread #30\n"
	"\tat demo.Main.lambda$main$0(Main.java:3)\n"
	"\t- locked <0x00000000c2> (a demo.Mine)\n"
	"\n"
	"\"VM Thread\" os_prio=0 cpu=1ms tid=0x00007f4b nid=13261 runnable\n"
	"\t- locked <0x00000000dd> (a demo.No)\n"
	"\n"
	"Found one Java-level deadlock:\n"
	"\"other\":\n"
	"\tat demo.Main.no(Main.java:3)\n"
	"\t- locked <0x00000000ee> (a demo.No)\n";

static const struct expected {
	uint32_t tid;
	uint64_t vthread;
	uint32_t depth;
	const char *method, *class;
	uint64_t object;
} expected[] = {
	{0x3361, 0, 1, "L.a", "java.lang.Object", 0x742acccf8},
	{0x3361, 0, 1, "L.a", "java.lang.Class for L", 0x742770068},
	{0x3361, 0, 2, "L.b", "L", 0x742accce8},
	{13270, 0, 1, "demo.Queue.take", "demo.Other", 0xbb},
	{13280, 0, 0, "jdk.internal.vm.Continuation.run", "demo.Carriers", 0xc1},
	{13280, 30, 0, "demo.Main.lambda$main$0", "demo.Mine", 0xc2},
};
#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

START_TEST(locks)
{
	struct owned o = {0};
	const struct owned_lock *first;

	ck_assert_int_eq(owned_parse(&o, jvm, sizeof(jvm) - 1), 0);
	ck_assert_uint_eq(o.threads, 4);
	ck_assert_uint_eq(o.locks.count, EXPECTED);
	for (size_t i = 0; i < EXPECTED; i++) {
		const struct owned_lock *l = &o.locks.at[i];

		ck_assert_uint_eq(l->ns_tid, expected[i].tid);
		ck_assert_uint_eq(l->vthread, expected[i].vthread);
		ck_assert_uint_eq(l->depth, expected[i].depth);
		ck_assert_uint_eq(l->object, expected[i].object);
		ck_assert_str_eq(strpool_get(&o.names, l->method), expected[i].method);
		ck_assert_str_eq(strpool_get(&o.names, l->class_name), expected[i].class);
	}
	ck_assert_uint_eq(owned_of(&o, 0x3361, 0, &first), 3);
	ck_assert_ptr_eq(first, &o.locks.at[0]);
	ck_assert_uint_eq(owned_of(&o, 13280, 30, &first), 1);
	ck_assert_ptr_eq(first, &o.locks.at[5]);
	ck_assert_uint_eq(owned_of(&o, 13281, 0, &first), 0);
	owned_free(&o);
}
END_TEST

/* Every beginning of the text, and the text with each byte changed: nothing is read beyond it. */
START_TEST(any_text)
{
	char text[sizeof(jvm)];

	for (size_t i = 0; i < sizeof(jvm); i++) {
		struct owned o = {0}, p = {0};
		char *part = malloc(i + 1);

		memcpy(part, jvm, i);
		ck_assert_int_eq(owned_parse(&o, part, i), 0);
		memcpy(text, jvm, sizeof(jvm));
		text[i] = (char)(i * 37);
		ck_assert_int_eq(owned_parse(&p, text, sizeof(text)), 0);
		owned_free(&o);
		owned_free(&p);
		free(part);
	}
}
END_TEST

START_TEST(lies)
{
	static const char text[] =
		"\"\" nid=99999999999999999999999\n\tat \n\t- locked \n\t- locked <0xzz (a \033[2J)\n\t- locked <> (a )\n"
		"\"x\n\"\n\t- locked <0x1> (a x)\n";
	struct owned o = {0};

	ck_assert_int_eq(owned_parse(&o, text, sizeof(text) - 1), 0);
	ck_assert_uint_eq(o.threads, 1);
	ck_assert_uint_eq(o.locks.count, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_ptr_null(strchr(strpool_get(&o.names, o.locks.at[i].class_name), '\033'));
	owned_free(&o);
}
END_TEST

Suite *test_owned(void)
{
	Suite *s = suite_create("owned monitors");
	TCase *t = tcase_create("owned");

	tcase_add_test(t, locks);
	tcase_add_test(t, any_text);
	tcase_add_test(t, lies);
	suite_add_tcase(s, t);
	return s;
}
