// SPDX-License-Identifier: Apache-2.0
/* Tests of what threads wait for, read from memory that looks like a VM's, and from memory that does not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hotspot/waits.h>

Suite *test_waits(void);

/* Offsets of the fields in the structures below, all made of words. */
enum { PENDING = 1, WAITING, BASE, SIZE, ID, TOP, LOCKS, THREAD = 15 };
enum { OBJECT = 1, OWNER };
#define AT(word) ((word)*8)

static struct {
	uint64_t thread[3][16]; /* JavaThreads */
	uint64_t monitor[4];
	uint64_t lock[4], java[3][4]; /* objects: mark, klass, then fields */
	uint64_t klass[2][4];	      /* name, super */
	char symbol[2][32];	      /* length, text */
	uint64_t handle, threads[3];
	uint64_t bad; /* colours */
} vm;

static struct braid_layout layout;
static struct waits_thread threads[3];
static struct waits waits;

static uint64_t address(const void *of)
{
	return (uint64_t)(uintptr_t)of;
}

static void setup(void)
{
	static const char *const names[] = {"demo/Lock", "demo/Sync"};

	memset(&vm, 0, sizeof(vm));
	layout = (struct braid_layout){
		.flags = BRAID_LAYOUT_NAMES,
		.symbol_body = 2,
		.thread_pending = AT(PENDING),
		.objects = {.flags = BRAID_OBJECTS_THREADS | BRAID_OBJECTS_BLOCKERS | BRAID_OBJECTS_HANDLES,
			    .carrier = AT(THREAD),
			    .thread_eetop = AT(2),
			    .thread_blocker = AT(3),
			    .ownable_thread = AT(2),
			    .klass_super = AT(1),
			    .ownable_klass = address(vm.klass[1])}};
	for (int i = 0; i < 2; i++) {
		uint16_t length = (uint16_t)strlen(names[i]);

		memcpy(vm.symbol[i], &length, sizeof(length));
		memcpy(vm.symbol[i] + 2, names[i], length);
		vm.klass[i][0] = address(vm.symbol[i]);
	}
	vm.lock[1] = address(vm.klass[0]);
	vm.handle = address(vm.lock);
	vm.monitor[OBJECT] = address(&vm.handle);
	waits = (struct waits){.pid = getpid(),
			       .layout = &layout,
			       .offsets = {.waiting = AT(WAITING),
					   .stack_base = AT(BASE),
					   .stack_size = AT(SIZE),
					   .locks_top = AT(TOP),
					   .locks_base = AT(LOCKS),
					   .monitor_object = AT(OBJECT),
					   .monitor_owner = AT(OWNER)},
			       .threads = threads,
			       .count = 3};
	for (uint32_t i = 0; i < 3; i++) {
		vm.thread[i][BASE] = 0x20000 + i * 0x10000;
		vm.thread[i][SIZE] = 0x8000;
		vm.thread[i][ID] = 40 + i;
		vm.thread[i][TOP] = AT(LOCKS);
		vm.thread[i][THREAD] = address(&vm.threads[i]);
		vm.threads[i] = address(vm.java[i]);
		vm.java[i][2] = address(vm.thread[i]);
		threads[2 - i] = (struct waits_thread){.address = address(vm.thread[i]), .number = i};
	}
	waits_read_threads(&waits);
}

static struct wait_object look(uint32_t thread)
{
	struct wait_object object;

	waits_again(&waits);
	waits_read(&waits, address(vm.thread[thread]), &object);
	return object;
}

/* The number of the owner, when the word says who it is; -1: nobody. */
static int owner_by(uint64_t word)
{
	struct wait_object object;

	vm.monitor[OWNER] = word;
	vm.thread[0][PENDING] = address(vm.monitor);
	object = look(0);
	ck_assert_int_eq(object.how, WAIT_FOR_MONITOR);
	ck_assert_uint_eq(object.id, address(vm.monitor));
	ck_assert_str_eq(object.class, "demo.Lock");
	return object.owner.thread ? (int)object.owner.thread->number : -1;
}

START_TEST(owners_of_monitors)
{
	ck_assert_int_eq(look(0).how, WAIT_FOR_NOTHING);
	ck_assert_int_eq(owner_by(0), -1);
	ck_assert_int_eq(owner_by(address(vm.thread[2])), 2);
	ck_assert_int_eq(owner_by(0x2fff8), 1); /* on its stack */
	ck_assert_int_eq(owner_by(0x27ff8), -1);
	ck_assert_int_eq(owner_by(0x30000), -1);

	vm.thread[2][LOCKS] = address(vm.lock); /* anonymous: whose locks have it? */
	ck_assert_int_eq(owner_by(1), -1);
	vm.thread[2][TOP] = AT(LOCKS + 1);
	ck_assert_int_eq(owner_by(1), 2);

	waits.offsets.owner_id = AT(ID);
	waits_read_threads(&waits);
	ck_assert_int_eq(owner_by(41), 1);
	ck_assert_int_eq(owner_by(0x2fff8), -1);

	waits.work = UINT64_MAX; /* searches are bounded, and what they leave out is counted */
	ck_assert_int_eq(owner_by(41), -1);
	ck_assert_uint_eq(waits.missed, 1);
}
END_TEST

/* Of ZGC's references, those in the heap and in handles have colours; those among a thread's locks have none. */
START_TEST(colours)
{
	layout.objects.oops = BRAID_OOPS_COLOURED;
	layout.objects.oop_bad = address(&vm.bad);
	vm.bad = 0xe000;
	vm.handle = address(vm.lock) << 13 | 1 << 12;
	vm.thread[2][LOCKS] = address(vm.lock);
	vm.thread[2][TOP] = AT(LOCKS + 1);
	ck_assert_int_eq(owner_by(1), 2);
	vm.thread[2][LOCKS] = address(vm.lock) + 8;
	ck_assert_int_eq(owner_by(1), -1);
}
END_TEST

START_TEST(other_waits)
{
	struct wait_object object;

	vm.thread[1][WAITING] = address(vm.monitor);
	vm.monitor[OBJECT] = address(vm.lock); /* without a handle, as in 8 to 15 */
	object = look(1);
	ck_assert_int_eq(object.how, WAIT_FOR_NOTIFY);
	ck_assert_str_eq(object.class, "demo.Lock");
	ck_assert_ptr_null(object.owner.thread);

	vm.java[0][3] = address(vm.lock); /* parked for an object without an owner */
	vm.lock[2] = address(vm.java[2]);
	object = look(0);
	ck_assert_int_eq(object.how, WAIT_FOR_BLOCKER);
	ck_assert_ptr_null(object.owner.thread);
	vm.klass[0][1] = address(vm.klass[1]); /* and for one that can have one */
	object = look(0);
	ck_assert_uint_eq(object.id, address(vm.lock));
	ck_assert_ptr_nonnull(object.owner.thread);
	ck_assert_uint_eq(object.owner.thread->number, 2);
	vm.java[0][2] = 0; /* another object is where the collector will move the thread */
	ck_assert_int_eq(look(0).how, WAIT_FOR_NOTHING);
}
END_TEST

/* Pointers may lead anywhere. */
START_TEST(hostile_memory)
{
	for (int round = 0; round < 2000; round++) {
		uint64_t *words = (uint64_t *)&vm;

		srand48(round);
		setup();
		vm.thread[0][PENDING] = vm.thread[1][WAITING] = address(vm.monitor);
		vm.java[2][3] = address(vm.lock);
		for (int i = 0; i < 8; i++)
			words[(size_t)lrand48() % (sizeof(vm) / 8)] =
				i & 1 ? address(words + (size_t)lrand48() % (sizeof(vm) / 8)) : (uint64_t)mrand48();
		waits_read_threads(&waits);
		for (uint32_t i = 0; i < 3; i++) {
			struct wait_object object = look(i);

			if (object.how != WAIT_FOR_NOTHING)
				ck_assert_ptr_nonnull(memchr(object.class, 0, sizeof(object.class)));
		}
	}
}
END_TEST

Suite *test_waits(void)
{
	Suite *suite = suite_create("waits");
	TCase *tc = tcase_create("memory");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, owners_of_monitors);
	tcase_add_test(tc, colours);
	tcase_add_test(tc, other_waits);
	tcase_add_test(tc, hostile_memory);
	suite_add_tcase(suite, tc);
	return suite;
}
