// SPDX-License-Identifier: Apache-2.0
/*
 * Derives rules for code without CFI from its instructions: it follows the stack height from the functions' first
 * instructions along all paths. In compiled code the height at an address is the same on every path. Where it is not,
 * there is no rule, and the walker falls back to the frame pointer.
 */
#include "code.h"

#include "util/search.h"
#include "util/stint.h"
#include "util/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN (-1)
#define HEIGHT_MAX (1 << 18)
#define INSNS_MAX (6U << 20) /* in one piece: about 44 bytes each. 16 MiB of compiled code have four million */

/* Functions that do not return are found iteratively, in at most this many passes. */
#define PASSES_MAX 4

struct state {
	int32_t height;	  /* CFA - sp, or UNKNOWN */
	int32_t fp_cfa;	  /* CFA - fp while fp is this function's, or UNKNOWN */
	int32_t saved;	  /* the caller's fp is at CFA - saved; 0: in fp; negative: lost */
	uint32_t by_call; /* if only this call returns here: its number plus one, else 0 */
	bool reached;
};

struct code {
	uint32_t start, end;
	VEC(struct code_insn) insns;
	struct state *states; /* the state before each instruction */
	bool *begins;	      /* a function begins here */
	bool *targeted;	      /* a jump's target */
	bool *noreturn;	      /* a call that does not return */
	bool found;	      /* this pass found more of those */
	uint32_t *work;	      /* instructions whose successors are still to be followed */
	size_t work_count;
	bool *queued;
};

static const struct state unknown_state = {UNKNOWN, UNKNOWN, UNKNOWN, 0, true};

static bool is_end(enum code_kind kind)
{
	return kind == CODE_JUMP || kind == CODE_JUMP_UNKNOWN || kind == CODE_RETURN || kind == CODE_STOP ||
	       kind == CODE_INVALID;
}

static bool is_call(enum code_kind kind)
{
	return kind == CODE_CALL || kind == CODE_CALL_UNKNOWN;
}

/* -E2BIG: they are more than compilers make of so much code. */
static int decode_all(struct code *c, const uint8_t *code, size_t size)
{
	for (size_t at = 0; at < size;) {
		struct code_insn *insn;

		if (stint_over())
			return -ETIME;
		if (c->insns.count == INSNS_MAX)
			return -E2BIG;
		if (VEC_RESERVE(&c->insns, 1))
			return -ENOMEM;
		insn = &c->insns.at[c->insns.count++];
		insn->pc = c->start + (uint32_t)at;
		machine_decode(insn, code + at, size - at);
		at += insn->length;
	}
	c->states = calloc(c->insns.count + 1, sizeof(*c->states));
	c->begins = calloc(c->insns.count + 1, sizeof(*c->begins));
	c->targeted = calloc(c->insns.count + 1, sizeof(*c->targeted));
	c->noreturn = calloc(c->insns.count + 1, sizeof(*c->noreturn));
	c->queued = calloc(c->insns.count + 1, sizeof(*c->queued));
	c->work = malloc((c->insns.count + 1) * sizeof(*c->work));
	return c->states && c->begins && c->targeted && c->noreturn && c->queued && c->work ? 0 : -ENOMEM;
}

/* The instruction that begins at pc, or c->insns.count. */
static size_t insn_at(const struct code *c, uint64_t pc)
{
	size_t low = SEARCH(i, 0, c->insns.count, c->insns.at[i].pc < pc);

	return low < c->insns.count && c->insns.at[low].pc == pc ? low : c->insns.count;
}

static uint64_t target_of(const struct code_insn *insn)
{
	return insn->pc + (uint64_t)insn->value;
}

static void queue(struct code *c, size_t i)
{
	if (c->queued[i])
		return;
	c->queued[i] = true;
	c->work[c->work_count++] = (uint32_t)i;
}

static void block_begin(struct code *c, size_t i)
{
	if (i >= c->insns.count || c->begins[i])
		return;
	c->begins[i] = true;
	c->states[i] = (struct state){machine_entry_height, UNKNOWN, 0, 0, true};
	queue(c, i);
}

static bool same(const struct state *a, const struct state *b)
{
	return a->height == b->height && a->fp_cfa == b->fp_cfa && a->saved == b->saved;
}

/* With a frame pointer the height may differ: callees may pop their arguments, as those of JavaScript engines do. */
static bool same_frame(const struct state *a, const struct state *b)
{
	return a->fp_cfa != UNKNOWN && a->fp_cfa == b->fp_cfa && a->saved == b->saved;
}

static void never_returns(struct code *c, size_t call)
{
	c->found |= !c->noreturn[call];
	c->noreturn[call] = true;
}

static void reach(struct code *c, size_t i, const struct state *s, uint32_t by_call)
{
	c->states[i] = *s;
	c->states[i].reached = true;
	c->states[i].by_call = by_call;
	queue(c, i);
}

/* A path reaches instruction i in state `s`. */
static void flow(struct code *c, size_t i, const struct state *s)
{
	struct state *at = &c->states[i], merged = *at;

	if (i >= c->insns.count || c->begins[i])
		return;
	if (!at->reached) {
		reach(c, i, s, 0);
		return;
	}
	if (same(at, s)) {
		at->by_call = 0;
		return;
	}
	if (at->by_call && !same_frame(at, s)) { /* then that call does not return to here */
		never_returns(c, at->by_call - 1);
		reach(c, i, s, 0);
		return;
	}
	if (at->height != s->height)
		merged.height = UNKNOWN;
	if (at->fp_cfa != s->fp_cfa)
		merged.fp_cfa = UNKNOWN;
	if (at->saved != s->saved)
		merged.saved = UNKNOWN;
	if (!same(at, &merged))
		reach(c, i, &merged, 0);
	else
		at->by_call = 0;
}

/* Instruction i follows a call, which may never return to it. */
static void flow_behind(struct code *c, size_t call, const struct state *s)
{
	size_t i = call + 1;

	if (c->noreturn[call] || i >= c->insns.count || c->begins[i])
		return;
	if (!c->states[i].reached)
		reach(c, i, s, (uint32_t)call + 1);
	else if (same_frame(&c->states[i], s))
		flow(c, i, s);
	else if (!same(&c->states[i], s))
		never_returns(c, call);
}

static void move_sp(struct state *s, int64_t by)
{
	if (s->height == UNKNOWN)
		return;
	if (by % 8 || by > HEIGHT_MAX || by < -HEIGHT_MAX || s->height - by < 0 || s->height - by > HEIGHT_MAX)
		s->height = UNKNOWN;
	else
		s->height -= (int32_t)by;
}

static void lose_fp(struct state *s)
{
	s->fp_cfa = UNKNOWN;
	if (!s->saved)
		s->saved = UNKNOWN;
}

static void fp_from_sp(struct state *s, int64_t by)
{
	lose_fp(s);
	if (s->height != UNKNOWN && by % 8 == 0 && by >= 0 && by <= s->height)
		s->fp_cfa = s->height - (int32_t)by;
}

static void sp_from_fp(struct state *s, int64_t by)
{
	int64_t height = s->fp_cfa - by;

	s->height =
		s->fp_cfa != UNKNOWN && by % 8 == 0 && height >= 0 && height <= HEIGHT_MAX ? (int32_t)height : UNKNOWN;
}

static void push_fp(struct state *s)
{
	move_sp(s, -8);
	if (!s->saved && s->height != UNKNOWN)
		s->saved = s->height;
}

static void pop_fp(struct state *s)
{
	bool again = s->saved > 0 && s->height == s->saved;

	move_sp(s, 8);
	lose_fp(s);
	if (again)
		s->saved = 0;
}

static void step(struct state *s, const struct code_insn *insn)
{
	switch ((enum code_kind)insn->kind) {
	case CODE_PUSH:
		move_sp(s, -8);
		break;
	case CODE_POP:
		move_sp(s, 8);
		break;
	case CODE_PUSH_FP:
		push_fp(s);
		break;
	case CODE_POP_FP:
		pop_fp(s);
		break;
	case CODE_MOVE_SP:
		move_sp(s, insn->value);
		break;
	case CODE_SP_FROM_FP:
		sp_from_fp(s, insn->value);
		break;
	case CODE_FP_FROM_SP:
		fp_from_sp(s, insn->value);
		break;
	case CODE_LEAVE:
		sp_from_fp(s, 0);
		pop_fp(s);
		break;
	case CODE_SP_LOST:
		s->height = UNKNOWN;
		break;
	case CODE_FP_LOST:
		lose_fp(s);
		break;
	default:
		break;
	}
}

static void follow(struct code *c)
{
	while (c->work_count) {
		size_t i = c->work[--c->work_count];
		const struct code_insn *insn = &c->insns.at[i];
		struct state s = c->states[i];

		c->queued[i] = false;
		step(&s, insn);
		if (insn->kind == CODE_BRANCH || insn->kind == CODE_JUMP)
			flow(c, insn_at(c, target_of(insn)), &s);
		if (is_call((enum code_kind)insn->kind))
			flow_behind(c, i, &s);
		else if (!is_end((enum code_kind)insn->kind))
			flow(c, i + 1, &s);
	}
}

/* After a call, padding and then code that is no jump's target belong to another function. */
static void find_noreturn(struct code *c)
{
	for (size_t i = 0; i + 1 < c->insns.count; i++) {
		size_t next = i + 1;

		if (!is_call((enum code_kind)c->insns.at[i].kind) || c->insns.at[next].kind != CODE_PADDING)
			continue;
		while (next < c->insns.count && c->insns.at[next].kind == CODE_PADDING && !c->targeted[next])
			next++;
		if (next < c->insns.count && !c->targeted[next] && c->insns.at[next].pc % 16 == 0)
			c->noreturn[i] = true;
	}
}

static void find_targets(struct code *c)
{
	for (size_t i = 0; i < c->insns.count; i++)
		if (c->insns.at[i].kind == CODE_BRANCH || c->insns.at[i].kind == CODE_JUMP)
			c->targeted[insn_at(c, target_of(&c->insns.at[i]))] = true;
}

struct callee {
	uint64_t target;
	bool noreturn;
};

static int by_target(const void *a, const void *b)
{
	const struct callee *x = a, *y = b;

	return (x->target > y->target) - (x->target < y->target);
}

/* A callee from which most calls do not return never returns. Keeps those in `list`, and returns their number. */
static size_t callees_keep(struct callee *list, size_t n)
{
	size_t kept = 0, end;

	for (size_t i = 0; i < n; i = end) {
		size_t ends = 0;

		for (end = i; end < n && list[end].target == list[i].target; end++)
			ends += list[end].noreturn;
		if (2 * ends > end - i)
			list[kept++] = list[i];
	}
	return kept;
}

static int spread_noreturn(struct code *c)
{
	struct callee *list;
	size_t n = 0;

	for (size_t i = 0; i < c->insns.count; i++)
		n += c->insns.at[i].kind == CODE_CALL;
	list = malloc((n + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < c->insns.count; i++)
		if (c->insns.at[i].kind == CODE_CALL)
			list[n++] = (struct callee){target_of(&c->insns.at[i]), c->noreturn[i]};
	qsort(list, n, sizeof(*list), by_target);
	n = callees_keep(list, n);
	for (size_t i = 0; i < c->insns.count && n; i++) {
		struct callee key = {.target = target_of(&c->insns.at[i])};

		if (c->insns.at[i].kind == CODE_CALL && bsearch(&key, list, n, sizeof(*list), by_target))
			c->noreturn[i] = true;
	}
	free(list);
	return 0;
}

/* Starts at call targets and at known functions. */
static void begin_known(struct code *c, const uint32_t *starts, size_t start_count)
{
	for (size_t i = 0; i < start_count; i++)
		if (starts[i] >= c->start && starts[i] < c->end)
			block_begin(c, insn_at(c, starts[i]));
	for (size_t i = 0; i < c->insns.count; i++)
		if (c->insns.at[i].kind == CODE_CALL)
			block_begin(c, insn_at(c, target_of(&c->insns.at[i])));
	follow(c);
}

/*
 * Starts at code that no path reaches: a computed jump's target, which has the state of the jump, or a function after
 * the end of another that is called only by address. Jump targets wait for `all`, because the jumps to them may be
 * found first.
 */
static void begin_others(struct code *c, bool all)
{
	const struct state *computed = NULL;
	bool end = true;

	for (size_t i = 0; i < c->insns.count; i++) {
		enum code_kind kind = (enum code_kind)c->insns.at[i].kind;

		if (c->begins[i])
			computed = NULL;
		if (!c->states[i].reached && end && kind != CODE_PADDING && kind != CODE_INVALID && kind != CODE_STOP) {
			if (computed)
				flow(c, i, computed);
			else if (all || !c->targeted[i])
				block_begin(c, i);
			follow(c);
		}
		if (c->states[i].reached && kind == CODE_JUMP_UNKNOWN)
			computed = c->states[i].height == machine_entry_height ? NULL : &c->states[i];
		if (kind != CODE_PADDING)
			end = is_end(kind) ||
			      (c->noreturn[i] && i + 1 < c->insns.count && c->insns.at[i + 1].kind == CODE_PADDING);
	}
}

static void pass(struct code *c, const uint32_t *starts, size_t start_count)
{
	memset(c->states, 0, c->insns.count * sizeof(*c->states));
	memset(c->begins, 0, c->insns.count * sizeof(*c->begins));
	c->found = false;
	begin_known(c, starts, start_count);
	begin_others(c, false);
	begin_others(c, true);
}

int code_rows(cfi_rows *rows, uint32_t start, const uint8_t *code, size_t size, const uint32_t *starts,
	      size_t start_count)
{
	struct code c = {.start = start, .end = start + (uint32_t)size};
	int err = decode_all(&c, code, size);

	if (!err) {
		find_targets(&c);
		find_noreturn(&c);
		c.found = true;
	}
	for (int i = 0; i < PASSES_MAX && !err && c.found; i++) {
		err = spread_noreturn(&c);
		if (!err)
			pass(&c, starts, start_count);
	}
	for (size_t i = 0; i < c.insns.count && !err; i++) {
		const struct state *s = c.states[i].reached ? &c.states[i] : &unknown_state;

		err = rows_put(rows, c.insns.at[i].pc, machine_rule(s->height, s->fp_cfa, s->saved));
	}
	free(c.insns.at);
	free(c.states);
	free(c.begins);
	free(c.targeted);
	free(c.noreturn);
	free(c.queued);
	free(c.work);
	return err == -E2BIG ? 0 : err;
}
