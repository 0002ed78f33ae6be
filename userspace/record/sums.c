// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "util/quantity.h"

#include <stdlib.h>

#define SUMS_NS 1000000000ULL /* interval of reading them */
#define NOTICES 8	      /* processes that are named */
#define PROCESSES_MAX 1024U   /* that are added up for that; later ones are not named */

void sums_note(struct sums *a, const struct process *process, const struct braid_sum *sum)
{
	struct sums_process fresh = {.process = process->id, .pid = (uint32_t)process->pid}, *p = NULL;

	for (size_t i = 0; i < a->processes.count && !p; i++)
		if (a->processes.at[i].process == process->id)
			p = &a->processes.at[i];
	if (!p && a->processes.count < PROCESSES_MAX && !VEC_PUSH(&a->processes, fresh))
		p = &a->processes.at[a->processes.count - 1];
	if (!p)
		return;
	p->count += sum->count;
	p->ns += sum->ns + sum->ready_ns;
}

/* Every time off the CPU is added up, as the recording's options say: that is no news. */
static bool is_asked(const struct sums *a)
{
	return kernel_side_offcpu_filter(a->session->kernel)->sums == BRAID_SUMS_ALWAYS;
}

/* The part of the intervals in which the thread could run has an event of its own, as for what is counted by class. */
static void emit(void *ctx, const struct braid_sum_key *key, const struct braid_sum *sum)
{
	struct sums *a = ctx;
	struct session *s = a->session;
	bool many = key->span == BRAID_SPAN_MANY, is_short = key->flags & BRAID_OFFCPU_SHORT;
	const struct process *process = processes_get(s->processes, (pid_t)key->pid, sum->until_ns);
	struct braid_event_jvm_event e = {
		.hdr = {.kind = BRAID_EVENT_JVM_EVENT, .size = sizeof(e), .time_ns = sum->until_ns},
		.pid = key->pid,
		.tid = key->tid,
		.stack = key->stack,
		.span = many ? 0 : key->span,
		.generation = key->generation,
		.source = BRAID_SOURCE_KERNEL,
		.event = {.kind = BRAID_JVM_COUNTED,
			  .number = BRAID_JVM_OFFCPU,
			  .flags = key->flags,
			  .start_ns = sum->longest_start_ns,
			  .end_ns = sum->longest_start_ns + sum->longest_ns,
			  .value = sum->count,
			  .weight = sum->ns},
	};

	if (!is_short)
		s->added_up += sum->count;
	if (process && !is_short && !is_asked(a))
		sums_note(a, process, sum);
	if (process && many)
		sink_loss(&s->sink, process->id, "bpf", "span", sum->count);
	session_add_event(s, &e);
	if (!sum->ready_ns)
		return;
	e.event.flags = BRAID_OFFCPU_SYSCALL | BRAID_OFFCPU_RUNNABLE << BRAID_OFFCPU_CLASS_SHIFT |
			(key->flags & BRAID_OFFCPU_SHORT);
	e.event.start_ns = e.event.end_ns = sum->until_ns;
	e.event.value = 0;
	e.event.weight = sum->ready_ns;
	session_add_event(s, &e);
}

void sums_tick(struct sums *a, uint64_t now)
{
	if (now < a->read_ns + SUMS_NS)
		return;
	a->read_ns = now;
	kernel_side_take_sums(a->session->kernel, emit, a);
}

/* ---- the end ---- */

/* The sum to which a thread has added last. */
static void emit_current(void *ctx, struct braid_thread_time *t)
{
	if (t->sum.count)
		emit(ctx, &t->sum_key, &t->sum);
}

static int compare(const void *x, const void *y)
{
	const struct sums_process *p = x, *q = y;

	return (p->count < q->count) - (p->count > q->count);
}

void sums_finish(struct sums *a)
{
	char time[QUANTITY_TEXT];

	kernel_side_take_sums(a->session->kernel, emit, a);
	kernel_side_each_thread(a->session->kernel, emit_current, a);
	VEC_SORT(&a->processes, compare);
	for (size_t i = 0; i < a->processes.count && i < NOTICES; i++)
		sink_notice(
			&a->session->sink, a->processes.at[i].process, BRAID_NOTICE_INFO,
			"%llu times off the CPU of process %u, %s, were added up by stack: it had more than %d in a "
			"second; a longer shortest time (offcpu=TIME) or a filter leaves fewer",
			(unsigned long long)a->processes.at[i].count, a->processes.at[i].pid,
			duration_text(time, a->processes.at[i].ns), BRAID_FLOOD);
}

void sums_free(struct sums *a)
{
	free(a->processes.at);
}
