// SPDX-License-Identifier: Apache-2.0
/* How the facts of a critical path are said. explain_text.c prints them. */
#include <inttypes.h>
#include <string.h>

#include <analyze/events.h>

#include "explain.h"

void explain_moment(FILE *out, const struct analysis *an, uint64_t at_ns)
{
	uint64_t since_ns = analysis_since(an, at_ns);

	fprintf(out, "%" PRIu64 ".%06" PRIu64 " s", since_ns / 1000000000, since_ns / 1000 % 1000000);
}

const char *explain_phrase(enum wall_state state)
{
	static const char *const phrases[WALL_STATES] = {
		[WALL_RUNNING] = "running",
		[WALL_RUNNABLE] = "waiting for a CPU",
		[WALL_CARRIER] = "waiting for a carrier",
		[WALL_GC] = "standing still for the GC pause",
		[WALL_SAFEPOINT] = "standing still for the VM operation",
		[WALL_MONITOR] = "blocked on the monitor",
		[WALL_PARKED] = "parked",
		[WALL_WAITING] = "waiting for notify",
		[WALL_SLEEPING] = "sleeping",
		[WALL_FUTEX] = "waiting on a futex",
		[WALL_POLL] = "waiting in poll",
		[WALL_SOCKET] = "waiting for the socket",
		[WALL_PIPE] = "waiting for the pipe",
		[WALL_FILE] = "waiting for the file",
		[WALL_BLOCK_IO] = "waiting for the disk",
		[WALL_FAULT] = "in page faults",
		[WALL_STOPPED] = "stopped",
		[WALL_CHILD] = "waiting for a child process",
		[WALL_CALL] = "in another system call",
		[WALL_BLOCKED] = "blocked, for a reason that is not known",
		[WALL_IDLE] = "idle: waiting for work",
		[WALL_UNKNOWN] = "not known",
	};

	return phrases[state];
}

void explain_what(FILE *out, const struct explain *e, uint32_t node, uint32_t thread)
{
	static const char *const sums[][2] = {
		[EXPLAIN_RECORDED] = {"", ""},
		[EXPLAIN_COUNTED] = {", in times that are only counted", ", in times that are only counted"},
		[EXPLAIN_ADDED_UP] = {", in times that were added up", ", as a share of times that were added up"},
	};
	const struct analysis *an = e->wall->an;
	const struct explain_node *n = &e->nodes.at[node];

	if (n->depth > 1 || e->stretch.path)
		fprintf(out, "%s ", thread == ROW_NONE ? n->who : wall_thread_name(e->wall, thread));
	fputs(explain_phrase(n->state), out);
	if (*n->object && n->state != WALL_RUNNABLE)
		fprintf(out, " %s", n->object);
	if (n->site != ROW_NONE)
		fprintf(out, " in %s", events_site_name(an, n->site));
	if (*n->object && n->state == WALL_RUNNABLE)
		fprintf(out, ", behind %s", n->object);
	fputs(sums[n->sum][n->shared], out);
}

void explain_reason(FILE *out, const struct explain *e, const struct explain_part *p)
{
	explain_what(out, e, p->node, ROW_NONE);
	for (uint32_t up = e->nodes.at[p->node].parent; up; up = e->nodes.at[up].parent) {
		fputs(",\n  for which ", out);
		if (e->nodes.at[up].depth == 1 && !e->stretch.path)
			fprintf(out, "%s was ", e->nodes.at[up].who);
		explain_what(out, e, up, ROW_NONE);
	}
}

/* ---- stacks ---- */

#define FRAMES_MAX 64 /* that are looked at */
#define FRAMES_SHOWN 5

struct frames {
	const char *name[FRAMES_MAX];
	size_t count;
};

/* Frames that only lead to the program's code. */
static bool says_nothing(const char *name)
{
	return strstr(name, "$$Lambda") || strcmp(name, "java.lang.Thread.run") == 0 ||
	       strcmp(name, "java.lang.Thread.runWith") == 0;
}

/* Java frames, the innermost first; without any, those that are no kernel's. */
static void collect(struct frames *f, const struct analysis *an, uint32_t stack, bool java)
{
	for (; stack != ROW_NONE && f->count < FRAMES_MAX; stack = an->stacks[stack].parent) {
		const struct stack *s = &an->stacks[stack];
		const struct expansion *x = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];

		for (uint32_t i = x ? x->count : 0; i-- > 0 && f->count < FRAMES_MAX;) {
			uint32_t sym = an->xframes.at[x->first + i].sym;
			enum stack_domain domain = kind_domain((enum stack_kind)an->syms.at[sym].kind);

			if (domain == (java ? DOMAIN_JAVA : DOMAIN_NATIVE) && !says_nothing(analysis_sym_name(an, sym)))
				f->name[f->count++] = analysis_sym_name(an, sym);
		}
	}
}

/* Where the program's own code begins. */
static size_t own_frame(const struct frames *f, const struct analysis *an, uint32_t stack)
{
	const char *site = events_site_name(an, wait_site(an, stack));

	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->name[i], site) == 0)
			return i;
	return 0;
}

/* The innermost ones, and those from the program's own code on. */
void explain_stack(FILE *out, const struct analysis *an, uint32_t stack)
{
	struct frames f = {.count = 0};
	size_t own, shown = 0, skip;

	collect(&f, an, stack, true);
	if (!f.count)
		collect(&f, an, stack, false);
	own = own_frame(&f, an, stack);
	skip = own > 2 ? own - 2 : 0;
	for (size_t i = 0; i < f.count && shown < FRAMES_SHOWN; i++) {
		if (i == 2 && skip) {
			fputs(" < ...", out);
			i += skip;
		}
		fprintf(out, "%s%s", i ? " < " : "", f.name[i]);
		shown++;
	}
}
