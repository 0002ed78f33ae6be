// SPDX-License-Identifier: Apache-2.0
/* Rules about the heap: collections, what makes them necessary, and what they do not free. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/attributes.h>
#include <util/compare.h>

#include "check.h"

#define LONG_PAUSE_NS 200000000ULL /* G1's own goal, MaxGCPauseMillis */

/* ---- pauses ---- */

static bool is_explicit(const struct gc_pause *p)
{
	return strcmp(p->cause, "System.gc()") == 0;
}

static bool is_long(const struct gc_pause *p)
{
	return !is_explicit(p) && p->duration_ns >= LONG_PAUSE_NS;
}

static bool is_by_need(const struct gc_pause *p)
{
	return !is_explicit(p);
}

static bool is_held(const struct gc_pause *p)
{
	return strcmp(p->cause, GC_CAUSE_LOCKER) == 0;
}

/* The pauses of one kind in the JVM that stood still for them longest. */
struct pauses {
	uint32_t process; /* id; 0: there are none */
	uint64_t count, ns;
	const struct gc_pause *longest;
};

static struct pauses pauses_of(const struct check *c, uint32_t process, bool (*is)(const struct gc_pause *p))
{
	const struct gc_view *g = &c->v->gc;
	struct pauses all = {.process = process};

	for (size_t i = 0; i < g->longest.count; i++) {
		const struct gc_pause *p = &g->longest.at[i];

		if (p->process != process || !is(p))
			continue;
		all.count++;
		all.ns = add_saturating(all.ns, p->duration_ns);
		all.longest = all.longest ?: p;
	}
	return all;
}

static struct pauses worst_pauses(const struct check *c, bool (*is)(const struct gc_pause *p))
{
	struct pauses worst = {0};

	for (size_t i = 0; i < c->v->jvms.count; i++) {
		struct pauses one = pauses_of(c, c->v->jvms.at[i].process, is);

		if (one.ns > worst.ns || (one.count && !worst.count))
			worst = one;
	}
	return worst;
}

static uint32_t pid_of(const struct check *c, uint32_t process)
{
	return analysis_process(c->v->an, process)->pid;
}

/* The value of a JVM's flag; "" if it is not known. */
static const char *flag_of(const struct check *c, uint32_t process, const char *flag)
{
	const struct analyzer *a = c->v->an->a;
	uint32_t place = analysis_process(c->v->an, process)->settings;

	for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row))
		if (strcmp(strpool_get(&a->strings, row->key), flag) == 0)
			return strpool_get(&a->strings, row->value);
	return "";
}

static void show_pauses(struct check *c, const struct pauses *p)
{
	const struct gc_pause *l = p->longest;
	char total[QUANTITY_TEXT], longest[QUANTITY_TEXT];

	evidence(c, "pid %u: %" PRIu64 " such pause%s, %s in all; the longest, %s at %.3f s, was %s%s%s, %s",
		 pid_of(c, p->process), p->count, plural(p->count), duration_text(total, p->ns),
		 duration_text(longest, l->duration_ns), (double)analysis_since(c->v->an, l->start_ns) / 1e9,
		 l->collector, *l->what ? ", " : "", l->what, *l->cause ? l->cause : "for an unknown reason");
}

static void show_allocation(struct check *c)
{
	const struct kind_view *k = kind_at(c, BRAID_JVM_ALLOC);
	char rate[QUANTITY_TEXT];

	if (!has_alloc(c)) {
		evidence(c, "who allocates is not recorded: record with -e alloc");
		return;
	}
	evidence(c, "%s are allocated each second", size_text(rate, (uint64_t)per_second(c->facts, k->weight)));
	evidence_sums(c, BRAID_JVM_ALLOC, BY_SITE, "of it by");
	evidence_sums(c, BRAID_JVM_ALLOC, BY_NAME, "of it is");
}

static void show_heap(struct check *c, uint32_t process)
{
	uint64_t max = strtoull(flag_of(c, process, "MaxHeapSize"), NULL, 10);
	char text[QUANTITY_TEXT];

	if (max)
		evidence(c, "the heap may have %s (MaxHeapSize)", size_text(text, max));
}

int rule_gc_explicit(struct check *c)
{
	struct pauses p = worst_pauses(c, is_explicit);
	const struct fact_place *caller = facts_place(c->facts, WAIT_GC_CALL);
	char at[PLACE_TEXT];

	if (p.count < 2 || !found(c, percent(p.ns, c->facts->ns)))
		return 0;
	say(c, "The program calls System.gc(): %.0f %% of the time, all Java threads stand still for it",
	    percent(p.ns, c->facts->ns));
	show_pauses(c, &p);
	if (caller && caller->site != ROW_NONE)
		evidence(c, "called%s", place_text(at, c->v->an, caller->site));
	else if (!has_offcpu(c))
		evidence(c, "who calls it is not recorded: record with -e offcpu");
	return 0;
}

int rule_gc_locker(struct check *c)
{
	struct pauses held = worst_pauses(c, is_held);
	const struct event_views *e = c->v->events;
	size_t all = 0;

	for (size_t i = 0; i < c->v->gc.longest.count; i++)
		all += c->v->gc.longest.at[i].process == held.process;
	/* now and then, it costs nobody much */
	if (held.count < 3 || per_second(c->facts, held.count) < 1 || !found(c, percent(held.count, all)))
		return 0;
	say(c, "Native code holds up collections: %.0f %% of them had to wait for the end of a critical section of JNI",
	    percent(held.count, all));
	show_pauses(c, &held);
	for (size_t i = 0; i < e->held.count && i < 1; i++) {
		const struct held_view *h = &e->held.at[i];
		char at[PLACE_TEXT], took[QUANTITY_TEXT];

		if (h->section_ns)
			evidence(c, "the longest section took %s%s, by %s", duration_text(took, h->section_ns),
				 place_text(at, c->v->an, events_site(c->v->an, h->stack)),
				 analysis_thread_name(c->v->an, h->thread));
	}
	return 0;
}

int rule_gc_long(struct check *c)
{
	struct pauses p = worst_pauses(c, is_long), all = pauses_of(c, p.process, is_by_need);

	/* otherwise it is their number that hurts, see below */
	if (!p.count || p.ns < all.ns / 2 || !found(c, percent(p.ns, c->facts->ns)))
		return 0;
	say(c, "Collections stop the program for long: %.0f %% of the time is in pauses of 200 ms or more",
	    percent(p.ns, c->facts->ns));
	show_pauses(c, &p);
	show_heap(c, p.process);
	return 0;
}

int rule_gc_pressure(struct check *c)
{
	struct pauses p = worst_pauses(c, is_by_need), longs = pauses_of(c, p.process, is_long);

	if (!p.count || longs.ns >= p.ns / 2 || !found(c, percent(p.ns, c->facts->ns)))
		return 0;
	say(c, "The collector has too much to do: %.0f %% of the time is in %.0f pauses a second",
	    percent(p.ns, c->facts->ns), per_second(c->facts, p.count));
	show_pauses(c, &p);
	show_heap(c, p.process);
	show_allocation(c);
	return 0;
}

/* ---- what stays ---- */

/* Collections of the whole heap, or of a part of the old objects: what they leave is mostly in use. */
static bool is_old(const struct gc_pause *p)
{
	return p->used_after && (strstr(p->what, "Full") || strstr(p->what, "Mixed") || strstr(p->collector, "full") ||
				 strstr(p->collector, "old"));
}

struct after {
	uint64_t at_ns, bytes;
};

struct growth {
	uint32_t process;
	uint64_t heap, least[PARTS], from_ns, to_ns; /* the least that was left in each part */
	size_t count;
};

static int compare_after(const void *x, const void *y)
{
	const struct after *p = x, *q = y;

	return compare_u64(p->at_ns, q->at_ns);
}

/* How the rest after collections grew: the same number of collections in each part. */
static int growth_of(const struct check *c, uint32_t process, struct growth *g)
{
	const struct gc_view *gc = &c->v->gc;
	VEC(struct after) all = {0};
	int err = 0;

	*g = (struct growth){.process = process, .heap = strtoull(flag_of(c, process, "MaxHeapSize"), NULL, 10)};
	for (size_t i = 0; i < gc->longest.count && !err; i++) {
		const struct gc_pause *p = &gc->longest.at[i];

		if (p->process == process && is_old(p))
			err = VEC_PUSH(&all, (struct after){p->start_ns, p->used_after});
		if (p->process == process && p->used_before > g->heap)
			g->heap = p->used_before;
	}
	VEC_SORT(&all, compare_after);
	g->count = all.count;
	for (size_t i = 0; i < all.count && !err; i++) {
		uint64_t *least = &g->least[i * PARTS / all.count];

		*least = *least && *least < all.at[i].bytes ? *least : all.at[i].bytes;
	}
	if (all.count) {
		g->from_ns = all.at[0].at_ns;
		g->to_ns = all.at[all.count - 1].at_ns;
	}
	free(all.at);
	return err;
}

/* In % of the heap; 0 unless it grew from each part to the next. */
static double growth_measure(const struct growth *g)
{
	if (g->count < PARTS)
		return 0;
	for (int i = 1; i < PARTS; i++)
		if (g->least[i] <= g->least[i - 1])
			return 0;
	return percent(g->least[PARTS - 1] - g->least[0], g->heap);
}

/* Which sites grow all the time, or else, of which much is there. */
static void show_sites(struct check *c)
{
	const struct event_views *e = c->v->events;
	char size[QUANTITY_TEXT], hour[QUANTITY_TEXT], at[PLACE_TEXT];

	for (size_t i = 0; i < e->suspects.count && i < 3; i++) {
		const struct site_view *s = e->suspects.at[i];

		evidence(c, "%s of %s are still there that were allocated%s, and each hour it is %s more",
			 size_text(size, s->live_bytes), s->class,
			 place_text(at, c->v->an, events_site(c->v->an, s->stack)),
			 size_text(hour, (uint64_t)s->grown_per_hour));
	}
	for (size_t i = 0; i < e->sites.count && i < 3 && !e->suspects.count; i++)
		if (percent(e->sites.at[i].live_bytes, e->live_bytes) >= 10)
			evidence(c, "%s of %s are still there that were allocated%s",
				 size_text(size, e->sites.at[i].live_bytes), e->sites.at[i].class,
				 place_text(at, c->v->an, events_site(c->v->an, e->sites.at[i].stack)));
}

static void show_growth(struct check *c, const struct growth *g)
{
	char first[QUANTITY_TEXT], last[QUANTITY_TEXT], heap[QUANTITY_TEXT];

	evidence(c, "pid %u: %zu collections left %s at %.1f s and %s at %.1f s, of a heap of %s",
		 pid_of(c, g->process), g->count, size_text(first, g->least[0]),
		 (double)analysis_since(c->v->an, g->from_ns) / 1e9, size_text(last, g->least[PARTS - 1]),
		 (double)analysis_since(c->v->an, g->to_ns) / 1e9, size_text(heap, g->heap));
	for (size_t i = 0; i < c->v->heap.jvms.count; i++) {
		const struct heap_view *h = &c->v->heap.jvms.at[i];

		for (size_t k = 0; h->process == g->process && k < h->grown.count && k < 3; k++)
			evidence(c, "%s of %s are more than at the first histogram",
				 size_text(first, h->grown.at[k].bytes - h->grown.at[k].first_bytes),
				 h->grown.at[k].class);
	}
	show_sites(c);
	if (!events_recorded(c->v->an, BRAID_EVENT_TYPE_LIVE) && !c->v->heap.jvms.count)
		evidence(c, "what stays is not recorded: record with -e live or -e heap");
}

int rule_leak(struct check *c)
{
	struct growth worst = {0}, one;
	int err = 0;

	for (size_t i = 0; i < c->v->jvms.count && !err; i++) {
		err = growth_of(c, c->v->jvms.at[i].process, &one);
		if (!err && growth_measure(&one) > growth_measure(&worst))
			worst = one;
	}
	if (err || !found(c, growth_measure(&worst)))
		return err;
	say(c, "The heap fills: what collections leave grew by %.0f %% of it, which looks like a leak",
	    growth_measure(&worst));
	show_growth(c, &worst);
	return 0;
}

int rule_exhausted(struct check *c)
{
	const struct kind_view *k = kind_at(c, BRAID_JVM_RESOURCE);

	if (!found(c, (double)k->count))
		return 0;
	say(c, "The JVM could not get what it needed: %s, %" PRIu64 " time%s", k->by[BY_NAME].sums.at[0].name,
	    k->by[BY_NAME].sums.at[0].count, plural(k->by[BY_NAME].sums.at[0].count));
	for (size_t i = 0; i < k->by[BY_NAME].sums.count && i < 3; i++)
		evidence(c, "%" PRIu64 " × %s", k->by[BY_NAME].sums.at[i].count, k->by[BY_NAME].sums.at[i].name);
	return 0;
}

/* ---- references ---- */

#define FINALIZER "java.lang.ref.Finalizer"

/* What a thread did itself: not what it stood still for, nor waited for a CPU. */
static uint64_t busy_ns(const struct wall_thread *t)
{
	uint64_t ns = t->ns[WALL_RUNNING];

	for (int s = 0; s < WALL_STATES; s++)
		ns += wall_is_blocked((enum wall_state)s) ? t->ns[s] : 0;
	return ns;
}

int rule_references(struct check *c)
{
	const struct wall *w = c->facts->wall;
	double worst = 0;
	size_t at = 0;

	for (size_t i = 0; i < w->threads.count; i++) {
		const struct wall_thread *t = &w->threads.at[i];
		double busy = percent(busy_ns(t), t->life_ns);
		const char *name = analysis_thread_name(w->an, t->thread);

		if (t->life_ns && t->java && busy > worst &&
		    (strcmp(name, "Finalizer") == 0 || strcmp(name, "Common-Cleaner") == 0 ||
		     strcmp(name, "Reference Handler") == 0)) {
			worst = busy;
			at = i;
		}
	}
	if (!found(c, worst))
		return 0;
	say(c, "Objects wait to be finalised: the thread %s has no rest, and nothing that waits for it is freed",
	    analysis_thread_name(w->an, w->threads.at[at].thread));
	evidence(c, "it was busy for %.0f %% of its time", worst);
	for (size_t i = 0; i < c->v->heap.jvms.count; i++)
		for (size_t k = 0; k < c->v->heap.jvms.at[i].rows.count; k++)
			if (strcmp(c->v->heap.jvms.at[i].rows.at[k].class, FINALIZER) == 0)
				evidence(c, "%" PRIu64 " objects of " FINALIZER " are in the heap",
					 c->v->heap.jvms.at[i].rows.at[k].objects);
	return 0;
}
