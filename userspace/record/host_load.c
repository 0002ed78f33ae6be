// SPDX-License-Identifier: Apache-2.0
#include "host_load.h"

#include "proc/procfs.h"
#include "process/processes.h"
#include "sink/records.h"

#include <braid/event.h>
#include <braid/jvm_event.h>

#include <stdio.h>
#include <unistd.h>

/* The numbers of the CPUs' line of /proc/stat that are not part of others. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, STAT_NUMBERS };

#define LOAD_MIN_NS 100000000U /* of an interval; the kernel's figures have a resolution of 10 ms */

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
	*f = (struct host_figures){.cpu_ns = all * tick_ns,
				   .user_ns = (ticks[USER] + ticks[NICE]) * tick_ns,
				   .system_ns = (ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ]) * tick_ns,
				   .steal_ns = ticks[STEAL] * tick_ns};
	(void)groups_number("/proc", "vmstat", "pswpin ", &f->swapped_in); /* a kernel without swap has none */
	(void)groups_number("/proc", "vmstat", "pswpout ", &f->swapped_out);
	return found == STAT_NUMBERS;
}

void host_load_begin(struct host_load *h)
{
	h->is_known = read_figures(&h->first);
	h->last = h->first;
	h->last_ns = now_ns();
}

/* Some of the kernel's figures can go back by a tick. */
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

/* ---- how busy they are ---- */

struct loading {
	struct host_load *load;
	struct sink *sink;
	struct trace_jvm_event event; /* the interval, and what the CPUs had in it */
};

/* A process that began in the interval had no times before it; of others, the times at its beginning must be known. */
static void load_process(void *ctx, struct process *process)
{
	struct loading *l = ctx;
	struct host_load_process *p = entry_of(l->load, process->id);
	uint64_t user_ns, system_ns;

	if (!p || process->gone_ns || procfs_process_cpu_ns(process->pid, &user_ns, &system_ns))
		return;
	if (p->has_times || procfs_start_ns(process->pid) >= l->load->last_ns) {
		l->event.process = process->id;
		l->event.value = since(user_ns, p->user_ns);
		l->event.weight = since(system_ns, p->system_ns);
		sink_jvm_event(l->sink, &l->event);
	}
	p->user_ns = user_ns;
	p->system_ns = system_ns;
	p->has_times = true;
}

/* The machine's event is the first one of an interval. */
void host_load_tick(struct host_load *h, struct sink *k, struct processes *processes)
{
	struct loading l = {h, k, {.kind = BRAID_JVM_CPU_LOAD, .source = BRAID_SOURCE_COLLECTOR}};
	uint64_t now = now_ns();
	struct host_figures f;

	host_load_look(h, processes);
	if (!h->is_known || now - h->last_ns < LOAD_MIN_NS || !read_figures(&f))
		return;
	l.event.time_ns = h->last_ns;
	l.event.duration_ns = now - h->last_ns;
	l.event.value = since(f.user_ns, h->last.user_ns);
	l.event.weight = since(f.system_ns, h->last.system_ns);
	l.event.number = since(f.cpu_ns, h->last.cpu_ns);
	sink_jvm_event(k, &l.event);
	processes_each(processes, load_process, &l);
	h->last = f;
	h->last_ns = now;
}

/* ---- statistics ---- */

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
