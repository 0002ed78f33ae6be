// SPDX-License-Identifier: Apache-2.0
/* Tests of the stack walker: recorded walks, and walks with failing reads and hostile values. */
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

/* ---- frames that are about to replace a compiled one ---- */

static void copy_word(struct snapshot *s, uint64_t to, uint64_t from)
{
	uint64_t value;

	ck_assert_int_eq(snapshot_get(s, from, &value, sizeof(value)), 0);
	ck_assert_int_eq(snapshot_put(s, to, &value, sizeof(value)), 0);
}

/* The base of the frame that the walk finds at `depth`. */
static uint64_t base_of(const struct snapshot *s, uint32_t depth)
{
	h.limit = depth;
	host_walk_run(&h, &s->regs, layout_of(s));
	h.limit = 0;
	return h.w.fp;
}

/* Such a frame has in its memory what a former one has left there, up to a method; only its last sp is certain. */
START_TEST(what_a_former_frame_has_left_is_no_method)
{
	enum { SKELETON = 3, INTERPRETED = 4, METHOD = -3, LAST_SP = -2, BCP = -7 };
	const char *path = "tests/snapshots/jdk8-native-deoptimizationblob-interpreter-native-nmethod.snap";
	uint64_t to, from, last_sp = 0;
	struct snapshot s;

	snapshot_open(&s, path);
	h = (struct host_walk){.ops = &snapshot_ops, .ctx = &s};
	to = base_of(&s, SKELETON);
	from = base_of(&s, INTERPRETED);
	copy_word(&s, to + 8 * METHOD, from + 8 * METHOD);
	copy_word(&s, to + 8 * BCP, from + 8 * BCP);
	ck_assert_int_eq(snapshot_put(&s, to + 8 * LAST_SP, &last_sp, sizeof(last_sp)), 0);
	replay(&s, path);
	ck_assert_uint_eq(braid_frame_kind(h.frame[SKELETON]), BRAID_FRAME_CODE_CACHE);
	copy_word(&s, to + 8 * LAST_SP, from + 8 * LAST_SP);
	host_walk_run(&h, &s.regs, layout_of(&s));
	ck_assert_uint_eq(h.frame[SKELETON], h.frame[INTERPRETED]);
	snapshot_free(&s);
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

Suite *test_walk(void)
{
	Suite *s = suite_create("walk");
	TCase *t = tcase_create("snapshots");

	tcase_add_test(t, snapshots_walk_as_recorded);
	tcase_add_test(t, a_read_that_fails_ends_the_walk);
	tcase_add_test(t, a_method_that_cannot_be_read_has_callers);
	tcase_add_test(t, what_a_former_frame_has_left_is_no_method);
	tcase_add_test(t, any_layout_ends_the_walk);
	tcase_add_test(t, any_memory_ends_the_walk);
	suite_add_tcase(s, t);
	return s;
}
