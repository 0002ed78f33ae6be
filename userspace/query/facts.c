// SPDX-License-Identifier: Apache-2.0
/* The tables of what is known about the recording itself: facts, figures, losses, notices, attributes, settings. */
#include <analyze/attributes.h>
#include <analyze/names.h>

#include "table.h"

#define COLUMN(name, type, get, about)                                                                                 \
	{                                                                                                              \
		name, type, ROLE_NONE, get, about, 0                                                                   \
	}

/* A getter of a column that shows an expression of the item `r` of a list. */
#define GET(name, type, list, expression)                                                                              \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		const struct type *r = &(list).at[c->at];                                                              \
                                                                                                                       \
		(void)col;                                                                                             \
		expression;                                                                                            \
	}

/* The rows are those of a list. */
#define ROWS_OF(list, name)                                                                                            \
	static uint64_t count_##name(const struct query *q, const struct query_table *t)                               \
	{                                                                                                              \
		(void)t;                                                                                               \
		return (list).count;                                                                                   \
	}                                                                                                              \
	static int begin_##name(struct query_cursor *c)                                                                \
	{                                                                                                              \
		query_from_to(c, 0, count_##name(c->query, c->table));                                                 \
		return 0;                                                                                              \
	}                                                                                                              \
	static const struct query_rows name##_rows = {                                                                 \
		.count = count_##name, .begin = begin_##name, .next = query_next_at};

/* ---- facts ---- */

GET(fact_key, info_row, c->query->an->a->infos, put_string(to, c, r->key))
GET(fact_value, info_row, c->query->an->a->infos, put_string(to, c, r->value))

static const struct query_column facts[] = {
	COLUMN("key", "TEXT", fact_key, "host.kernel, record.command, record.frequency_hz, ..."),
	COLUMN("value", "TEXT", fact_value, "as text"),
};
ROWS_OF(q->an->a->infos, facts)

/* ---- the recording: one row ---- */

static void get_start(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	(void)col;
	put_id(to, c->query->an->start_ns);
}

static void get_realtime(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	(void)col;
	put_id(to, c->query->an->start_realtime_ns);
}

static void get_duration(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	(void)col;
	put_number(to, c->query->an->duration_ns);
}

static void get_ended(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	(void)col;
	put_number(to, c->query->an->a->ended);
}

static void get_size(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	(void)col;
	put_number(to, c->query->file_bytes);
}

static const struct query_column recording[] = {
	COLUMN("start_monotonic_ns", "INTEGER", get_start, "its start, from which all times count, by CLOCK_MONOTONIC"),
	COLUMN("start_realtime_ns", "INTEGER", get_realtime, "the same since 1970"),
	COLUMN("duration_ns", "INTEGER", get_duration, "how long it lasted"),
	COLUMN("is_ended", "INTEGER", get_ended, "1: it ended in order"),
	COLUMN("file_bytes", "INTEGER", get_size, "size of the trace"),
};

static uint64_t count_one(const struct query *q, const struct query_table *t)
{
	(void)q;
	(void)t;
	return 1;
}

static int begin_one(struct query_cursor *c)
{
	query_from_to(c, 0, 1);
	return 0;
}

static const struct query_rows recording_rows = {.count = count_one, .begin = begin_one, .next = query_next_at};

/* ---- losses, figures, notices ---- */

GET(loss_hop, loss_view, c->query->views->losses, put_text(to, r->hop))
GET(loss_kind, loss_view, c->query->views->losses, put_text(to, r->kind))
GET(loss_count, loss_view, c->query->views->losses, put_number(to, r->count))

static const struct query_column losses[] = {
	COLUMN("hop", "TEXT", loss_hop, "where: agent, ring, bpf, collector, file"),
	COLUMN("kind", "TEXT", loss_kind, "what: sample, code_load, ..."),
	COLUMN("count", "INTEGER", loss_count, "how many"),
};
ROWS_OF(q->views->losses, losses)

GET(stat_process, stat_row, c->query->an->a->stats, put_id(to, r->process))
GET(stat_key, stat_row, c->query->an->a->stats, put_string(to, c, r->key))
GET(stat_time, stat_row, c->query->an->a->stats, put_time(to, c, r->time_ns))
GET(stat_value, stat_row, c->query->an->a->stats, put_number(to, r->value))

static const struct query_column stats[] = {
	COLUMN("process_id", "INTEGER", stat_process, "NULL: of the recording"),
	COLUMN("key", "TEXT", stat_key, "collector_cpu_ns, bpf_samples, methods, ..."),
	COLUMN("time_ns", "INTEGER", stat_time, "when it had this value"),
	COLUMN("value", "INTEGER", stat_value, "the last figure"),
};
ROWS_OF(q->an->a->stats, stats)

GET(notice_time, notice, c->query->an->a->notices, put_time(to, c, r->time_ns))
GET(notice_process, notice, c->query->an->a->notices, put_id(to, r->process))
GET(notice_severity, notice, c->query->an->a->notices, put_text(to, r->severity ? "warning" : "information"))
GET(notice_text, notice, c->query->an->a->notices, put_string(to, c, r->text))

static const struct query_column notices[] = {
	COLUMN("time_ns", "INTEGER", notice_time, "when"),
	COLUMN("process_id", "INTEGER", notice_process, "NULL: about the recording as a whole"),
	COLUMN("severity", "TEXT", notice_severity, "information or warning"),
	COLUMN("text", "TEXT", notice_text, "a sentence"),
};
ROWS_OF(q->an->a->notices, notices)

/* ---- attributes of processes and spans, settings of JVMs ---- */

static const struct table *owners(const struct query_cursor *c)
{
	return c->table->of(c->query->an->a);
}

static int begin_owned(struct query_cursor *c)
{
	query_from_to(c, 0, owners(c)->count);
	c->left = 0;
	return 0;
}

static uint64_t count_owned(const struct query *q, const struct query_table *t)
{
	(void)t;
	return q->an->a->attributes.count;
}

/* c->left: the place of the row, see struct attribute_row. */
static int next_owned(struct query_cursor *c, uint32_t (*first)(const void *row))
{
	if (c->left)
		c->left = c->query->an->a->attributes.at[c->left - 1].next;
	while (!c->left) {
		if (!query_next_at(c))
			return 0;
		c->left = first(table_row(owners(c), c->at));
	}
	return 1;
}

static uint32_t first_of_process(const void *row)
{
	return ((const struct process_row *)row)->attributes;
}

static uint32_t first_of_span(const void *row)
{
	return ((const struct span_row *)row)->attributes;
}

static uint32_t first_setting(const void *row)
{
	return ((const struct process_row *)row)->settings;
}

static int next_of_process(struct query_cursor *c)
{
	return next_owned(c, first_of_process);
}

static int next_of_span(struct query_cursor *c)
{
	return next_owned(c, first_of_span);
}

static int next_setting(struct query_cursor *c)
{
	return next_owned(c, first_setting);
}

static void get_owner(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)
{
	(void)col;
	put_row(to, owners(c), (uint32_t)c->at);
}

#define GET_OWNED(name, expression)                                                                                    \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		const struct attribute_row *r = &c->query->an->a->attributes.at[c->left - 1];                          \
                                                                                                                       \
		(void)col;                                                                                             \
		expression;                                                                                            \
	}

GET_OWNED(owned_key, put_string(to, c, r->key))
GET_OWNED(owned_value, put_string(to, c, r->value))
GET_OWNED(owned_origin, put_text(to, r->origin ? setting_origin_name(r->origin) : "system property"))

static const struct query_rows process_attributes_rows = {
	.count = count_owned, .begin = begin_owned, .next = next_of_process};
static const struct query_rows span_attributes_rows = {
	.count = count_owned, .begin = begin_owned, .next = next_of_span};
static const struct query_rows settings_rows = {.count = count_owned, .begin = begin_owned, .next = next_setting};

static const struct query_column process_attributes[] = {
	COLUMN("process_id", "INTEGER", get_owner, "the process that has published it"),
	COLUMN("key", "TEXT", owned_key, "service.name, ..."),
	COLUMN("value", "TEXT", owned_value, "as text"),
};

static const struct query_column span_attributes[] = {
	COLUMN("span_id", "INTEGER", get_owner, "the span"),
	COLUMN("key", "TEXT", owned_key, "http.route, ..."),
	COLUMN("value", "TEXT", owned_value, "as text"),
};

static const struct query_column settings[] = {
	COLUMN("process_id", "INTEGER", get_owner, "the JVM"),
	COLUMN("origin", "TEXT", owned_origin,
	       "who set it: system property, command line, environment, ergonomic, ..."),
	COLUMN("key", "TEXT", owned_key, "UseG1GC, java.home, ..."),
	COLUMN("value", "TEXT", owned_value, "as text; that of a secret is ***"),
};

static const struct table *processes_of(const struct analyzer *a)
{
	return &a->processes;
}

static const struct table *spans_of(const struct analyzer *a)
{
	return &a->spans;
}

#define TABLE(name, of, about)                                                                                         \
	{                                                                                                              \
#name, about, &name##_rows, name, sizeof(name) / sizeof((name)[0]), of, 0                              \
	}

int query_facts(struct query *q)
{
	static const struct query_table all[] = {
		TABLE(recording, NULL, "the recording: one row"),
		TABLE(facts, NULL, "facts about the recording and its host"),
		TABLE(losses, NULL, "what was to be recorded and is not in the trace, by the place where it was lost"),
		TABLE(stats, NULL, "figures of the recording and of processes"),
		TABLE(notices, NULL, "what a person should know"),
		TABLE(settings, processes_of, "flags of JVMs that are not the default, and system properties"),
		TABLE(process_attributes, processes_of, "what processes publish of themselves (OpenTelemetry)"),
		TABLE(span_attributes, spans_of, "attributes of spans"),
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !err; i++)
		err = VEC_PUSH(&q->tables, all[i]);
	return err;
}
