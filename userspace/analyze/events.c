// SPDX-License-Identifier: Apache-2.0
#include "events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "covers.h"

/* The filter's expressions that a name matches. */
enum { MATCH_TESTED = 1, MATCH_INCLUDE = 2, MATCH_EXCLUDE = 4 };

/*
 * Indices of two events of which one refers to the other: a sampled object's ALLOC, and the LIVE or UNCOLLECTED event
 * that shows the object was not collected, or its DIED; a MALLOC and its UNFREED; a JNI_STACK, and a JNI_REF that was
 * created on it.
 */
struct alive {
	size_t alloc, live;
};

/* Properties that every event's selection needs, computed once per thread, process, name and stack. */
struct events {
	VEC(struct alive) alive;
	bool *thread_selected;	/* per row of a->threads */
	bool *process_selected; /* per row of a->processes, and one more for unknown ones */
	struct covers covers;
	uint8_t *name_match; /* per id of a->strings; NULL without expressions */
	struct places places;
	double interval; /* sampling interval of allocations */
};

const struct place *place_of(const struct analysis *an, uint32_t stack)
{
	return stack == ROW_NONE ? NULL : places_get(&an->events->places, an, stack);
}

static size_t process_row(const struct analyzer *a, uint32_t process)
{
	size_t row = table_find(&a->processes, process);

	return row == TABLE_NONE ? a->processes.count : row;
}

static bool thread_is(const struct analysis *an, const struct jvm_event_row *row, uint32_t thread)
{
	return thread == ROW_NONE ? an->events->process_selected[process_row(an->a, row->process)]
				  : an->events->thread_selected[thread];
}

/* Whether the filter's --include and --exclude select the stack; frames and the name on top of them count. */
static bool stack_is(const struct analysis *an, const struct event *e)
{
	uint8_t match = an->events->name_match && e->k->leaf ? an->events->name_match[e->row->name] : 0;
	bool included = an->filter->include.count == 0 || (match & MATCH_INCLUDE);

	if (match & MATCH_EXCLUDE)
		return false;
	if (e->stack == ROW_NONE)
		return included;
	return (included || an->stacks[e->stack].included) && !an->stacks[e->stack].excluded;
}

static void match_name(const struct analysis *an, uint8_t *match, uint32_t id)
{
	const struct filter *f = an->filter;
	const char *name = strpool_get(&an->a->strings, id);

	if (match[id])
		return;
	match[id] = MATCH_TESTED;
	for (size_t i = 0; i < f->include.count; i++)
		match[id] |= regexec(&f->include.at[i].re, name, 0, NULL, 0) == 0 ? MATCH_INCLUDE : 0;
	for (size_t i = 0; i < f->exclude.count; i++)
		match[id] |= regexec(&f->exclude.at[i].re, name, 0, NULL, 0) == 0 ? MATCH_EXCLUDE : 0;
}

/* ---- one event ---- */

uint64_t event_end_ns(const struct jvm_event_row *row)
{
	return add_saturating(row->time_ns, row->duration_ns);
}

uint64_t event_middle_ns(const struct jvm_event_row *row)
{
	return row->time_ns + (event_end_ns(row) - row->time_ns) / 2;
}

bool event_is_unmounted(const struct jvm_event_row *row)
{
	unsigned class = BRAID_OFFCPU_CLASS(row->flags);

	return row->kind == BRAID_JVM_OFFCPU && (class == BRAID_OFFCPU_UNMOUNTED || class == BRAID_OFFCPU_CARRIER);
}

uint32_t event_thread(const struct analyzer *a, const struct jvm_event_row *row)
{
	const struct vthread_row *v = row->vthread ? table_get(&a->vthreads, row->vthread) : NULL;

	return table_row_of(&a->threads, v && v->group ? v->group : row->thread);
}

/*
 * Each byte is sampled with the probability 1 / interval, so an object of s bytes is sampled with 1 - exp(-s /
 * interval). Division by that makes the sum unbiased (Horvitz and Thompson).
 */
uint64_t events_estimate(const struct analysis *an, uint64_t bytes, uint64_t reported)
{
	double size = (double)bytes, interval = an->events->interval, weight;

	if (reported >= bytes)
		return reported;
	/* the recorder did not know it */
	weight = interval > 0 && size > 0 ? size / -expm1(-size / interval) : size;
	return weight < 0x1p63 ? (uint64_t)llrint(weight) : (uint64_t)1 << 63;
}

/* With the variance of the estimate. */
static void estimate(const struct analysis *an, struct event *e, uint64_t reported)
{
	double size = (double)e->row->value, weight;

	e->weight = events_estimate(an, e->row->value, reported);
	weight = (double)e->weight;
	e->variance = weight > size ? weight * (weight - size) : 0;
}

static void weigh(const struct analysis *an, struct event *e)
{
	switch (e->k->weight) {
	case WEIGHT_ONE:
		e->weight = 1;
		break;
	case WEIGHT_DURATION:
		e->weight = e->duration_ns;
		break;
	case WEIGHT_VALUE:
		e->weight = e->row->value;
		break;
	case WEIGHT_ESTIMATE:
		estimate(an, e, e->row->weight);
		break;
	}
	e->count = 1;
	e->longest = e->weight;
}

bool event_is_idle(const struct analysis *an, uint32_t thread, uint32_t stack)
{
	const struct thread_row *t = thread == ROW_NONE ? NULL : table_row(&an->a->threads, thread);
	const struct place *p = place_of(an, stack);
	bool java = t && t->flags & TRACE_THREAD_JAVA, first;
	const char *name;

	if ((p && idle_is(&p->idling)) || !t)
		return p && idle_is(&p->idling);
	name = analysis_thread_name(an, thread);
	first = t->tid == analysis_process(an, t->process)->pid && table_get(&an->a->jvms, t->process);
	return idle_thread(name, java) || (!p && idle_thread_without_stack(name, java, first));
}

/* A thread that stands still on its way out of a park has the lock as its blocker, but no longer waits for it. */
static bool stands_still(const struct analysis *an, const struct event *e)
{
	const struct place *p = place_of(an, e->stack);

	return e->kind == BRAID_JVM_LOCK && e->row->source == BRAID_SOURCE_KERNEL &&
	       (e->row->flags & BRAID_LOCK_PARKED) && p && p->safepoint;
}

static bool name_event(const struct analysis *an, struct event *e)
{
	enum blocked_why why;

	if (e->kind != BRAID_JVM_OFFCPU) {
		e->name = strpool_get(&an->a->strings, e->row->name);
		e->name_id = e->row->name;
		return !stands_still(an, e);
	}
	why = place_why(place_of(an, e->stack), e->row->flags);
	e->name = blocked_reason(why, e->row->flags, &e->name_id);
	e->idle = event_is_idle(an, e->thread, e->stack);
	return !covers_have(&an->events->covers, an->a, e->row, why);
}

static void find_stack(const struct analysis *an, const struct jvm_event_row *row, struct event *e)
{
	e->stack = table_row_of(&an->a->nodes, row->node);
	if (e->stack != ROW_NONE && (row->source == BRAID_SOURCE_AGENT || event_is_unmounted(row)))
		e->stack = place_of(an, e->stack)->seen;
	e->xframe = row->node ? XFRAME_DAMAGED : e->k->stack ? XFRAME_NO_STACK : XFRAME_ROOT;
	e->other = table_row_of(&an->a->threads, row->other);
	e->other_stack = table_row_of(&an->a->nodes, row->other_node);
}

size_t events_count(const struct analysis *an)
{
	return an->a->events.count + an->events->alive.count;
}

/* `at` is the row that has the thread and the stack. */
static bool find_source(const struct analysis *an, const struct jvm_event_row *row, const struct jvm_event_row *at,
			uint32_t kind, struct event *e)
{
	*e = (struct event){.row = row,
			    .kind = kind,
			    .k = kind_of(kind),
			    .start_ns = row->time_ns,
			    .duration_ns = row->duration_ns};
	if (!e->k)
		return false;
	e->thread = event_thread(an->a, at);
	find_stack(an, at, e);
	return thread_is(an, row, e->thread) && analysis_selects_span(an, row->span) && stack_is(an, e);
}

static bool events_resolve(const struct analysis *an, const struct jvm_event_row *row, const struct jvm_event_row *at,
			   uint32_t kind, struct event *e)
{
	return find_source(an, row, at, kind, e) && analysis_clip(an, &e->start_ns, &e->duration_ns) &&
	       name_event(an, e);
}

bool event_selected_whenever(const struct analysis *an, const struct jvm_event_row *row)
{
	struct event e;

	return find_source(an, row, row, row->kind, &e);
}

bool events_of_row(const struct analysis *an, const struct jvm_event_row *row, struct event *e)
{
	if (!events_resolve(an, row, row, row->kind, e))
		return false;
	weigh(an, e);
	return true;
}

/* As a futex has it that Java threads wait for. */
static bool may_be_park(const struct analysis *an, const struct jvm_event_row *row)
{
	const struct thread_row *t = table_find(&an->a->threads, row->thread) == TABLE_NONE
					     ? NULL
					     : table_row(&an->a->threads, table_row_of(&an->a->threads, row->thread));

	if (BRAID_OFFCPU_CLASS(row->flags) == BRAID_OFFCPU_UNMOUNTED)
		return true;
	return BRAID_OFFCPU_CLASS(row->flags) == BRAID_OFFCPU_FUTEX && t && t->flags & TRACE_THREAD_JAVA;
}

enum event_blocker event_blocker(const struct analysis *an, const struct jvm_event_row *row)
{
	if (row->kind != BRAID_JVM_OFFCPU || !may_be_park(an, row))
		return BLOCKER_OTHER;
	if (!(row->flags & BRAID_OFFCPU_LOOKED))
		return BLOCKER_NOT_READ;
	return row->name ? BLOCKER_READ : BLOCKER_NONE;
}

const char *event_blocker_name(enum event_blocker blocker)
{
	static const char *const names[] = {
		[BLOCKER_NOT_READ] = "not read", [BLOCKER_NONE] = "none", [BLOCKER_READ] = "read"};

	return names[blocker];
}

bool event_is_sum(const struct jvm_event_row *row)
{
	return row->kind == BRAID_JVM_COUNTED && row->number == BRAID_JVM_OFFCPU && row->node;
}

static bool events_summed(const struct analysis *an, const struct jvm_event_row *row, struct event *e)
{
	if (!event_is_sum(row) || !events_resolve(an, row, row, BRAID_JVM_OFFCPU, e))
		return false;
	e->summed = true;
	e->count = row->value;
	e->weight = row->weight;
	e->longest = e->duration_ns;
	return true;
}

/* Whether the event shows that a sampled object was not collected. */
static bool is_there(const struct jvm_event_row *row)
{
	return row->kind == BRAID_JVM_LIVE || row->kind == BRAID_JVM_UNCOLLECTED || row->kind == BRAID_JVM_UNFREED;
}

/* The same, or that it was collected. */
static bool is_of_object(const struct jvm_event_row *row)
{
	return is_there(row) || row->kind == BRAID_JVM_DIED;
}

/* Numbers of objects and of native allocations are apart. */
static bool is_native(const struct jvm_event_row *row)
{
	return row->kind == BRAID_JVM_MALLOC || row->kind == BRAID_JVM_UNFREED;
}

/* Whether it is of a report of JNI references. */
static bool is_of_refs(const struct jvm_event_row *row)
{
	return row->kind == BRAID_JVM_JNI_REF || row->kind == BRAID_JVM_JNI_REFS;
}

bool event_is_derived(const struct jvm_event_row *row)
{
	return is_of_object(row) || is_of_refs(row);
}

size_t events_row(const struct analysis *an, size_t number)
{
	return number < an->a->events.count ? number : an->events->alive.at[number - an->a->events.count].live;
}

bool events_get(const struct analysis *an, size_t number, struct event *e)
{
	const struct jvm_event_row *rows = an->a->events.at;
	const struct alive *alive;

	if (number < an->a->events.count)
		return !event_is_derived(&rows[number]) && events_of_row(an, &rows[number], e);
	alive = &an->events->alive.at[number - an->a->events.count];
	if (is_of_refs(&rows[alive->live])) {
		if (!events_resolve(an, &rows[alive->live], &rows[alive->alloc], rows[alive->live].kind, e))
			return false;
		weigh(an, e);
		return true;
	}
	if (!events_resolve(an, &rows[alive->alloc], &rows[alive->alloc], rows[alive->live].kind, e))
		return false;
	e->survived = rows[alive->live].flags;
	e->duration_ns = 0;
	if (event_end_ns(&rows[alive->live]) > e->row->time_ns)
		e->duration_ns = event_end_ns(&rows[alive->live]) - e->row->time_ns;
	/* When there were too many objects to watch, each of the remaining ones has a higher weight. */
	estimate(an, e, rows[alive->live].weight ?: e->row->weight);
	e->count = 1;
	e->longest = e->weight;
	return true;
}

bool events_get_summed(const struct analysis *an, size_t number, struct event *e)
{
	const struct jvm_event_row *rows = an->a->events.at;

	if (number < an->a->events.count && event_is_sum(&rows[number]))
		return events_summed(an, &rows[number], e);
	return events_get(an, number, e);
}

uint32_t event_site(const struct analysis *an, const struct event *e)
{
	return e->k->kernel ? wait_site(an, e->stack) : events_site(an, e->stack);
}

struct stack_sum events_sum(const struct event *e)
{
	struct stack_sum sum = {.thread = e->thread, .stack = e->stack, .xframe = e->xframe, .weight = e->weight};

	if (e->k->leaf)
		sum.leaf = e->row->name;
	if (e->xframe == XFRAME_ROOT && e->stack == ROW_NONE && !sum.leaf)
		sum.xframe = XFRAME_NO_STACK;
	return sum;
}

int events_profile(const struct analysis *an, uint32_t kind, struct profile *p)
{
	int err = 0;

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < events_count(an) && !err; i++) {
		struct stack_sum sum;
		struct event e;

		if (!events_get_summed(an, i, &e) || e.kind != kind)
			continue;
		sum = events_sum(&e);
		err = profile_add(p, &sum);
	}
	err = err ?: profile_finish(p, an);
	if (err)
		profile_free(p);
	return err;
}

/* ---- life ---- */

static uint64_t object_key(const struct jvm_event_row *r)
{
	return (uint64_t)r->process << 40 ^ r->number << 1 ^ is_native(r);
}

/* Whether it is an ALLOC or MALLOC that others refer to. */
static bool is_allocation(const struct jvm_event_row *row)
{
	return row->kind == BRAID_JVM_ALLOC || row->kind == BRAID_JVM_MALLOC;
}

static bool is_jni_stack(const struct jvm_event_row *row)
{
	return row->kind == BRAID_JVM_JNI_STACK;
}

/* Maps each number that such events have to the latest one with it: the index + 1. */
static int find_numbers(const struct analyzer *a, bool (*is)(const struct jvm_event_row *), struct u64map *of)
{
	for (size_t i = 0; i < a->events.count && i < UINT32_MAX - 1; i++) {
		const struct jvm_event_row *r = &a->events.at[i];
		uint32_t *at;

		if (!is(r) || !r->number)
			continue;
		at = u64map_put(of, object_key(r));
		if (!at)
			return -ENOMEM;
		if (!*at || a->events.at[*at - 1].time_ns <= r->time_ns)
			*at = (uint32_t)i + 1;
	}
	return 0;
}

#define LIVE_EMIT_NS 100000000U /* all live objects of a JVM are emitted within this time */

static uint64_t *last_of(const struct analyzer *a, uint64_t *last_ns, const struct jvm_event_row *r)
{
	return &last_ns[2 * process_row(a, r->process) + is_native(r)];
}

/* What is there may be emitted several times; only the last time counts. */
static void find_last(const struct analyzer *a, bool (*is)(const struct jvm_event_row *), uint64_t *last_ns)
{
	for (size_t i = 0; i < a->events.count; i++) {
		const struct jvm_event_row *r = &a->events.at[i];
		uint64_t *last = last_of(a, last_ns, r);

		if (is(r) && event_end_ns(r) > *last)
			*last = event_end_ns(r);
	}
}

static int find_alive(const struct analyzer *a, struct events *ev)
{
	uint64_t *last_ns = calloc(2 * (a->processes.count + 1), sizeof(*last_ns));
	struct u64map alloc_of = {0};
	int err = last_ns ? find_numbers(a, is_allocation, &alloc_of) : -ENOMEM;

	if (!err)
		find_last(a, is_there, last_ns);
	for (size_t i = 0; i < a->events.count && !err; i++) {
		const struct jvm_event_row *r = &a->events.at[i];
		struct alive one = {.alloc = i, .live = i};
		uint32_t alloc;

		if (!is_of_object(r) || (is_there(r) && *last_of(a, last_ns, r) - event_end_ns(r) > LIVE_EMIT_NS))
			continue;
		alloc = u64map_get(&alloc_of, object_key(r));
		if (alloc)
			one.alloc = alloc - 1;
		else if (!r->name) /* without a name, the allocation was lost, and its stack with it */
			continue;
		err = VEC_PUSH(&ev->alive, one);
	}
	u64map_free(&alloc_of);
	free(last_ns);
	return err;
}

/* All events of one report of JNI references have the same end. */
static int find_refs(const struct analyzer *a, struct events *ev)
{
	uint64_t *last_ns = calloc(2 * (a->processes.count + 1), sizeof(*last_ns));
	struct u64map stack_of = {0};
	int err = last_ns ? find_numbers(a, is_jni_stack, &stack_of) : -ENOMEM;

	if (!err)
		find_last(a, is_of_refs, last_ns);
	for (size_t i = 0; i < a->events.count && !err; i++) {
		const struct jvm_event_row *r = &a->events.at[i];
		uint32_t stack = r->number && r->kind == BRAID_JVM_JNI_REF ? u64map_get(&stack_of, object_key(r)) : 0;

		if (is_of_refs(r) && *last_of(a, last_ns, r) == event_end_ns(r))
			err = VEC_PUSH(&ev->alive, ((struct alive){.alloc = stack ? stack - 1 : i, .live = i}));
	}
	u64map_free(&stack_of);
	free(last_ns);
	return err;
}

static void match_names(const struct analysis *an, struct events *ev)
{
	const struct analyzer *a = an->a;

	for (size_t i = 0; ev->name_match && i < a->events.count; i++) {
		const struct kind *k = kind_of(a->events.at[i].kind);

		if (k && k->leaf)
			match_name(an, ev->name_match, a->events.at[i].name);
	}
}

static bool allocate(const struct analyzer *a, const struct filter *f, struct events *ev)
{
	size_t processes = a->processes.count + 1;

	ev->thread_selected = calloc(a->threads.count + 1, sizeof(*ev->thread_selected));
	ev->process_selected = calloc(processes, sizeof(*ev->process_selected));
	if (f->include.count || f->exclude.count) {
		ev->name_match = calloc(a->strings.strings.count + 1, sizeof(*ev->name_match));
		if (!ev->name_match)
			return false;
	}
	return ev->thread_selected && ev->process_selected;
}

int events_new(struct events **out, struct analysis *an)
{
	static const struct process_row nobody;
	const struct analyzer *a = an->a;
	struct events *ev = calloc(1, sizeof(*ev));

	*out = ev;
	if (!ev || !allocate(a, an->filter, ev))
		return -ENOMEM;
	for (size_t i = 0; i < a->threads.count; i++)
		ev->thread_selected[i] = analysis_selects_thread(an, (uint32_t)i);
	for (size_t i = 0; i < a->processes.count; i++)
		ev->process_selected[i] = analysis_selects_first_thread(an, table_row(&a->processes, i));
	ev->process_selected[a->processes.count] = analysis_selects_first_thread(an, &nobody);
	if (places_new(&ev->places, an))
		return -ENOMEM;
	ev->interval = strtod(analyzer_info(a, "record.alloc_interval"), NULL);
	recorded_find(&an->recorded, a, analyzer_info(a, "record.choices"));
	match_names(an, ev);
	return covers_find(&ev->covers, a) ?: find_alive(a, ev) ?: find_refs(a, ev);
}

void events_free(struct events *ev)
{
	if (!ev)
		return;
	free(ev->alive.at);
	free(ev->thread_selected);
	free(ev->process_selected);
	covers_free(&ev->covers);
	free(ev->name_match);
	places_free(&ev->places);
	free(ev);
}
