// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of finding the VM's Thread of a thread by its stack, in memory that looks like a VM's, and in damaged memory.
 */
#include "fake_vm.h"

#include <hotspot/vm_threads.h>

Suite *test_vm_threads(void);

enum { OSTHREAD = 16, OS_TID = 8, NAME = 32, THREAD_BYTES = 40, STACK_WORDS = 64, TID = 1234 };

static struct {
	uint64_t stack, thread, os_thread;
	char name[VM_THREAD_NAME_BYTES];
} fake;

static uint64_t make_text(const char *text)
{
	uint64_t at = make((uint32_t)strlen(text) + 1);

	memcpy((void *)(uintptr_t)at, text, strlen(text) + 1);
	return at;
}

static uint64_t make_vm_thread(uint32_t tid, const char *name)
{
	uint64_t thread = make(THREAD_BYTES);

	fake.os_thread = make(16);
	put(fake.os_thread + OS_TID, tid);
	put(thread + OSTHREAD, fake.os_thread);
	put(thread + NAME, name ? make_text(name) : 0);
	return thread;
}

static void setup(void)
{
	fake_setup();
	memset(&fake, 0, sizeof(fake));
	heap.layout.thread_osthread = OSTHREAD;
	heap.layout.osthread_tid = OS_TID;
	heap.vm_thread_name = NAME;
	fake.stack = make(8 * STACK_WORDS);
	(void)make(16384); /* what follows is far from the stack */
}

static bool find(void)
{
	return vm_thread_find(&heap, fake.stack, TID, fake.name);
}

START_TEST(by_its_number)
{
	put(fake.stack + 8 * 3, make_vm_thread(TID - 1, "another"));
	put(fake.stack + 8 * 5, 1);
	put(fake.stack + 8 * 7, NOWHERE);
	put(fake.stack + 8 * 9, fake.stack + 8 * 11);
	ck_assert(!find());
	ck_assert_str_eq(fake.name, "");
	put(fake.stack + 8 * 20, make_vm_thread(TID, "G1 Main Concurrent Mark GC Thread"));
	ck_assert(find());
	ck_assert_str_eq(fake.name, "G1 Main Concurrent Mark GC Thread");
	ck_assert(!vm_thread_find(&heap, fake.stack, 0, fake.name));
	ck_assert(!vm_thread_find(&heap, fake.stack + 1, TID, fake.name));
	ck_assert(!vm_thread_find(&heap, NOWHERE, TID, fake.name));
}
END_TEST

/* A WatcherThread, say, or a VM that does not say where. */
START_TEST(without_a_name)
{
	put(fake.stack, make_vm_thread(TID, NULL));
	ck_assert(find());
	ck_assert_str_eq(fake.name, "");
	put(word(fake.stack) + NAME, NOWHERE);
	ck_assert(find());
	ck_assert_str_eq(fake.name, "");
	put(word(fake.stack) + NAME, UINT64_MAX - 8);
	ck_assert(find());
	ck_assert_str_eq(fake.name, "");
	put(word(fake.stack) + NAME, make_text("a name"));
	heap.vm_thread_name = 0;
	ck_assert(find());
	ck_assert_str_eq(fake.name, "");
}
END_TEST

/* A name without an end is none. */
START_TEST(an_endless_name)
{
	char text[300];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put(fake.stack, make_vm_thread(TID, text));
	ck_assert(find());
	ck_assert_str_eq(fake.name, "");
}
END_TEST

START_TEST(damaged)
{
	for (int round = 0; round < 2000; round++) {
		if (round % 20 == 0) {
			fake_teardown();
			setup();
			put(fake.stack + 8 * 20, make_vm_thread(TID, "a name"));
		}
		damage_word();
		(void)find();
		ck_assert_ptr_nonnull(memchr(fake.name, '\0', sizeof(fake.name)));
	}
}
END_TEST

Suite *test_vm_threads(void)
{
	Suite *s = suite_create("vm_threads");
	TCase *t = tcase_create("search");

	tcase_add_checked_fixture(t, setup, fake_teardown);
	tcase_add_test(t, by_its_number);
	tcase_add_test(t, without_a_name);
	tcase_add_test(t, an_endless_name);
	tcase_add_test(t, damaged);
	suite_add_tcase(s, t);
	return s;
}
