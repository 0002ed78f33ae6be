// SPDX-License-Identifier: Apache-2.0
/* Tests of what the agent reads in the VM's own memory: pointers may be wrong, and tables may be damaged. */
#include "agent.h"
#include "fake_jvmti.h"
#include "fake_vm.h"
#include "recorder.h"
#include "vm/heap.h"
#include "vm/layout.h"
#include "vm/mem.h"
#include "vm/mounts.h"
#include "vm/names.h"
#include "vm/perfdata.h"
#include "vm/vmstructs.h"
#include "vm/vthreads.h"

#include <braid/layout.h>
#include <braid/names.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Suite *test_vm(void);

static const struct braid_event_config none;

/* Two pages, of which the second is not readable. */
static char *last_page(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	ck_assert_int_eq(mprotect(p + page, page, PROT_NONE), 0);
	return p + page;
}

START_TEST(memory)
{
	char *end = last_page(), to[MEM_READ_MAX];

	memcpy(end - 4, "abc", 4);
	for (int i = 0; i < 3; i++) { /* a refused read does not affect the next one */
		ck_assert(mem_read(to, (uintptr_t)end - 4, 4));
		ck_assert_str_eq(to, "abc");
		ck_assert(!mem_read(to, (uintptr_t)end - 4, 5));
		ck_assert(!mem_read(to, (uintptr_t)end, 1));
		ck_assert(!mem_read(to, 8, 8));
		ck_assert(!mem_read(to, UINT64_MAX - 8, 16));
	}
	ck_assert(!mem_read(to, 0, 8));
	ck_assert(!mem_read(to, (uintptr_t)end - 4, 0));
	ck_assert(mem_read(to, (uintptr_t)end - MEM_READ_MAX, MEM_READ_MAX));
	ck_assert(!mem_read(to, (uintptr_t)end - MEM_READ_MAX, MEM_READ_MAX + 1));

	ck_assert(mem_read_string(to, sizeof(to), (uintptr_t)end - 4));
	ck_assert_str_eq(to, "abc");
	ck_assert(mem_read_string(to, 3, (uintptr_t)end - 4));
	ck_assert_str_eq(to, "ab");
	end[-1] = 'd'; /* without a terminating zero */
	ck_assert(!mem_read_string(to, sizeof(to), (uintptr_t)end - 4));
	mem_close();
	ck_assert(mem_read(to, (uintptr_t)end - 4, 4));
	mem_close();
}
END_TEST

static bool count(const struct perf_counter *c, void *arg)
{
	(void)c;
	++*(int *)arg;
	return true;
}

static int counters(void)
{
	int n = 0;

	return perfdata_each(count, &n) ? n : -1;
}

/* A damaged length ends the list, a damaged entry is skipped; neither leads to a read outside. */
START_TEST(counters_of_the_vm)
{
	int32_t *entry;

	fake_jvm_start();
	perfdata_open(vmstructs_library(&fake_vm));
	ck_assert_int_eq(counters(), -1); /* the VM has no counters */
	fake_vm_count("Copy", "MSC");
	ck_assert_int_eq(counters(), FAKE_COUNTERS);
	entry = fake_vm_entry(3);
	entry[1] = INT32_MIN; /* its name's offset */
	ck_assert_int_eq(counters(), FAKE_COUNTERS - 1);
	entry[0] = -1; /* its length */
	ck_assert_int_eq(counters(), 3);
	entry[0] = 1 << 30;
	ck_assert_int_eq(counters(), 3);
}
END_TEST

START_TEST(heap_in_use)
{
	fake_jvm_start();
	heap_open(vmstructs_library(&fake_vm));
	fake_vm_heap(12345);
	ck_assert_uint_eq(heap_used(), 0); /* no type is enabled */
	ck_assert(!heap_choose(HEAP_PARALLEL));
	ck_assert(!heap_choose(HEAP_Z));
	ck_assert(!heap_choose(HEAP_UNKNOWN));
	ck_assert(heap_choose(HEAP_G1));
	ck_assert_uint_eq(heap_used(), 12345);
}
END_TEST

/* Where the VM keeps the counters that the names in its memory depend on. */
START_TEST(names)
{
	const struct braid_rec_names *n;
	struct recorder r;

	fake_vm_count("Copy", "MSC");
	recorder_begin(&r, &none);
	names_publish();
	n = recorder_find(&r, BRAID_REC_NAMES);
	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(n->names.gc_cause, (uintptr_t)fake_vm_number(FAKE_CAUSE));
	ck_assert_uint_eq(n->names.code_unloads, (uint64_t)(uintptr_t)&agent.code_unloads);
	recorder_close(&r);
}
END_TEST

/* A layout without some of the fields is reported, and no code is searched with it. */
START_TEST(a_layout_that_lacks_fields)
{
	const struct braid_rec_layout *l;
	struct layout_nmethod n;
	struct recorder r;

	recorder_begin(&r, &none);
	layout_publish(true);
	l = recorder_find(&r, BRAID_REC_LAYOUT);
	ck_assert_ptr_nonnull(l);
	ck_assert_uint_eq(l->layout.flags & BRAID_LAYOUT_WALKABLE, 0);
	layout_nmethod_find(&n, (uintptr_t)fake_code);
	ck_assert(!n.found);
	ck_assert_uint_eq(layout_thread_tid(0), 0);
	ck_assert_uint_eq(layout_thread_tid(8), 0);
	recorder_close(&r);
}
END_TEST

/* Code as HotSpot generates it for enterSpecial, which calls the stub that thaws. Either one may be announced first. */
static const uint8_t barrier[] = {0x49, 0x8b, 0xa7, 0x40, 0x04, 0, 0}; /* mov rsp, [r15+0x440] */
static uint8_t code[64] = {
	0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x50, /* push rbp; mov rbp, rsp; sub rsp, 0x50 */
	0x49, 0x8b, 0x87, 0x40, 0x04, 0,    0,		/* mov rax, [r15+0x440] */
	0x48, 0x89, 0x44, 0x24, 8,			/* mov [rsp+8], rax: its parent */
	0x48, 0x89, 0x74, 0x24, 16,			/* mov [rsp+16], rsi: the continuation */
	0xe8,						/* call */
};
#define CALL_END 30

START_TEST(code_of_continuations)
{
	const struct braid_rec_layout *l;
	uint64_t at = (uintptr_t)code, thaw = at + 48;
	struct recorder r;
	int32_t call;

	recorder_begin(&r, &none);
	call = (int32_t)(thaw - (at + CALL_END));
	memcpy(code + CALL_END - 4, &call, sizeof(call));
	vthreads_on_stub("cont_no_such", at, 8);
	vthreads_on_stub(NULL, at, 8);
	vthreads_on_stub("cont_thaw", thaw, 8);
	vthreads_on_stub("cont_returnBarrier", (uintptr_t)barrier, sizeof(barrier));
	fake.method_name = "enterSpecial";
	fake.method_signature = "(Ljdk/internal/vm/Continuation;ZZ)V";
	vthreads_on_code((jmethodID)1, at, sizeof(code));
	fake.method_name = "doYield";
	fake.method_signature = "()I";
	vthreads_on_code((jmethodID)2, at + 1000, 16);
	layout_publish(true);
	l = recorder_find(&r, BRAID_REC_LAYOUT);
	ck_assert_uint_eq(l->layout.vthreads.barrier, (uintptr_t)barrier);
	ck_assert_uint_eq(l->layout.vthreads.thread_entry, 0x440);
	ck_assert_uint_eq(l->layout.vthreads.enter_start, at);
	ck_assert_uint_eq(l->layout.vthreads.enter_return, at + CALL_END);
	ck_assert_uint_eq(l->layout.vthreads.entry_parent, 8);
	ck_assert_uint_eq(l->layout.vthreads.entry_cont, 16);
	ck_assert_uint_eq(l->layout.vthreads.yield_start, at + 1000);
	ck_assert_uint_eq(l->layout.vthreads.flags, BRAID_VTHREADS_WALK);
	recorder_close(&r);
}
END_TEST

/* Constants from number 1 on: two texts, their name and type, a long, which occupies two numbers, and the method. */
static const unsigned char pool[] = {
	1, 0, 5, 'm', 'o', 'u', 'n', 't', 1, 0, 3, '(', ')', 'V', 12, 0, 1,
	0, 2, 5, 0,   0,   0,	0,   0,	  0, 0, 9, 10,	0,   9,	  0,  3,
};
#define POOL_COUNT 7
static const unsigned char runs[] = {0x2a, 0xb6, 0, 6, 0xb1};	 /* aload_0; invokevirtual #6; return */
static const unsigned char another[] = {0x2a, 0xb6, 0, 3, 0xb1}; /* no method */

/* Only what a complete class file contains is used; memory and capabilities are released in every case. */
START_TEST(where_threads_are_mounted)
{
	jvmtiCapabilities held;
	struct recorder r;

	recorder_begin(&r, &none);
	fake.phase = JVMTI_PHASE_LIVE;
	fake.method_name = "runContinuation";
	fake.method_signature = "()V";
	fake.code = (struct fake_bytes){runs, sizeof(runs)};
	fake.pool = (struct fake_bytes){pool, sizeof(pool)};
	fake.pool_count = POOL_COUNT;
	ck_assert(mounts_around((jclass)1));
	fake.code.bytes = another;
	ck_assert(!mounts_around((jclass)1));
	fake.code.bytes = runs;
	for (jint size = 0; size < (jint)sizeof(pool); size++) {
		fake.pool.size = size;
		ck_assert(!mounts_around((jclass)1));
	}
	fake.pool.size = sizeof(pool);
	fake.code.size = 3; /* ends in the middle of the call */
	ck_assert(!mounts_around((jclass)1));
	fake.code.size = sizeof(runs);
	fake.method_name = "run";
	ck_assert(!mounts_around((jclass)1));
	fake.method_name = "runContinuation";
	ck_assert(mounts_around((jclass)1));
	fake.errors[FAKE_TI(GetConstantPool)] = JVMTI_ERROR_INTERNAL;
	ck_assert(!mounts_around((jclass)1));
	fake.errors[FAKE_TI(AddCapabilities)] = JVMTI_ERROR_NOT_AVAILABLE;
	ck_assert(!mounts_around((jclass)1));
	ck_assert_int_eq(fake.allocated, 0);
	memcpy(&held, fake.capabilities, sizeof(held));
	ck_assert(!held.can_get_bytecodes && !held.can_get_constant_pool);
	recorder_close(&r);
}
END_TEST

Suite *test_vm(void)
{
	Suite *s = suite_create("agent in the VM's memory");
	TCase *t = tcase_create("vm");

	tcase_add_test(t, memory);
	tcase_add_test(t, counters_of_the_vm);
	tcase_add_test(t, heap_in_use);
	tcase_add_test(t, names);
	tcase_add_test(t, a_layout_that_lacks_fields);
	tcase_add_test(t, code_of_continuations);
	tcase_add_test(t, where_threads_are_mounted);
	suite_add_tcase(s, t);
	return s;
}
