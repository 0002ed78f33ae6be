// SPDX-License-Identifier: Apache-2.0
/* Timed methods in the text report and the JSON report. */
#include <inttypes.h>
#include <math.h>

#include <analyze/vthreads.h>

#include "events.h"

#define BAR 40.0	      /* characters */
#define DISTRIBUTIONS_SHOWN 3 /* of the methods with the most time */

/* A virtual thread without a name has its number. */
static void text_thread(FILE *out, const struct analysis *an, const struct call_view *c)
{
	const struct vthread_row *t = vthreads_get(an->a, c->vthread);

	if (t && t->name)
		fprintf(out, ", in %s", strpool_get(&an->a->strings, t->name));
	else if (t)
		fprintf(out, ", in virtual thread %" PRIu64, t->number);
	else if (c->thread != ROW_NONE)
		fprintf(out, ", in %s", analysis_thread_name(an, c->thread));
}

static void text_calls(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char time[QUANTITY_TEXT], self[QUANTITY_TEXT];

	fprintf(out, "    %11s  %11s  %11s  slowest calls\n", "at", "time", "self");
	for (size_t i = 0; i < e->calls.count && i < top; i++) {
		const struct call_view *c = &e->calls.at[i];

		fprintf(out, "    %9.3f s  %11s  %11s  %s", (double)analysis_since(v->an, c->at_ns) / 1e9,
			duration_cell(time, 11, c->ns), duration_cell(self, 11, c->self_ns), c->method);
		if (*c->values)
			fprintf(out, " (%s)", c->values);
		if (c->thrown)
			fprintf(out, ", ended by %s", *c->exception ? c->exception : "an exception");
		text_thread(out, v->an, c);
		putc('\n', out);
	}
	text_more(out, 4, e->calls.count, top);
}

static void text_distribution(FILE *out, const struct event_views *e, const struct timed_view *m)
{
	const struct distribution *d = &e->distributions.at[m->distribution];
	static const char bar[] = "########################################";
	uint32_t first = 0, last = DISTRIBUTION_POWERS;
	char from[QUANTITY_TEXT];

	while (first < DISTRIBUTION_POWERS && !d->calls[first])
		first++;
	while (last > first && !d->calls[last - 1])
		last--;
	fprintf(out, "    %11s  %10s  %s\n", "from", "calls", m->method);
	for (uint32_t i = first; i < last; i++) {
		int marks = (int)ceil((double)d->calls[i] / (double)m->calls * BAR);

		fprintf(out, "    %11s  %10" PRIu64 "  %.*s\n", duration_cell(from, 11, 1ULL << i), d->calls[i], marks,
			bar);
	}
}

void text_timed(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char total[QUANTITY_TEXT], mean[QUANTITY_TEXT], p50[QUANTITY_TEXT], p99[QUANTITY_TEXT], max[QUANTITY_TEXT];

	if (!e->methods.count && !e->calls.count)
		return;
	fprintf(out, "\nAll calls of timed methods\n    %10s  %11s  %10s  %10s  %10s  %10s  method\n", "calls", "total",
		"mean", "~p50", "~p99", "max");
	for (size_t i = 0; i < e->methods.count && i < top; i++) {
		const struct timed_view *m = &e->methods.at[i];

		fprintf(out, "    %10" PRIu64 "  %11s  %10s  %10s  %10s  %10s  %s\n", m->calls,
			duration_cell(total, 11, m->ns), duration_cell(mean, 10, m->calls ? m->ns / m->calls : 0),
			duration_cell(p50, 10, m->p50_ns), duration_cell(p99, 10, m->p99_ns),
			duration_cell(max, 10, m->longest_ns), m->method);
	}
	text_more(out, 4, e->methods.count, top);
	for (size_t i = 0; i < e->methods.count && i < top && i < DISTRIBUTIONS_SHOWN; i++)
		text_distribution(out, e, &e->methods.at[i]);
	if (e->calls.count)
		text_calls(out, v, top);
}

static void json_virtual(struct json *j, const struct analysis *an, const struct vthread_row *t)
{
	if (!t) {
		json_null(j, "virtual_thread");
		return;
	}
	json_open(j, "virtual_thread", '{');
	json_string(j, "name", strpool_get(&an->a->strings, t->name));
	json_number(j, "number", t->number);
	json_close(j, '}');
}

static void json_distribution(struct json *j, const struct distribution *d)
{
	json_open(j, "distribution", '[');
	for (uint32_t i = 0; i < DISTRIBUTION_POWERS; i++) {
		if (!d->calls[i])
			continue;
		json_open(j, NULL, '{');
		json_number(j, "from_ns", 1ULL << i);
		json_number(j, "calls", d->calls[i]);
		json_number(j, "total_ns", d->ns[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_timed(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	json_open(j, "timed_methods", '[');
	for (size_t i = 0; i < e->methods.count && i < top; i++) {
		const struct timed_view *m = &e->methods.at[i];

		json_open(j, NULL, '{');
		json_string(j, "method", m->method);
		json_number(j, "calls", m->calls);
		json_number(j, "total_ns", m->ns);
		json_number(j, "p50_ns", m->p50_ns);
		json_number(j, "p99_ns", m->p99_ns);
		json_number(j, "max_ns", m->longest_ns);
		json_distribution(j, &e->distributions.at[m->distribution]);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "slowest_calls", '[');
	for (size_t i = 0; i < e->calls.count && i < top; i++) {
		const struct call_view *c = &e->calls.at[i];

		json_open(j, NULL, '{');
		json_string(j, "method", c->method);
		json_seconds(j, "at_s", analysis_since(v->an, c->at_ns));
		json_number(j, "ns", c->ns);
		json_number(j, "self_ns", c->self_ns);
		json_number(j, "thrown", c->thrown);
		json_string(j, "exception", c->exception);
		json_string(j, "values", c->values);
		json_string(j, "thread", c->thread == ROW_NONE ? "" : analysis_thread_name(v->an, c->thread));
		json_virtual(j, v->an, vthreads_get(v->an->a, c->vthread));
		json_close(j, '}');
	}
	json_close(j, ']');
}
