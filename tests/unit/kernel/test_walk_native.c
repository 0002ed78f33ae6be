// SPDX-License-Identifier: Apache-2.0
/* Tests of the stack walker in native code: walks in hand-made memory. */
#include "tests/snapshots/snapshot.h"

#include <check.h>

Suite *test_walk_native(void);

#define TEXT 0x400000U
#define STACK 0x7fff0000U

static struct host_walk h;
static struct snapshot made;

static void word(uint64_t at, uint64_t value)
{
	/* Check records every assertion that holds, which is too slow here. */
	if (snapshot_put(&made, at, &value, sizeof(value)))
		ck_abort_msg("out of memory");
}

static void made_rule(uint32_t from, uint32_t to, uint32_t rule)
{
	const struct snapshot_rule r = {.table = 0, .from = from, .to = to, .rule = rule};

	ck_assert_int_eq(snapshot_add_rule(&made, &r), 0);
}

/* One module at TEXT with table number 0; its addresses from 0x800 on are first frames. */
static void made_setup(void)
{
	const struct braid_mapping m = {.start = TEXT, .end = TEXT + 0x1000, .bias = TEXT};

	memset(&made, 0, sizeof(made));
	ck_assert_int_eq(snapshot_add_mapping(&made, &m), 0);
	made_rule(0x800, 0x1000, BRAID_CFA_ROOT);
	made.regs = (struct host_regs){.pc = TEXT + 0x10, .sp = STACK, .fp = STACK + 0x40};
	h = (struct host_walk){.ops = &snapshot_ops, .ctx = &made};
}

static void made_teardown(void)
{
	snapshot_free(&made);
}

static void walk_made(uint32_t end, uint32_t depth)
{
	host_walk_run(&h, &made.regs, NULL);
	ck_assert_uint_eq(h.w.end, end);
	ck_assert_uint_eq(h.depth, depth);
}

START_TEST(every_cfa_rule)
{
	const uint64_t ra = TEXT + 0x900;

	made_rule(0x10, 0x11, braid_rule(BRAID_CFA_RSP, 24, BRAID_RBP_CFA, -16));
	word(STACK + 8, 0x1234);
	word(STACK + 16, ra);
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.frame[0], BRAID_FRAME_EXACT | (TEXT + 0x10));
	ck_assert_uint_eq(h.frame[1], ra);
	ck_assert_uint_eq(h.top_sp[1], STACK + 24);
	ck_assert_uint_eq(h.w.fp, 0x1234);

	made.regs.pc = TEXT + 0x20;
	made_rule(0x20, 0x21, braid_rule(BRAID_CFA_RBP, 16, BRAID_RBP_RBP, 0));
	word(STACK + 0x40, 0x5678);
	word(STACK + 0x48, ra);
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.top_sp[1], STACK + 0x50);
	ck_assert_uint_eq(h.w.fp, 0x5678);

	made.regs.pc = TEXT + 0x30;
	made_rule(0x30, 0x31, braid_rule(BRAID_CFA_DEREF_RBP, -8, BRAID_RBP_SAME, 0));
	word(STACK + 0x38, STACK + 0x50);
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.top_sp[1], STACK + 0x50);
	ck_assert_uint_eq(h.w.fp, STACK + 0x40);

	made.regs.pc = TEXT + 0x40;
	made_rule(0x40, 0x41, braid_rule(BRAID_CFA_DEREF_RSP, 0x38, BRAID_RBP_SAME, 0));
	walk_made(BRAID_END_COMPLETE, 2);

	made.regs.pc = TEXT + 0x50;
	made.regs.r10 = STACK + 0x48;
	made_rule(0x50, 0x51, braid_rule(BRAID_CFA_R10, 8, BRAID_RBP_SAME, 0));
	walk_made(BRAID_END_COMPLETE, 2);
}
END_TEST

START_TEST(r10_is_known_in_the_leaf_only)
{
	made_rule(0x10, 0x11, braid_rule(BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0));
	made_rule(0x50, 0x60, braid_rule(BRAID_CFA_R10, 8, BRAID_RBP_SAME, 0));
	made.regs.r10 = STACK + 0x48;
	word(STACK, TEXT + 0x58);
	walk_made(BRAID_END_BAD_CFI, 2);
}
END_TEST

/* Where the resolver saves the processor's registers on an aligned stack, only rbx leads to the frame. */
START_TEST(lazy_binding)
{
	const uint8_t call[] = {0, 0, 0, 0xe8, 1, 2, 3, 4};
	const uint64_t frame = STACK + 0x300;

	made_rule(0x10, 0x11, braid_rule(BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0));
	made_rule(0x50, 0x60, braid_rule(BRAID_CFA_RBX, 32, BRAID_RBP_SAME, 0));
	ck_assert_int_eq(snapshot_put(&made, TEXT + 0x910 - sizeof(call), call, sizeof(call)), 0);
	for (uint64_t at = STACK; at < STACK + 0xd20; at += 8)
		word(at, at < STACK + 0x200 ? TEXT + 0x910 : 0);
	word(STACK, TEXT + 0x58);
	walk_made(BRAID_END_BAD_CFI, 2);
	word(frame + 8, 0x7fff12345678);
	word(frame + 16, 3);
	word(frame + 24, TEXT + 0x910);
	walk_made(BRAID_END_COMPLETE, 3);
	ck_assert_uint_eq(h.frame[2], TEXT + 0x910);
	ck_assert_uint_eq(h.top_sp[2], frame + 32);

	made.regs.pc = TEXT + 0x58;
	made.regs.rbx = frame;
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.top_sp[1], frame + 32);
}
END_TEST

/* A new thread starts at the return of the system call that created it, as its creator does. */
START_TEST(new_thread)
{
	const uint8_t code[] = {0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0x13, 0x74, 0x01, 0xc3};
	const uint8_t call[] = {0, 0, 0, 0xe8, 1, 2, 3, 4};
	const int at[] = {2, 5, 7};

	ck_assert_int_eq(snapshot_put(&made, TEXT + 0x600, code, sizeof(code)), 0);
	for (uint64_t b = TEXT + 0x5d0; b < TEXT + 0x600; b += 8)
		word(b, 0);
	for (uint64_t b = TEXT + 0x610; b < TEXT + 0x640; b += 8)
		word(b, 0);
	ck_assert_int_eq(snapshot_put(&made, TEXT + 0x60a, call, 6), 0);
	ck_assert_int_eq(snapshot_put(&made, TEXT + 0x910 - sizeof(call), call, sizeof(call)), 0);
	word(STACK, 0x1000);
	for (int i = 0; i < 3; i++) {
		made.regs.pc = TEXT + 0x600 + (uint64_t)at[i];
		made.regs.rax = 0;
		walk_made(BRAID_END_COMPLETE, 1);
		made.regs.rax = 4711;
		walk_made(BRAID_END_NO_CFI, 1);
	}
	made.regs.pc = TEXT + 0x604;
	made.regs.rax = 0;
	walk_made(BRAID_END_NO_CFI, 1);
}
END_TEST

/* A PLT slot pushes after its 11th byte. */
START_TEST(plt_before_and_behind_its_push)
{
	made_rule(0x100, 0x140, BRAID_CFA_PLT);
	made.regs.pc = TEXT + 0x106;
	word(STACK, TEXT + 0x900);
	word(STACK + 8, TEXT + 0xa00);
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.frame[1], TEXT + 0x900);
	made.regs.pc = TEXT + 0x10b;
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.frame[1], TEXT + 0xa00);
}
END_TEST

/* The ucontext has every register of the interrupted code; its pc is exact again. */
START_TEST(signal_frame)
{
	enum { GREGS = 40, RBP = 10, RSP = 15, RIP = 16 };

	made_rule(0x10, 0x11, BRAID_CFA_SIGNAL);
	made_rule(0x900, 0x901, BRAID_CFA_ROOT);
	word(STACK + GREGS + 8 * RIP, TEXT + 0x20);
	word(STACK + GREGS + 8 * RSP, STACK + 0x400);
	word(STACK + GREGS + 8 * RBP, 0x77);
	for (int r = 0; r < 17; r++)
		if (r != RIP && r != RSP && r != RBP)
			word(STACK + GREGS + 8 * (uint64_t)r, 0);
	made_rule(0x20, 0x21, braid_rule(BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0));
	word(STACK + 0x400, TEXT + 0x900);
	walk_made(BRAID_END_COMPLETE, 3);
	ck_assert_uint_eq(h.frame[1], BRAID_FRAME_EXACT | (TEXT + 0x20));
	ck_assert_uint_eq(h.w.fp, 0x77);
}
END_TEST

START_TEST(native_ends)
{
	made.regs.pc = 0x1000;
	walk_made(BRAID_END_NO_MAPPING, 1);

	/* A return address outside of all code is no frame. */
	made.regs.pc = TEXT + 0x10;
	made_rule(0x10, 0x11, braid_rule(BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0));
	word(STACK, 0x1000);
	walk_made(BRAID_END_BAD_RA, 1);
	word(STACK, 0);
	walk_made(BRAID_END_BAD_RA, 1);
	made.regs.fp = 0;
	walk_made(BRAID_END_COMPLETE, 1);

	made.regs.pc = TEXT + 0x20;
	made_rule(0x20, 0x21, BRAID_CFA_UNSUPPORTED);
	walk_made(BRAID_END_BAD_CFI, 1);
	made.regs.pc = TEXT + 0x30;
	made_rule(0x30, 0x31, braid_rule(BRAID_CFA_RSP, 0x4000, BRAID_RBP_SAME, 0));
	walk_made(BRAID_END_READ_FAULT, 1);
	made.regs.pc = TEXT + 0x40;
	made_rule(0x40, 0x41, braid_rule(BRAID_CFA_RSP, -8, BRAID_RBP_SAME, 0));
	word(STACK - 16, TEXT + 0x900);
	walk_made(BRAID_END_NO_PROGRESS, 1);
}
END_TEST

/* Without CFI: assembly with its return address at sp, a chain of frame pointers, or neither. */
START_TEST(code_without_cfi)
{
	const uint8_t call[] = {0, 0, 0, 0xe8, 1, 2, 3, 4};

	made.regs.pc = TEXT + 0x600;
	walk_made(BRAID_END_NO_CFI, 1);
	word(STACK + 0x40, 0);
	word(STACK + 0x48, TEXT + 0x900);
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.frame[1], TEXT + 0x900);
	ck_assert_int_eq(snapshot_put(&made, TEXT + 0x910 - sizeof(call), call, sizeof(call)), 0);
	word(STACK, TEXT + 0x910);
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.frame[1], TEXT + 0x910);

	made.mappings[0].table = BRAID_NO_TABLE;
	word(STACK, 0);
	word(STACK + 0x48, 0x1000);
	walk_made(BRAID_END_NO_TABLE, 1);
	word(STACK + 0x48, 0);
	walk_made(BRAID_END_COMPLETE, 1);
}
END_TEST

/* A saved frame pointer is no return address, even if the bytes in front of where it leads look like a call. */
START_TEST(frame_pointer_behind_a_call)
{
	made.mappings[0].table = BRAID_NO_TABLE;
	made.regs.fp = STACK;
	word(STACK, STACK + 0x40);
	word(STACK + 8, TEXT + 0x900);
	word(STACK + 0x38, 0x7fe3e81e5009);
	word(STACK + 0x40, 0);
	word(STACK + 0x48, 0);
	walk_made(BRAID_END_COMPLETE, 2);
	ck_assert_uint_eq(h.frame[1], TEXT + 0x900);
	ck_assert_uint_eq(h.top_sp[1], STACK + 16);
}
END_TEST

START_TEST(depth_limit)
{
	made_rule(0x10, 0x20, braid_rule(BRAID_CFA_RSP, 8, BRAID_RBP_SAME, 0));
	for (uint64_t i = 0; i < BRAID_MAX_DEPTH + 8; i++)
		word(STACK + 8 * i, TEXT + 0x18);
	walk_made(BRAID_END_DEPTH, BRAID_MAX_DEPTH);
	h.limit = 100;
	walk_made(BRAID_END_DEPTH, 100);
}
END_TEST

Suite *test_walk_native(void)
{
	Suite *s = suite_create("walk_native");
	TCase *t = tcase_create("native");

	tcase_add_checked_fixture(t, made_setup, made_teardown);
	tcase_add_test(t, every_cfa_rule);
	tcase_add_test(t, r10_is_known_in_the_leaf_only);
	tcase_add_test(t, lazy_binding);
	tcase_add_test(t, new_thread);
	tcase_add_test(t, plt_before_and_behind_its_push);
	tcase_add_test(t, signal_frame);
	tcase_add_test(t, native_ends);
	tcase_add_test(t, code_without_cfi);
	tcase_add_test(t, frame_pointer_behind_a_call);
	tcase_add_test(t, depth_limit);
	suite_add_tcase(s, t);
	return s;
}
