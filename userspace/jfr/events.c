// SPDX-License-Identifier: Apache-2.0
/* What becomes of samples and JVM events: which types, and the values of their fields. */
#include <string.h>

#include <analyze/blocked.h>
#include <trace/str.h>
#include <util/text.h>

#include "writer.h"

/* What a field's value is taken from. */
struct source {
	const struct timed *t;	 /* NULL: a fact */
	const struct fact *fact; /* NULL: a timed event */
	bool after;		 /* of a heap summary: that after the collection */
	/* Of a JVM's load: whose it is, and the machine's in the same interval. */
	uint32_t pid;
	const struct jvm_event_row *machine;
};

/* The JDK's tools show a time span with this value as not available. */
#define UNKNOWN_SPAN (1ULL << 63)

/*
 * A pause is a collection by itself unless it is a part of a concurrent one. Pauses and cycles are numbered apart, so
 * the ids of pauses are even.
 */
static bool is_part(const struct jfr *j, const struct jvm_event_row *r)
{
	const char *what = strpool_get(&j->an->a->strings, r->text);

	return *what && strncmp(what, "Pause Young", 11) != 0 && strncmp(what, "Pause Full", 10) != 0;
}

static uint64_t number_of(const struct source *s, enum jfr_from from)
{
	const struct timed *t = s->t;
	const struct jvm_event_row *r = t && t->event ? t->event->row : NULL;

	switch (from) {
	case FROM_TIME:
		return t->time_ns;
	case FROM_DURATION:
		return t->duration_ns;
	case FROM_COUNT:
		return t->count;
	case FROM_WEIGHT:
		return t->weight;
	case FROM_ROW_WEIGHT:
		return r->weight;
	case FROM_VALUE:
		return r->value;
	case FROM_NUMBER: /* that of a thread off the CPU is no object's */
		return r->kind == BRAID_JVM_OFFCPU ? 0 : r->number;
	case FROM_FLAGS:
		return t->event->kind == BRAID_JVM_LIVE ? t->event->survived : r->flags;
	case FROM_GC_ID:
		return 2 * r->number + (r->kind != BRAID_JVM_GC_PAUSE);
	case FROM_GC_PAUSES:
		return r->kind == BRAID_JVM_GC_PAUSE ? t->duration_ns : UNKNOWN_SPAN;
	case FROM_HEAP_USED:
		return s->after ? r->weight : r->value;
	case FROM_TIMED_OUT:
		return r->flags & BRAID_WAIT_TIMED_OUT;
	case FROM_LEVEL:
		return r->flags & BRAID_COMPILE_LEVEL;
	case FROM_OSR:
		return (r->flags & BRAID_COMPILE_OSR) != 0;
	case FROM_SUCCEEDED:
		return !(r->flags & BRAID_COMPILE_FAILED);
	case FROM_IDLE:
		return t->event->idle;
	case FROM_YES:
		return true;
	case FROM_PID:
		return s->pid;
	case FROM_FACT_NUMBER:
		return s->fact->number;
	case FROM_FACT_PID:
		return s->fact->pid;
	default:
		return 0;
	}
}

/* A share of what all CPUs had. */
static float share_of(const struct source *s, enum jfr_from from)
{
	const struct jvm_event_row *r = s->t->event->row;
	uint64_t part = from == FROM_LOAD_USER	   ? r->value
			: from == FROM_LOAD_SYSTEM ? r->weight
						   : add_saturating(s->machine->value, s->machine->weight);

	return part < s->machine->number ? (float)((double)part / (double)s->machine->number) : 1;
}

static struct trace_str text_of(const struct jfr *j, const struct source *s, enum jfr_from from)
{
	const struct strpool *strings = &j->an->a->strings;
	const char *text = "";

	switch (from) {
	case FROM_NAME:
		text = s->t->name;
		break;
	case FROM_DETAIL: /* what a thread off the CPU waited for is its event's name */
		text = strpool_get(strings, s->t->event->kind == BRAID_JVM_OFFCPU ? s->t->event->row->name
										  : s->t->event->row->detail);
		break;
	case FROM_TEXT:
		if (!s->t->event)
			return s->t->text;
		text = strpool_get(strings, s->t->event->row->text);
		if (s->t->event->kind == BRAID_JVM_GC_PAUSE && !*text)
			text = s->t->name;
		break;
	case FROM_WHEN:
		text = s->after ? "After GC" : "Before GC";
		break;
	case FROM_FACT_NAME:
		text = s->fact->name;
		break;
	case FROM_FACT_VALUE:
		text = s->fact->value;
		break;
	case FROM_FACT_MORE:
		text = s->fact->more;
		break;
	default:
		break;
	}
	return text ? str_of(text) : (struct trace_str){0};
}

static uint64_t thread_of(struct jfr *j, const struct timed *t, enum jfr_from from)
{
	if (from == FROM_NOTHING)
		return 0;
	if (from == FROM_OTHER)
		return t->event ? pools_thread(&j->pools, t->event->other, t->event->row->other_vthread) : 0;
	return pools_thread(&j->pools, t->thread, t->vthread);
}

static bool is_java(const struct analysis *an, size_t xframe)
{
	return kind_domain((enum stack_kind)an->syms.at[an->xframes.at[xframe].sym].kind) == DOMAIN_JAVA;
}

/* A stack without what is above its innermost Java frame, if there is one. */
static uint32_t java_stack(const struct analysis *an, uint32_t stack)
{
	const struct place *place = place_of(an, stack);

	if (!place || place->java == ROW_NONE)
		return stack;
	for (uint32_t at = stack; at != ROW_NONE; at = an->stacks[at].parent) {
		uint32_t frame = an->stacks[at].frame;
		const struct expansion *e = frame == ROW_NONE ? NULL : &an->expansions[frame];

		if (e && e->count && is_java(an, e->first + e->count - 1))
			return at;
	}
	return stack;
}

/* The key of a constant. */
static uint64_t key_of(struct jfr *j, const struct jfr_field *f, const struct source *s)
{
	const struct timed *t = s->t;

	switch (f->type) {
	case JFR_THREAD:
		return thread_of(j, t, (enum jfr_from)f->from);
	case JFR_STACK_TRACE:
		if (f->from == FROM_OTHER_STACK)
			return pools_stack(&j->pools, t->event->other_stack, XFRAME_ROOT);
		return pools_stack(&j->pools, f->from == FROM_JAVA_STACK ? java_stack(j->an, t->stack) : t->stack,
				   t->xframe);
	case JFR_CLASS:
		return t->event->kind == BRAID_JVM_OFFCPU ? 0 : pools_class(&j->pools, t->name);
	case JFR_CLASS_LOADER:
		return pools_class_loader(&j->pools, strpool_get(&j->an->a->strings, t->event->row->detail));
	case JFR_METHOD:
		return pools_method(&j->pools, t->name);
	case JFR_THREAD_STATE:
		return pools_thread_state(&j->pools, "STATE_RUNNABLE");
	default:
		return 0;
	}
}

static void put_value(struct jfr *j, const struct jfr_field *f, const struct source *s)
{
	struct trace_str text;
	uint64_t key;

	switch (f->type) {
	case JFR_BOOLEAN:
		bytes_put_byte(&j->body, number_of(s, (enum jfr_from)f->from) != 0);
		break;
	case JFR_INT:
		bytes_put_number(&j->body, (uint32_t)number_of(s, (enum jfr_from)f->from));
		break;
	case JFR_LONG:
		bytes_put_number(&j->body, number_of(s, (enum jfr_from)f->from));
		break;
	case JFR_FLOAT32:
		bytes_put_float(&j->body, share_of(s, (enum jfr_from)f->from));
		break;
	case JFR_STRING:
		text = text_of(j, s, (enum jfr_from)f->from);
		key = pools_string(&j->pools, text.str, text.str ? text.len : 0);
		bytes_put_byte(&j->body, key ? STRING_POOL : STRING_NULL);
		if (key)
			bytes_put_number(&j->body, key);
		break;
	default:
		bytes_put_number(&j->body, key_of(j, f, s));
		break;
	}
}

static void put_event(struct jfr *j, size_t id, const struct source *s)
{
	const struct jfr_event_type *type = &j->types[id];

	j->used[id] = true;
	j->body.count = 0;
	bytes_put_number(&j->body, JFR_FIRST_EVENT + id);
	for (const struct jfr_field *f = type->fields; f->name; f++)
		if (s->fact && f->from == FROM_TIME)
			bytes_put_number(&j->body, j->start_ns);
		else
			put_value(j, f, s);
	bytes_put_sized(&j->events, &j->body);
}

void jfr_put_fact(struct jfr *j, enum jfr_event_id id, const struct fact *fact)
{
	put_event(j, id, &(struct source){.fact = fact});
}

/* ---- which types ---- */

static void put_named(struct jfr *j, enum jfr_event_id id, const struct timed *t)
{
	put_event(j, id, &(struct source){.t = t});
}

/* An event that has no type of the JDK. */
static void put_of_kind(struct jfr *j, const struct timed *t)
{
	put_event(j, JFR_NAMED_EVENTS + t->event->kind, &(struct source){.t = t});
}

static void put_heap(struct jfr *j, const struct timed *t)
{
	struct timed after = *t;

	if (t->event->row->value)
		put_event(j, JFR_HEAP_SUMMARY, &(struct source){.t = t});
	after.time_ns += t->duration_ns;
	if (t->event->row->weight)
		put_event(j, JFR_HEAP_SUMMARY, &(struct source){.t = &after, .after = true});
}

/* The duration of a collection that began or ends outside of the recording is not known: it is no event of the JDK. */
static void put_collection(struct jfr *j, const struct timed *t)
{
	const struct jvm_event_row *r = t->event->row;

	if (r->flags & BRAID_GC_PARTIAL) {
		put_of_kind(j, t);
		return;
	}
	if (r->kind == BRAID_JVM_GC_CYCLE || !is_part(j, r)) {
		put_named(j, JFR_GC, t);
		put_named(j, text_ends_with(t->name, " young") ? JFR_GC_YOUNG : JFR_GC_OLD, t);
	}
	if (r->kind == BRAID_JVM_GC_PAUSE)
		put_named(j, JFR_GC_PAUSE, t);
	put_heap(j, t);
}

/* The JDK's events are about single operations of Java threads; its wait says what only the agent knows. */
static void put_off_cpu(struct jfr *j, const struct timed *t)
{
	const struct place *p = t->event->summed ? NULL : place_of(j->an, t->stack);

	switch (place_why(p, t->event->row->flags)) {
	case BLOCKED_PARKED:
		put_named(j, JFR_PARK, t);
		break;
	case BLOCKED_SLEEPING:
		put_named(j, JFR_SLEEP, t);
		break;
	case BLOCKED_MONITOR:
		put_named(j, JFR_MONITOR_ENTER, t);
		break;
	default:
		put_named(j, JFR_OFFCPU, t);
		break;
	}
}

static void put_safepoint(struct jfr *j, const struct timed *t)
{
	put_named(j, JFR_SAFEPOINT_BEGIN, t);
	put_named(j, JFR_VM_OPERATION, t);
}

/* The machine's event precedes those of the JVMs. */
static const struct jvm_event_row *machine_load(const struct analysis *an, const struct jvm_event_row *of)
{
	for (const struct jvm_event_row *r = of; r >= an->a->events.at; r--) {
		if (r->kind != BRAID_JVM_CPU_LOAD || r->time_ns != of->time_ns)
			return NULL;
		if (!r->process)
			return r->number ? r : NULL;
	}
	return NULL;
}

/* The JDK's event has the machine's load and that of one JVM, and its time is the interval's end. */
static void put_load(struct jfr *j, const struct timed *t)
{
	const struct jvm_event_row *r = t->event->row, *machine = r->process ? machine_load(j->an, r) : NULL;
	struct timed end = *t;

	end.time_ns = add_saturating(t->time_ns, t->duration_ns);
	if (machine)
		put_event(j, JFR_CPU_LOAD,
			  &(struct source){
				  .t = &end, .pid = analysis_process(j->an, r->process)->pid, .machine = machine});
	else
		put_of_kind(j, t);
}

static const uint8_t plain[BRAID_JVM_EVENTS] = {
	[BRAID_JVM_ALLOC] = JFR_ALLOCATION,	  [BRAID_JVM_WAIT] = JFR_MONITOR_WAIT,
	[BRAID_JVM_GC_PHASE] = JFR_GC_CONCURRENT, [BRAID_JVM_THREAD_START] = JFR_THREAD_START,
	[BRAID_JVM_THREAD_END] = JFR_THREAD_END,  [BRAID_JVM_CLASS_LOAD] = JFR_CLASS_LOAD,
	[BRAID_JVM_COMPILE] = JFR_COMPILATION,	  [BRAID_JVM_DEOPT] = JFR_DEOPTIMIZATION,
};

static void put_jvm_event(struct jfr *j, const struct timed *t)
{
	uint32_t kind = t->event->kind;

	switch (kind) {
	case BRAID_JVM_LOCK:
		put_named(j, t->event->row->flags & BRAID_LOCK_PARKED ? JFR_PARK : JFR_MONITOR_ENTER, t);
		break;
	case BRAID_JVM_OFFCPU:
		put_off_cpu(j, t);
		break;
	case BRAID_JVM_GC_PAUSE:
	case BRAID_JVM_GC_CYCLE:
		put_collection(j, t);
		break;
	case BRAID_JVM_SAFEPOINT:
		put_safepoint(j, t);
		break;
	case BRAID_JVM_CPU_LOAD:
		put_load(j, t);
		break;
	case BRAID_JVM_EXCEPTION: /* by the custom of their names */
		put_named(j, text_ends_with(t->name, "Error") ? JFR_ERROR : JFR_EXCEPTION, t);
		break;
	default:
		if (plain[kind])
			put_named(j, (enum jfr_event_id)plain[kind], t);
		else
			put_of_kind(j, t);
		break;
	}
}

void jfr_put_timed(struct jfr *j, const struct timed *t)
{
	uint64_t end_ns = add_saturating(t->time_ns, t->duration_ns);

	if (t->event)
		put_jvm_event(j, t);
	else if (t->hit)
		put_named(j, JFR_HIT, t);
	else
		put_named(j, pools_stack_is_java(&j->pools, t->stack) ? JFR_EXECUTION_SAMPLE : JFR_NATIVE_SAMPLE, t);
	if (end_ns > j->end_ns)
		j->end_ns = end_ns;
}

void jfr_declare(struct jfr *j)
{
	static const struct {
		uint8_t first, last;
	} together[] = {{JFR_GC_YOUNG, JFR_GC_OLD},
			{JFR_EXCEPTION, JFR_ERROR},
			{JFR_EXECUTION_SAMPLE, JFR_NATIVE_SAMPLE},
			{JFR_THREAD_START, JFR_THREAD_END}};

	for (size_t i = 0; i < sizeof(together) / sizeof(together[0]); i++) {
		bool any = false;

		for (unsigned id = together[i].first; id <= together[i].last; id++)
			any = any || j->used[id];
		for (unsigned id = together[i].first; id <= together[i].last; id++)
			j->used[id] = any;
	}
}
