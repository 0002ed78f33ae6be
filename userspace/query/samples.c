// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of samples. They are not kept in memory: each scan reads them from the trace again, without the blocks
 * that its range of time does not need. The sums by thread and stack are the analysis's.
 */

#include <analyze/spans.h>
#include <analyze/vthreads.h>

#include "table.h"

/* ---- samples ---- */

static uint64_t count_samples(const struct query *q, const struct query_table *t)
{
	(void)t;
	return analyzer_samples(q->an->a);
}

/* A time since the start on the trace's clock, which has no negative times. */
static uint64_t on_clock(const struct query_cursor *c, int64_t since_ns)
{
	uint64_t start_ns = c->query->an->start_ns;

	if (since_ns >= 0)
		return add_saturating(start_ns, (uint64_t)since_ns);
	return start_ns > -(uint64_t)since_ns ? start_ns + (uint64_t)since_ns : 0;
}

static int begin_samples(struct query_cursor *c)
{
	int err = c->reader ? 0 : trace_reader_again(&c->reader, c->query->reader);

	if (err)
		return err;
	trace_reader_rewind(c->reader);
	trace_reader_between(c->reader, on_clock(c, c->limits.from_ns), on_clock(c, c->limits.to_ns));
	return 0;
}

static uint32_t thread_of(const struct query_cursor *c)
{
	return vthreads_thread(c->query->an->a, &c->rec.sample);
}

static bool is_wanted(const struct query_cursor *c)
{
	const struct query_limits *l = &c->limits;
	int64_t at_ns = query_since(c->query, c->rec.sample.time_ns);

	return c->rec.kind == TRACE_SAMPLE && at_ns >= l->from_ns && at_ns <= l->to_ns &&
	       (!l->has[ROLE_STACK] || l->equal[ROLE_STACK] == c->rec.sample.node) &&
	       (!l->has[ROLE_THREAD] || l->equal[ROLE_THREAD] == thread_of(c));
}

static int next_sample(struct query_cursor *c)
{
	int got;

	do
		got = trace_reader_next(c->reader, &c->rec);
	while (got == 1 && !is_wanted(c));
	return got;
}

#define GET(name, expression) GETTER(name, const struct trace_sample *r = &c->rec.sample; expression)

/*
 * The name of an event, in a->strings; NULL: the recording's sampling event, which has the name that the recorder gave
 * it.
 */
static void put_event(sqlite3_context *to, const struct analyzer *a, const uint32_t *name)
{
	put_text(to, name ? strpool_get(&a->strings, *name) : analyzer_info(a, "record.event"));
}

/* One that is not known is NULL. */
static void put_cpu(sqlite3_context *to, uint32_t cpu)
{
	if (cpu != TRACE_NO_CPU)
		put_number(to, cpu);
}

static void put_clean(sqlite3_context *to, struct trace_str text)
{
	char *clean = text.len ? sqlite3_malloc64(text.len) : NULL;

	if (clean)
		sqlite3_result_text64(to, clean, text_clean(clean, text.str, text.len), sqlite3_free, SQLITE_UTF8);
	else if (text.len)
		sqlite3_result_error_nomem(to);
}

GET(sample_time, put_time(to, c, r->time_ns))
GET(sample_event, put_event(to, c->query->an->a, table_get(&c->query->an->a->names, r->event)))
GETTER(sample_thread, put_id(to, thread_of(c)))
GET(sample_os_thread, put_id(to, r->thread))
GET(sample_vthread, put_id(to, r->vthread))
GET(sample_cpu, put_cpu(to, r->cpu))
GET(sample_stack, put_id(to, r->node))
GET(sample_weight, put_number(to, r->weight))
GET(sample_span, put_id(to, spans_same(c->query->an->a, r->span)))
GET(sample_text, put_clean(to, r->text))

static const struct query_column samples[] = {
	LIMITED("time_ns", ROLE_TIME, sample_time, "when, since the recording's start"),
	TEXT("event", sample_event, "what took it; only samples of one event are comparable"),
	LIMITED("thread_id", ROLE_THREAD, sample_thread, "the thread, or the group of the virtual thread"),
	INTEGER("os_thread_id", sample_os_thread, "the thread that ran: of a virtual thread, its carrier"),
	INTEGER("vthread_id", sample_vthread, "the virtual thread"),
	INTEGER("cpu", sample_cpu, "number of the CPU"),
	LIMITED("stack_id", ROLE_STACK, sample_stack, "the stack"),
	INTEGER("weight", sample_weight, "how many samples it counts as"),
	INTEGER("span_id", sample_span, "what the thread worked for"),
	TEXT("text", sample_text, "values of a tracepoint or probe"),
};

static const struct query_rows samples_rows = {.count = count_samples, .begin = begin_samples, .next = next_sample};

/* ---- profile: c->sum is a sum, c->left says which profile has it ---- */

/* 0: that of the recording's sampling event; n: that of a->hits[n - 1]. */
static const struct profile *profile_at(const struct query *q, size_t n)
{
	return n ? &q->an->hits[n - 1] : &q->an->samples;
}

static uint64_t count_sums(const struct query *q, const struct query_table *t)
{
	uint64_t count = 0;

	(void)t;
	for (size_t i = 0; i <= q->an->a->hits.count; i++)
		count += stack_sums_count(&profile_at(q, i)->sums);
	return count;
}

static int begin_profile(struct query_cursor *c)
{
	c->left = 0;
	stack_sums_begin(&c->sums, &profile_at(c->query, 0)->sums);
	return 0;
}

static int next_sum(struct query_cursor *c)
{
	while (!(c->sum = stack_sums_next(&c->sums))) {
		if (c->left++ == c->query->an->a->hits.count)
			return 0;
		stack_sums_begin(&c->sums, &profile_at(c->query, c->left)->sums);
	}
	return 1;
}

/* Of the recording's sampling event, or of the hits of another one. */
static const uint32_t *event_of(const struct query_cursor *c)
{
	return c->left ? &c->query->an->a->hits.at[c->left - 1].name : NULL;
}

GETTER(sum_event, put_event(to, c->query->an->a, event_of(c)))
GETTER(sum_thread, put_row(to, &c->query->an->a->threads, c->sum->thread))
GETTER(sum_stack, put_row(to, &c->query->an->a->nodes, c->sum->stack))
GETTER(sum_weight, put_number(to, c->sum->weight))

static const struct query_column profile[] = {
	TEXT("event", sum_event, "what took the samples"),
	INTEGER("thread_id", sum_thread, "the thread"),
	INTEGER("stack_id", sum_stack, "the stack"),
	INTEGER("weight", sum_weight, "the number of samples"),
};

static const struct query_rows profile_rows = {.count = count_sums, .begin = begin_profile, .next = next_sum};

int query_samples(struct query *q)
{
	static const struct query_table all[] = {
		TABLE(samples, "samples, one by one; each scan reads the trace", &samples_rows),
		TABLE(profile, "samples, added up by event, thread and stack", &profile_rows),
	};

	return query_add_tables(q, all, sizeof(all) / sizeof(all[0]));
}
