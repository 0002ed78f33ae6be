// SPDX-License-Identifier: Apache-2.0
/* One moment of a recording as text: `braid at`. */
#include <inttypes.h>
#include <string.h>

#include <util/moment.h>
#include <util/quantity.h>

#include "at.h"
#include "explain.h"
#include "info.h"

/* "main (4711)" */
static void text_thread(FILE *out, const struct at_view *v, uint32_t thread)
{
	const struct thread_row *t = thread == ROW_NONE ? NULL : table_row(&v->an->a->threads, thread);

	fputs(analysis_thread_name(v->an, thread), out);
	if (!t || !t->tid)
		return;
	fprintf(out, " (%u", t->tid);
	text_container(out, v->an, t->process);
	putc(')', out);
}

static uint32_t stack_of(const struct at_view *v, const struct sample *s)
{
	return table_row_of(&v->an->a->nodes, s ? s->node : 0);
}

/* The frames that matter, in a line of their own. */
static void text_stack(FILE *out, const struct at_view *v, uint32_t stack)
{
	if (stack == ROW_NONE)
		return;
	fputs("          ", out);
	explain_stack(out, v->an, stack);
	putc('\n', out);
}

/* ", sampled 1.2 ms later" */
static void text_sampled(FILE *out, const struct at_view *v, const struct sample *s)
{
	bool later = s && s->time_ns > v->at_ns;
	char away[QUANTITY_TEXT];

	if (s)
		fprintf(out, ", sampled %s %s",
			duration_text(away, later ? s->time_ns - v->at_ns : v->at_ns - s->time_ns),
			later ? "later" : "before");
}

/* " for 12 ms, 3 ms more" */
static void text_interval(FILE *out, const struct at_view *v, uint64_t start_ns, uint64_t end_ns)
{
	char since[QUANTITY_TEXT], left[QUANTITY_TEXT];

	fprintf(out, " for %s", duration_text(since, v->at_ns - start_ns));
	if (end_ns > v->at_ns)
		fprintf(out, ", %s more", duration_text(left, end_ns - v->at_ns));
}

static void text_cpus(FILE *out, const struct at_view *v, unsigned top)
{
	const char *all = analyzer_info(v->an->a, "host.cpus");

	if (!v->cpus.count)
		return;
	fprintf(out, "\nCPUs with a recorded thread: %zu%s%s\n", v->cpus.count, *all ? " of " : "", all);
	for (size_t i = 0; i < v->cpus.count && i < top; i++) {
		const struct at_cpu *c = &v->cpus.at[i];

		fprintf(out, "  %4u  ", c->cpu);
		text_thread(out, v, c->thread);
		if (c->end_ns)
			text_interval(out, v, c->start_ns, c->end_ns);
		text_sampled(out, v, c->sample);
		putc('\n', out);
		text_stack(out, v, stack_of(v, c->sample));
	}
	text_more(out, 2, v->cpus.count, top);
}

/* ---- threads ---- */

/* Who had the lock, or ended the wait. */
static void text_others(FILE *out, const struct at_view *v, const struct at_thread *t)
{
	const struct jvm_event_row *r = t->waited;
	uint32_t other = table_row_of(&v->an->a->threads, r ? r->other : 0);
	uint32_t stack = table_row_of(&v->an->a->nodes, r ? r->other_node : 0);

	if (*t->parked_owner) {
		fprintf(out, ", held by %s when it parked", t->parked_owner);
	} else if (other != ROW_NONE) {
		fprintf(out, ", %s ", r->kind == BRAID_JVM_LOCK ? "held by" : "notified by");
		text_thread(out, v, other);
		if (stack != ROW_NONE)
			fprintf(out, " in %s", events_site_name(v->an, events_site(v->an, stack)));
	} else if (t->waker != ROW_NONE) {
		fputs(event_is_open(t->segment.row) ? ", held by " : ", woken by ", out);
		text_thread(out, v, t->waker);
		if (t->waker_stack != ROW_NONE)
			fprintf(out, " in %s", events_site_name(v->an, wait_site(v->an, t->waker_stack)));
	}
}

static void text_object(FILE *out, const struct at_view *v, const struct at_thread *t)
{
	const char *object = strpool_get(&v->an->a->strings, t->segment.object);
	const char *class = t->waited ? strpool_get(&v->an->a->strings, t->waited->name) : "";

	if (*class)
		object = class;
	if (*object && t->segment.state != WALL_RUNNABLE && t->segment.state != WALL_RUNNING)
		fprintf(out, " %s", object);
}

static void text_one(FILE *out, const struct at_view *v, const struct at_thread *t)
{
	const struct thread_row *row = table_row(&v->an->a->threads, t->thread);

	fprintf(out, "  %s (%s%" PRIu64, at_thread_name(v, t), t->vthread ? "virtual " : "", at_thread_number(v, t));
	text_container(out, v->an, row->process);
	fprintf(out, "): %s%s", t->segment.idle ? "idle, " : "", explain_phrase(t->segment.state));
	text_object(out, v, t);
	text_interval(out, v, t->segment.start_ns, t->segment.end_ns);
	if (t->cpu != UINT32_MAX)
		fprintf(out, ", on CPU %u", t->cpu);
	text_sampled(out, v, t->sample);
	text_others(out, v, t);
	putc('\n', out);
	text_stack(out, v, t->sample ? stack_of(v, t->sample) : t->segment.stack);
}

static void text_lives(FILE *out, const struct at_view *v, unsigned top, bool all)
{
	size_t count[AT_ACTIVITIES] = {0}, listed;

	for (size_t i = 0; i < v->threads.count; i++)
		count[at_activity(&v->threads.at[i])]++;
	if (!v->threads.count) {
		fputs(v->lives && v->idle ? "\nThreads: none was there\n"
		      : v->lives	  ? "\nThreads: none was there, or all were idle\n"
					  : "\nThreads: what they did is not recorded (record -e offcpu)\n",
		      out);
		return;
	}
	fprintf(out, "\nThreads: %zu running, %zu stopped or waiting for a CPU, %zu blocked", count[AT_RUNNING],
		count[AT_RUNNABLE], count[AT_BLOCKED]);
	if (v->idle)
		fprintf(out, ", %zu idle", count[AT_IDLE]);
	fputs(v->lives ? "\n" : " (others are not recorded)\n", out);
	listed = v->threads.count - (all ? 0 : count[AT_IDLE]);
	for (size_t i = 0; i < listed && i < top; i++)
		text_one(out, v, &v->threads.at[i]);
	text_more(out, 2, listed, top);
}

/* ---- what lasted ---- */

static void text_event(FILE *out, const struct at_view *v, const struct event *e)
{
	const char *detail = strpool_get(&v->an->a->strings, e->row->detail);
	char process[PROCESS_LABEL_MAX];

	fprintf(out, "  %s: %s", e->k->title, *e->name ? e->name : jvm_event_name(e->kind));
	if (*detail)
		fprintf(out, ", %s", detail);
	text_interval(out, v, e->start_ns, event_end_ns(e->row));
	fputs(", ", out);
	if (e->thread != ROW_NONE)
		text_thread(out, v, e->thread);
	else
		fprintf(out, "%s (%u)", analysis_label(v->an, e->row->process, process),
			analysis_process(v->an, e->row->process)->pid);
	putc('\n', out);
}

/* Whether nothing of a type lasted can be said: it was recorded. */
static void text_absent(FILE *out, const struct at_view *v, enum braid_event_type type, uint32_t first, uint32_t last,
			const char *what)
{
	for (size_t i = 0; i < v->events.count; i++)
		if (v->events.at[i].kind >= first && v->events.at[i].kind <= last)
			return;
	if (events_recorded(v->an, type))
		fprintf(out, "  no %s\n", what);
}

static void text_lasting(FILE *out, const struct at_view *v, unsigned top)
{
	if (!v->events.count && !events_recorded(v->an, BRAID_EVENT_TYPE_GC) &&
	    !events_recorded(v->an, BRAID_EVENT_TYPE_SAFEPOINT))
		return;
	fputs("\nMeanwhile\n", out);
	text_absent(out, v, BRAID_EVENT_TYPE_GC, BRAID_JVM_GC_PAUSE, BRAID_JVM_GC_PHASE, "garbage collection");
	text_absent(out, v, BRAID_EVENT_TYPE_SAFEPOINT, BRAID_JVM_SAFEPOINT, BRAID_JVM_SAFEPOINT, "safepoint");
	for (size_t i = 0; i < v->events.count && i < top; i++)
		text_event(out, v, &v->events.at[i]);
	text_more(out, 2, v->events.count, top);
}

static void text_running_spans(FILE *out, const struct at_view *v, unsigned top)
{
	if (!v->spans.count)
		return;
	fputs("\nSpans\n", out);
	for (size_t i = 0; i < v->spans.count && i < top; i++) {
		const struct span_sum *s = &v->spans.at[i];

		fprintf(out, "  %016" PRIx64, s->row->span_id);
		text_interval(out, v, s->first_ns, s->last_ns);
		fputs(", ", out);
		text_thread(out, v, s->thread);
		text_attributes(out, v->an->a, s->row->attributes);
		putc('\n', out);
	}
	text_more(out, 2, v->spans.count, top);
}

void at_text(FILE *out, const struct at_view *v, unsigned top, bool all)
{
	uint64_t since_ns = analysis_since(v->an, v->at_ns);
	char date[MOMENT_TEXT];

	fputs("At ", out);
	explain_moment(out, v->an, v->at_ns);
	if (v->an->start_realtime_ns)
		fprintf(out, ", %s", moment_date(date, v->an->start_realtime_ns + since_ns, 6));
	putc('\n', out);
	text_cpus(out, v, top);
	text_lives(out, v, top, all);
	text_lasting(out, v, top);
	text_running_spans(out, v, top);
}
