// SPDX-License-Identifier: Apache-2.0
#include "views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>

/* ---- threads and processes ---- */

static int compare_threads(const void *x, const void *y)
{
	const struct thread_view *p = x, *q = y;
	int c = compare_u64(q->weight, p->weight);

	if (!c)
		c = strcmp(p->name, q->name);
	if (!c)
		c = compare_u64(p->pid, q->pid);
	return c ? c : compare_u64(p->tid, q->tid);
}

static int compare_processes(const void *x, const void *y)
{
	const struct process_view *p = x, *q = y;
	int c = compare_u64(q->weight, p->weight);

	if (!c)
		c = strcmp(p->comm, q->comm);
	if (!c)
		c = compare_u64(p->pid, q->pid);
	return c ? c : compare_u64(p->process, q->process);
}

static int view_thread(struct views *v, uint32_t row, uint64_t weight, uint64_t *by_process)
{
	const struct analyzer *a = v->an->a;
	const struct thread_row *t = row == ROW_NONE ? NULL : table_row(&a->threads, row);
	size_t process = table_find(&a->processes, t ? t->process : 0);
	struct thread_view view = {.row = row, .name = analysis_thread_name(v->an, row), .weight = weight};

	if (weight == 0)
		return 0;
	if (t) {
		view.pid = analysis_process(v->an, t->process)->pid;
		view.tid = t->tid;
		view.java = t->flags & TRACE_THREAD_JAVA;
	}
	process = process == TABLE_NONE ? a->processes.count : process;
	by_process[process] = add_saturating(by_process[process], weight);
	return VEC_PUSH(&v->threads, view);
}

static int view_process(struct views *v, size_t row, uint64_t weight)
{
	const struct analyzer *a = v->an->a;
	struct process_view view = {.comm = "[unknown]", .weight = weight};

	if (weight == 0)
		return 0;
	if (row < a->processes.count) {
		const struct process_row *p = table_row(&a->processes, row);

		view.process = a->processes.ids[row];
		view.pid = p->pid;
		if (p->comm)
			view.comm = strpool_get(&a->strings, p->comm);
	}
	return VEC_PUSH(&v->processes, view);
}

static int view_threads(struct views *v)
{
	const struct analyzer *a = v->an->a;
	uint64_t *by_process = calloc(a->processes.count + 1, sizeof(*by_process));
	int err = by_process ? 0 : -ENOMEM;

	for (size_t i = 0; i < a->threads.count && !err; i++)
		err = view_thread(v, (uint32_t)i, v->an->thread_weight[i], by_process);
	if (!err)
		err = view_thread(v, ROW_NONE, v->an->unknown_thread_weight, by_process);
	for (size_t i = 0; i <= a->processes.count && !err; i++)
		err = view_process(v, i, by_process[i]);
	VEC_SORT(&v->threads, compare_threads);
	VEC_SORT(&v->processes, compare_processes);
	free(by_process);
	return err;
}

/* ---- JVMs ---- */

static int compare_jvms(const void *x, const void *y)
{
	const struct jvm_view *p = x, *q = y;
	int c = compare_u64(p->pid, q->pid);

	return c ? c : compare_u64(p->process, q->process);
}

/* The JVM of a process id. `index` maps rows of a->jvms to v->jvms, which are not sorted yet. */
static struct jvm_view *jvm_of(struct views *v, const uint32_t *index, uint32_t process)
{
	size_t row = table_find(&v->an->a->jvms, process);

	return row == TABLE_NONE || !index[row] ? NULL : &v->jvms.at[index[row] - 1];
}

static void count_jvm_events(struct views *v, const uint32_t *index)
{
	const struct analyzer *a = v->an->a;
	struct jvm_view *j;

	for (size_t i = 0; i < a->methods.count; i++) {
		j = jvm_of(v, index, ((const struct method_row *)table_row(&a->methods, i))->process);
		if (j)
			j->methods++;
	}
	for (size_t i = 0; i < a->threads.count; i++) {
		const struct thread_row *t = table_row(&a->threads, i);

		j = jvm_of(v, index, t->process);
		if (!j)
			continue;
		j->threads_started += t->started;
		j->threads_ended += t->ended;
	}
	for (size_t i = 0; i < v->gc.longest.count; i++) {
		j = jvm_of(v, index, v->gc.longest.at[i].process);
		if (j)
			j->gc_pauses++;
	}
}

static int view_jvms(struct views *v)
{
	const struct analyzer *a = v->an->a;
	uint32_t *index = calloc(a->jvms.count + 1, sizeof(*index));
	int err = index ? 0 : -ENOMEM;

	for (size_t i = 0; i < a->jvms.count && !err; i++) {
		const struct process_row *p = analysis_process(v->an, a->jvms.ids[i]);
		struct jvm_view j = {.process = a->jvms.ids[i], .pid = p->pid, .row = table_row(&a->jvms, i)};

		if (!analysis_selects_process(v->an, p))
			continue;
		j.code_loads = p->code_loads;
		j.classes_unloaded = p->classes_unloaded;
		err = VEC_PUSH(&v->jvms, j);
		index[i] = (uint32_t)v->jvms.count;
	}
	if (!err)
		count_jvm_events(v, index);
	for (size_t i = 0; i < v->jvms.count && !err; i++) {
		struct jvm_view *j = &v->jvms.at[i];

		j->methods = analysis_stat(v->an, j->process, "methods", j->methods);
		j->code_loads = analysis_stat(v->an, j->process, "code_loads", j->code_loads);
	}
	VEC_SORT(&v->jvms, compare_jvms);
	free(index);
	return err;
}

/* ---- notices ---- */

static int compare_notices(const void *x, const void *y)
{
	const struct notice_view *p = x, *q = y;
	int c = strcmp(p->text, q->text);

	if (!c)
		c = compare_u64(p->pid, q->pid);
	if (!c)
		c = compare_u64(p->severity, q->severity);
	return c ? c : compare_u64(p->time_ns, q->time_ns);
}

static int compare_notice_times(const void *x, const void *y)
{
	const struct notice_view *p = x, *q = y;
	int c = compare_u64(p->time_ns, q->time_ns);

	return c ? c : compare_notices(x, y);
}

static int view_notices(struct views *v)
{
	const struct analyzer *a = v->an->a;
	size_t n = 0;

	for (size_t i = 0; i < a->notices.count; i++) {
		const struct notice *s = &a->notices.at[i];
		struct notice_view view = {.text = strpool_get(&a->strings, s->text),
					   .severity = s->severity,
					   .pid = analysis_process(v->an, s->process)->pid,
					   .times = 1,
					   .time_ns = s->time_ns};

		if (VEC_PUSH(&v->notices, view))
			return -ENOMEM;
	}
	VEC_SORT(&v->notices, compare_notices);
	for (size_t i = 0; i < v->notices.count; i++) {
		const struct notice_view *s = &v->notices.at[i];
		struct notice_view *last = n ? &v->notices.at[n - 1] : NULL;

		if (last && strcmp(last->text, s->text) == 0 && last->pid == s->pid && last->severity == s->severity)
			last->times++;
		else
			v->notices.at[n++] = *s;
	}
	v->notices.count = n;
	VEC_SORT(&v->notices, compare_notice_times);
	return 0;
}

/* ---- life ---- */

int views_new(struct views **out, const struct analysis *an)
{
	struct views *v = calloc(1, sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	if (v)
		v->an = an;
	if (!err)
		err = views_methods(v);
	if (!err)
		err = views_lines(v);
	if (!err)
		err = view_threads(v);
	if (!err)
		err = hit_views_new(&v->hits, an);
	if (!err)
		err = gc_view_fill(&v->gc, an);
	if (!err)
		err = heap_views_new(&v->heap, an);
	if (!err)
		err = view_jvms(v);
	if (!err)
		err = views_states(v);
	if (!err)
		err = loss_views_fill(&v->losses, an->a);
	if (!err)
		err = view_notices(v);
	if (!err)
		err = event_views_new(&v->events, an);
	if (err) {
		views_free(v);
		v = NULL;
	}
	*out = v;
	return err;
}

void views_free(struct views *v)
{
	if (!v)
		return;
	free(v->methods.at);
	free(v->lines.at);
	free(v->threads.at);
	free(v->processes.at);
	free(v->jvms.at);
	gc_view_free(&v->gc);
	hit_views_free(&v->hits);
	heap_views_free(&v->heap);
	free(v->losses.at);
	free(v->notices.at);
	event_views_free(v->events);
	free(v);
}
