// SPDX-License-Identifier: Apache-2.0
/* The tables of what is known about the recording itself: facts, figures, losses, notices, attributes, settings. */
#include <analyze/attributes.h>
#include <analyze/names.h>

#include "table.h"

/* A getter of a column that shows an expression of the item `r` of a list. */
#define GET(name, type, list, expression) GETTER(name, const struct type *r = &(list).at[c->at]; expression)

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
	TEXT("key", fact_key, "host.kernel, record.command, record.frequency_hz, ..."),
	TEXT("value", fact_value, "as text"),
};
ROWS_OF(q->an->a->infos, facts)

/* ---- the recording: one row ---- */

GETTER(get_start, put_id(to, c->query->an->start_ns))
GETTER(get_realtime, put_id(to, c->query->an->start_realtime_ns))
GETTER(get_duration, put_number(to, c->query->an->duration_ns))
GETTER(get_ended, put_number(to, c->query->an->a->ended))
GETTER(get_size, put_number(to, c->query->file_bytes))

static const struct query_column recording[] = {
	INTEGER("start_monotonic_ns", get_start, "its start, from which all times count, by CLOCK_MONOTONIC"),
	INTEGER("start_realtime_ns", get_realtime, "the same since 1970"),
	INTEGER("duration_ns", get_duration, "how long it lasted"),
	INTEGER("is_ended", get_ended, "1: it ended in order"),
	INTEGER("file_bytes", get_size, "size of the trace"),
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

GET(loss_hop, loss_view, c->query->losses, put_text(to, r->hop))
GET(loss_kind, loss_view, c->query->losses, put_text(to, r->kind))
GET(loss_count, loss_view, c->query->losses, put_number(to, r->count))

static const struct query_column losses[] = {
	TEXT("hop", loss_hop, "where: agent, ring, bpf, collector, file"),
	TEXT("kind", loss_kind, "what: sample, code_load, ..."),
	INTEGER("count", loss_count, "how many"),
};
ROWS_OF(q->losses, losses)

GET(stat_process, stat_row, c->query->an->a->stats, put_id(to, r->process))
GET(stat_key, stat_row, c->query->an->a->stats, put_string(to, c, r->key))
GET(stat_time, stat_row, c->query->an->a->stats, put_time(to, c, r->time_ns))
GET(stat_value, stat_row, c->query->an->a->stats, put_number(to, r->value))

static const struct query_column stats[] = {
	INTEGER("process_id", stat_process, "NULL: of the recording"),
	TEXT("key", stat_key, "collector_cpu_ns, bpf_samples, methods, ..."),
	INTEGER("time_ns", stat_time, "when it had this value"),
	INTEGER("value", stat_value, "the last figure"),
};
ROWS_OF(q->an->a->stats, stats)

GET(notice_time, notice, c->query->an->a->notices, put_time(to, c, r->time_ns))
GET(notice_process, notice, c->query->an->a->notices, put_id(to, r->process))
GET(notice_severity, notice, c->query->an->a->notices, put_text(to, r->severity ? "warning" : "information"))
GET(notice_text, notice, c->query->an->a->notices, put_string(to, c, r->text))

static const struct query_column notices[] = {
	INTEGER("time_ns", notice_time, "when"),
	INTEGER("process_id", notice_process, "NULL: about the recording as a whole"),
	TEXT("severity", notice_severity, "information or warning"),
	TEXT("text", notice_text, "a sentence"),
};
ROWS_OF(q->an->a->notices, notices)

/* ---- attributes of processes and spans, settings of JVMs ---- */

static int begin_owned(struct query_cursor *c)
{
	query_from_to(c, 0, query_table_of(c)->count);
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
		c->left = first(table_row(query_table_of(c), c->at));
	}
	return 1;
}

/* The rows are what those of a table have in the list that begins at this member. */
#define OWNED_ROWS(name, type, member)                                                                                 \
	static uint32_t first_##name(const void *row)                                                                  \
	{                                                                                                              \
		return ((const struct type *)row)->member;                                                             \
	}                                                                                                              \
	static int next_##name(struct query_cursor *c)                                                                 \
	{                                                                                                              \
		return next_owned(c, first_##name);                                                                    \
	}                                                                                                              \
	static const struct query_rows name##_rows = {.count = count_owned, .begin = begin_owned, .next = next_##name};

OWNED_ROWS(process_attributes, process_row, attributes)
OWNED_ROWS(span_attributes, span_row, attributes)
OWNED_ROWS(settings, process_row, settings)

GETTER(get_owner, put_row(to, query_table_of(c), (uint32_t)c->at))

#define GET_OWNED(name, expression)                                                                                    \
	GETTER(name, const struct attribute_row *r = &c->query->an->a->attributes.at[c->left - 1]; expression)

GET_OWNED(owned_key, put_string(to, c, r->key))
GET_OWNED(owned_value, put_string(to, c, r->value))
GET_OWNED(owned_was, if (r->was) put_string(to, c, r->was))
GET_OWNED(owned_origin, put_text(to, r->origin ? setting_origin_name(r->origin) : "system property"))

static const struct query_column process_attributes[] = {
	INTEGER("process_id", get_owner, "the process that has published it"),
	TEXT("key", owned_key, "service.name, ..."),
	TEXT("value", owned_value, "as text"),
};

static const struct query_column span_attributes[] = {
	INTEGER("span_id", get_owner, "the span"),
	TEXT("key", owned_key, "http.route, ..."),
	TEXT("value", owned_value, "as text"),
};

static const struct query_column settings[] = {
	INTEGER("process_id", get_owner, "the JVM"),
	TEXT("origin", owned_origin, "who set it: system property, default, command line, ergonomic, ..."),
	TEXT("key", owned_key, "UseG1GC, java.home, ..."),
	TEXT("value", owned_value, "as text; that of a secret is ***"),
	TEXT("was", owned_was, "the value at first, if it has changed; NULL: it has not"),
};

int query_facts(struct query *q)
{
	static const struct query_table all[] = {
		TABLE(recording, "the recording: one row", &recording_rows),
		TABLE(facts, "facts about the recording and its host", &facts_rows),
		TABLE(losses, "what was to be recorded and is not in the trace, by the place where it was lost",
		      &losses_rows),
		TABLE(stats, "figures of the recording and of processes", &stats_rows),
		TABLE(notices, "what a person should know", &notices_rows),
		TABLE_OF(settings, "flags and system properties of JVMs", &settings_rows, processes),
		TABLE_OF(process_attributes, "what processes publish of themselves (OpenTelemetry)",
			 &process_attributes_rows, processes),
		TABLE_OF(span_attributes, "attributes of spans", &span_attributes_rows, spans),
	};

	return query_add_tables(q, all, sizeof(all) / sizeof(all[0]));
}
