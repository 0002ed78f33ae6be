// SPDX-License-Identifier: Apache-2.0
#include "vthread_times.h"

#include "jvm.h"
#include "jvm_emit.h"
#include "parked.h"
#include "vthreads.h"
#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "process/spans.h"

#include <bpf/bpf.h>
#include <braid/offcpu_filter.h>
#include <braid/vthread_time.h>
#include <stdlib.h>

#define BATCH 256U

struct ending {
	struct jvms *jvms;
	int map;
	uint32_t slot; /* BRAID_MAX_JVMS: any */
	uint64_t end_ns;
};

static void emit_counted(struct jvms *jvms, struct process *process, const struct braid_vthread_time *v,
			 const struct trace_jvm_event *like)
{
	struct trace_jvm_event e = *like;

	e.kind = BRAID_JVM_COUNTED;
	e.number = BRAID_JVM_OFFCPU;
	for (uint32_t class = 0; class < BRAID_OFFCPU_CLASSES; class ++) {
		if (!(v->counted[class] | v->counted_ns[class]))
			continue;
		e.value = v->counted[class];
		e.weight = v->counted_ns[class];
		e.flags = class << BRAID_OFFCPU_CLASS_SHIFT;
		jvm_events_emit(jvms, process, &e);
	}
}

/* What it is parked for, and who had it then. */
static void explain_park(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *park,
			 struct trace_jvm_event *e)
{
	pid_t owner = threads_host_tid(jvms->threads, process, (pid_t)park->event.other_tid);
	const struct thread *t = park->event.other_tid && owner > 0
					 ? threads_at(jvms->threads, process, owner, park->hdr.time_ns)
					 : NULL;

	e->name = parked_class(jvms, process, park);
	e->other = t ? t->id : 0;
	e->other_vthread = vthreads_id(jvms->vthreads, process, park->event.number);
}

/* The filter cannot compare a carrier: there is none. */
static void emit_unmounted(struct jvms *jvms, struct process *process, struct braid_vthread_time *v,
			   const struct trace_jvm_event *like, uint64_t end_ns)
{
	const struct braid_interval i = {
		.start_ns = v->off_ns, .end_ns = end_ns, .flags = (v->class & 0xfU) << BRAID_OFFCPU_CLASS_SHIFT};
	const struct braid_thread_time none = {.pid = v->pid};
	struct braid_event_jvm_event park = {.hdr = {.time_ns = end_ns}, .event = {.flags = BRAID_OFFCPU_OPEN}};
	struct trace_jvm_event e = *like, lock;

	if (v->class < BRAID_OFFCPU_CLASSES &&
	    !braid_offcpu_selects(kernel_side_offcpu_filter(jvms->kernel), &none, &i, true)) {
		v->counted[v->class]++;
		v->counted_ns[v->class] += end_ns - v->off_ns;
		return;
	}

	e.kind = BRAID_JVM_OFFCPU;
	e.time_ns = v->off_ns;
	e.duration_ns = end_ns - v->off_ns;
	e.flags = BRAID_OFFCPU_SYSCALL | i.flags | BRAID_OFFCPU_OPEN;
	if (v->start.stack && jvms->stack_node)
		e.node = jvms->stack_node(jvms->stack_ctx, process, v->start.stack);
	e.span = spans_id(jvms->spans, process, v->start.span);
	braid_vthread_park_to(&park, &v->park);
	e.flags |= park.event.flags & BRAID_OFFCPU_LOOKED;
	explain_park(jvms, process, &park, &e);
	lock = e;
	if (parked_explain(jvms, process, &park, &lock))
		jvm_events_emit(jvms, process, &lock);
	jvm_events_emit(jvms, process, &e);
}

static void emit_life(struct ending *end, const struct braid_vthread_key *key, struct braid_vthread_time *v)
{
	struct jvms *jvms = end->jvms;
	struct process *process = processes_find(jvms->processes, (pid_t)v->pid, v->since_ns);
	uint64_t end_ns = process && process->ended_ns ? process->ended_ns : end->end_ns;
	struct trace_jvm_event e = {.source = BRAID_SOURCE_KERNEL};

	if (!process)
		return;
	e.vthread = vthreads_id(jvms->vthreads, process, key->number);
	if (v->off_ns && v->flags & BRAID_VTHREAD_ENDED)
		end_ns = v->off_ns;
	if (v->since_ns >= end_ns || (v->off_ns && v->off_ns > end_ns))
		return;
	e.time_ns = end_ns;
	if (v->carrier) { /* its carrier is not known any more */
		*v = (struct braid_vthread_time){.since_ns = v->since_ns, .pid = v->pid};
	} else if (v->off_ns && v->off_ns < end_ns) {
		emit_unmounted(jvms, process, v, &e, end_ns);
	}
	emit_counted(jvms, process, v, &e);
	e.kind = BRAID_JVM_THREAD_TIME;
	e.time_ns = v->since_ns;
	e.duration_ns = end_ns - v->since_ns;
	e.value = v->run_ns;
	e.weight = v->ready_ns;
	jvm_events_emit(jvms, process, &e);
}

static bool is_meant(const struct ending *end, const struct braid_vthread_key *key)
{
	return end->slot == BRAID_MAX_JVMS || key->jvm % BRAID_MAX_JVMS == end->slot;
}

/* The values are read in batches, since there may be hundreds of thousands. */
static void emit_all(struct ending *end, struct braid_vthread_key *keys, struct braid_vthread_time *values)
{
	uint32_t at = 0, *from = NULL, count;
	int err;

	do {
		count = BATCH;
		err = bpf_map_lookup_batch(end->map, from, &at, keys, values, &count, NULL);
		if (err && err != -ENOENT) /* -ENOSPC: a bucket with more than a batch */
			break;
		for (uint32_t i = 0; i < count; i++)
			if (is_meant(end, &keys[i]))
				emit_life(end, &keys[i], &values[i]);
		from = &at;
	} while (!err);
}

void vthread_times_end(struct jvms *jvms, uint32_t slot, uint64_t end_ns)
{
	struct ending end = {
		.jvms = jvms, .map = kernel_side_vthread_times(jvms->kernel), .slot = slot, .end_ns = end_ns};
	struct braid_vthread_key *keys = calloc(BATCH, sizeof(*keys));
	struct braid_vthread_time *values = calloc(BATCH, sizeof(*values));

	if (end.map >= 0 && keys && values) {
		emit_all(&end, keys, values);
		kernel_side_forget_vthreads(jvms->kernel, slot);
	}
	free(keys);
	free(values);
}

void vthread_times_carried(struct jvms *jvms, const struct process *process, const struct braid_thread_time *t,
			   uint64_t end_ns)
{
	struct braid_vthread_key key = {.number = t->vthread};
	struct braid_vthread_time v;
	int map = kernel_side_vthread_times(jvms->kernel);

	if (!t->vthread || !process->jvm || map < 0)
		return;
	key.jvm = jvm_generation(process->jvm) * BRAID_MAX_JVMS + jvm_slot(process->jvm);
	if (bpf_map_lookup_elem(map, &key, &v) || v.off_ns || v.carrier != t->tid)
		return;
	v.run_ns += t->run_ns;
	v.ready_ns += t->ready_ns;
	for (uint32_t i = 0; i < BRAID_OFFCPU_CLASSES; i++) {
		v.counted[i] += t->counted[i];
		v.counted_ns[i] += t->counted_ns[i];
	}
	v.carrier = 0;
	v.off_ns = end_ns;
	v.flags |= BRAID_VTHREAD_ENDED;
	(void)bpf_map_update_elem(map, &key, &v, BPF_EXIST);
}
