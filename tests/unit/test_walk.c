// SPDX-License-Identifier: Apache-2.0
/* The stack walker: recorded walks, walks in hand-made memory, and walks whose reads fail. */
#include "tests/snapshots/snapshot.h"

#include <check.h>
#include <glob.h>

Suite *test_walk(void);

/* Check records every assertion that holds: too slow for what is done very often. */
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

/* A byte code index may be lost. */
static bool same_place(uint64_t a, uint64_t b)
{
	if (braid_frame_kind(a) == BRAID_FRAME_INTERPRETED && braid_frame_kind(b) == BRAID_FRAME_INTERPRETED)
		return braid_frame_method(a) == braid_frame_method(b);
	return a == b;
}

/*
 * All callers are there, and are the same. When code that is about to make its frame, or has left it, cannot be looked
 * at, its caller may be taken for the leaf.
 */
static bool finds_callers(const struct snapshot *s)
{
	uint32_t n = h.depth, expected = (uint32_t)s->frame_count;

	if (h.w.end != s->end || n > expected || n + 1 < expected)
		return false;
	for (uint32_t i = 1; i < n; i++)
		if (!same_place(h.frame[n - i], s->frames[expected - i].frame))
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
	uint32_t fails; /* this one, from 0 */
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

/* A step reads a bounded number of times. */
#define READS_PER_STEP 96U

/* Whichever read fails: the walk ends in time, with a cause, unless what it could not read did not matter. */
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

Suite *test_walk(void)
{
	Suite *s = suite_create("walk");
	TCase *t = tcase_create("snapshots");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, snapshots_walk_as_recorded);
	tcase_add_test(t, a_read_that_fails_ends_the_walk);
	suite_add_tcase(s, t);
	return s;
}
