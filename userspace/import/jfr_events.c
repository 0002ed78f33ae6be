// SPDX-License-Identifier: Apache-2.0
/* What the events of a Flight Recorder file become in a trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <braid/event.h>
#include <braid/jvm_event.h>
#include <jfr/types.h>
#include <util/quantity.h>

#include "jfr_file.h"

typedef void (*take_fn)(struct jfr_file *f, const struct jfr_event *e);

struct jfr_import {
	const char *type;
	take_fn before; /* in the first pass */
	take_fn take;
};

static const struct {
	const char *member;
	enum jfr_role role;
} roles[] = {
	{"startTime", ROLE_START},
	{"duration", ROLE_DURATION},
	{"eventThread", ROLE_THREAD},
	{"sampledThread", ROLE_THREAD},
	{"stackTrace", ROLE_STACK},
	{"state", ROLE_STATE},
	{"objectClass", ROLE_CLASS},
	{"monitorClass", ROLE_CLASS},
	{"parkedClass", ROLE_CLASS},
	{"thrownClass", ROLE_CLASS},
	{"previousOwner", ROLE_OTHER},
	{"notifier", ROLE_OTHER},
	{"other", ROLE_OTHER},
	{"address", ROLE_NUMBER},
	{"identityHash", ROLE_NUMBER},
	{"gcId", ROLE_NUMBER},
	{"weight", ROLE_WEIGHT},
	{"tlabSize", ROLE_WEIGHT},
	{"allocationSize", ROLE_SIZE},
	{"samples", ROLE_COUNT},
	{"count", ROLE_COUNT},
	{"name", ROLE_NAME},
	{"jvmName", ROLE_NAME},
	{"cause", ROLE_DETAIL},
	{"jvmVersion", ROLE_DETAIL},
	{"when", ROLE_DETAIL},
	{"caughtIn", ROLE_DETAIL},
	{"heapUsed", ROLE_VALUE},
	{"timeout", ROLE_VALUE},
	{"pid", ROLE_PID},
	{"timedOut", ROLE_TIMED_OUT},
	{"javaArguments", ROLE_TEXT},
	{"event", ROLE_NAME},
	{"size", ROLE_SIZE},
	{"id", ROLE_TYPE},
	{"value", ROLE_SETTING},
};

/* ---- times ---- */

/* A number of ticks of a chunk, and a time on the trace's clock. */
static uint64_t ticks_ns(const struct jfr_chunk *c, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * 1000000000U / c->ticks_per_second;

	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

static uint64_t time_ns(const struct jfr_chunk *c, uint64_t ticks)
{
	uint64_t ns;

	if (ticks >= c->start_ticks)
		return add_saturating(c->start_ns, ticks_ns(c, ticks - c->start_ticks));
	ns = ticks_ns(c, c->start_ticks - ticks);
	return ns < c->start_ns ? c->start_ns - ns : 1;
}

/* ---- parts of events ---- */

static uint64_t number_of(const struct jfr_event *e, enum jfr_role role, uint64_t otherwise)
{
	return e->values[role].set ? e->values[role].number : otherwise;
}

static struct trace_str text_of(struct jfr_file *f, const struct jfr_event *e, enum jfr_role role)
{
	return jfr_text(f->chunk, &e->values[role], f->text[0]);
}

static uint32_t class_name(struct jfr_file *f, const struct jfr_event *e)
{
	return builder_name(&f->r->b, jfr_class(f, &e->values[ROLE_CLASS]));
}

static struct trace_jvm_event event_new(struct jfr_file *f, const struct jfr_event *e, uint32_t kind)
{
	struct trace_jvm_event to = {.kind = kind,
				     .time_ns = e->start_ns,
				     .duration_ns = e->duration_ns,
				     .process = f->process,
				     .source = BRAID_SOURCE_COLLECTOR};

	jfr_thread(f, &e->values[ROLE_THREAD], &to.thread, &to.vthread);
	jfr_thread(f, &e->values[ROLE_OTHER], &to.other, &to.other_vthread);
	to.node = jfr_stack(f, &e->values[ROLE_STACK]);
	return to;
}

/* ---- samples ---- */

static void put_sample(struct jfr_file *f, const struct jfr_event *e, const char *name)
{
	struct trace_sample s = {.time_ns = e->start_ns, .cpu = TRACE_NO_CPU, .weight = number_of(e, ROLE_COUNT, 1)};

	if (!s.weight)
		return;
	jfr_thread(f, &e->values[ROLE_THREAD], &s.thread, &s.vthread);
	s.node = jfr_stack(f, &e->values[ROLE_STACK]);
	s.event = name ? builder_name(&f->r->b, str_of(name)) : 0;
	builder_sample(&f->r->b, &s);
}

/* async-profiler writes samples of all threads as these, with the states that they are in. */
static void take_sample(struct jfr_file *f, const struct jfr_event *e)
{
	bool asleep = str_equals(text_of(f, e, ROLE_STATE), "STATE_SLEEPING");

	put_sample(f, e, asleep ? "jdk.ExecutionSample STATE_SLEEPING" : NULL);
}

/*
 * The JDK takes these of threads in native methods, whether they run or wait, so they do not count as time of a CPU.
 * Braid writes samples without a Java frame as these.
 */
static void take_native_sample(struct jfr_file *f, const struct jfr_event *e)
{
	put_sample(f, e, f->braids ? NULL : "jdk.NativeMethodSample");
}

static void take_cpu_time_sample(struct jfr_file *f, const struct jfr_event *e)
{
	put_sample(f, e, "jdk.CPUTimeSample");
}

static void take_wall_sample(struct jfr_file *f, const struct jfr_event *e)
{
	put_sample(f, e, "profiler.WallClockSample");
}

/* ---- allocations ---- */

static void take_allocation(struct jfr_file *f, const struct jfr_event *e)
{
	struct trace_jvm_event to = event_new(f, e, BRAID_JVM_ALLOC);

	to.duration_ns = 0;
	to.name = class_name(f, e);
	to.value = number_of(e, ROLE_SIZE, 0);
	to.weight = number_of(e, ROLE_WEIGHT, to.value);
	builder_event(&f->r->b, &to);
}

static void before_buffer(struct jfr_file *f, const struct jfr_event *e)
{
	(void)e;
	f->has_buffers = true;
}

/*
 * JDK 16 and later can record samples beside the buffers that threads take; each of the two represents all allocations.
 * Buffers are all recorded. Of samples, the JDK limits the rate, and a sample has what its thread has allocated since
 * the last one, so what was allocated behind a thread's last sample is missing.
 */
static void take_allocation_sample(struct jfr_file *f, const struct jfr_event *e)
{
	if (!f->has_buffers)
		take_allocation(f, e);
}

/* async-profiler's, which does not estimate how many bytes a sampled allocation represents. Frees are left out. */
static void take_malloc(struct jfr_file *f, const struct jfr_event *e)
{
	struct trace_jvm_event to = event_new(f, e, BRAID_JVM_MALLOC);

	to.duration_ns = 0;
	to.value = to.weight = number_of(e, ROLE_SIZE, 0);
	builder_event(&f->r->b, &to);
}

/* ---- waits ---- */

static void take_wait_for(struct jfr_file *f, const struct jfr_event *e, uint32_t kind, uint32_t flags)
{
	struct trace_jvm_event to = event_new(f, e, kind);

	to.name = kind == BRAID_JVM_OFFCPU ? 0 : class_name(f, e);
	to.number = kind == BRAID_JVM_OFFCPU ? 0 : number_of(e, ROLE_NUMBER, 0);
	to.flags = flags;
	if (kind == BRAID_JVM_WAIT)
		to.value = number_of(e, ROLE_VALUE, 0);
	builder_event(&f->r->b, &to);
}

/* Braid writes as these what no LOCK covers, too, and then without a class, which the JDK's always have. */
static void take_enter(struct jfr_file *f, const struct jfr_event *e)
{
	bool lock = jfr_class(f, &e->values[ROLE_CLASS]).len > 0;

	take_wait_for(f, e, lock ? BRAID_JVM_LOCK : BRAID_JVM_OFFCPU, lock ? 0 : BRAID_OFFCPU_SYSCALL);
}

static void take_wait(struct jfr_file *f, const struct jfr_event *e)
{
	take_wait_for(f, e, BRAID_JVM_WAIT, number_of(e, ROLE_TIMED_OUT, 0) ? BRAID_WAIT_TIMED_OUT : 0);
}

/* The JDK reports all parks: only those for locks are contention. */
static void take_park(struct jfr_file *f, const struct jfr_event *e)
{
	struct trace_str class = jfr_class(f, &e->values[ROLE_CLASS]);
	bool lock = f->braids ? class.len > 0 : jvm_class_is_lock(class.str);

	take_wait_for(f, e, lock ? BRAID_JVM_LOCK : BRAID_JVM_OFFCPU, lock ? BRAID_LOCK_PARKED : BRAID_OFFCPU_SYSCALL);
}

static void take_sleep(struct jfr_file *f, const struct jfr_event *e)
{
	take_wait_for(f, e, BRAID_JVM_OFFCPU, BRAID_OFFCPU_SYSCALL);
}

static void take_exception(struct jfr_file *f, const struct jfr_event *e)
{
	struct trace_jvm_event to = event_new(f, e, BRAID_JVM_EXCEPTION);

	to.duration_ns = 0;
	to.name = class_name(f, e);
	to.detail = builder_name(&f->r->b, text_of(f, e, ROLE_DETAIL));
	to.value = number_of(e, ROLE_COUNT, 1);
	builder_event(&f->r->b, &to);
}

/* The JDK counts an error as an exception, too. */
static void take_error(struct jfr_file *f, const struct jfr_event *e)
{
	if (f->braids)
		take_exception(f, e);
}

/* ---- collections ---- */

static struct jfr_gc *gc_of(struct jfr_file *f, const struct jfr_event *e)
{
	uint64_t id = number_of(e, ROLE_NUMBER, 0);
	uint32_t *at = u64map_put(&f->gc_of, id);

	if (at && !*at && !VEC_PUSH(&f->gcs, (struct jfr_gc){.id = id}))
		*at = (uint32_t)f->gcs.count;
	if (at && *at)
		return &f->gcs.at[*at - 1];
	builder_fail(&f->r->b, -ENOMEM);
	return NULL;
}

static void before_gc(struct jfr_file *f, const struct jfr_event *e)
{
	struct jfr_gc *gc = gc_of(f, e);

	if (!gc)
		return;
	gc->name = builder_name(&f->r->b, text_of(f, e, ROLE_NAME));
	gc->cause = builder_name(&f->r->b, text_of(f, e, ROLE_DETAIL));
}

static void before_pause(struct jfr_file *f, const struct jfr_event *e)
{
	struct jfr_gc *gc = gc_of(f, e);

	if (gc)
		gc->pauses++;
}

static void before_heap(struct jfr_file *f, const struct jfr_event *e)
{
	struct jfr_gc *gc = gc_of(f, e);

	if (gc)
		*(str_equals(text_of(f, e, ROLE_DETAIL), "Before GC") ? &gc->before : &gc->after) =
			number_of(e, ROLE_VALUE, 0);
}

static void put_collection(struct jfr_file *f, const struct jfr_event *e, uint32_t kind, const struct jfr_gc *gc,
			   struct trace_str what)
{
	struct trace_jvm_event to = event_new(f, e, kind);
	char text[READER_TEXT];

	to.thread = to.vthread = to.node = 0;
	to.name = gc->name;
	to.detail = gc->cause;
	to.number = gc->id;
	to.text = (struct trace_str){
		text, (uint32_t)text_clean(text, what.str, what.len < sizeof(text) ? what.len : sizeof(text))};
	/* The heap is known before and after a collection, not for each of its pauses. */
	if (gc->pauses <= 1 || kind == BRAID_JVM_GC_CYCLE) {
		to.value = gc->before;
		to.weight = gc->after;
	}
	builder_event(&f->r->b, &to);
}

/* A collection with one pause is that pause. */
static void take_gc(struct jfr_file *f, const struct jfr_event *e)
{
	const struct jfr_gc *gc = gc_of(f, e);

	if (gc && gc->pauses != 1)
		put_collection(f, e, BRAID_JVM_GC_CYCLE, gc, (struct trace_str){0});
}

static void take_pause(struct jfr_file *f, const struct jfr_event *e)
{
	const struct jfr_gc *gc = gc_of(f, e);

	if (gc)
		put_collection(f, e, BRAID_JVM_GC_PAUSE, gc, text_of(f, e, ROLE_NAME));
}

static void take_concurrent(struct jfr_file *f, const struct jfr_event *e)
{
	struct trace_jvm_event to = event_new(f, e, BRAID_JVM_GC_PHASE);

	to.thread = to.vthread = to.node = 0;
	to.name = builder_name(&f->r->b, text_of(f, e, ROLE_NAME));
	to.number = number_of(e, ROLE_NUMBER, 0);
	builder_event(&f->r->b, &to);
}

/* ---- the JVM ---- */

/* "17.0.15+6" of "OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (17.0.15+6), built on ..." */
static struct trace_str version_of(struct trace_str text)
{
	const char *open = memchr(text.str, '(', text.len), *close;

	if (!open)
		return text;
	text = str_part(text, (size_t)(open - text.str) + 1, text.len);
	close = memchr(text.str, ')', text.len);
	return str_part(text, 0, close ? (size_t)(close - text.str) : text.len);
}

/* A text that the next one does not overwrite. */
static uint32_t kept(struct jfr_file *f, const struct jfr_event *e, enum jfr_role role)
{
	struct trace_str text = text_of(f, e, role);

	if (role == ROLE_DETAIL && text.len)
		text = version_of(text);
	return strpool_add(&f->names, text.str, text.str ? text.len : 0);
}

static struct trace_str name_of(const struct jfr_file *f, uint32_t id)
{
	return str_of(id == STRPOOL_FAILED ? "" : strpool_get(&f->names, id));
}

/* Chunks of several JVMs can be in one file. */
static void before_jvm(struct jfr_file *f, const struct jfr_event *e)
{
	uint64_t pid = number_of(e, ROLE_PID, 0);
	uint32_t name = kept(f, e, ROLE_NAME), version = kept(f, e, ROLE_DETAIL), command = kept(f, e, ROLE_TEXT);

	if (f->process)
		return;
	f->process = builder_process(&f->r->b, pid <= INT32_MAX ? (uint32_t)pid : 0, str_of("java"));
	f->r->b.process = f->process;
	builder_put(&f->r->b, &(const struct trace_rec){.kind = TRACE_JVM,
							.jvm = {.process = f->process,
								.vm_name = name_of(f, name),
								.vm_version = name_of(f, version),
								.java_version = name_of(f, version),
								.command = name_of(f, command)}});
	if (!*f->r->made_by)
		snprintf(f->r->made_by, sizeof(f->r->made_by), "%.150s %.100s", name_of(f, name).str,
			 name_of(f, version).str);
}

/* ---- settings ---- */

/* Types with thresholds, and the words of braid's types that they become. */
static const struct {
	const char *type, *as[2];
} limits[JFR_LIMITS] = {
	{"jdk.JavaMonitorEnter", {"lock"}},
	{"jdk.ThreadPark", {"lock", "offcpu"}},
	{"jdk.JavaMonitorWait", {"wait"}},
	{"jdk.ThreadSleep", {"offcpu"}},
};

/* "20 ms" */
static uint64_t threshold_of(struct trace_str text)
{
	char packed[32];
	size_t length = 0;
	uint64_t ns;

	for (uint32_t i = 0; i < text.len && length < sizeof(packed) - 1; i++)
		if (text.str[i] != ' ')
			packed[length++] = text.str[i];
	packed[length] = '\0';
	return duration_parse_unit(packed, &ns) ? 0 : ns;
}

/* It may change while a file is recorded: the longest threshold counts. */
static void before_setting(struct jfr_file *f, const struct jfr_event *e)
{
	uint32_t type = u64map_get(&f->chunk->type_of, number_of(e, ROLE_TYPE, 0)) - 1;
	const char *name = type < f->chunk->types.count ? jfr_name(f->chunk, f->chunk->types.at[type].name) : "";
	struct trace_str setting = text_of(f, e, ROLE_NAME);
	bool enabled = str_equals(setting, "enabled"), threshold = str_equals(setting, "threshold");

	for (size_t i = 0; i < JFR_LIMITS && (enabled || threshold); i++) {
		struct trace_str value;

		if (strcmp(limits[i].type, name) != 0)
			continue;
		value = text_of(f, e, ROLE_SETTING);
		f->limits[i].enabled |= enabled && str_equals(value, "true");
		if (threshold && threshold_of(value) > f->limits[i].min_ns)
			f->limits[i].min_ns = threshold_of(value);
	}
}

void jfr_events_end(struct jfr_file *f)
{
	static const char *const words[] = {"lock", "wait", "offcpu"};
	char text[128] = "";
	size_t used = 0;

	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		bool enabled = false;
		uint64_t min_ns = 0;

		for (size_t i = 0; i < JFR_LIMITS * 2; i++) {
			const char *as = limits[i / 2].as[i % 2];
			const struct jfr_limit *l = &f->limits[i / 2];

			if (!as || strcmp(as, words[w]) != 0 || !l->enabled)
				continue;
			enabled = true;
			min_ns = l->min_ns > min_ns ? l->min_ns : min_ns;
		}
		if (enabled)
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "%s%s=%" PRIu64 "%s", used ? "," : "", words[w],
				min_ns % 1000000 ? min_ns : min_ns / 1000000, min_ns % 1000000 ? "ns" : "ms");
	}
	if (used)
		builder_info(&f->r->b, "record.choices", str_of(text));
}

/* ---- all events ---- */

static const struct jfr_import imports[] = {
	{"jdk.ExecutionSample", NULL, take_sample},
	{"jdk.NativeMethodSample", NULL, take_native_sample},
	{"jdk.CPUTimeSample", NULL, take_cpu_time_sample},
	{"profiler.WallClockSample", NULL, take_wall_sample},
	{"jdk.ObjectAllocationSample", NULL, take_allocation_sample},
	{"jdk.ObjectAllocationInNewTLAB", before_buffer, take_allocation},
	{"jdk.ObjectAllocationOutsideTLAB", before_buffer, take_allocation},
	{"profiler.Malloc", NULL, take_malloc},
	{"jdk.JavaMonitorEnter", NULL, take_enter},
	{"jdk.JavaMonitorWait", NULL, take_wait},
	{"jdk.ThreadPark", NULL, take_park},
	{"jdk.ThreadSleep", NULL, take_sleep},
	{"jdk.JavaExceptionThrow", NULL, take_exception},
	{"jdk.JavaErrorThrow", NULL, take_error},
	{"jdk.GarbageCollection", before_gc, take_gc},
	{"jdk.GCPhasePause", before_pause, take_pause},
	{"jdk.GCPhaseConcurrent", NULL, take_concurrent},
	{"jdk.GCHeapSummary", before_heap, NULL},
	{"jdk.JVMInformation", before_jvm, NULL},
	{"jdk.ActiveSetting", before_setting, NULL},
};

static const struct jfr_import *import_of(const char *type)
{
	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		if (strcmp(imports[i].type, type) == 0)
			return &imports[i];
	return NULL;
}

void jfr_events_begin(struct jfr_file *f)
{
	struct jfr_chunk *c = f->chunk;

	f->kinds.count = 0;
	f->braids = f->has_buffers = false;
	for (size_t i = 0; i < c->members.count; i++) {
		const char *name = jfr_name(c, c->members.at[i].name);

		for (size_t k = 0; k < sizeof(roles) / sizeof(roles[0]); k++)
			if (strcmp(roles[k].member, name) == 0)
				c->members.at[i].role = (uint8_t)roles[k].role;
	}
	for (size_t i = 0; i < c->types.count; i++) {
		const struct jfr_declared *t = &c->types.at[i];
		const char *name = jfr_name(c, t->name);

		if (VEC_PUSH(&f->kinds, ((struct jfr_kind){.how = import_of(name)})))
			builder_fail(&f->r->b, -ENOMEM);
		for (size_t k = 0; k < t->count && strcmp(name, "jdk.ExecutionSample") == 0; k++)
			f->braids = f->braids || c->members.at[t->first + k].role == ROLE_COUNT;
	}
}

bool jfr_event_take(struct jfr_file *f, uint32_t type, struct jfr_at *p, bool first_pass)
{
	const struct jfr_declared *t = &f->chunk->types.at[type];
	struct jfr_kind *kind = &f->kinds.at[type];
	struct jfr_event e = {0};
	take_fn take;

	if (!kind->how) {
		kind->left_out += first_pass;
		return true;
	}
	take = first_pass ? kind->how->before : kind->how->take;
	if (!take)
		return true;
	for (size_t i = 0; i < t->count && !p->bad; i++) {
		const struct jfr_member *m = &f->chunk->members.at[t->first + i];

		if (m->role)
			e.values[m->role] = jfr_take(f->chunk, p, m);
		else
			jfr_skip_member(f->chunk, p, m, 0);
	}
	if (p->bad)
		return first_pass && kind->how->take; /* it is counted once */
	e.start_ns = time_ns(f->chunk, number_of(&e, ROLE_START, f->chunk->start_ticks));
	e.duration_ns = ticks_ns(f->chunk, number_of(&e, ROLE_DURATION, 0));
	take(f, &e);
	return true;
}
