// SPDX-License-Identifier: Apache-2.0
/* The tables of stacks and of their frames. */
#include <limits.h>
#include <string.h>

#include "table.h"

static uint32_t row_of_stack(const struct query *q, int64_t id)
{
	size_t row = id > 0 && id <= UINT32_MAX ? table_find(&q->an->a->nodes, (uint32_t)id) : TABLE_NONE;

	return row == TABLE_NONE ? ROW_NONE : (uint32_t)row;
}

/* All stacks, or the one that the limit of this role names. */
static int begin_at(struct query_cursor *c, enum query_role role)
{
	uint32_t row;

	query_from_to(c, 0, c->query->an->a->nodes.count);
	if (!c->limits.has[role])
		return 0;
	row = row_of_stack(c->query, c->limits.equal[role]);
	query_from_to(c, row == ROW_NONE ? 0 : row, row == ROW_NONE ? 0 : row + 1);
	return 0;
}

/* ---- stacks ---- */

static uint64_t count_stacks(const struct query *q, const struct query_table *t)
{
	(void)t;
	return q->an->a->nodes.count;
}

static int begin_stacks(struct query_cursor *c)
{
	return begin_at(c, ROLE_KEY);
}

#define GET(name, expression)                                                                                          \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		const struct analysis *an = c->query->an;                                                              \
                                                                                                                       \
		(void)col;                                                                                             \
		expression;                                                                                            \
	}

GET(stack_id, put_row(to, &an->a->nodes, (uint32_t)c->at))
GET(stack_parent, put_row(to, &an->a->nodes, an->stacks[c->at].parent))
GET(stack_cause, put_text(to, cause_name(an->stacks[c->at].cause)))
GET(stack_site, put_text(to, events_site_name(an, events_site(an, (uint32_t)c->at))))

static const struct query_column stacks[] = {
	{"stack_id", "INTEGER", ROLE_KEY, stack_id, "id of the stack", 0},
	{"parent_stack_id", "INTEGER", ROLE_NONE, stack_parent, "the stack below its innermost frame", 0},
	{"cause", "TEXT", ROLE_NONE, stack_cause, "complete, or why it is not whole", 0},
	{"site", "TEXT", ROLE_NONE, stack_site, "its innermost Java frame outside of the JDK, else the innermost one",
	 0},
};

static const struct query_rows stacks_rows = {.count = count_stacks, .begin = begin_stacks, .next = query_next_at};

/* ---- frames ---- */

#define FRAMES_GUESS 30U /* of a stack */

static uint64_t count_frames(const struct query *q, const struct query_table *t)
{
	return count_stacks(q, t) * FRAMES_GUESS;
}

static int begin_frames(struct query_cursor *c)
{
	c->next_stack = ROW_NONE;
	c->left = 0;
	return begin_at(c, ROLE_STACK);
}

/* Goes to the frames of the node at c->next_stack. A node whose frame or parent is lost has one that says so. */
static void enter_node(struct query_cursor *c)
{
	const struct analysis *an = c->query->an;
	const struct stack *s = &an->stacks[c->next_stack];
	const struct expansion *e = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];
	bool damaged = !e || s->detached;

	c->stack = c->next_stack;
	c->next_stack = s->parent;
	c->left = (e ? e->count : 0) + damaged;
	c->xframe = e ? (uint32_t)e->first - damaged : 0;
}

/* Whether the limits let through no further frame of this stack. */
static bool is_past_depth(const struct query_cursor *c)
{
	return c->limits.has[ROLE_DEPTH] && (int64_t)c->depth > c->limits.equal[ROLE_DEPTH];
}

static int next_frame(struct query_cursor *c)
{
	if (c->left) {
		c->left--;
		c->depth++;
	}
	while (!c->left) {
		if (c->next_stack == ROW_NONE || is_past_depth(c)) {
			if (!query_next_at(c))
				return 0;
			c->next_stack = (uint32_t)c->at;
			c->depth = 0;
		}
		enter_node(c);
	}
	return 1;
}

/* The frame is the last of those that are left: expansions are in the order from the root. */
static const struct xframe *frame_of(const struct query_cursor *c)
{
	const struct analysis *an = c->query->an;
	const struct stack *s = &an->stacks[c->stack];
	bool damaged = s->frame == ROW_NONE || s->detached;

	return &an->xframes.at[damaged && c->left == 1 ? XFRAME_DAMAGED : c->xframe + c->left - 1];
}

#define GET_FRAME(name, expression)                                                                                    \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		const struct analysis *an = c->query->an;                                                              \
		const struct xframe *x = frame_of(c);                                                                  \
		const struct sym *sym = &an->syms.at[x->sym];                                                          \
                                                                                                                       \
		(void)col;                                                                                             \
		(void)sym;                                                                                             \
		expression;                                                                                            \
	}

/* "demo.Main.work" has the class "demo.Main"; other code has none. */
static void put_part(sqlite3_context *to, const struct analysis *an, const struct sym *sym, bool class)
{
	const char *name = strpool_get(&an->names, sym->name), *dot = strrchr(name, '.');

	if (kind_domain((enum stack_kind)sym->kind) != DOMAIN_JAVA || !sym->named || !dot)
		return;
	if (class && dot - name < INT_MAX)
		sqlite3_result_text(to, name, (int)(dot - name), SQLITE_STATIC);
	else
		put_text(to, dot + 1);
}

static void put_module(sqlite3_context *to, const struct query_cursor *c, const struct sym *sym)
{
	const struct analysis *an = c->query->an;
	uint32_t frame = an->stacks[c->stack].frame;
	enum stack_domain domain = kind_domain((enum stack_kind)sym->kind);

	if (frame != ROW_NONE && (domain == DOMAIN_NATIVE || domain == DOMAIN_KERNEL))
		put_text(to, analysis_module_path(
				     an, ((const struct frame_row *)table_row(&an->a->frames, frame))->module));
}

GET(frame_stack, put_row(to, &an->a->nodes, (uint32_t)c->at))
GET(frame_depth, (void)an; put_number(to, c->depth))
GET_FRAME(frame_function, put_text(to, strpool_get(&an->names, sym->name)))
GET_FRAME(frame_class, put_part(to, an, sym, true))
GET_FRAME(frame_method, put_part(to, an, sym, false))
GET_FRAME(frame_file, put_text(to, analysis_file(an, x)))
GET_FRAME(frame_line, put_id(to, x->line))
GET_FRAME(frame_module, put_module(to, c, sym))
GET_FRAME(frame_kind, put_text(to, kind_name((enum stack_kind)sym->kind)))
GET_FRAME(frame_domain, put_text(to, domain_name(kind_domain((enum stack_kind)sym->kind))))

static const struct query_column frames[] = {
	{"stack_id", "INTEGER", ROLE_STACK, frame_stack, "the stack", 0},
	{"depth", "INTEGER", ROLE_DEPTH, frame_depth, "0: the innermost frame", 0},
	{"function", "TEXT", ROLE_NONE, frame_function, "the function or method: demo.Main.work, do_syscall_64", 0},
	{"class", "TEXT", ROLE_NONE, frame_class, "Java: the class", 0},
	{"method", "TEXT", ROLE_NONE, frame_method, "Java: the method", 0},
	{"file", "TEXT", ROLE_NONE, frame_file, "source file, if it is known", 0},
	{"line", "INTEGER", ROLE_NONE, frame_line, "line in it, if it is known", 0},
	{"module", "TEXT", ROLE_NONE, frame_module, "native and kernel: path of the file with the code", 0},
	{"kind", "TEXT", ROLE_NONE, frame_kind, "how it ran: C2, C1, inlined, interpreted, stub, native, kernel, ...",
	 0},
	{"domain", "TEXT", ROLE_NONE, frame_domain, "whose code it is: java, native, kernel, stub, incomplete", 0},
};

static const struct query_rows frames_rows = {
	.count = count_frames, .begin = begin_frames, .next = next_frame, .by_stack = true};

int query_stacks(struct query *q)
{
	static const struct query_table all[] = {
		{"stacks", "stacks, each once", &stacks_rows, stacks, sizeof(stacks) / sizeof(stacks[0]), NULL, 0},
		{"frames", "frames of stacks, inlined ones, too", &frames_rows, frames,
		 sizeof(frames) / sizeof(frames[0]), NULL, 0},
	};

	return VEC_PUSH(&q->tables, all[0]) ?: VEC_PUSH(&q->tables, all[1]);
}
