// SPDX-License-Identifier: Apache-2.0
/* Tests of the stack walker: recorded walks, walks in hand-made memory, and walks with failing reads. */
#include "tests/snapshots/snapshot.h"

#include <check.h>
#include <glob.h>

Suite *test_walk(void);

/* Check records every assertion that holds, which is too slow for frequent checks. */
#define MUST(condition, ...)                                                                                           \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			ck_abort_msg(__VA_ARGS__);                                                                     \
	} while (0)

/* ---- snapshots ---- */

static struct host_walk h;

static void snapshot_open(struct snapshot *s, const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int line;
	int err;

	MUST(f, "cannot open %s", path);
	err = snapshot_load(s, f, &line);
	fclose(f);
	MUST(!err, "%s:%u is no line of a snapshot", path, line);
}

static const struct braid_layout *layout_of(const struct snapshot *s)
{
	return s->has_layout ? &s->layout : NULL;
}

/* Frames may lose the byte code index and the compile id. */
static bool same_place(const struct snapshot *s, uint64_t a, uint64_t b)
{
	/* Frames that replace compiled ones need not have a method. */
	if (strstr(s->kind, "DeoptimizationBlob") && braid_frame_kind(b) == BRAID_FRAME_INTERPRETED &&
	    braid_frame_kind(a) == BRAID_FRAME_CODE_CACHE && walk_in_interpreter(&s->layout, braid_frame_addr(a)))
		return true;
	if (braid_frame_kind(a) == BRAID_FRAME_INTERPRETED && braid_frame_kind(b) == BRAID_FRAME_INTERPRETED)
		return braid_frame_method(a) == braid_frame_method(b);
	if (braid_frame_kind(a) == BRAID_FRAME_CODE_CACHE && braid_frame_kind(b) == BRAID_FRAME_CODE_CACHE)
		return ((a ^ b) & (BRAID_FRAME_EXACT | BRAID_FRAME_ADDR_MASK)) == 0;
	return a == b;
}

/*
 * All callers are there and are the same. When code that is about to make its frame, or has left it, cannot be read,
 * its caller may be taken for the leaf.
 */
static bool finds_callers(const struct snapshot *s)
{
	uint32_t n = h.depth, expected = (uint32_t)s->frame_count;

	if (h.w.end != s->end || n > expected || n + 1 < expected)
		return false;
	for (uint32_t i = 1; i < n; i++)
		if (!same_place(s, h.frame[n - i], s->frames[expected - i].frame))
			return false;
	return true;
}

static void each_snapshot(void (*fn)(struct snapshot *s, const char *path))
{
	glob_t g;

	ck_assert_msg(glob("tests/snapshots/*.snap", 0, NULL, &g) == 0,
		      "no snapshots: the tests run from the top of the source tree");
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct snapshot s;

		snapshot_open(&s, g.gl_pathv[i]);
		fn(&s, g.gl_pathv[i]);
		snapshot_free(&s);
	}
	globfree(&g);
}

static void replay(struct snapshot *s, const char *path)
{
	h = (struct host_walk){.ops = &snapshot_ops, .ctx = s};
	host_walk_run(&h, &s->regs, layout_of(s));
	for (uint32_t i = 0; i < h.depth && i < s->frame_count; i++)
		ck_assert_msg(h.frame[i] == s->frames[i].frame, "%s (%s): frame %u is %llx, not %llx %s", path,
			      s->title, i, h.frame[i], (unsigned long long)s->frames[i].frame, s->frames[i].name);
	ck_assert_msg(h.depth == s->frame_count && h.w.end == s->end, "%s (%s): %u frames, end %u, not %zu, %u", path,
		      s->title, h.depth, h.w.end, s->frame_count, s->end);
}

START_TEST(snapshots_walk_as_recorded)
{
	each_snapshot(replay);
}
END_TEST

/* ---- reads that fail ---- */

struct faulty {
	struct snapshot *s;
	uint32_t reads;
	uint32_t fails; /* the number of the read that fails, from 0 */
};

static long faulty_read(void *ctx, void *to, __u32 size, __u64 address)
{
	struct faulty *f = ctx;

	return f->reads++ == f->fails ? -EFAULT : snapshot_get(f->s, address, to, size);
}

static bool faulty_mapping(void *ctx, __u64 pc, struct braid_mapping *m)
{
	return snapshot_find_mapping(((struct faulty *)ctx)->s, pc, m);
}

static __u32 faulty_rule(void *ctx, const struct braid_mapping *m, __u64 vaddr)
{
	return snapshot_op_rule(((struct faulty *)ctx)->s, m, vaddr);
}

static const struct host_walk_ops faulty_ops = {.read = faulty_read, .mapping = faulty_mapping, .rule = faulty_rule};

/* The number of reads per step is bounded. */
#define READS_PER_STEP 96U
/* An adapter's registers are searched in 416 words with three reads each; stubs and displaced frames in fewer. */
#define HOSTILE_READS_PER_STEP 2048U

/* Whichever read fails: the walk ends in time and with a cause, unless the failed read did not matter. */
static void fail_each_read(struct snapshot *s, const char *path)
{
	struct faulty f = {.s = s, .fails = UINT32_MAX};
	uint32_t reads;

	h = (struct host_walk){.ops = &faulty_ops, .ctx = &f};
	host_walk_run(&h, &s->regs, layout_of(s));
	reads = f.reads;
	for (f.fails = 0; f.fails < reads; f.fails++) {
		f.reads = 0;
		host_walk_run(&h, &s->regs, layout_of(s));
		MUST(h.w.end < BRAID_END_COUNT, "%s, read %u fails: end %u", path, f.fails, h.w.end);
		MUST(h.w.end || finds_callers(s), "%s, read %u fails: another stack, said to be complete", path,
		     f.fails);
		MUST(f.reads <= READS_PER_STEP * (h.depth + 1), "%s, read %u fails: %u reads for %u frames", path,
		     f.fails, f.reads, h.depth);
		for (uint32_t i = 1; i < h.depth; i++)
			MUST(h.top_sp[i] > h.top_sp[i - 1] - (i == 1), "%s, read %u fails: no progress", path, f.fails);
	}
}

START_TEST(a_read_that_fails_ends_the_walk)
{
	each_snapshot(fail_each_read);
}
END_TEST

/* ---- a page that cannot be read ---- */

#define PAGE_BYTES 4096U

struct hidden {
	struct snapshot *s;
	uint64_t page;
};

static long hidden_read(void *ctx, void *to, __u32 size, __u64 address)
{
	struct hidden *f = ctx;
	bool meets = address < f->page + PAGE_BYTES && address + size > f->page;

	return meets ? -EFAULT : snapshot_get(f->s, address, to, size);
}

static bool hidden_mapping(void *ctx, __u64 pc, struct braid_mapping *m)
{
	return snapshot_find_mapping(((struct hidden *)ctx)->s, pc, m);
}

static __u32 hidden_rule(void *ctx, const struct braid_mapping *m, __u64 vaddr)
{
	return snapshot_op_rule(((struct hidden *)ctx)->s, m, vaddr);
}

static const struct host_walk_ops hidden_ops = {.read = hidden_read, .mapping = hidden_mapping, .rule = hidden_rule};
static uint32_t hidden_methods;

static void hide_methods(struct snapshot *s, const char *path)
{
	struct hidden f = {.s = s};

	for (size_t i = 0; i < s->frame_count && s->end == BRAID_END_COMPLETE; i++) {
		uint32_t kind = braid_frame_kind(s->frames[i].frame);

		/* After compiled code, and in code that is about to make its frame, the method confirms the frame. */
		if (kind == BRAID_FRAME_CODE_CACHE || (kind == BRAID_FRAME_INTERPRETED && !i))
			break;
		if (kind != BRAID_FRAME_INTERPRETED)
			continue;
		f.page = braid_frame_method(s->frames[i].frame) & ~(uint64_t)(PAGE_BYTES - 1);
		h = (struct host_walk){.ops = &hidden_ops, .ctx = &f};
		host_walk_run(&h, &s->regs, layout_of(s));
		ck_assert_msg(finds_callers(s), "%s: without the page of frame %zu's method another stack", path, i);
		hidden_methods++;
		break; /* other pages may hold what earlier frames lead to */
	}
}

/* As while the kernel copies a page that a process writes to for the first time. */
START_TEST(a_method_that_cannot_be_read_has_callers)
{
	hidden_methods = 0;
	each_snapshot(hide_methods);
	ck_assert(hidden_methods > 0);
}
END_TEST

/* ---- hostile values ---- */

/* xorshift64: the same values in every run. */
static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void must_end(struct faulty *f, const struct snapshot *s, const struct braid_layout *l, const char *path)
{
	f->reads = 0;
	host_walk_run(&h, &s->regs, l);
	MUST(h.w.end < BRAID_END_COUNT, "%s: end %u", path, h.w.end);
	MUST(h.depth <= BRAID_MAX_DEPTH, "%s: %u frames", path, h.depth);
	MUST(f->reads <= HOSTILE_READS_PER_STEP * (h.depth + 1), "%s: %u reads for %u frames", path, f->reads, h.depth);
}

/* The agent's layout is not trusted: any field, or all of them, may have any value. */
static void hostile_layouts(struct snapshot *s, const char *path)
{
	struct faulty f = {.s = s, .fails = UINT32_MAX};
	struct braid_layout l;

	h = (struct host_walk){.ops = &faulty_ops, .ctx = &f};
	for (size_t i = 0; s->has_layout && i < SNAPSHOT_FIELDS; i++) {
		uint64_t value = i % 2 ? random_next() : ~0ULL;

		l = s->layout;
		memcpy((char *)&l + snapshot_fields[i].offset, &value, snapshot_fields[i].size);
		l.flags |= BRAID_LAYOUT_WALKABLE;
		must_end(&f, s, &l, path);
	}
	for (size_t i = 0; i < sizeof(l); i++)
		((uint8_t *)&l)[i] = (uint8_t)random_next();
	l.flags |= BRAID_LAYOUT_WALKABLE;
	must_end(&f, s, &l, path);
	l = s->layout;
	for (size_t i = 0; i < BRAID_CODE_HEAPS; i++)
		l.heaps[i] = (struct braid_code_heap){.low = 0, .high = ~0ULL, .log2_segment = (uint32_t)random_next()};
	must_end(&f, s, &l, path);
}

START_TEST(any_layout_ends_the_walk)
{
	random_state = 0x62726169;
	each_snapshot(hostile_layouts);
}
END_TEST

static void hostile_memory(struct snapshot *s, const char *path)
{
	struct faulty f = {.s = s, .fails = UINT32_MAX};

	h = (struct host_walk){.ops = &faulty_ops, .ctx = &f};
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 16; i++) {
			struct snapshot_chunk *c = &s->chunks[random_next() % s->chunk_count];

			c->bytes[random_next() % SNAPSHOT_CHUNK] = (uint8_t)random_next();
		}
		must_end(&f, s, layout_of(s), path);
	}
	s->regs.rbx = random_next();
	s->regs.r13 = s->regs.sp + 8;
	s->regs.fp = s->regs.sp;
	must_end(&f, s, layout_of(s), path);
}

START_TEST(any_memory_ends_the_walk)
{
	random_state = 0x77616c6b;
	each_snapshot(hostile_memory);
}
END_TEST

/* ---- hand-made native stacks ---- */

#define TEXT 0x400000U
#define STACK 0x7fff0000U

static struct snapshot made;

static void word(uint64_t at, uint64_t value)
{
	MUST(!snapshot_put(&made, at, &value, sizeof(value)), "out of memory");
}

static void made_rule(uint32_t from, uint32_t to, uint32_t rule)
{
	MUST(!snapshot_add_rule(&made, &(struct snapshot_rule){.table = 0, .from = from, .to = to, .rule = rule}),
	     "out of memory");
}

/* One module at TEXT with table number 0; its addresses from 0x800 on are first frames. */
static void made_setup(void)
{
	memset(&made, 0, sizeof(made));
	MUST(!snapshot_add_mapping(&made, &(struct braid_mapping){.start = TEXT, .end = TEXT + 0x1000, .bias = TEXT}),
	     "out of memory");
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

Suite *test_walk(void)
{
	Suite *s = suite_create("walk");
	TCase *t = tcase_create("snapshots");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, snapshots_walk_as_recorded);
	tcase_add_test(t, a_read_that_fails_ends_the_walk);
	tcase_add_test(t, a_method_that_cannot_be_read_has_callers);
	tcase_add_test(t, any_layout_ends_the_walk);
	tcase_add_test(t, any_memory_ends_the_walk);
	suite_add_tcase(s, t);
	t = tcase_create("native");
	tcase_add_checked_fixture(t, made_setup, made_teardown);
	tcase_add_test(t, every_cfa_rule);
	tcase_add_test(t, r10_is_known_in_the_leaf_only);
	tcase_add_test(t, lazy_binding);
	tcase_add_test(t, new_thread);
	tcase_add_test(t, plt_before_and_behind_its_push);
	tcase_add_test(t, signal_frame);
	tcase_add_test(t, native_ends);
	tcase_add_test(t, code_without_cfi);
	tcase_add_test(t, depth_limit);
	suite_add_tcase(s, t);
	return s;
}
