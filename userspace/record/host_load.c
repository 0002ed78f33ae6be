// SPDX-License-Identifier: Apache-2.0
#include "host_load.h"

#include "process/processes.h"
#include "sink/sink.h"

#include <stdio.h>
#include <unistd.h>

#define STAT_NUMBERS 8 /* of the CPUs' line of /proc/stat that are not part of others: user to steal */
#define STEAL 7

/* ---- the machine ---- */

static bool read_figures(struct host_figures *f)
{
	uint64_t ticks[STAT_NUMBERS] = {0}, all = 0, tick_ns = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");
	int found = file ? fscanf(file, "cpu %lu %lu %lu %lu %lu %lu %lu %lu", &ticks[0], &ticks[1], &ticks[2],
				  &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7])
			 : 0;

	if (file)
		fclose(file);
	for (int i = 0; i < STAT_NUMBERS; i++)
		all += ticks[i];
	*f = (struct host_figures){.cpu_ns = all * tick_ns, .steal_ns = ticks[STEAL] * tick_ns};
	(void)groups_number("/proc", "vmstat", "pswpin ", &f->swapped_in); /* a kernel without swap has none */
	(void)groups_number("/proc", "vmstat", "pswpout ", &f->swapped_out);
	return found == STAT_NUMBERS;
}

void host_load_begin(struct host_load *h)
{
	h->is_known = read_figures(&h->first);
}

/* Steal can go back by a tick. */
static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static void emit_figures(const struct host_load *h, struct sink *k)
{
	struct host_figures now;

	if (!h->is_known || !read_figures(&now))
		return;
	sink_stat(k, 0, "host_cpu_ns", since(now.cpu_ns, h->first.cpu_ns));
	sink_stat(k, 0, "host_steal_ns", since(now.steal_ns, h->first.steal_ns));
	sink_stat(k, 0, "host_swapped_in", since(now.swapped_in, h->first.swapped_in));
	sink_stat(k, 0, "host_swapped_out", since(now.swapped_out, h->first.swapped_out));
}

/* ---- processes ---- */

static struct host_load_process *entry_of(struct host_load *h, uint32_t process)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->processes[i].process == process)
			return &h->processes[i];
	return NULL;
}

/* A group whose quota comes later has had no periods until then. */
static void look_at(void *ctx, struct process *process)
{
	struct host_load *h = ctx;
	struct host_load_process *p = &h->processes[h->count];

	if (!process->jvm || h->count == HOST_LOAD_PROCESSES || entry_of(h, process->id))
		return;
	p->process = process->id;
	(void)groups_throttling(process->pid, &p->first);
	h->count++;
}

void host_load_look(struct host_load *h, struct processes *processes)
{
	processes_each(processes, look_at, h);
}

struct emitting {
	struct host_load *load;
	struct sink *sink;
};

static void emit_process(void *ctx, struct process *process)
{
	const struct emitting *e = ctx;
	const struct host_load_process *p = entry_of(e->load, process->id);
	struct group_throttling now;

	if (!p || process->gone_ns || !groups_throttling(process->pid, &now))
		return;
	sink_stat(e->sink, process->id, "cgroup_periods", since(now.periods, p->first.periods));
	sink_stat(e->sink, process->id, "cgroup_throttled", since(now.throttled, p->first.throttled));
	sink_stat(e->sink, process->id, "cgroup_throttled_ns", since(now.throttled_ns, p->first.throttled_ns));
}

void host_load_emit(struct host_load *h, struct sink *k, struct processes *processes)
{
	struct emitting e = {h, k};

	emit_figures(h, k);
	processes_each(processes, emit_process, &e);
}
