// SPDX-License-Identifier: Apache-2.0
/*
 * The table of all events, and one for each kind: its columns are those that all kinds have, and the kind's own fields
 * by their names in analyze/kinds.c. Rows are what reports count: what another event covers is left out, and objects
 * that are still there have their allocation's stack.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <analyze/blocked.h>
#include <analyze/event_fields.h>
#include <analyze/spans.h>
#include <util/compare.h>
#include <util/search.h>

#include "table.h"

/* ---- rows ---- */

static int by_time(const void *x, const void *y)
{
	const struct query_event *p = x, *q = y;

	return compare_u64(p->time_ns, q->time_ns) ?: compare_u64(p->number, q->number);
}

static int add_event(const struct query *q, size_t number)
{
	struct query_event one = {.number = number};
	struct event e;

	if (!events_get_summed(q->an, number, &e))
		return 0;
	one.time_ns = e.start_ns;
	return VEC_PUSH(&q->index->kinds[0], one) ?: VEC_PUSH(&q->index->kinds[e.kind], one);
}

static void make_index(const struct query *q)
{
	struct query_index *x = q->index;

	for (size_t i = 0; i < events_count(q->an) && !x->err; i++)
		x->err = add_event(q, i);
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS; k++)
		VEC_SORT(&x->kinds[k], by_time);
	x->made = true;
}

/* The events of a table's kind; without memory, q->index->err says so. */
static const query_event_list *events_of(const struct query *q, const struct query_table *t)
{
	if (!q->index->made)
		make_index(q);
	return &q->index->kinds[t->kind];
}

static uint64_t count_events(const struct query *q, const struct query_table *t)
{
	return events_of(q, t)->count;
}

static int begin_events(struct query_cursor *c)
{
	const struct query *q = c->query;
	const query_event_list *x = events_of(q, c->table);
	size_t first = SEARCH(i, 0, x->count, query_since(q, x->at[i].time_ns) < c->limits.from_ns);
	size_t end = SEARCH(i, first, x->count, query_since(q, x->at[i].time_ns) <= c->limits.to_ns);

	query_from_to(c, first, end);
	return q->index->err;
}

static bool is_wanted(const struct query_cursor *c)
{
	const struct analyzer *a = c->query->an->a;
	const struct query_limits *l = &c->limits;

	return (!l->has[ROLE_THREAD] || l->equal[ROLE_THREAD] == query_id(&a->threads, c->event.thread)) &&
	       (!l->has[ROLE_STACK] || l->equal[ROLE_STACK] == query_id(&a->nodes, c->event.stack));
}

static int next_event(struct query_cursor *c)
{
	const query_event_list *x = events_of(c->query, c->table);

	while (query_next_at(c))
		if (events_get_summed(c->query->an, x->at[c->at].number, &c->event) && is_wanted(c))
			return 1;
	return 0;
}

static const struct query_rows rows = {
	.count = count_events, .begin = begin_events, .next = next_event, .by_time = true};

/* ---- columns of all kinds ---- */

#define GET(name, expression)                                                                                          \
	GETTER(name, const struct analysis *an = c->query->an; const struct event *e = &c->event; (void)an; expression)

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

#define COMMON_COLUMNS                                                                                                 \
	LIMITED("time_ns", ROLE_TIME, get_time, "when it began, since the recording's start"),                         \
		INTEGER("duration_ns", get_duration, "how long it took"),                                              \
		INTEGER("process_id", get_process, "the process"),                                                     \
		LIMITED("thread_id", ROLE_THREAD, get_thread, "the thread, or the group of the virtual thread"),       \
		INTEGER("os_thread_id", get_os_thread, "the thread that ran: of a virtual thread, its carrier"),       \
		INTEGER("vthread_id", get_vthread, "the virtual thread"),                                              \
		LIMITED("stack_id", ROLE_STACK, get_stack, "the thread's stack"),                                      \
		TEXT("site", get_site, "innermost Java frame outside of the JDK, else the innermost one"),             \
		INTEGER("span_id", get_span, "what the thread worked for")

static const struct query_column common[] = {COMMON_COLUMNS};

static const struct query_column events[] = {
	TEXT("kind", get_kind, "alloc, lock, gc_pause, ...: the table with its own columns"),
	COMMON_COLUMNS,
	INTEGER("count", get_count, "how many times off the CPU are added up in it; else 1"),
	INTEGER("weight", get_weight, "nanoseconds, bytes or the number of events, by kind"),
	TEXT("name", get_name, "what it is about: a class, a collector, a method, by kind"),
	TEXT("detail", get_detail, "by kind"),
	TEXT("text", get_text, "by kind"),
	INTEGER("number", get_number, "identifies an object, a pause, a compilation, by kind"),
	INTEGER("flags", get_flags, "by kind, as in the trace"),
};

/* ---- columns of one kind ---- */

GET(offcpu_class, put_text(to, blocked_class_name(BRAID_OFFCPU_CLASS(e->row->flags))))
GET(offcpu_idle, put_number(to, e->idle))
GET(offcpu_runnable, if (!e->summed) put_number(to, e->row->value))
GET(offcpu_object, if (!e->summed) put_string(to, c, e->row->name))
GET(offcpu_blocker, if (!e->summed && event_blocker(c->query->an, e->row))
			    put_text(to, event_blocker_name(event_blocker(c->query->an, e->row))))
GET(offcpu_woken_by, put_string(to, c, e->row->text))

#define FLAG(name, mask, about)                                                                                        \
	{                                                                                                              \
		name, "INTEGER", ROLE_NONE, get_flag, about, mask                                                      \
	}

static const struct {
	uint32_t kind;
	struct query_column column;
} own[] = {
	{BRAID_JVM_LIVE, INTEGER("collections", get_survived, "that it has survived, at least")},
	{BRAID_JVM_DIED, INTEGER("collections", get_survived, "that it had survived, at least")},
	{BRAID_JVM_LOCK, FLAG("is_parked", BRAID_LOCK_PARKED, "1: for a lock of java.util.concurrent")},
	{BRAID_JVM_LOCK, FLAG("not_ended", BRAID_LOCK_OPEN, "1: it had not ended with the recording")},
	{BRAID_JVM_WAIT, FLAG("is_timed_out", BRAID_WAIT_TIMED_OUT, "1: its time was over")},
	{BRAID_JVM_OFFCPU,
	 INTEGER("count", get_count, "how many are added up in it, of which the longest has its duration")},
	{BRAID_JVM_OFFCPU, TEXT("class", offcpu_class, "what the kernel knows: futex, sleep, poll, ...")},
	{BRAID_JVM_OFFCPU, TEXT("object", offcpu_object, "a path, a peer's address: what it waited for")},
	{BRAID_JVM_OFFCPU, TEXT("blocker", offcpu_blocker,
				"of a Java thread that may be parked: read, none, not read (nor is the owner)")},
	{BRAID_JVM_OFFCPU, INTEGER("is_idle", offcpu_idle, "1: it waited for work")},
	{BRAID_JVM_OFFCPU, INTEGER("runnable_ns", offcpu_runnable, "at its end, in which it could run again")},
	{BRAID_JVM_OFFCPU,
	 TEXT("woken_by", offcpu_woken_by, "a timer, an interrupt, or a thread that is not recorded")},
	{BRAID_JVM_OFFCPU,
	 FLAG("not_ended", BRAID_OFFCPU_OPEN, "1: it had not ended with the recording; the waker is then the owner")},
	{BRAID_JVM_GC_PAUSE, FLAG("began_before", BRAID_GC_BEGAN_BEFORE, "1: it began before the recording")},
	{BRAID_JVM_GC_PAUSE, FLAG("not_ended", BRAID_GC_NOT_ENDED, "1: it had not ended with it")},
	{BRAID_JVM_GC_CYCLE, FLAG("began_before", BRAID_GC_BEGAN_BEFORE, "1: it began before the recording")},
	{BRAID_JVM_GC_CYCLE, FLAG("not_ended", BRAID_GC_NOT_ENDED, "1: it had not ended with it")},
	{BRAID_JVM_COMPILE, FLAG("level", BRAID_COMPILE_LEVEL, "1 to 3: C1, 4: C2")},
	{BRAID_JVM_COMPILE, FLAG("is_osr", BRAID_COMPILE_OSR, "1: entered in a loop")},
	{BRAID_JVM_COMPILE, FLAG("is_failed", BRAID_COMPILE_FAILED, "1: no code was made")},
	{BRAID_JVM_DEOPT, TEXT("action", get_text, "what the VM did about it")},
	{BRAID_JVM_SYSCALL, INTEGER("errno", get_flags, "its error number")},
	{BRAID_JVM_TCP, INTEGER("errno", get_flags, "its error number; 65535: not known")},
	{BRAID_JVM_BLOCK, INTEGER("is_failed", get_flags, "not 0: it failed")},
	{BRAID_JVM_HEAP, FLAG("is_live", BRAID_HEAP_LIVE, "1: garbage was collected before")},
	{BRAID_JVM_HEAP, FLAG("is_copied", BRAID_HEAP_COPIED, "1: what is reachable, in a copy of the process")},
	{BRAID_JVM_HEAP, FLAG("is_aborted", BRAID_HEAP_ABORTED, "1: given up; what was counted until then")},
	{BRAID_JVM_METHOD, FLAG("is_thrown", BRAID_METHOD_THROWN, "1: an exception ended it")},
	{BRAID_JVM_JNI_REF, FLAG("is_cleared", BRAID_JNI_CLEARED, "1: the objects are gone")},
	{BRAID_JVM_DUMP, INTEGER("flags", get_flags, "as in the trace")},
	{BRAID_JVM_DUMP_VTHREAD, INTEGER("flags", get_flags, "as in the trace")},
};

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
	add_named(m, "weight", field_suffix(k->unit), "INTEGER", get_weight, "what reports add up");
	add_named(m, k->name_is.title, "", "TEXT", get_name, "the event's name");
	add_named(m, k->detail_is.title, "", "TEXT", get_detail, "the event's detail");
	add_named(m, k->value_is.title, field_suffix(k->value_is.unit), "INTEGER", get_value, "the event's value");
	if (k->weight != WEIGHT_ESTIMATE)
		add_named(m, k->weight_is.title, field_suffix(k->weight_is.unit), "INTEGER", get_row_weight,
			  "the event's second value");
	add_named(m, k->number_is.title, field_suffix(k->number_is.unit), "INTEGER", get_number, "the event's number");
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
								    m.count, 0, kind});
}

int query_events(struct query *q)
{
	static const struct query_table all = TABLE(events, "events of all kinds but samples, by time", &rows);
	int err = query_add_tables(q, &all, 1);

	q->index = calloc(1, sizeof(*q->index));
	if (!q->index)
		err = -ENOMEM;
	for (uint32_t k = 0; k < BRAID_JVM_EVENTS && !err; k++)
		if (kind_of(k))
			err = add_kind(q, k);
	return err;
}
