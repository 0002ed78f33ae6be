// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The filter of times off the CPU. What a thread is (its name and cgroup) is compared when it leaves the CPU, and not
 * again while neither changes; the rest when the time ends. offcpu.bpf.h calls it.
 */
#ifndef BRAID_OFFCPU_FILTER_BPF_H
#define BRAID_OFFCPU_FILTER_BPF_H

#include "events/match.bpf.h"
#include "kernel_read.bpf.h"
#include "thread_time.bpf.h"

#include <braid/offcpu_filter.h>

/* Set before loading: there is a filter; it compares what a thread is, its cgroup, the kind of a file. */
const volatile bool offcpu_filtered, offcpu_filters_threads, offcpu_filters_cgroups, offcpu_filters_files;

/* Written by the collector before the programs run. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct braid_offcpu_filter);
} offcpu_filter SEC(".maps");

#define CGROUP_DEPTH 32

/* Whether the thread's cgroup is the one with this id, or below it. */
static __always_inline bool cgroup_is_in(const struct cgroup *c, __u64 id)
{
	struct cgroup *above;

	for (int i = 0; i < CGROUP_DEPTH; i++) {
		if (i > BPF_CORE_READ(c, level) ||
		    bpf_probe_read_kernel(&above, sizeof(above), (const void *)&c->ancestors[i]) || !above)
			return false;
		if (BPF_CORE_READ(above, kn, id) == id)
			return true;
	}
	return false;
}

/* A term of the filter, by its number. A global function: the verifier checks it once. */
__noinline int filter_text_holds(struct braid_thread_time *t, __u32 number, __u64 cgroup)
{
	struct braid_offcpu_filter *f;
	struct match m = {0};
	__u32 zero = 0;

	f = bpf_map_lookup_elem(&offcpu_filter, &zero);
	if (!f || !t || number >= BRAID_HIT_TERMS || !braid_offcpu_is_text(&f->term[number]))
		return 0;
	if (f->term[number].operand == BRAID_HIT_CGROUP)
		return cgroup_is_in((const struct cgroup *)cgroup, f->term[number].value) ==
		       (f->term[number].operator== BRAID_HIT_EQUAL);
	__builtin_memcpy(m.text, t->comm, sizeof(t->comm));
	return match_holds(&m, &f->term[number]);
}

/* The same for all terms. */
__noinline int filter_compare(struct braid_thread_time *t, __u64 cgroup)
{
	if (!t)
		return 0;
	t->texts = 0;
	for (__u32 i = 0; i < BRAID_HIT_TERMS; i++)
		if (filter_text_holds(t, i, cgroup))
			t->texts |= 1U << i;
	t->seen = 1;
	return 0;
}

/*
 * Compares what the thread t->task is. A global function takes no pointer to a kernel structure: neither as such on
 * every kernel, nor as a number.
 */
__noinline int filter_compare_thread(struct braid_thread_time *t)
{
	struct task_struct *task;

	if (!t)
		return 0;
	task = (struct task_struct *)t->task;
	filter_compare(t, (__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp));
	return 0;
}

static __always_inline __u64 task_cgroup(struct task_struct *task)
{
	struct css_set *set = TASK_POINTER(task, cgroups);

	return set ? set->dfl_cgrp->kn->id : 0;
}

/* Compares what a thread is, if that has changed. */
static __always_inline void filter_see_thread(struct braid_thread_time *t, struct task_struct *task)
{
	const __u64 *comm = (const __u64 *)&task->comm;
	__u64 first = comm[0], second = comm[1], cgroup = offcpu_filters_cgroups ? task_cgroup(task) : 0;

	if (t->seen && t->comm[0] == first && t->comm[1] == second && t->cgroup == cgroup)
		return;
	t->comm[0] = first;
	t->comm[1] = second;
	t->cgroup = cgroup;
	t->task = (__u64)task;
	steady_forget(t);
	filter_compare_thread(t);
}

/* A global function: the verifier checks it once, and not at each call. */
__noinline int filter_selects(struct braid_thread_time *t, struct braid_interval *i)
{
	struct braid_offcpu_filter *f;
	__u32 zero = 0;

	f = bpf_map_lookup_elem(&offcpu_filter, &zero);
	return !f || !t || !i || braid_offcpu_selects(f, t, i, true);
}

/* False: the filter does not select the thread's current interval, however long it becomes. */
__noinline int filter_may_select(struct braid_thread_time *t)
{
	struct braid_offcpu_filter *f;
	__u32 zero = 0;

	f = bpf_map_lookup_elem(&offcpu_filter, &zero);
	return !f || !t || braid_offcpu_selects(f, t, &t->now, false);
}

/* The same; the answer is remembered, because intervals of a thread are mostly alike. */
static __always_inline bool filter_may_select_alike(struct braid_thread_time *t)
{
	__u64 like = (__u64)t->now.flags << 32 | (t->now.from & 0xffff) << 16 | 1U << 15 | (t->texts & 0x7fff);

	if (t->like != like) {
		t->may_select = filter_may_select(t);
		t->like = like;
	}
	return t->may_select;
}

/* Whether the interval, which has ended, is emitted if there is room: it is long enough, and the filter selects it. */
static __always_inline bool interval_is_selected(struct braid_thread_time *t, struct braid_interval *i,
						 const struct braid_offcpu_limits *l)
{
	if (l->min_ns == NEVER || i->end_ns - i->start_ns < l->min_ns)
		return false;
	return !offcpu_filtered || filter_selects(t, i);
}

#endif
