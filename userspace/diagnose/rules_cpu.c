// SPDX-License-Identifier: Apache-2.0
/* Rules about CPUs: who has too few of them, and what they are wasted on. */
#include <inttypes.h>

#include "check.h"

/* ---- the machine ---- */

static uint64_t host(const struct check *c, const char *key)
{
	return analysis_stat(c->v->an, 0, key, 0);
}

bool has_host(const struct check *c)
{
	return analysis_has_stat(c->v->an, 0, "host_cpu_ns");
}

bool has_throttling(const struct check *c)
{
	for (size_t i = 0; i < c->v->an->a->processes.count; i++)
		if (analysis_has_stat(c->v->an, c->v->an->a->processes.ids[i], "cgroup_periods"))
			return true;
	return false;
}

int rule_throttled(struct check *c)
{
	const struct analyzer *a = c->v->an->a;
	uint32_t process = 0;
	double worst = 0;

	for (size_t i = 0; i < a->processes.count; i++) {
		uint32_t id = a->processes.ids[i];
		double share = percent(analysis_stat(c->v->an, id, "cgroup_throttled", 0),
				       analysis_stat(c->v->an, id, "cgroup_periods", 0));

		if (share <= worst || !analysis_selects_process(c->v->an, analysis_process(c->v->an, id)))
			continue;
		worst = share;
		process = id;
	}
	if (!process || !found(c, worst))
		return 0;
	say(c, "The cgroup uses up its CPU quota: its threads were stopped in %.0f %% of the periods", worst);
	evidence(c, "pid %u, in %s: throttled in %" PRIu64 " of %" PRIu64 " periods, for %.1f s, added up over CPUs",
		 analysis_process(c->v->an, process)->pid,
		 strpool_get(&a->strings, analysis_process(c->v->an, process)->cgroup),
		 analysis_stat(c->v->an, process, "cgroup_throttled", 0),
		 analysis_stat(c->v->an, process, "cgroup_periods", 0),
		 (double)analysis_stat(c->v->an, process, "cgroup_throttled_ns", 0) / 1e9);
	return 0;
}

int rule_steal(struct check *c)
{
	double measure = percent(host(c, "host_steal_ns"), host(c, "host_cpu_ns"));

	if (!found(c, measure))
		return 0;
	say(c, "The hypervisor gives this machine's CPUs to others: %.0f %% of their time is stolen", measure);
	evidence(c, "%.1f s of %.1f s of CPU time", (double)host(c, "host_steal_ns") / 1e9,
		 (double)host(c, "host_cpu_ns") / 1e9);
	return 0;
}

int rule_swap(struct check *c)
{
	uint64_t in = host(c, "host_swapped_in"), out = host(c, "host_swapped_out");
	double rate = c->v->an->duration_ns ? (double)(in + out) * 1e9 / (double)c->v->an->duration_ns : 0;

	if (!found(c, rate))
		return 0;
	say(c, "The machine swaps: %.0f pages a second", rate);
	evidence(c, "%" PRIu64 " pages came in, %" PRIu64 " went out", in, out);
	return 0;
}

/* ---- who waits for a CPU ---- */

int rule_starved(struct check *c)
{
	const uint64_t *ns = c->facts->wall_ns;
	const struct wall *w = c->facts->wall;
	size_t worst = SIZE_MAX;
	double measure = percent(ns[WALL_RUNNABLE], add_saturating(ns[WALL_RUNNABLE], ns[WALL_RUNNING]));

	/* Many that run for a moment wait for a moment: it matters if a CPU's worth of time is lost. */
	if (threads_on_average(c->facts, ns[WALL_RUNNABLE]) < 0.5 || !found(c, measure))
		return 0;
	for (size_t i = 0; i < w->threads.count; i++)
		if (w->threads.at[i].life_ns &&
		    (worst == SIZE_MAX || w->threads.at[i].ns[WALL_RUNNABLE] > w->threads.at[worst].ns[WALL_RUNNABLE]))
			worst = i;
	say(c, "There are too few CPUs: threads that could run wait for one for %.0f %% of that time", measure);
	evidence(c, "%.1f threads wait for a CPU at any time, %.1f run",
		 threads_on_average(c->facts, ns[WALL_RUNNABLE]), threads_on_average(c->facts, ns[WALL_RUNNING]));
	if (worst != SIZE_MAX)
		evidence(c, "%s waited for %.0f %% of its time",
			 analysis_thread_name(w->an, w->threads.at[worst].thread),
			 percent(w->threads.at[worst].ns[WALL_RUNNABLE],
				 facts_life_ns(c->facts, &w->threads.at[worst])));
	return 0;
}

int rule_switches(struct check *c)
{
	const struct kind_view *k = kind_at(c, BRAID_JVM_OFFCPU);
	uint64_t switches = k->count + k->counted + (c->facts->idle ? k->idle : 0),
		 running_ns = c->facts->wall_ns[WALL_RUNNING];
	double rate = running_ns ? (double)switches * 1e9 / (double)running_ns : 0;

	/* A program that hardly runs has nothing to lose. */
	if (threads_on_average(c->facts, running_ns) < 0.5 || !found(c, rate))
		return 0;
	say(c, "Threads leave their CPU too often: %.0f times in each second that they run", rate);
	evidence(c, "%" PRIu64 " times off the CPU, each after %.0f µs on it", switches,
		 (double)running_ns / 1e3 / (double)switches);
	evidence_sums(c, BRAID_JVM_OFFCPU, BY_SITE, "of the longer ones were in");
	return 0;
}

/* ---- what CPUs are wasted on ---- */

#define SHORT_NS 3000000ULL

int rule_polling(struct check *c)
{
	const struct fact_place *worst = NULL;
	char at[PLACE_TEXT], mean[QUANTITY_TEXT];

	for (size_t i = 0; i < c->facts->places.count; i++) {
		const struct fact_place *p = &c->facts->places.at[i];

		if (p->class == WAIT_TIMER && p->count && p->ns / p->count < SHORT_NS &&
		    (!worst || p->count > worst->count))
			worst = p;
	}
	if (!worst || !found(c, per_second(c->facts, worst->count)))
		return 0;
	say(c, "A loop sleeps for a moment again and again, instead of waiting for what it looks for:%s",
	    place_text(at, c->v->an, worst->site));
	evidence(c, "%" PRIu64 " sleeps, %.0f a second, of %s each", worst->count, per_second(c->facts, worst->count),
		 duration_text(mean, worst->ns / worst->count));
	return 0;
}

int rule_spin(struct check *c)
{
	const struct profile *p = &c->v->an->samples;
	uint64_t yields = 0, most = 0;
	uint32_t stack = ROW_NONE;
	const struct stack_sum *s;
	struct stack_sums_cursor sums;
	char at[PLACE_TEXT];

	for (stack_sums_begin(&sums, &p->sums); (s = stack_sums_next(&sums));) {
		if (s->stack == ROW_NONE || !(c->facts->marks[s->stack] & MARK_YIELD))
			continue;
		yields = add_saturating(yields, s->weight);
		if (s->weight > most) {
			most = s->weight;
			stack = s->stack;
		}
	}
	if (p->quality.total < SAMPLES_MIN || !found(c, percent(yields, p->quality.total)))
		return 0;
	say(c, "A loop turns on the CPU until something happens: %.0f %% of all samples are in Thread.yield()",
	    percent(yields, p->quality.total));
	evidence(c, "mostly%s", place_text(at, c->v->an, events_site(c->v->an, stack)));
	return 0;
}

int rule_hot(struct check *c)
{
	const struct views *v = c->v;
	const struct method_view *hottest = NULL;
	uint64_t all = v->an->samples.quality.total;

	for (size_t i = 0; i < v->methods.count; i++)
		if (v->methods.at[i].domain == DOMAIN_JAVA && (!hottest || v->methods.at[i].self > hottest->self))
			hottest = &v->methods.at[i];
	if (!hottest || all < SAMPLES_MIN || !found(c, percent(hottest->self, all)))
		return 0;
	say(c, "One method takes the CPU: %s, in %.0f %% of all samples", hottest->name, percent(hottest->self, all));
	evidence(c, "%" PRIu64 " of %" PRIu64 " samples, mostly %s", hottest->self, all, kind_name(hottest->kind));
	return 0;
}
