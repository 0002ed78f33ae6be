// SPDX-License-Identifier: Apache-2.0
/* Thread dumps as text: `braid threads`. */
#include "dump.h"

#include <inttypes.h>
#include <string.h>

#include <braid/jvm_event.h>
#include <util/quantity.h>

#define NAMES 10 /* threads of a group that are named without --all */

static void print_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	const struct sym *s = &an->syms.at[x->sym];
	const char *file = analysis_file(an, x), *slash = strrchr(file, '/');
	FILE *out = ctx;

	fprintf(out, "        %-11s %s", kind_name((enum stack_kind)s->kind), analysis_sym_name(an, x->sym));
	if (x->line)
		fprintf(out, " (%s:%u)", *file ? (slash ? slash + 1 : file) : "?", x->line);
	putc('\n', out);
}

static void print_stack(FILE *out, const struct dump_view *v, uint32_t stack)
{
	if (stack == ROW_NONE)
		fputs("        no stack: it ran, and no sample was taken of it in time\n", out);
	else
		dump_each_frame(v, stack, print_frame, out);
}

static void print_thread(FILE *out, const struct dump_thread *t)
{
	char cpu[QUANTITY_TEXT];

	fprintf(out, "    \"%s\" tid %u, CPU time %s\n", t->name, t->tid, duration_text(cpu, t->row->value));
}

/* "WAITING, parked", "running". */
static void print_state(FILE *out, const struct dump_thread *t)
{
	fprintf(out, "%s%s%s%s%s", t->java, *t->java ? ", " : "", t->kernel, *t->reason ? ": " : "", t->reason);
	if (*t->class)
		fprintf(out, ", %s", t->class);
}

static void print_owner(FILE *out, const struct dump_view *v, const struct dump_thread *t)
{
	const struct dump_thread *owner = t->owner == CYCLE_NONE ? NULL : &v->threads.at[t->owner];

	if (owner)
		fprintf(out, "        owned by \"%s\" tid %u\n", owner->name, owner->tid);
}

static void print_deadlock(FILE *out, const struct dump_view *v, size_t number)
{
	const struct dump_thread *first = dump_deadlock(v, number), *t = first;
	size_t count = 0;

	do
		count++;
	while ((t = &v->threads.at[t->owner]) != first);
	fprintf(out, "Deadlock of %zu thread%s:\n", count, plural(count));
	do {
		const struct dump_thread *owner = &v->threads.at[t->owner];

		fprintf(out, "    \"%s\" tid %u waits for %s %s, which \"%s\" tid %u owns\n", t->name, t->tid,
			t->row->flags & BRAID_DUMP_MONITOR ? "the monitor of a" : "a", t->class, owner->name,
			owner->tid);
		print_stack(out, v, t->stack);
		t = owner;
	} while (t != first);
	putc('\n', out);
}

static void print_group(FILE *out, const struct dump_view *v, const struct dump_group *g)
{
	const struct dump_thread *t = &v->threads.at[g->first];

	fprintf(out, "%zu thread%s, ", g->count, plural(g->count));
	print_state(out, t);
	fputs(":\n", out);
	for (size_t i = 0; i < g->count && i < NAMES; i++) {
		print_thread(out, &t[i]);
		print_owner(out, v, &t[i]);
	}
	if (g->count > NAMES)
		fprintf(out, "    and %zu more\n", g->count - NAMES);
	print_stack(out, v, t->stack);
	putc('\n', out);
}

static void print_one(FILE *out, const struct dump_view *v, const struct dump_thread *t)
{
	char cpu[QUANTITY_TEXT];

	fprintf(out, "\"%s\" tid %u, CPU time %s, ", t->name, t->tid, duration_text(cpu, t->row->value));
	print_state(out, t);
	fputs(":\n", out);
	print_owner(out, v, t);
	print_stack(out, v, t->stack);
	putc('\n', out);
}

static void print_counts(FILE *out, const struct dump_view *v)
{
	static const char *const states[] = {"running", "runnable", "sleeping", "disk", "stopped"};
	const char *separator = ": ";

	fprintf(out, "process %u: %zu thread%s", v->pid, v->threads.count, plural(v->threads.count));
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		size_t count = dump_view_count(v, states[i]);

		if (!count)
			continue;
		fprintf(out, "%s%zu %s", separator, count, states[i]);
		separator = ", ";
	}
	fprintf(out, "; %zu deadlock%s\n\n", v->deadlocks, plural(v->deadlocks));
}

void dump_text(FILE *out, const struct dump_view *v, const struct dump_style *style)
{
	print_counts(out, v);
	for (size_t i = 1; i <= v->deadlocks; i++)
		print_deadlock(out, v, i);
	for (size_t i = 0; i < v->groups.count && !style->deadlocks; i++) {
		const struct dump_group *g = &v->groups.at[i];

		if (!style->all)
			print_group(out, v, g);
		for (size_t k = 0; k < g->count && style->all; k++)
			print_one(out, v, &v->threads.at[g->first + k]);
	}
}
