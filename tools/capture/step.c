// SPDX-License-Identifier: Apache-2.0
/*
 * Walks at every instruction. While a thread executes, the callers of its leaf stay, a call makes the leaf a caller,
 * and a return makes the first caller the leaf. A stack without any of these relations to its neighbour is wrong, or
 * the thread did something rare (an exception, a deoptimisation, a signal).
 */
#include "capture.h"

#include <unistd.h>

#define STEP_NATIVE_MAX 400 /* instructions in a row */

static bool is_interpreted(uint64_t frame)
{
	return braid_frame_kind(frame) == BRAID_FRAME_INTERPRETED;
}

/* A frame with rbp does not have an exact stack pointer, and nothing depends on it. */
static bool has_rbp_frame(const struct target *t, uint64_t frame)
{
	return is_interpreted(frame) || (braid_frame_kind(frame) == BRAID_FRAME_CODE_CACHE &&
					 braid_frame_addr(frame) == t->layout.call_stub_return);
}

static bool same_frame(const struct target *t, const struct host_walk *a, uint32_t i, const struct host_walk *b,
		       uint32_t j)
{
	return a->frame[i] == b->frame[j] && (a->top_sp[i] == b->top_sp[j] || has_rbp_frame(t, a->frame[i]));
}

/* The frames at the leaf's end of a and b that they do not share. A leaf never matches a caller. */
static void differing(const struct target *t, const struct host_walk *a, const struct host_walk *b, uint32_t *in_a,
		      uint32_t *in_b)
{
	uint32_t i = a->depth, j = b->depth;

	while (i > 1 && j > 1 && same_frame(t, a, i - 1, b, j - 1)) {
		i--;
		j--;
	}
	*in_a = i;
	*in_b = j;
}

static bool is_interpreter_code(const struct target *t, uint64_t frame)
{
	return t->has_layout && braid_frame_kind(frame) == BRAID_FRAME_CODE_CACHE &&
	       walk_in_interpreter(&t->layout, braid_frame_addr(frame));
}

/* Whether `caller` is the frame that was the leaf `leaf`, at a call instruction. */
static bool became_caller(const struct target *t, uint64_t leaf, uint64_t caller)
{
	int64_t length = (int64_t)(braid_frame_addr(caller) - braid_frame_addr(leaf));

	if (is_interpreted(leaf) || is_interpreted(caller))
		return is_interpreted(caller) &&
		       (is_interpreter_code(t, leaf) || braid_frame_method(leaf) == braid_frame_method(caller));
	return length <= 15 && length >= -32; /* a call, or just before it; deoptimising code calls from before it */
}

static bool same_code(struct target *t, uint64_t a, uint64_t b)
{
	struct target_blob x, y;

	if (is_interpreted(a) || is_interpreted(b))
		return is_interpreted(a) && is_interpreted(b) && braid_frame_method(a) == braid_frame_method(b);
	target_blob_find(t, braid_frame_addr(a) - 1, &x);
	target_blob_find(t, braid_frame_addr(b) - 1, &y);
	return x.found && y.found && x.address == y.address;
}

/* Whether `leaf` is at the return address in `caller`, or at an exception handler. */
static bool returned_to(struct target *t, uint64_t caller, uint64_t leaf)
{
	if (is_interpreted(caller))
		return is_interpreter_code(t, leaf) ||
		       (is_interpreted(leaf) && braid_frame_method(leaf) == braid_frame_method(caller));
	return braid_frame_addr(caller) == braid_frame_addr(leaf) || same_code(t, caller, leaf);
}

static bool in_interpreter(const struct target *t, uint64_t frame)
{
	return is_interpreted(frame) || is_interpreter_code(t, frame);
}

/*
 * An exception changes a caller's return address or its bcp. The VM writes methods into the frames that replace a
 * compiled one (vframeArrayElement::unpack_on_stack).
 */
static bool caller_continues_elsewhere(struct target *t, const struct host_walk *a, const struct host_walk *b,
				       uint32_t at)
{
	for (uint32_t i = 1; i < at; i++)
		if (!same_frame(t, a, i, b, i))
			return false;
	if (braid_frame_kind(a->frame[0]) == BRAID_FRAME_NATIVE && in_interpreter(t, a->frame[at]))
		return in_interpreter(t, b->frame[at]);
	return same_code(t, a->frame[at], b->frame[at]) &&
	       (a->top_sp[at] == b->top_sp[at] || is_interpreted(a->frame[at]));
}

static bool explained(struct target *t, const struct host_walk *a, const struct host_walk *b, uint32_t in_a,
		      uint32_t in_b)
{
	if (in_a == 1 && in_b == 1)
		return true;
	if (in_a == 1 && in_b == 2)
		return became_caller(t, a->frame[0], b->frame[1]);
	if (in_a == 2 && in_b == 1)
		return returned_to(t, a->frame[1], b->frame[0]);
	if (in_a == in_b)
		return caller_continues_elsewhere(t, a, b, in_a - 1);
	return false;
}

static void print_stack(struct capture *c, const char *title, const struct host_walk *w, const struct host_regs *regs)
{
	uint8_t code[48];
	char name[256];

	printf("  %s pc %llx sp %llx fp %llx rax %llx rbx %llx r13 %llx end %u depth %u\n   ", title, regs->pc,
	       regs->sp, regs->fp, regs->rax, regs->rbx, regs->r13, w->w.end, w->depth);
	if (!target_read(&c->target, regs->pc - 24, code, sizeof(code)))
		for (size_t i = 0; i < sizeof(code); i++)
			printf("%s%02x", i == 24 ? " | " : " ", code[i]);
	printf("\n");
	for (uint32_t i = 0; i < w->depth; i++) {
		if (i >= 5 && i + 3 < w->depth)
			continue;
		target_frame_name(&c->target, w->frame[i], name, sizeof(name));
		printf("    %016llx sp %llx %s\n", w->frame[i], w->top_sp[i], name);
	}
}

struct step_state {
	struct host_regs regs;
	struct host_regs before;
	int signal;
	bool comparable;
};

static void anomaly(struct capture *c, struct step_state *s, const char *what)
{
	char a[CAPTURE_LABEL / 2 - 20], b[CAPTURE_LABEL / 2 - 20], key[CAPTURE_LABEL];

	capture_leaf_label(c, &c->before, &s->before, a, sizeof(a));
	capture_leaf_label(c, &c->walk, &s->regs, b, sizeof(b));
	snprintf(key, sizeof(key), "%s: %s -> %s", what, a, b);
	if (tally_add(&c->anomalies, key) > c->o.examples)
		return;
	printf("%s\n", key);
	print_stack(c, "from", &c->before, &s->before);
	print_stack(c, "to  ", &c->walk, &s->regs);
}

static void compare(struct capture *c, struct step_state *s)
{
	char what[32];
	uint32_t in_a, in_b;

	if (c->walk.w.end) {
		c->incomplete++;
		snprintf(what, sizeof(what), "end %u", c->walk.w.end);
		anomaly(c, s, what);
		return;
	}
	if (!s->comparable || c->before.w.end)
		return;
	differing(&c->target, &c->before, &c->walk, &in_a, &in_b);
	if (explained(&c->target, &c->before, &c->walk, in_a, in_b))
		return;
	c->wrong++;
	snprintf(what, sizeof(what), "%u to %u", in_a, in_b);
	anomaly(c, s, what);
}

/* Skips threads without Java, collections and compilations. */
static bool worth_stepping(const struct capture *c, unsigned int *native)
{
	if (c->walk.depth && braid_frame_kind(c->walk.frame[0]) != BRAID_FRAME_NATIVE)
		*native = 0;
	return (c->walk.w.java || c->walk.w.end) && ++*native < STEP_NATIVE_MAX;
}

static int one_round(struct capture *c, pid_t tid)
{
	struct step_state s = {.comparable = false};
	unsigned int native = 0;
	int err = thread_stop(tid, &s.regs);

	for (unsigned int i = 0; !err && i < c->o.steps; i++) {
		target_moment(&c->target);
		capture_walk(c, &s.regs);
		compare(c, &s);
		capture_keep(c);
		if (!worth_stepping(c, &native))
			break;
		memcpy(&c->before, &c->walk, offsetof(struct host_walk, frame));
		memcpy(c->before.frame, c->walk.frame, c->walk.depth * sizeof(c->walk.frame[0]));
		memcpy(c->before.top_sp, c->walk.top_sp, c->walk.depth * sizeof(c->walk.top_sp[0]));
		s.before = s.regs;
		err = thread_step(tid, &s.regs, &s.signal);
		s.comparable = err == 0;
		if (err > 0)
			err = 0;
	}
	thread_go(tid, true);
	return err == -EAGAIN ? 0 : err;
}

int capture_steps(struct capture *c)
{
	unsigned int idle = 0;

	for (unsigned int round = 0; round < c->o.rounds && idle < 200;) {
		pid_t tid;

		usleep(c->o.interval_us);
		tid = thread_choose(c->target.pid, c->o.thread, true);
		if (!tid) {
			idle++;
			continue;
		}
		idle = 0;
		round++;
		one_round(c, tid);
	}
	return 0;
}
