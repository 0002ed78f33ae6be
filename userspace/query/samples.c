// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of samples. They are not kept in memory: each scan reads them from the trace again, without the blocks that
 * its range of time does not need. The sums by thread and stack are the analysis's.
 */
#include <errno.h>

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
	int64_t at_ns = (int64_t)(c->rec.sample.time_ns - c->query->an->start_ns);

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

#define GET(name, expression)                                                                                          \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		const struct trace_sample *r = &c->rec.sample;                                                         \
                                                                                                                       \
		(void)col;                                                                                             \
		(void)r;                                                                                               \
		expression;                                                                                            \
	}

/* The recording's sampling event has the name that the recorder gave it. */
static void put_event(sqlite3_context *to, const struct query_cursor *c, uint32_t event)
{
	const uint32_t *name = event ? table_get(&c->query->an->a->names, event) : NULL;

	put_text(to,
		 name ? strpool_get(&c->query->an->a->strings, *name) : analyzer_info(c->query->an->a, "record.event"));
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
GET(sample_event, put_event(to, c, r->event))
GET(sample_thread, put_id(to, thread_of(c)))
GET(sample_os_thread, put_id(to, r->thread))
GET(sample_vthread, put_id(to, r->vthread))
GET(sample_cpu, put_number(to, r->cpu))
GET(sample_stack, put_id(to, r->node))
GET(sample_weight, put_number(to, r->weight))
GET(sample_span, put_id(to, spans_same(c->query->an->a, r->span)))
GET(sample_text, put_clean(to, r->text))

static const struct query_column samples[] = {
	{"time_ns", "INTEGER", ROLE_TIME, sample_time, "when, since the recording's start", 0},
	{"event", "TEXT", ROLE_NONE, sample_event, "what took it; only samples of one event are comparable", 0},
	{"thread_id", "INTEGER", ROLE_THREAD, sample_thread,
	 "the thread, or the one that stands for the virtual thread", 0},
	{"os_thread_id", "INTEGER", ROLE_NONE, sample_os_thread,
	 "the thread that ran: of a virtual thread, its carrier", 0},
	{"vthread_id", "INTEGER", ROLE_NONE, sample_vthread, "the virtual thread", 0},
	{"cpu", "INTEGER", ROLE_NONE, sample_cpu, "number of the CPU", 0},
	{"stack_id", "INTEGER", ROLE_STACK, sample_stack, "the stack", 0},
	{"weight", "INTEGER", ROLE_NONE, sample_weight, "how many samples it counts as", 0},
	{"span_id", "INTEGER", ROLE_NONE, sample_span, "what the thread worked for", 0},
	{"text", "TEXT", ROLE_NONE, sample_text, "values of a tracepoint or probe", 0},
};

static const struct query_rows samples_rows = {.count = count_samples, .begin = begin_samples, .next = next_sample};

/* ---- profile: c->at is a sum, c->left the profile that has it ---- */

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
		count += profile_at(q, i)->sums.count;
	return count;
}

static int begin_profile(struct query_cursor *c)
{
	c->left = 0;
	query_from_to(c, 0, profile_at(c->query, 0)->sums.count);
	return 0;
}

static int next_sum(struct query_cursor *c)
{
	while (!query_next_at(c)) {
		if (c->left++ == c->query->an->a->hits.count)
			return 0;
		query_from_to(c, 0, profile_at(c->query, c->left)->sums.count);
	}
	return 1;
}

static const struct stack_sum *sum_of(const struct query_cursor *c)
{
	return &profile_at(c->query, c->left)->sums.at[c->at];
}

static void get_sum_event(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	const struct analyzer *a = c->query->an->a;

	(void)col;
	put_text(to,
		 c->left ? strpool_get(&a->strings, a->hits.at[c->left - 1].name) : analyzer_info(a, "record.event"));
}

GET(sum_thread, (void)r; put_row(to, &c->query->an->a->threads, sum_of(c)->thread))
GET(sum_stack, put_row(to, &c->query->an->a->nodes, sum_of(c)->stack))
GET(sum_weight, put_number(to, sum_of(c)->weight))

static const struct query_column profile[] = {
	{"event", "TEXT", ROLE_NONE, get_sum_event, "what took the samples", 0},
	{"thread_id", "INTEGER", ROLE_NONE, sum_thread, "the thread", 0},
	{"stack_id", "INTEGER", ROLE_NONE, sum_stack, "the stack", 0},
	{"weight", "INTEGER", ROLE_NONE, sum_weight, "the number of samples", 0},
};

static const struct query_rows profile_rows = {.count = count_sums, .begin = begin_profile, .next = next_sum};

int query_samples(struct query *q)
{
	static const struct query_table all[] = {
		{"samples", "samples, one by one; each scan reads the trace", &samples_rows, samples,
		 sizeof(samples) / sizeof(samples[0]), NULL, 0},
		{"profile", "samples, added up by event, thread and stack", &profile_rows, profile,
		 sizeof(profile) / sizeof(profile[0]), NULL, 0},
	};

	return VEC_PUSH(&q->tables, all[0]) ?: VEC_PUSH(&q->tables, all[1]);
}
