// SPDX-License-Identifier: Apache-2.0
/*
 * The event kind gc: stop-the-world pauses. These handlers run inside the pause. They use no JNI, only callback-safe
 * JVM TI functions, and neither allocate nor lock; not even thread-local storage, whose first use on a thread
 * allocates.
 *
 * JVM TI reports only that a pause begins and ends. The collector and the cause come from the VM's jstat counters,
 * the heap's size from structures that vmStructs describes. Serial and Parallel may run a young and then a full
 * collection in one pause; as in their own logs, these are published as two pauses.
 */
#include "handlers.h"
#include "core/config.h"
#include "vm/heap.h"
#include "vm/mem.h"
#include "vm/perfdata.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COLLECTORS 3
#define NAME_MAX_BYTES 64U
#define RUNS_MAX 8U	 /* of a collector in one pause; real ones have fewer */
#define NO_CAUSE "No GC" /* gcCause.cpp */

/* Counters in the VM's memory. */
struct collector {
	char name[NAME_MAX_BYTES]; /* empty: this VM has no collector of this number */
	const volatile uint64_t *runs;
	const volatile uint64_t *entry; /* of the last run, in ns since the VM's start */
	const volatile uint64_t *exit;
	uint64_t seen; /* runs before the pause; Shenandoah also counts between pauses */
};

struct text {
	const volatile char *at;
	uint32_t room;
};

struct run {
	const struct collector *collector;
	uint64_t count;
	uint64_t start_ns, end_ns;
};

/* gc_prepare() sets it up before `ready`. Handlers alone change the rest, and pauses never overlap. */
static struct {
	_Atomic bool ready;
	bool clock_is_ns;
	struct collector collector[COLLECTORS];
	struct text cause, last_cause;
	const char *uncounted; /* name for pauses of which no counter changes */
	bool stops;	       /* both collect in pauses only: 0 the young generation, 1 everything */

	uint64_t sequence; /* of the last published pause */
	uint64_t clock_offset_ns;
	bool counted; /* `seen` and start_cause belong to the current pause */
	/* The current pause. Some operations report its beginning and end twice (JDK 11's for metaspace). */
	uint32_t depth;
	uint64_t start_ns; /* 0: none, or its start was not received */
	uint64_t used_before;
	char start_cause[NAME_MAX_BYTES];
} gc = {.clock_offset_ns = UINT64_MAX};

/* ---- setting up ---- */

static void collector_take(const struct perf_counter *c, const char *field, struct collector *to)
{
	if (c->type == 'B' && !strcmp(field, "name"))
		mem_read_string(to->name, sizeof(to->name), c->data);
	else if (c->type == 'J' && !strcmp(field, "invocations"))
		to->runs = (const volatile uint64_t *)(uintptr_t)c->data;
	else if (c->type == 'J' && !strcmp(field, "lastEntryTime"))
		to->entry = (const volatile uint64_t *)(uintptr_t)c->data;
	else if (c->type == 'J' && !strcmp(field, "lastExitTime"))
		to->exit = (const volatile uint64_t *)(uintptr_t)c->data;
}

static bool counter_take(const struct perf_counter *c, void *arg)
{
	static const char prefix[] = "sun.gc.collector.";
	const char *rest = c->name + sizeof(prefix) - 1;
	uint64_t frequency = 0;

	(void)arg;
	if (c->type == 'B' && !strcmp(c->name, "sun.gc.cause"))
		gc.cause = (struct text){(const char *)(uintptr_t)c->data, c->bytes};
	else if (c->type == 'B' && !strcmp(c->name, "sun.gc.lastCause"))
		gc.last_cause = (struct text){(const char *)(uintptr_t)c->data, c->bytes};
	else if (c->type == 'J' && !strcmp(c->name, "sun.os.hrt.frequency"))
		gc.clock_is_ns = mem_read(&frequency, c->data, sizeof(frequency)) && frequency == 1000000000;
	else if (!strncmp(c->name, prefix, sizeof(prefix) - 1) && rest[0] >= '0' && rest[0] < '0' + COLLECTORS &&
		 rest[1] == '.')
		collector_take(c, rest + 2, &gc.collector[rest[0] - '0']);
	return true;
}

static bool runs_a(const char *prefix)
{
	for (size_t i = 0; i < COLLECTORS; i++)
		if (!strncmp(gc.collector[i].name, prefix, strlen(prefix)))
			return true;
	return false;
}

/* The names in 8 and 11, and in later JDKs. "Copy" alone is ambiguous: CMS may use it, too. */
static enum heap_kind kind_of_heap(void)
{
	if (runs_a("MSC") || runs_a("Serial "))
		return HEAP_SERIAL;
	if (runs_a("PSScavenge") || runs_a("Parallel "))
		return HEAP_PARALLEL;
	if (runs_a("G1 "))
		return HEAP_G1;
	if (runs_a("Z concurrent "))
		return HEAP_Z_OLD;
	if (runs_a("ZGC "))
		return HEAP_Z;
	return runs_a("Shenandoah ") ? HEAP_SHENANDOAH : HEAP_UNKNOWN;
}

void gc_open(void *libjvm)
{
	perfdata_open(libjvm);
	heap_open(libjvm);
}

void gc_prepare(void)
{
	enum heap_kind kind;
	jvmtiPhase phase;
	bool any = false;

	if (atomic_load(&gc.ready) || !config_enables(BRAID_EVENT_TYPE(GC) | BRAID_EVENT_TYPE(LIVE)))
		return;
	if (!perfdata_each(counter_take, NULL) && config_enables(BRAID_EVENT_TYPE(GC)) &&
	    (*agent.jvmti)->GetPhase(agent.jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_LIVE)
		publish_notice(BRAID_NOTICE_WARNING,
			       "GC pauses have no collector and no cause, and sizes only where probes report them: "
			       "the JVM has no performance counters (-XX:-UsePerfData)");
	for (size_t i = 0; i < COLLECTORS; i++) {
		struct collector *c = &gc.collector[i];

		if (!c->runs || !c->entry || !c->exit)
			c->name[0] = '\0';
		any = any || c->name[0];
	}
	if (!any)
		return;
	kind = kind_of_heap();
	/* 8 does not count G1's pauses between collections; CMS and Shenandoah do not count every pause. */
	gc.uncounted = runs_a("G1 ")	       ? "G1 stop-the-world phases"
		       : runs_a("CMS")	       ? "CMS"
		       : runs_a("Shenandoah ") ? "Shenandoah full"
					       : "";
	heap_choose(kind);
	gc.stops = (kind == HEAP_SERIAL || kind == HEAP_PARALLEL || kind == HEAP_G1) && gc.collector[0].name[0] &&
		   gc.collector[1].name[0];
	atomic_store(&gc.ready, true);
}

struct gc_runs gc_runs(void)
{
	if (!atomic_load_explicit(&gc.ready, memory_order_acquire) || !gc.stops)
		return (struct gc_runs){.known = false};
	return (struct gc_runs){.known = true, .young = *gc.collector[0].runs, .full = *gc.collector[1].runs};
}

static void gc_start(const struct braid_event_config *c)
{
	(void)c;
	gc_prepare();
}

void gc_reset(void)
{
	gc.counted = false;
	gc.depth = 0;
	gc.start_ns = 0;
	gc.start_cause[0] = '\0';
}

/* ---- inside a pause ---- */

static void text_copy(char to[NAME_MAX_BYTES], const struct text *t)
{
	uint32_t n = 0;

	for (; t->at && n < t->room && n < NAME_MAX_BYTES - 1 && t->at[n]; n++)
		to[n] = t->at[n];
	to[n] = '\0';
}

/*
 * A collection's cause is set before the pause, and is the current one at its start; or inside, and is the last one at
 * its end. The pauses of G1's concurrent cycle have none.
 */
static void cause_copy(char to[NAME_MAX_BYTES], const char *collector)
{
	bool cycle = strstr(collector, "concurrent cycle") || strstr(collector, "stop-the-world phases");

	memcpy(to, gc.start_cause, NAME_MAX_BYTES);
	if (!strcmp(to, NO_CAUSE) && !cycle)
		text_copy(to, &gc.last_cause);
	if (!strcmp(to, NO_CAUSE))
		to[0] = '\0';
}

static void gc_publish(uint16_t kind, struct braid_rec_gc *r, const char *collector, const char *cause)
{
	r->hdr.kind = kind;
	r->hdr.tid = (uint32_t)syscall(SYS_gettid);
	r->collector_len = (uint16_t)strlen(collector);
	r->cause_len = (uint16_t)strlen(cause);
	publish_event(
		(struct iovec[]){PART(r, sizeof(*r)), PART(collector, r->collector_len), PART(cause, r->cause_len)}, 3);
}

/* The collectors that have run in this pause, in order. */
static uint32_t runs_take(struct run runs[COLLECTORS], uint64_t now_ns)
{
	uint32_t count = 0;

	for (size_t i = 0; i < COLLECTORS; i++) {
		struct collector *c = &gc.collector[i];
		uint32_t at = count;
		struct run r;

		if (!c->name[0] || *c->runs == c->seen)
			continue;
		r = (struct run){
			.collector = c, .count = *c->runs - c->seen, .start_ns = *c->entry, .end_ns = *c->exit};
		if (r.count > RUNS_MAX)
			r.count = 1;
		/* Both clocks tick alike, and a run ends just before its pause does. */
		if (r.end_ns <= now_ns && now_ns - r.end_ns < gc.clock_offset_ns)
			gc.clock_offset_ns = now_ns - r.end_ns;
		for (; at && runs[at - 1].start_ns > r.start_ns; at--)
			runs[at] = runs[at - 1];
		runs[at] = r;
		count++;
	}
	return count;
}

static uint64_t clamp(uint64_t ns, uint64_t low, uint64_t high)
{
	return ns < low ? low : ns > high ? high : ns;
}

/* Publishes `runs`, which followed each other in one pause from start_ns to end_ns. */
static void runs_publish(const struct run *runs, uint32_t count, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t used_after = heap_used(), from = start_ns;
	char cause[NAME_MAX_BYTES];

	for (uint32_t i = 0; i < count; i++) {
		const struct run *r = &runs[i];
		uint64_t entry = clamp(r->start_ns + gc.clock_offset_ns, from, end_ns);
		uint64_t exit = clamp(r->end_ns + gc.clock_offset_ns, entry, end_ns);

		cause_copy(cause, r->collector->name);
		for (uint64_t k = 0; k < r->count; k++) {
			bool first = !i && !k, last = i == count - 1 && k == r->count - 1;
			/* The counters keep the times of the last run only: earlier ones end where it begins. */
			uint64_t ends = last ? end_ns : k == r->count - 1 || !gc.clock_is_ns ? exit : entry;
			struct braid_rec_gc record = {
				.hdr = {.time_ns = ends},
				.sequence = ++gc.sequence,
				.start_ns = first || !start_ns	? start_ns
					    : k == r->count - 1 ? entry
								: from,
				.used_before = first ? gc.used_before : 0,
				.used_after = last ? used_after : 0,
			};

			gc_publish(BRAID_REC_GC_FINISH, &record, r->collector->name, cause);
			from = ends;
		}
	}
}

static void JNICALL gc_on_start(jvmtiEnv *env)
{
	struct braid_rec_gc r = {.sequence = gc.sequence + 1};

	if (!agent_enter_event(env))
		return;
	if (gc.depth++) {
		agent_leave();
		return;
	}
	gc.start_ns = r.start_ns = r.hdr.time_ns = clock_ns();
	gc.used_before = r.used_before = heap_used();
	if (atomic_load_explicit(&gc.ready, memory_order_acquire)) {
		text_copy(gc.start_cause, &gc.cause);
		for (size_t i = 0; i < COLLECTORS; i++)
			if (gc.collector[i].name[0])
				gc.collector[i].seen = *gc.collector[i].runs;
		gc.counted = true;
	}
	gc_publish(BRAID_REC_GC_START, &r, "", "");
	agent_leave();
}

static void JNICALL gc_on_finish(jvmtiEnv *env)
{
	struct collector uncounted = {.name = ""};
	struct run runs[COLLECTORS];
	uint64_t now_ns;
	uint32_t count = 0;

	if (!agent_enter_event(env))
		return;
	if (gc.depth && --gc.depth) {
		agent_leave();
		return;
	}
	now_ns = clock_ns();
	if (gc.counted)
		count = runs_take(runs, now_ns);
	if (!count) {
		if (gc.uncounted)
			strncpy(uncounted.name, gc.uncounted, sizeof(uncounted.name) - 1);
		runs[0] = (struct run){.collector = &uncounted, .count = 1};
		count = 1;
	}
	runs_publish(runs, count, gc.start_ns, now_ns);
	gc.start_ns = 0;
	gc.counted = false;
	agent_leave();
}

const struct kind gc_kind = {
	.events = {{JVMTI_EVENT_GARBAGE_COLLECTION_START, KIND_HANDLER(gc_on_start), CAP_GARBAGE_COLLECTION,
		    BRAID_EVENT_TYPE(GC)},
		   {JVMTI_EVENT_GARBAGE_COLLECTION_FINISH, KIND_HANDLER(gc_on_finish), CAP_GARBAGE_COLLECTION,
		    BRAID_EVENT_TYPE(GC)}},
	.caps = {{CAP_GARBAGE_COLLECTION, false, BRAID_EVENT_TYPE(GC), "GC pauses", 0}},
	.types = BRAID_EVENT_TYPE(GC) | BRAID_EVENT_TYPE(LIVE),
	.start = gc_start,
};
