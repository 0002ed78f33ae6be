// SPDX-License-Identifier: Apache-2.0
/* Tests of reading the VM's list of Java threads, from memory that looks like a VM's, and from damaged memory. */
#include "fake_vm.h"

#include <hotspot/java_threads.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

Suite *test_java_threads(void);

enum { EETOP = 16, NAME = 24, VALUE = 16, CODER = 24 }; /* in objects */
enum { CARRIER = 8, OSTHREAD = 16, OS_TID = 8, LENGTH = 8, THREADS = 16, NEXT = 24 };

static struct {
	uint64_t list, threads;
	struct java_thread found[4];
	size_t count;
} fake;

/* A thread with a name of so many units, of one byte or of two. */
static uint64_t make_thread(const char *name, bool wide)
{
	uint64_t java_thread = make(32), os_thread = make(16), object = make_object(heap.classes.object_klass, 32);
	uint64_t string = make_object(heap.classes.object_klass, 32), array = make_array(16);
	size_t length = strlen(name);

	for (size_t i = 0; i < length; i++)
		((char *)(uintptr_t)(array + ARRAY_HEAD))[wide ? 2 * i : i] = name[i];
	put_int(array + 16, (int32_t)(wide && heap.layout.objects.string_value ? 2 * length : length));
	put(string + VALUE, array);
	put(string + CODER, wide);
	put(object + EETOP, java_thread);
	put(object + NAME, string);
	put(os_thread + OS_TID, 1000 + fake.count);
	put(java_thread + CARRIER, object);
	put(java_thread + OSTHREAD, os_thread);
	put(java_thread + NEXT, 0);
	put(fake.threads + 8 * fake.count, java_thread);
	put_int(word(fake.list) + LENGTH, (int32_t)++fake.count);
	return java_thread;
}

static void setup(void)
{
	struct braid_objects *o;

	fake_setup();
	o = &heap.layout.objects;
	memset(&fake, 0, sizeof(fake));
	heap.layout.thread_osthread = OSTHREAD;
	heap.layout.osthread_tid = OS_TID;
	o->carrier = CARRIER;
	o->thread_eetop = EETOP;
	o->thread_name = NAME;
	o->string_value = VALUE;
	o->string_coder = CODER;
	fake.list = make(8);
	fake.threads = make(8 * 8);
	put(fake.list, make(24));
	put(word(fake.list) + THREADS, fake.threads);
	heap.thread_list = fake.list;
	heap.list_length = LENGTH;
	heap.list_threads = THREADS;
}

static void take(void *ctx, const struct java_thread *t)
{
	(void)ctx;
	ck_assert_uint_le(t->name_length, sizeof(t->name));
	if (fake.count < COUNT(fake.found))
		fake.found[fake.count] = *t;
	fake.count++;
}

static int read_all(void)
{
	fake.count = 0;
	return java_threads_each(&heap, take, NULL);
}

static void check_thread(size_t i, uint64_t address, uint32_t tid, const char *name)
{
	ck_assert_uint_eq(fake.found[i].address, address);
	ck_assert_uint_eq(fake.found[i].tid, tid);
	ck_assert_uint_eq(fake.found[i].name_length, strlen(name));
	ck_assert_int_eq(memcmp(fake.found[i].name, name, strlen(name)), 0);
}

START_TEST(threads_have_names)
{
	uint64_t narrow = make_thread("main", false), wide = make_thread("pool", true);

	ck_assert_int_eq(read_all(), 2);
	check_thread(0, narrow, 1000, "main");
	check_thread(1, wide, 1001, "pool");
}
END_TEST

static uint32_t asked[4];

static bool is_1001(void *ctx, uint32_t tid)
{
	size_t *count = ctx;

	ck_assert_uint_lt(*count, COUNT(asked));
	asked[(*count)++] = tid;
	return tid == 1001;
}

static size_t read_1001(void)
{
	size_t count = 0;

	fake.count = 0;
	java_threads_some(&heap, is_1001, take, &count);
	return count;
}

START_TEST(only_those_that_are_wanted)
{
	uint64_t wanted;

	(void)make_thread("main", false);
	wanted = make_thread("pool", false);
	put(make_thread("ended", false) + OSTHREAD, NOWHERE);
	ck_assert_uint_eq(read_1001(), 2);
	ck_assert_uint_eq(asked[0], 1000);
	ck_assert_uint_eq(fake.count, 1);
	check_thread(0, wanted, 1001, "pool");
	vm.active = 1; /* a collection */
	ck_assert_uint_eq(read_1001(), 2);
	check_thread(0, wanted, 1001, "");
	put(fake.list, 0);
	ck_assert_uint_eq(read_1001(), 0);
}
END_TEST

/* Before 11 each thread has the next one's address, and before 9 a String has a char[]. */
START_TEST(old_vm)
{
	uint64_t first, second;

	heap.layout.objects.string_value = heap.layout.objects.string_coder = 0;
	heap.string_chars = VALUE;
	heap.list_threads = 0;
	heap.thread_next = NEXT;
	first = make_thread("main", true);
	second = make_thread("pool", true);
	put(fake.list, first);
	put(first + NEXT, second);
	ck_assert_int_eq(read_all(), 2);
	check_thread(0, first, 1000, "main");
	check_thread(1, second, 1001, "pool");
	put(second + NEXT, first); /* a list without an end has one here */
	put(second + OSTHREAD, 0);
	vm.active = 1; /* a collection: names are not read */
	ck_assert_int_eq(read_all(), JAVA_THREADS_MAX / 2);
}
END_TEST

/* One without an OS thread, and one whose object belongs to another thread, are no threads any more. */
START_TEST(ended_threads)
{
	uint64_t ended = make_thread("ended", false), other = make_thread("other", false),
		 there = make_thread("there", false);

	put(ended + OSTHREAD, 0);
	put(word(other + CARRIER) + EETOP, there);
	ck_assert_int_eq(read_all(), 1);
	check_thread(0, there, 1002, "there");
	put(there + OSTHREAD, NOWHERE);
	ck_assert_int_lt(read_all(), 0);
}
END_TEST

START_TEST(a_collection_runs)
{
	uint64_t thread = make_thread("main", false);

	vm.active = 1;
	ck_assert_int_eq(read_all(), 1);
	check_thread(0, thread, 1000, "");
}
END_TEST

static bool is_any(void *ctx, uint32_t tid)
{
	(void)ctx;
	return tid;
}

START_TEST(damaged)
{
	for (int round = 0; round < 2000; round++) {
		if (round % 20 == 0) {
			fake_teardown();
			setup();
			(void)make_thread("main", false);
			(void)make_thread("pool", true);
		}
		damage_word();
		vm.active = 0; /* waiting is tested above */
		(void)read_all();
		fake.count = 0;
		java_threads_some(&heap, is_any, take, NULL);
	}
}
END_TEST

Suite *test_java_threads(void)
{
	Suite *s = suite_create("java_threads");
	TCase *t = tcase_create("list");

	tcase_add_checked_fixture(t, setup, fake_teardown);
	tcase_add_test(t, threads_have_names);
	tcase_add_test(t, only_those_that_are_wanted);
	tcase_add_test(t, old_vm);
	tcase_add_test(t, ended_threads);
	tcase_add_test(t, a_collection_runs);
	tcase_add_test(t, damaged);
	suite_add_tcase(s, t);
	return s;
}
