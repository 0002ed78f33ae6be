// SPDX-License-Identifier: Apache-2.0
/* A thread dump as text: `braid threads`. */
#include "dump.h"

#include <inttypes.h>
#include <string.h>

#include <braid/jvm_event.h>
#include <util/quantity.h>

#include "events.h"

#define NAMES 10 /* threads of a group that are named without --all */

static void print_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	text_frame(ctx, 8, an, x);
}

static void print_stack(FILE *out, const struct dump_view *v, const struct dump_thread *t)
{
	if (t->stack != ROW_NONE)
		analysis_each_frame(v->an, t->stack, print_frame, out);
	else if (!strcmp(t->java, "NEW") || !strcmp(t->mount, "queued"))
		fputs("        no stack: it has not begun\n", out);
	else
		fputs("        no stack: it ran, and no sample was taken of it in time\n", out);
}

/* "\"main\" tid 17", "\"\" virtual thread 32". */
static void print_label(FILE *out, const struct dump_thread *t)
{
	fprintf(out, "\"%s\" %s %" PRIu64, t->name, dump_is_virtual(t) ? "virtual thread" : "tid",
		dump_is_virtual(t) ? t->number : t->tid);
}

/* "in_java": "in Java". */
static const char *vm_words(const char *state)
{
	static const char *const words[][2] = {{"in_java", "in Java"},
					       {"in_vm", "in the VM"},
					       {"in_native", "in native code"},
					       {"blocked", "blocked in the VM"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(state, words[i][0]))
			return words[i][1];
	return state;
}

/* ", CPU time 3 ms, in Java", ", mounted on \"ForkJoinPool-1-worker-1\" tid 20". */
static void print_facts(FILE *out, const struct dump_view *v, const struct dump_thread *t)
{
	char cpu[QUANTITY_TEXT];

	if (!dump_is_virtual(t))
		fprintf(out, ", CPU time %s%s%s", duration_text(cpu, t->row->value), *t->vm ? ", " : "",
			vm_words(t->vm));
	else if (t->thread != ROW_NONE)
		fprintf(out, ", mounted on \"%s\" tid %u", analysis_thread_name(v->an, t->thread),
			((const struct thread_row *)table_row(&v->an->a->threads, t->thread))->tid);
}

static void print_thread(FILE *out, const struct dump_view *v, const struct dump_thread *t)
{
	fputs("    ", out);
	print_label(out, t);
	print_facts(out, v, t);
	putc('\n', out);
}

/* "WAITING, parked", "running". */
static void print_state(FILE *out, const struct dump_thread *t)
{
	fprintf(out, "%s%s%s%s%s%s", t->java, *t->java ? ", " : "", t->kernel, t->mount, *t->reason ? ": " : "",
		t->reason);
	if (*t->class)
		fprintf(out, ", %s", t->class);
}

static void print_owner(FILE *out, const struct dump_view *v, const struct dump_thread *t)
{
	if (t->owner == CYCLE_NONE)
		return;
	fputs("        owned by ", out);
	print_label(out, &v->threads.at[t->owner]);
	putc('\n', out);
}

size_t dump_owned(const struct dump_view *v, const struct dump_style *style, const struct dump_thread *t,
		  const struct owned_lock **first)
{
	const struct thread_row *row = t->thread == ROW_NONE ? NULL : table_row(&v->an->a->threads, t->thread);

	return style->owned && row ? owned_of(style->owned, row->ns_tid, t->number, first) : 0;
}

static void print_owned(FILE *out, const struct dump_view *v, const struct dump_style *style,
			const struct dump_thread *t)
{
	const struct owned_lock *lock;

	for (size_t n = dump_owned(v, style, t, &lock); n > 0; n--, lock++)
		fprintf(out, "        owns %s, locked in %s, Java frame %u\n",
			strpool_get(&style->owned->names, lock->class_name),
			strpool_get(&style->owned->names, lock->method), lock->depth);
}

void dump_deadlock_text(FILE *out, const struct dump_view *v, size_t number, bool stacks)
{
	const struct dump_thread *first = dump_deadlock(v, number), *t = first;

	do {
		const struct dump_thread *owner = &v->threads.at[t->owner];

		fputs("    ", out);
		print_label(out, t);
		fprintf(out, " waits for %s %s, which ", t->wait->flags & BRAID_DUMP_MONITOR ? "the monitor of a" : "a",
			t->class);
		print_label(out, owner);
		fputs(" owns\n", out);
		if (stacks)
			print_stack(out, v, t);
		t = owner;
	} while (t != first);
}

static void print_deadlock(FILE *out, const struct dump_view *v, size_t number)
{
	const struct dump_thread *first = dump_deadlock(v, number), *t = first;
	size_t count = 0;

	do
		count++;
	while ((t = &v->threads.at[t->owner]) != first);
	fprintf(out, "Deadlock of %zu thread%s:\n", count, plural(count));
	dump_deadlock_text(out, v, number, true);
	putc('\n', out);
}

static void print_group(FILE *out, const struct dump_view *v, const struct dump_style *style,
			const struct dump_group *g)
{
	const struct dump_thread *t = &v->threads.at[g->first];
	uint64_t named = 0;

	fprintf(out, "%" PRIu64 " %sthread%s, ", g->threads, dump_is_virtual(t) ? "virtual " : "", plural(g->threads));
	print_state(out, t);
	fputs(":\n", out);
	for (; named < g->count && named < NAMES && t[named].count == 1; named++) {
		print_thread(out, v, &t[named]);
		print_owner(out, v, &t[named]);
		print_owned(out, v, style, &t[named]);
	}
	if (g->threads > named)
		fprintf(out, "    %s%" PRIu64 " %s\n", named ? "and " : "", g->threads - named,
			named ? "more" : "that have no names here: there are too many");
	print_stack(out, v, t);
	putc('\n', out);
}

static void print_one(FILE *out, const struct dump_view *v, const struct dump_style *style, const struct dump_thread *t)
{
	if (t->count == 1) {
		print_label(out, t);
		print_facts(out, v, t);
		fputs(", ", out);
	} else {
		fprintf(out, "%" PRIu64 " more virtual threads, ", t->count);
	}
	print_state(out, t);
	fputs(":\n", out);
	print_owner(out, v, t);
	print_owned(out, v, style, t);
	print_stack(out, v, t);
	putc('\n', out);
}

static void print_counts(FILE *out, const struct dump_view *v, bool virtual)
{
	static const char *const kernel[] = {"running", "runnable", "sleeping", "disk", "stopped", NULL};
	static const char *const mounts[] = {"mounted", "queued", "unmounted", "new", NULL};
	uint64_t all = dump_view_count(v, virtual, NULL);
	const char *separator = ": ";

	fprintf(out, "%" PRIu64 " %sthread%s", all, virtual ? "virtual " : "", plural(all));
	for (const char *const *state = virtual ? mounts : kernel; *state; state++) {
		uint64_t count = dump_view_count(v, virtual, *state);

		if (!count)
			continue;
		fprintf(out, "%s%" PRIu64 " %s", separator, count, *state);
		separator = ", ";
	}
}

/* Threads of which nothing was read may be in any deadlock. */
static void print_deadlock_count(FILE *out, const struct dump_view *v)
{
	if (!v->unread)
		fprintf(out, "; %zu deadlock%s\n", v->deadlocks, plural(v->deadlocks));
	else if (v->deadlocks)
		fprintf(out, "; %zu deadlock%s at least: what %" PRIu64 " thread%s wait%s for is not known\n",
			v->deadlocks, plural(v->deadlocks), v->unread, plural(v->unread), v->unread == 1 ? "s" : "");
	else
		fprintf(out, "; deadlocks not known: what %" PRIu64 " thread%s wait%s for could not be read\n",
			v->unread, plural(v->unread), v->unread == 1 ? "s" : "");
}

static void print_head(FILE *out, const struct dump_view *v, const struct dump_style *style)
{
	char began[QUANTITY_TEXT], spent[QUANTITY_TEXT];
	const struct owned *o = style->owned;

	fprintf(out, "process %u", v->pid);
	if (style->at)
		fprintf(out, " at %s", duration_text(began, analysis_since(v->an, v->time_ns)));
	fputs(": ", out);
	print_counts(out, v, false);
	if (dump_view_count(v, true, NULL)) {
		fputs("; ", out);
		print_counts(out, v, true);
	}
	print_deadlock_count(out, v);
	if (o)
		fprintf(out, "%zu monitor%s owned, as the JVM said %s later, for which it stood still for at most %s\n",
			o->locks.count, plural(o->locks.count),
			duration_text(began, o->asked_ns > v->time_ns ? o->asked_ns - v->time_ns : 0),
			duration_text(spent, o->spent_ns));
	putc('\n', out);
}

void dump_text(FILE *out, const struct dump_view *v, const struct dump_style *style)
{
	print_head(out, v, style);
	for (size_t i = 1; i <= v->deadlocks; i++)
		print_deadlock(out, v, i);
	for (size_t i = 0; i < v->groups.count && !style->deadlocks; i++) {
		const struct dump_group *g = &v->groups.at[i];

		if (!style->all)
			print_group(out, v, style, g);
		for (size_t k = 0; k < g->count && style->all; k++)
			print_one(out, v, style, &v->threads.at[g->first + k]);
	}
}
