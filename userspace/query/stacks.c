// SPDX-License-Identifier: Apache-2.0
/* The tables of stacks and of their frames. */
#include <limits.h>
#include <string.h>

#include "table.h"

/* ---- stacks ---- */

static uint64_t count_stacks(const struct query *q, const struct query_table *t)
{
	(void)t;
	return q->an->a->nodes.count;
}

static int begin_stacks(struct query_cursor *c)
{
	query_from_table(c, &c->query->an->a->nodes, ROLE_KEY);
	return 0;
}

#define GET(name, expression) GETTER(name, const struct analysis *an = c->query->an; expression)

GET(stack_id, put_row(to, &an->a->nodes, (uint32_t)c->at))
GET(stack_parent, put_row(to, &an->a->nodes, an->stacks[c->at].parent))
GET(stack_cause, put_text(to, cause_name(an->stacks[c->at].cause)))
GET(stack_site, put_text(to, events_site_name(an, events_site(an, (uint32_t)c->at))))

static const struct query_column stacks[] = {
	LIMITED("stack_id", ROLE_KEY, stack_id, "id of the stack"),
	INTEGER("parent_stack_id", stack_parent, "the stack below its innermost frame"),
	TEXT("cause", stack_cause, "complete, or why it is not whole"),
	TEXT("site", stack_site, "its innermost Java frame outside of the JDK, else the innermost one"),
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
	query_from_table(c, &c->query->an->a->nodes, ROLE_STACK);
	return 0;
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
	GET(name, const struct xframe *x = frame_of(c); const struct sym *sym = &an->syms.at[x->sym]; (void)sym;       \
	    expression)

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
GETTER(frame_depth, put_number(to, c->depth))
GET_FRAME(frame_function, put_text(to, strpool_get(&an->names, sym->name)))
GET_FRAME(frame_class, put_part(to, an, sym, true))
GET_FRAME(frame_method, put_part(to, an, sym, false))
GET_FRAME(frame_file, put_text(to, analysis_file(an, x)))
GET_FRAME(frame_line, put_id(to, x->line))
GET_FRAME(frame_module, put_module(to, c, sym))
GET_FRAME(frame_kind, put_text(to, kind_name((enum stack_kind)sym->kind)))
GET_FRAME(frame_domain, put_text(to, domain_name(kind_domain((enum stack_kind)sym->kind))))

static const struct query_column frames[] = {
	LIMITED("stack_id", ROLE_STACK, frame_stack, "the stack"),
	LIMITED("depth", ROLE_DEPTH, frame_depth, "0: the innermost frame"),
	TEXT("function", frame_function, "the function or method: demo.Main.work, do_syscall_64"),
	TEXT("class", frame_class, "Java: the class"),
	TEXT("method", frame_method, "Java: the method"),
	TEXT("file", frame_file, "source file, if it is known"),
	INTEGER("line", frame_line, "line in it, if it is known"),
	TEXT("module", frame_module, "native and kernel: path of the file with the code"),
	TEXT("kind", frame_kind, "how it ran: C2, C1, inlined, interpreted, stub, native, kernel, ..."),
	TEXT("domain", frame_domain, "whose code it is: java, native, kernel, stub, incomplete"),
};

static const struct query_rows frames_rows = {
	.count = count_frames, .begin = begin_frames, .next = next_frame, .by_stack = true};

int query_stacks(struct query *q)
{
	static const struct query_table all[] = {
		TABLE(stacks, "stacks, each once", &stacks_rows),
		TABLE(frames, "frames of stacks, inlined ones, too", &frames_rows),
	};

	return query_add_tables(q, all, sizeof(all) / sizeof(all[0]));
}
