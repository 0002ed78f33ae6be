// SPDX-License-Identifier: Apache-2.0
#include "offcpu.h"

#include "abilities.h"
#include "braid.skel.h"
#include "map_window.h"
#include "offcpu_filter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <braid/vthread_time.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- loading ---- */

int offcpu_size(const struct braid_bpf *b, bool follows)
{
	int err = bpf_map__set_max_entries(b->maps.thread_times, follows ? BRAID_THREAD_TIMES : 1);

	err = err ?: bpf_map__set_max_entries(b->maps.thread_places, follows ? BRAID_TIDS / 4 : 1);
	err = err ?: bpf_map__set_max_entries(b->maps.stack_reuses, follows ? BRAID_REUSES : 1);
	err = err ?: bpf_map__set_max_entries(b->maps.vthread_times, follows ? BRAID_VTHREAD_TIMES : 1);
	err = err ?: bpf_map__set_max_entries(b->maps.sums_even, follows ? BRAID_SUMS : 1);
	err = err ?: bpf_map__set_max_entries(b->maps.sums_odd, follows ? BRAID_SUMS : 1);
	return err ?: bpf_map__set_max_entries(b->maps.thread_spares, follows ? BRAID_THREAD_TIMES : 1);
}

/* From which length on an interval counts as one of those that a thread can hardly stay below. */
#define ALL_NS 1000ULL

bool offcpu_stacks_at_start(const struct braid_event_config *c, const struct braid_offcpu_filter *filter)
{
	return (c->enabled & OFFCPU_TYPES) == BRAID_EVENT_TYPE(OFFCPU) && c->offcpu_min_ns < ALL_NS &&
	       !offcpu_filter_compares(filter, BRAID_HIT_DURATION);
}

int offcpu_configure(struct braid_bpf *b, const struct braid_event_config *c, const struct braid_offcpu_filter *filter)
{
	bool follows = c->enabled & OFFCPU_TYPES, all = c->enabled & BRAID_EVENT_TYPE(OFFCPU);
	bool cpu = c->enabled & BRAID_EVENT_TYPE(THREAD), at_start = offcpu_stacks_at_start(c, filter);
	const struct abilities *kernel = kernel_abilities();
	bool irqs = all && !(at_start && filter->sums == BRAID_SUMS_ALWAYS); /* sums have no wakers */
	const struct {
		struct bpf_program *program;
		bool load;
	} programs[] = {
		{b->progs.on_switch, follows},
		{b->progs.on_waking, follows},
		{b->progs.on_syscall_end, follows && !kernel->switch_end},
		{b->progs.on_thread_exit, follows || cpu},
		{b->progs.on_switch_end, follows && kernel->switch_end},
		{b->progs.on_thread_exec, follows},
		{b->progs.on_thread_start, all},
		{b->progs.on_thread_found, all},
		{b->progs.on_thread_asleep, follows},
		{b->progs.on_irq, irqs},
		{b->progs.on_irq_end, irqs},
		{b->progs.on_timer, irqs},
		{b->progs.on_timer_end, irqs},
		{b->progs.on_softirq, irqs},
		{b->progs.on_softirq_end, irqs},
	};
	int err = 0;

	b->rodata->irqs_noted = irqs;
	b->rodata->switch_ends = kernel->switch_end;
	b->rodata->queues_noted = kernel->queues;
	b->rodata->stacks_at_start = at_start;
	b->rodata->report_cpu = cpu;
	b->rodata->offcpu_sums = filter->sums;
	b->rodata->offcpu_sums_short = all && !at_start && filter->sums == BRAID_SUMS_FLOOD;
	b->rodata->offcpu_filtered = filter->terms;
	b->rodata->offcpu_filters_threads =
		offcpu_filter_compares(filter, BRAID_HIT_COMM) || offcpu_filter_compares(filter, BRAID_HIT_CGROUP);
	b->rodata->offcpu_filters_cgroups = offcpu_filter_compares(filter, BRAID_HIT_CGROUP);
	b->rodata->offcpu_filters_files = offcpu_filter_compares_files(filter);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		err = err ?: bpf_program__set_autoload(programs[i].program, programs[i].load);
	return err ?: offcpu_size(b, follows);
}

/* Programs that end an interval are attached first, so every interval whose begin is seen has its end seen. */
static struct bpf_program *program_of(const struct braid_bpf *b, int link)
{
	struct bpf_program *programs[OFFCPU_LINKS] = {
		b->progs.on_switch_end,	 b->progs.on_syscall_end, b->progs.on_irq_end,	   b->progs.on_timer_end,
		b->progs.on_softirq_end, b->progs.on_irq,	  b->progs.on_timer,	   b->progs.on_softirq,
		b->progs.on_thread_exit, b->progs.on_waking,	  b->progs.on_thread_exec, b->progs.on_switch,
		b->progs.on_thread_start};

	return programs[link];
}

#define END_LINKS 2 /* the programs in which threads that come back walk their stacks */

static int attach(struct braid_bpf *b, struct bpf_link **links, int count)
{
	for (int i = 0; i < count; i++) {
		if (!bpf_program__autoload(program_of(b, i)) || links[i])
			continue;
		links[i] = bpf_program__attach(program_of(b, i));
		if (!links[i])
			return -errno;
	}
	return 0;
}

int offcpu_attach(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS])
{
	return attach(b, links, OFFCPU_LINKS);
}

int offcpu_attach_ends(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS])
{
	return attach(b, links, END_LINKS);
}

static void detach(struct bpf_link **links, int count)
{
	for (int i = count; i-- > 0;) {
		bpf_link__destroy(links[i]);
		links[i] = NULL;
	}
}

void offcpu_detach_ends(struct bpf_link *links[OFFCPU_LINKS])
{
	detach(links, END_LINKS);
}

int offcpu_counts_read(const struct braid_bpf *b, struct braid_offcpu_counts *c)
{
	return bpf_map_lookup_elem(bpf_map__fd(b->maps.offcpu_counts), &(uint32_t){0}, c);
}

void offcpu_detach(struct bpf_link *links[OFFCPU_LINKS])
{
	detach(links, OFFCPU_LINKS);
}

/* ---- threads that exist ---- */

int offcpu_find_threads(struct braid_bpf *b)
{
	return bpf_program__autoload(b->progs.on_thread_found) ? iterator_run(b->progs.on_thread_found, 0, NULL, NULL)
							       : 0;
}

int offcpu_each_asleep(struct braid_bpf *b, iterator_fn fn, void *ctx)
{
	if (!bpf_program__autoload(b->progs.on_thread_asleep))
		return 0;
	return iterator_run(b->progs.on_thread_asleep, sizeof(struct braid_asleep_call), fn, ctx);
}

/* Each element takes a system call, and most have never been used. */
void offcpu_each_thread(const struct braid_bpf *b, offcpu_thread_fn fn, void *ctx)
{
	int fd = bpf_map__fd(b->maps.thread_times);
	struct braid_offcpu_counts c;
	struct braid_thread_time t;

	if (offcpu_counts_read(b, &c))
		return;
	for (uint32_t place = 1; place <= c.used && place < BRAID_THREAD_TIMES; place++)
		if (!bpf_map_lookup_elem(fd, &place, &t) && t.tid)
			fn(ctx, &t);
}

/* ---- virtual threads ---- */

static void forget(int times, const struct braid_vthread_key *key, uint32_t slot, struct braid_vthread_count *counts)
{
	struct braid_vthread_time v;

	if (slot != BRAID_MAX_JVMS && key->jvm % BRAID_MAX_JVMS != slot)
		return;
	if (bpf_map_lookup_elem(times, key, &v) || !v.pid || v.slot >= BRAID_MAX_JVMS || v.user >= BRAID_USERS ||
	    bpf_map_delete_elem(times, key))
		return;
	__atomic_fetch_sub(&counts[BRAID_VTHREADS_OF_ALL].entries, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&counts[BRAID_VTHREADS_OF_USER(v.user)].entries, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&counts[BRAID_VTHREADS_OF_JVM(v.slot)].entries, 1, __ATOMIC_RELAXED);
}

/* Entries that are gone while others are listed can end a list early, so they are removed one by one from its start. */
static void forget_all(int times, uint32_t slot, struct braid_vthread_count *counts)
{
	struct braid_vthread_key key, next, *at = NULL;

	while (!bpf_map_get_next_key(times, at, &next)) {
		if (at)
			forget(times, at, slot, counts);
		key = next;
		at = &key;
	}
	if (at)
		forget(times, at, slot, counts);
	if (slot < BRAID_MAX_JVMS)
		counts[BRAID_VTHREADS_OF_JVM(slot)].full = 0;
}

/*
 * The programs change the counts at the same time, so that they are mapped. Entries that are not removed stay counted.
 */
void offcpu_forget_vthreads(const struct bpf_map *times, const struct bpf_map *counts, uint32_t slot)
{
	struct map_window w;

	if (map_window_open(&w, counts))
		return;
	if (!map_window_reach(&w, BRAID_VTHREAD_COUNTS))
		forget_all(bpf_map__fd(times), slot, w.base);
	map_window_close(&w);
}

/* ---- limits ---- */

void offcpu_limits(struct braid_offcpu_limits *l, const struct braid_event_config *c)
{
	uint64_t owner_min = c->lock_min_ns > BRAID_OWNER_MIN_NS ? c->lock_min_ns : BRAID_OWNER_MIN_NS;
	bool all = c->enabled & BRAID_EVENT_TYPE(OFFCPU);

	l->all = all;
	l->min_ns = c->enabled & BRAID_EVENT_TYPE(WAIT) ? c->wait_min_ns : UINT64_MAX;
	if (all && c->offcpu_min_ns < l->min_ns)
		l->min_ns = c->offcpu_min_ns;
	l->waker_min_ns = l->min_ns;
	l->sums_waker_min_ns = c->enabled & BRAID_EVENT_TYPE(WAIT) ? c->wait_min_ns : UINT64_MAX;
	/* The agent handles the configuration of single threads, and it sees monitors only. */
	l->locks = (c->enabled & ~c->threaded & BRAID_EVENT_TYPE(LOCK)) != 0;
	l->park_min_ns = UINT64_MAX;
	if (l->locks)
		l->park_min_ns = owner_min;
	else if (all)
		l->park_min_ns = l->min_ns > BRAID_OWNER_MIN_NS ? l->min_ns : BRAID_OWNER_MIN_NS;
	if (c->enabled & BRAID_EVENT_TYPE(LOCK) && owner_min < l->waker_min_ns)
		l->waker_min_ns = owner_min;
	if (c->enabled & BRAID_EVENT_TYPE(LOCK) && owner_min < l->sums_waker_min_ns)
		l->sums_waker_min_ns = owner_min;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void offcpu_settings_reach(struct braid_offcpu_settings *s, const struct braid_offcpu_limits *l)
{
	s->least_ns = least(least(s->least_ns, l->min_ns), least(l->waker_min_ns, l->park_min_ns));
}

int offcpu_settings_write(const struct braid_bpf *b, const struct braid_offcpu_settings *s)
{
	return bpf_map_update_elem(bpf_map__fd(b->maps.offcpu_settings), &(uint32_t){0}, s, BPF_ANY);
}

int offcpu_filter_write(const struct braid_bpf *b, const struct braid_offcpu_filter *f)
{
	return bpf_map_update_elem(bpf_map__fd(b->maps.offcpu_filter), &(uint32_t){0}, f, BPF_ANY);
}

/* ---- sums ---- */

#define SUMS_AT_ONCE 2048

static void each_sum(const struct bpf_map *map, offcpu_sum_fn fn, void *ctx)
{
	struct braid_sum_key *keys = calloc(SUMS_AT_ONCE, sizeof(*keys));
	struct braid_sum *sums = calloc(SUMS_AT_ONCE, sizeof(*sums));
	uint32_t batch, count;
	bool first = true;
	int err = keys && sums ? 0 : -ENOMEM;

	while (!err) {
		count = SUMS_AT_ONCE;
		err = bpf_map_lookup_and_delete_batch(bpf_map__fd(map), first ? NULL : &batch, &batch, keys, sums,
						      &count, NULL);
		if (err && errno != ENOENT) /* ENOENT: these are the last ones */
			break;
		for (uint32_t i = 0; i < count; i++)
			fn(ctx, &keys[i], &sums[i]);
		first = false;
	}
	free(keys);
	free(sums);
}

void offcpu_each_sum(const struct braid_bpf *b, uint32_t turn, offcpu_sum_fn fn, void *ctx)
{
	each_sum(turn & 1 ? b->maps.sums_odd : b->maps.sums_even, fn, ctx);
}
