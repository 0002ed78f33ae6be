// SPDX-License-Identifier: Apache-2.0
/* Rules about what the VM does for the program: compiled code, safepoints, exceptions, classes, threads. */
#include <inttypes.h>
#include <string.h>

#include "check.h"

/* ---- compiled code ---- */

#define KEPT (500ULL << 10)

/*
 * Without a heap for each kind of code, HotSpot keeps the last 500 KiB (CodeCacheMinimumFreeSpace) from its compilers.
 */
static double fullness(const struct code_heap_view *h)
{
	uint64_t kept = strcmp(h->heap, "CodeCache") == 0 && h->reserved > KEPT ? KEPT : 0;

	return percent(h->max, h->reserved - kept);
}

int rule_code_cache(struct check *c)
{
	const struct event_views *e = c->v->events;
	const struct code_heap_view *worst = NULL;
	char used[QUANTITY_TEXT], reserved[QUANTITY_TEXT];
	uint64_t failed = 0;

	for (size_t i = 0; i < e->heaps.count; i++)
		if (!worst || fullness(&e->heaps.at[i]) > fullness(worst))
			worst = &e->heaps.at[i];
	if (!worst || !found(c, fullness(worst)))
		return 0;
	for (int i = 0; i < COMPILE_LEVELS; i++)
		failed += e->levels[i].failed;
	say(c, "The code cache is full: methods are not compiled any more, or compiled code is thrown away for others");
	evidence(c, "pid %u: %s had %s in use, of %s", worst->pid, worst->heap, size_text(used, worst->max),
		 size_text(reserved, worst->reserved));
	if (failed)
		evidence(c, "%" PRIu64 " compilation%s failed", failed, plural(failed));
	evidence(c, "-XX:ReservedCodeCacheSize sets its size");
	return 0;
}

int rule_interpreted(struct check *c)
{
	uint64_t java = 0, interpreted = 0, most = 0;
	const struct method_view *hottest = NULL;

	for (size_t i = 0; i < c->v->methods.count; i++) {
		const struct method_view *m = &c->v->methods.at[i];

		if (m->domain != DOMAIN_JAVA)
			continue;
		java += m->self;
		/* `kind` is that of most samples, so the sum is not exact, but nothing that matters is missing. */
		if (m->kind != KIND_INTERPRETED)
			continue;
		interpreted += m->self;
		if (m->self > most) {
			most = m->self;
			hottest = m;
		}
	}
	if (java < SAMPLES_MIN || !found(c, percent(interpreted, java)))
		return 0;
	say(c, "Java code is interpreted, and not compiled: %.0f %% of its samples", percent(interpreted, java));
	evidence(c, "most of them, %" PRIu64 ", in %s", most, hottest->name);
	return 0;
}

int rule_deopt(struct check *c)
{
	const struct event_views *e = c->v->events;
	double rate = facts_steady(c->facts, RATE_DEOPT);

	if (!found(c, rate))
		return 0;
	say(c, "Compiled code is thrown away all the time: at least %.0f deoptimisations a second", rate);
	evidence_sums(c, BRAID_JVM_DEOPT, BY_NAME, "of them in");
	evidence_sums(c, BRAID_JVM_DEOPT, BY_DETAIL, "of them because of");
	if (e->storms.count)
		evidence(c, "%s was compiled %" PRIu64 " times", e->storms.at[0].method, e->storms.at[0].count);
	return 0;
}

/* ---- safepoints ---- */

int rule_safepoint(struct check *c)
{
	const struct kind_view *k = kind_at(c, BRAID_JVM_SAFEPOINT);
	char total[QUANTITY_TEXT], max[QUANTITY_TEXT];

	if (!found(c, percent(k->value, c->facts->ns)))
		return 0;
	say(c,
	    "Threads are late at safepoints: for %.0f %% of the time, all others wait until the last one has stopped",
	    percent(k->value, c->facts->ns));
	evidence(c, "%" PRIu64 " safepoint%s took %s to reach, the slowest %s", k->count, plural(k->count),
		 duration_text(total, k->value), duration_text(max, k->value_max));
	evidence_sums(c, BRAID_JVM_SAFEPOINT_STOP, BY_SITE, "of what was waited for was in");
	return 0;
}

/* ---- exceptions, classes, threads ---- */

int rule_exceptions(struct check *c)
{
	const struct kind_view *k = kind_at(c, BRAID_JVM_EXCEPTION);
	uint64_t all = add_saturating(k->weight, k->counted);

	if (!found(c, per_second(c->facts, all)))
		return 0;
	say(c, "Exceptions are part of the normal way: %.0f are thrown each second", per_second(c->facts, all));
	evidence_sums(c, BRAID_JVM_EXCEPTION, BY_NAME, "of them are");
	evidence_sums(c, BRAID_JVM_EXCEPTION, BY_SITE, "of those with a stack are thrown in");
	evidence_sums(c, BRAID_JVM_EXCEPTION, BY_DETAIL, "of those with a stack are caught in");
	return 0;
}

int rule_classes(struct check *c)
{
	double rate = facts_steady(c->facts, RATE_CLASS_LOAD);
	uint64_t loaded = 0, unloaded = 0;

	if (!found(c, rate))
		return 0;
	for (int i = 0; i < PARTS; i++) {
		loaded = add_saturating(loaded, c->facts->rates[RATE_CLASS_LOAD].part[i]);
		unloaded = add_saturating(unloaded, c->facts->rates[RATE_CLASS_UNLOAD].part[i]);
	}
	say(c, "Classes are loaded all the time: at least %.0f a second%s", rate,
	    unloaded < loaded / 10 ? ", and hardly any is unloaded" : "");
	evidence(c, "%" PRIu64 " were loaded, %" PRIu64 " unloaded", loaded, unloaded);
	evidence_sums(c, BRAID_JVM_CLASS_LOAD, BY_NAME, "of them are");
	evidence_sums(c, BRAID_JVM_CLASS_LOAD, BY_DETAIL, "of them by");
	return 0;
}

int rule_threads(struct check *c)
{
	double rate = facts_steady(c->facts, RATE_THREAD_START);

	if (!found(c, rate))
		return 0;
	say(c, "Threads are started all the time: at least %.0f a second", rate);
	evidence(c, "%" PRIu64 " were started, %" PRIu64 " ended", kind_at(c, BRAID_JVM_THREAD_START)->count,
		 kind_at(c, BRAID_JVM_THREAD_END)->count);
	if (kind_at(c, BRAID_JVM_THREAD_START)->by[BY_NAME].sums.count)
		evidence(c, "one of them is called %s",
			 kind_at(c, BRAID_JVM_THREAD_START)->by[BY_NAME].sums.at[0].name);
	return 0;
}
