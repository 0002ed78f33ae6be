// SPDX-License-Identifier: Apache-2.0
/*
 * The table of all events, and one for each kind: its columns are those that all kinds have, and the kind's own fields
 * by their names in analyze/kinds.c. Rows are what reports count: what another event covers is left out, and objects
 * that are still there have their allocation's stack.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/blocked.h>
#include <analyze/spans.h>
#include <util/search.h>

#include "table.h"

/* ---- rows ---- */

static int by_time(const void *x, const void *y)
{
	const struct query_event *p = x, *q = y;

	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

static int add_event(struct query *q, size_t number)
{
	struct query_event one = {.number = number};
	struct event e;

	if (!events_get_summed(q->an, number, &e))
		return 0;
	one.time_ns = e.start_ns;
	return VEC_PUSH(&q->all.events, one) ?: VEC_PUSH(&q->kinds[e.kind].events, one);
}

int query_index_events(struct query *q)
{
	int err = 0;

	for (size_t i = 0; i < events_count(q->an) && !err; i++)
		err = add_event(q, i);
	VEC_SORT(&q->all.events, by_time);
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS; k++)
		VEC_SORT(&q->kinds[k].events, by_time);
	return err;
}

static const struct query_index *index_of(const struct query *q, const struct query_table *t)
{
	return t->kind ? &q->kinds[t->kind] : &q->all;
}

static uint64_t count_events(const struct query *q, const struct query_table *t)
{
	return index_of(q, t)->events.count;
}

static int64_t since(const struct query *q, uint64_t time_ns)
{
	return (int64_t)(time_ns - q->an->start_ns);
}

static int begin_events(struct query_cursor *c)
{
	const struct query *q = c->query;
	const struct query_index *x = index_of(q, c->table);
	size_t first = SEARCH(i, 0, x->events.count, since(q, x->events.at[i].time_ns) < c->limits.from_ns);
	size_t end = SEARCH(i, first, x->events.count, since(q, x->events.at[i].time_ns) <= c->limits.to_ns);

	query_from_to(c, first, end);
	return 0;
}

static uint32_t id_at(const struct table *t, uint32_t row)
{
	return row == ROW_NONE ? 0 : t->ids[row];
}

static bool is_wanted(const struct query_cursor *c)
{
	const struct analyzer *a = c->query->an->a;
	const struct query_limits *l = &c->limits;

	return (!l->has[ROLE_THREAD] || l->equal[ROLE_THREAD] == id_at(&a->threads, c->event.thread)) &&
	       (!l->has[ROLE_STACK] || l->equal[ROLE_STACK] == id_at(&a->nodes, c->event.stack));
}

static int next_event(struct query_cursor *c)
{
	const struct query_index *x = index_of(c->query, c->table);

	while (query_next_at(c))
		if (events_get_summed(c->query->an, x->events.at[c->at].number, &c->event) && is_wanted(c))
			return 1;
	return 0;
}

static const struct query_rows rows = {
	.count = count_events, .begin = begin_events, .next = next_event, .by_time = true};

/* ---- columns of all kinds ---- */

#define GET(name, expression)                                                                                          \
	static void name(sqlite3_context *to, const struct query_cursor *c, const struct query_column *col)            \
	{                                                                                                              \
		const struct analysis *an = c->query->an;                                                              \
		const struct event *e = &c->event;                                                                     \
                                                                                                                       \
		(void)col;                                                                                             \
		(void)an;                                                                                              \
		expression;                                                                                            \
	}

static bool is_gc(const struct event *e)
{
	return e->kind == BRAID_JVM_GC_PAUSE || e->kind == BRAID_JVM_GC_CYCLE;
}

/* That of a collection of which one end is not recorded is not known. */
static void put_duration(sqlite3_context *to, const struct event *e)
{
	if (!is_gc(e) || !(e->row->flags & BRAID_GC_PARTIAL))
		put_number(to, e->duration_ns);
}

static void put_site(sqlite3_context *to, const struct analysis *an, const struct event *e)
{
	uint32_t site = event_site(an, e);

	if (site != ROW_NONE)
		put_text(to, events_site_name(an, site));
}

/* Of an amount that is 0 if the JVM did not say it. */
static void put_amount(sqlite3_context *to, const struct event *e, uint64_t amount)
{
	if (amount || !is_gc(e))
		put_number(to, amount);
}

GET(get_kind, put_text(to, jvm_event_name(e->kind)))
GET(get_time, put_time(to, c, e->start_ns))
GET(get_duration, put_duration(to, e))
GET(get_process, put_id(to, e->row->process))
GET(get_thread, put_row(to, &an->a->threads, e->thread))
GET(get_os_thread, put_id(to, e->row->thread))
GET(get_vthread, put_id(to, e->row->vthread))
GET(get_stack, put_row(to, &an->a->nodes, e->stack))
GET(get_site, put_site(to, an, e))
GET(get_span, put_id(to, spans_same(an->a, e->row->span)))
GET(get_count, put_number(to, e->count))
GET(get_weight, put_number(to, e->weight))
GET(get_name, put_text(to, e->name))
GET(get_detail, put_string(to, c, e->row->detail))
GET(get_text, put_string(to, c, e->row->text))
GET(get_value, put_amount(to, e, e->row->value))
GET(get_row_weight, put_amount(to, e, e->row->weight))
GET(get_number, put_id(to, e->row->number))
GET(get_flags, put_number(to, e->row->flags))
GET(get_flag, put_number(to, (e->row->flags & col->mask) / (col->mask & -col->mask)))
GET(get_other, put_row(to, &an->a->threads, e->other))
GET(get_other_vthread, put_id(to, e->row->other_vthread))
GET(get_other_stack, put_row(to, &an->a->nodes, e->other_stack))
GET(get_survived, put_number(to, e->survived))

#define COMMON_COLUMNS                                                                                                   \
	{"time_ns", "INTEGER", ROLE_TIME, get_time, "when it began, since the recording's start", 0},                    \
		{"duration_ns", "INTEGER", ROLE_NONE, get_duration, "how long it took", 0},                              \
		{"process_id", "INTEGER", ROLE_NONE, get_process, "the process", 0},                                     \
		{"thread_id",                                                                                            \
		 "INTEGER",                                                                                              \
		 ROLE_THREAD,                                                                                            \
		 get_thread,                                                                                             \
		 "the thread, or the one that stands for the virtual thread",                                            \
		 0},                                                                                                     \
		{"os_thread_id",                                                                                         \
		 "INTEGER",                                                                                              \
		 ROLE_NONE,                                                                                              \
		 get_os_thread,                                                                                          \
		 "the thread that ran: of a virtual thread, its carrier",                                                \
		 0},                                                                                                     \
		{"vthread_id", "INTEGER", ROLE_NONE, get_vthread, "the virtual thread", 0},                              \
		{"stack_id", "INTEGER", ROLE_STACK, get_stack, "the thread's stack", 0},                                 \
		{"site", "TEXT", ROLE_NONE, get_site, "innermost Java frame outside of the JDK, else the innermost one", \
		 0},                                                                                                     \
	{                                                                                                                \
		"span_id", "INTEGER", ROLE_NONE, get_span, "what the thread worked for", 0                               \
	}

static const struct query_column common[] = {COMMON_COLUMNS};

static const struct query_column events[] = {
	{"kind", "TEXT", ROLE_NONE, get_kind, "alloc, lock, gc_pause, ...: the table with its own columns", 0},
	COMMON_COLUMNS,
	{"count", "INTEGER", ROLE_NONE, get_count, "how many times off the CPU are added up in it; else 1", 0},
	{"weight", "INTEGER", ROLE_NONE, get_weight, "nanoseconds, bytes or the number of events, by kind", 0},
	{"name", "TEXT", ROLE_NONE, get_name, "what it is about: a class, a collector, a method, by kind", 0},
	{"detail", "TEXT", ROLE_NONE, get_detail, "by kind", 0},
	{"text", "TEXT", ROLE_NONE, get_text, "by kind", 0},
	{"number", "INTEGER", ROLE_NONE, get_number, "identifies an object, a pause, a compilation, by kind", 0},
	{"flags", "INTEGER", ROLE_NONE, get_flags, "by kind, as in the trace", 0},
};

/* ---- columns of one kind ---- */

GET(offcpu_class, put_text(to, blocked_class_name(BRAID_OFFCPU_CLASS(e->row->flags))))
GET(offcpu_idle, put_number(to, e->idle))
GET(offcpu_runnable, if (!e->summed) put_number(to, e->row->value))
GET(offcpu_object, if (!e->summed) put_string(to, c, e->row->name))
GET(offcpu_woken_by, put_string(to, c, e->row->text))

static const struct {
	uint32_t kind;
	struct query_column column;
} own[] = {
	{BRAID_JVM_LIVE, {"collections", "INTEGER", ROLE_NONE, get_survived, "that it has survived, at least", 0}},
	{BRAID_JVM_LOCK, {"is_parked", "INTEGER", ROLE_NONE, get_flag, "1: for a lock of java.util.concurrent", 0x1}},
	{BRAID_JVM_WAIT,
	 {"is_timed_out", "INTEGER", ROLE_NONE, get_flag, "1: its time was over", BRAID_WAIT_TIMED_OUT}},
	{BRAID_JVM_OFFCPU,
	 {"count", "INTEGER", ROLE_NONE, get_count,
	  "how many are added up in it, of which the longest has its duration", 0}},
	{BRAID_JVM_OFFCPU,
	 {"class", "TEXT", ROLE_NONE, offcpu_class, "what the kernel knows: futex, sleep, poll, ...", 0}},
	{BRAID_JVM_OFFCPU,
	 {"object", "TEXT", ROLE_NONE, offcpu_object, "a path, a peer's address: what it waited for", 0}},
	{BRAID_JVM_OFFCPU, {"is_idle", "INTEGER", ROLE_NONE, offcpu_idle, "1: it waited for work", 0}},
	{BRAID_JVM_OFFCPU,
	 {"runnable_ns", "INTEGER", ROLE_NONE, offcpu_runnable, "at its end, in which it could run again", 0}},
	{BRAID_JVM_OFFCPU,
	 {"woken_by", "TEXT", ROLE_NONE, offcpu_woken_by, "a timer, an interrupt, or a thread that is not recorded",
	  0}},
	{BRAID_JVM_GC_PAUSE, {"began_before", "INTEGER", ROLE_NONE, get_flag, "1: it began before the recording", 0x1}},
	{BRAID_JVM_GC_PAUSE, {"not_ended", "INTEGER", ROLE_NONE, get_flag, "1: it had not ended with it", 0x2}},
	{BRAID_JVM_GC_CYCLE, {"began_before", "INTEGER", ROLE_NONE, get_flag, "1: it began before the recording", 0x1}},
	{BRAID_JVM_GC_CYCLE, {"not_ended", "INTEGER", ROLE_NONE, get_flag, "1: it had not ended with it", 0x2}},
	{BRAID_JVM_COMPILE, {"level", "INTEGER", ROLE_NONE, get_flag, "1 to 3: C1, 4: C2", BRAID_COMPILE_LEVEL}},
	{BRAID_JVM_COMPILE, {"is_osr", "INTEGER", ROLE_NONE, get_flag, "1: entered in a loop", BRAID_COMPILE_OSR}},
	{BRAID_JVM_COMPILE, {"is_failed", "INTEGER", ROLE_NONE, get_flag, "1: no code was made", BRAID_COMPILE_FAILED}},
	{BRAID_JVM_DEOPT, {"action", "TEXT", ROLE_NONE, get_text, "what the VM did about it", 0}},
	{BRAID_JVM_SYSCALL, {"errno", "INTEGER", ROLE_NONE, get_flags, "its error number", 0}},
	{BRAID_JVM_TCP, {"errno", "INTEGER", ROLE_NONE, get_flags, "its error number; 65535: not known", 0}},
	{BRAID_JVM_BLOCK, {"is_failed", "INTEGER", ROLE_NONE, get_flags, "not 0: it failed", 0}},
	{BRAID_JVM_HEAP,
	 {"is_live", "INTEGER", ROLE_NONE, get_flag, "1: garbage was collected before", BRAID_HEAP_LIVE}},
	{BRAID_JVM_HEAP,
	 {"is_aborted", "INTEGER", ROLE_NONE, get_flag, "1: given up; what was counted until then",
	  BRAID_HEAP_ABORTED}},
	{BRAID_JVM_METHOD,
	 {"is_thrown", "INTEGER", ROLE_NONE, get_flag, "1: an exception ended it", BRAID_METHOD_THROWN}},
	{BRAID_JVM_JNI_REF,
	 {"is_cleared", "INTEGER", ROLE_NONE, get_flag, "1: the objects are gone", BRAID_JNI_CLEARED}},
	{BRAID_JVM_DUMP, {"flags", "INTEGER", ROLE_NONE, get_flags, "as in the trace", 0}},
	{BRAID_JVM_DUMP_VTHREAD, {"flags", "INTEGER", ROLE_NONE, get_flags, "as in the trace", 0}},
};

static const char *const units[] = {[UNIT_COUNT] = "", [UNIT_NS] = "_ns", [UNIT_BYTES] = "_bytes"};

/* A kind's columns while they are collected. */
struct making {
	struct query *q;
	struct query_column *columns;
	size_t count;
	int err;
};

static void add(struct making *m, struct query_column col)
{
	if (m->count == QUERY_COLUMNS_MAX)
		m->err = -E2BIG;
	if (!m->err)
		m->columns[m->count++] = col;
}

/* A column whose name is made of two parts and lives as long as the query. */
static void add_named(struct making *m, const char *title, const char *more, const char *type, query_get_fn get,
		      const char *about)
{
	char *name;

	if (!title || m->err)
		return;
	if (asprintf(&name, "%s%s", title, more) < 0) {
		m->err = -ENOMEM;
		return;
	}
	m->err = VEC_PUSH(&m->q->names, name);
	if (m->err)
		free(name);
	else
		add(m, (struct query_column){name, type, ROLE_NONE, get, about, 0});
}

static void add_fields(struct making *m, const struct kind *k)
{
	add_named(m, "weight", units[k->unit], "INTEGER", get_weight, "what reports add up");
	add_named(m, k->name_is.title, "", "TEXT", get_name, "the event's name");
	add_named(m, k->detail_is.title, "", "TEXT", get_detail, "the event's detail");
	add_named(m, k->value_is.title, units[k->value_is.unit], "INTEGER", get_value, "the event's value");
	if (k->weight != WEIGHT_ESTIMATE)
		add_named(m, k->weight_is.title, units[k->weight_is.unit], "INTEGER", get_row_weight,
			  "the event's second value");
	add_named(m, k->number_is.title, "", "INTEGER", get_number, "the event's number");
	add_named(m, k->text_is.title, "", "TEXT", get_text, "the event's text");
	add_named(m, k->other_is.title, "_thread_id", "INTEGER", get_other, "the other thread");
	add_named(m, k->other_is.title, "_vthread_id", "INTEGER", get_other_vthread, "the same, if it is virtual");
	add_named(m, k->other_is.title, "_stack_id", "INTEGER", get_other_stack, "its stack");
}

static int add_kind(struct query *q, uint32_t kind)
{
	struct making m = {.q = q, .columns = calloc(QUERY_COLUMNS_MAX, sizeof(*m.columns))};
	const struct kind *k = kind_of(kind);

	if (!m.columns || VEC_PUSH(&q->columns, m.columns)) {
		free(m.columns);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		add(&m, common[i]);
	add_fields(&m, k);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i].kind == kind)
			add(&m, own[i].column);
	return m.err
		       ?: VEC_PUSH(&q->tables, (struct query_table){jvm_event_name(kind), k->title, &rows, m.columns,
								    m.count, NULL, kind});
}

int query_events(struct query *q)
{
	static const struct query_table all = {"events", "events of all kinds but samples, by time", &rows,
					       events,	 sizeof(events) / sizeof(events[0]),	     NULL,
					       0};
	int err = VEC_PUSH(&q->tables, all);

	for (uint32_t k = 0; k < BRAID_JVM_EVENTS && !err; k++)
		if (kind_of(k))
			err = add_kind(q, k);
	return err;
}
