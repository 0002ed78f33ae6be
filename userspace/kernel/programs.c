// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include "braid.skel.h"
#include "hits.h"
#include "kernel_programs.h"
#include "map_sizes.h"
#include "object.h"
#include "uprobe_multi.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/quiet_thread.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

/* Memory for remembered stacks: enough for deep ones, and bounded on machines with many CPUs. */
#define MEMO_BYTES (64U << 20)
#define MEMO_SHIFT_MAX 13 /* more find no more callers, and are further from the CPU */
#define SPARE_SLOTS 8	  /* threads that are preempted while their stacks are walked */

/* Event types with stack requests. */
#define TYPES_STACKS                                                                                                   \
	(BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE) | BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT) |          \
	 BRAID_EVENT_TYPE(EXCEPTION) | BRAID_EVENT_TYPE(RESOURCE) | BRAID_EVENT_TYPE(OFFCPU) |                         \
	 BRAID_EVENT_TYPES_REWRITTEN | BRAID_EVENT_TYPE(MALLOC) | BRAID_EVENT_TYPES_JNI)

/* Event types that probes report: with names and stacks, and all of them. */
#define TYPES_PROBES (BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(JIT))
#define TYPES_ANY_PROBES (TYPES_PROBES | BRAID_EVENT_TYPE(GC))

/* See bpf/stack/slot.bpf.h: each CPU has a slot for samples, and one for events if any are enabled. */
static int set_slots(struct braid_bpf *b, bool events, bool hits)
{
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus(), shift = MEMO_SHIFT_MAX;
	uint32_t slots = events ? 2 * cpus + SPARE_SLOTS : cpus;
	int err;

	while (shift > 8 && (uint64_t)slots * bpf_map__value_size(b->maps.memos) << shift > MEMO_BYTES)
		shift--;
	b->rodata->memo_shift = shift;
	b->rodata->cpu_count = cpus;
	b->rodata->spare_slots = SPARE_SLOTS;
	err = bpf_map__set_max_entries(b->maps.memos, slots << shift);
	err = err ?: bpf_map__set_max_entries(b->maps.rule_memos, slots * BRAID_RULE_MEMOS);
	err = err ?: bpf_map__set_max_entries(b->maps.samples, slots);
	err = err ?: bpf_map__set_max_entries(b->maps.method_events, slots);
	err = err ?: bpf_map__set_max_entries(b->maps.vthread_events, slots);
	/* samples of hit events are walked in the slots for events */
	return err ?: bpf_map__set_max_entries(b->maps.deferred_copies, hits ? slots : cpus);
}

static int prepare(struct braid_bpf *b, const struct record_options *o, bool events)
{
	b->rodata->system_wide = o->system_wide;
	b->rodata->max_depth = o->max_depth;
	b->rodata->events_bytes = event_ring_bytes(o);
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (o->probes[i].type == PROBE_KERNEL)
			b->rodata->kernel_events[o->probes[i].event] = i + 1;
	return set_slots(b, events, o->probe_count);
}

int programs_configure(struct programs *p, struct braid_bpf *first, const struct record_options *o,
		       const struct braid_offcpu_filter *filter)
{
	uint32_t types = o->config.enabled;
	struct braid_event_config config = {.enabled = types & OFFCPU_TYPES ? 0 : types};
	int err = prepare(first, o, types & TYPES_STACKS || o->probe_count);

	*p = (struct programs){.options = o,
			       .first = first,
			       .maps = first,
			       .offcpu = first,
			       .offcpu_types = types & OFFCPU_TYPES,
			       .settings = {.least_ns = UINT64_MAX, .end_ns = UINT64_MAX},
			       .filter = *filter};
	if (types & TYPES_STACKS)
		p->stack_request = first;
	if (types & TYPES_STACKS || o->probe_count)
		p->slots = first;
	err = err ?: offcpu_configure(first, &config, &p->filter);
	if (p->offcpu_types) {
		p->thread_times = first;
		err = err ?: offcpu_size(first, true);
	}
	err = err ?: bpf_program__set_autoload(first->progs.on_probe, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_usdt, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_probe_stack, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_function, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_return, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_call_timed, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_usdt_hit, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_native_alloc, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_native_free, false);
	err = err ?: bpf_program__set_autoload(first->progs.on_thread_dump, o->config.enabled & BRAID_EVENT_TYPE(DUMP));
	err = err ?: kernel_programs_configure(first);
	return err ?: bpf_program__set_autoload(first->progs.stack_request, p->stack_request != NULL);
}

int programs_wait(struct programs *p)
{
	if (p->loading)
		pthread_join(p->thread, NULL);
	p->loading = false;
	if (p->maps != p->first)
		braid_bpf__destroy(p->maps);
	p->maps = p->first;
	return p->load_error;
}

int programs_start(struct programs *p)
{
	int err;

	programs_follow(p, &p->options->config);
	(void)offcpu_filter_write(p->first, &p->filter);
	err = offcpu_attach(p->offcpu, p->links);
	p->started = !err;
	programs_find_threads(p);
	return err;
}

void programs_stop(struct programs *p)
{
	if (p->started) { /* detaching them takes a while */
		p->settings.end_ns = now_ns();
		(void)offcpu_settings_write(p->first, &p->settings);
	}
	p->started = false;
	offcpu_detach(p->links);
}

void programs_limits(struct programs *p, const struct braid_event_config *c, struct braid_offcpu_limits *l)
{
	offcpu_limits(l, c);
	offcpu_settings_reach(&p->settings, l);
	(void)offcpu_settings_write(p->first, &p->settings);
}

void programs_follow(struct programs *p, const struct braid_event_config *c)
{
	/* Only JVMs have locks and waits. */
	struct braid_event_config others = {.enabled = c->enabled & BRAID_EVENT_TYPE(OFFCPU),
					    .offcpu_min_ns = c->offcpu_min_ns};
	bool all = p->settings.limits.all;

	if (!others.enabled)
		p->settings.complete = 0;
	programs_limits(p, &others, &p->settings.limits);
	if (p->settings.limits.all && !all)
		programs_find_threads(p);
}

/*
 * Programs that are needed at times only are kept for this number of calm ticks. In the last of them nothing new begins
 * to need them.
 */
#define CALM_TICKS 40
#define LAST_TICKS 2

static void use_ends(struct programs *p, bool use)
{
	p->settings.ends = use;
	(void)offcpu_settings_write(p->first, &p->settings);
}

static void attach_ends(struct programs *p)
{
	int err = offcpu_attach_ends(p->offcpu, p->links);

	if (err)
		log_warning("stacks of threads that are off the CPU already are not reported: %s", strerror(-err));
	p->offcpu_calm = 0;
	p->offcpu_before = false;
	use_ends(p, !err);
}

void programs_find_threads(struct programs *p)
{
	if (!p->started || !(p->offcpu_types & BRAID_EVENT_TYPE(OFFCPU)))
		return;
	if (p->offcpu_at_start)
		attach_ends(p);
	p->settings.begin_ns = now_ns();
	(void)offcpu_settings_write(p->first, &p->settings);
	if (offcpu_find_threads(p->offcpu))
		log_warning("threads that do not run before the recording ends are not reported: %s", strerror(errno));
	else
		p->settings.complete = p->settings.limits.all;
	(void)offcpu_settings_write(p->first, &p->settings);
}

void programs_tick(struct programs *p)
{
	struct braid_offcpu_counts c;

	if (!p->started || !p->offcpu_at_start || !p->settings.complete || offcpu_counts_read(p->offcpu, &c))
		return;
	if (c.in_part != p->offcpu_in_part) {
		p->offcpu_in_part = c.in_part;
		p->offcpu_calm = 0;
		p->offcpu_before = false;
		if (!p->settings.ends)
			attach_ends(p);
	} else if (p->offcpu_calm < CALM_TICKS - LAST_TICKS) {
		p->offcpu_calm++;
	} else if (p->settings.ends) {
		p->offcpu_before = c.before;
		if (!c.before)
			use_ends(p, false);
	} else if (p->offcpu_calm < CALM_TICKS) {
		p->offcpu_calm = c.pending ? CALM_TICKS - LAST_TICKS : p->offcpu_calm + 1;
		if (p->offcpu_calm == CALM_TICKS)
			offcpu_detach_ends(p->links);
	}
}

bool programs_want_before(const struct programs *p)
{
	return p->offcpu_before;
}

void programs_before_known(struct programs *p)
{
	p->offcpu_before = false;
	use_ends(p, false);
}

void programs_free(struct programs *p)
{
	(void)programs_wait(p);
	while (p->count)
		braid_bpf__destroy(p->later[--p->count]);
	braid_bpf__destroy(p->probes);
	braid_bpf__destroy(p->dump);
}

/* ---- programs loaded later ---- */

/* The object whose map a later object uses; NULL: its own. */
static const struct braid_bpf *map_owner(const struct programs *p, const struct braid_bpf *b, const struct bpf_map *map)
{
	const struct braid_bpf *owner = p->first;

	if (bpf_map__is_internal(map)) /* variables: written ones belong to the programs of one object */
		return NULL;
	if (map == b->maps.memos || map == b->maps.rule_memos || map == b->maps.samples ||
	    map == b->maps.method_events || map == b->maps.vthread_events)
		owner = p->slots;
	if (map == b->maps.thread_times || map == b->maps.stack_reuses || map == b->maps.thread_places ||
	    map == b->maps.thread_spares || map == b->maps.vthread_times || map == b->maps.sums_even ||
	    map == b->maps.sums_odd)
		owner = p->thread_times;
	return owner == p->first ? p->maps : owner;
}

static int share_maps(const struct programs *p, struct braid_bpf *b)
{
	const struct braid_bpf *owner;
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, b->obj)
	{
		owner = map_owner(p, b, map);
		if (owner)
			err = err
				      ?: bpf_map__reuse_fd(
						 map, bpf_object__find_map_fd_by_name(owner->obj, bpf_map__name(map)));
	}
	return err;
}

/* Opens an object that has slots for events and loads no program yet. */
static int open_later(const struct programs *p, struct braid_bpf **out)
{
	struct braid_bpf *b = *out = object_open();
	struct bpf_program *program;
	int err = b ? prepare(b, p->options, true) : -errno;

	if (err)
		return err;
	bpf_object__for_each_program(program, b->obj)
	{
		err = err ?: bpf_program__set_autoload(program, false);
	}
	return err;
}

/* Makes the maps of `first` before it has loaded its programs, which takes long. */
static int make_maps(struct programs *p)
{
	struct braid_bpf *b = NULL;
	int err = open_later(p, &b);

	err = err ?: map_sizes_set(b, p->options);
	err = err ?: offcpu_size(b, true);
	err = err ?: braid_bpf__load(b);
	if (err) {
		braid_bpf__destroy(b);
		return err;
	}
	p->maps = b;
	return share_maps(p, p->first);
}

static int configure_later(const struct programs *p, struct braid_bpf *b, uint32_t offcpu, bool stack_request)
{
	struct braid_event_config config = {.enabled = offcpu, .offcpu_min_ns = p->options->config.offcpu_min_ns};
	int err;

	/* Programs that replace the earlier off-CPU programs also do their work. */
	if (offcpu)
		config.enabled |= p->options->config.enabled & BRAID_EVENT_TYPE(THREAD);
	err = offcpu_configure(b, &config, &p->filter);
	return err ?: bpf_program__set_autoload(b->progs.stack_request, stack_request);
}

/* Programs of two objects would report the same sleeps, so the earlier ones are detached first. */
static int replace_offcpu(struct programs *p, struct braid_bpf *b)
{
	int err;

	if (!p->started)
		return 0;
	offcpu_detach(p->links);
	err = offcpu_attach(b, p->links);
	if (err) {
		offcpu_detach(p->links);
		(void)offcpu_attach(p->offcpu, p->links);
	}
	return err;
}

static int load_later(struct programs *p, uint32_t offcpu, bool stack_request)
{
	struct braid_bpf *b = NULL;
	int err = p->count < PROGRAMS_LATER ? open_later(p, &b) : -ENOSPC;

	err = err ?: configure_later(p, b, offcpu, stack_request);
	err = err ?: share_maps(p, b);
	err = err ?: braid_bpf__load(b);
	if (!err && offcpu)
		err = replace_offcpu(p, b);
	if (err) {
		braid_bpf__destroy(b);
		return err;
	}
	p->later[p->count++] = b;
	if (offcpu) {
		p->offcpu = b;
		p->offcpu_types = offcpu;
		p->offcpu_at_start = b->rodata->stacks_at_start;
		if (!p->thread_times)
			p->thread_times = b;
	}
	if (stack_request)
		p->stack_request = b;
	if (!p->slots) /* not written otherwise: another thread may read it */
		p->slots = b;
	return 0;
}

static void *load_offcpu(void *ctx)
{
	struct programs *p = ctx;

	p->load_error = load_later(p, p->offcpu_types, false);
	return NULL;
}

/* The verifier takes as long for the programs that follow threads off the CPU as for all others together. */
int programs_begin(struct programs *p)
{
	int err = p->offcpu_types ? make_maps(p) : 0;

	if (err || !p->offcpu_types)
		return err;
	p->loading = !quiet_thread_start(&p->thread, load_offcpu, p);
	if (!p->loading)
		(void)load_offcpu(p);
	return p->loading ? 0 : p->load_error;
}

static int offcpu_rank(uint32_t types)
{
	return types & BRAID_EVENT_TYPE(OFFCPU) ? 2 : types & OFFCPU_TYPES ? 1 : 0;
}

/* The program of thread dumps that ctl has enabled during the recording. */
static int load_dump(struct programs *p)
{
	struct braid_bpf *b = NULL;
	int err = open_later(p, &b);

	err = err ?: bpf_program__set_autoload(b->progs.on_thread_dump, true);
	err = err ?: share_maps(p, b);
	err = err ?: braid_bpf__load(b);
	if (err)
		braid_bpf__destroy(b);
	else
		p->dump = b;
	return err;
}

static bool has_dump(const struct programs *p)
{
	return p->dump || bpf_program__fd(p->first->progs.on_thread_dump) >= 0;
}

int programs_load(struct programs *p, uint32_t types)
{
	uint32_t offcpu = p->offcpu_types | (types & OFFCPU_TYPES);
	bool stack_request = (types & TYPES_STACKS) && !p->stack_request;
	int err;

	/* lock and wait need the same programs, and those of offcpu include them unless they take stacks too early */
	if (offcpu_rank(offcpu) == offcpu_rank(p->offcpu_types) && !(p->offcpu_at_start && offcpu != p->offcpu_types))
		offcpu = 0;
	if (types & BRAID_EVENT_TYPE(DUMP) && !has_dump(p) && (err = load_dump(p)))
		return err;
	if (!offcpu && !stack_request)
		return 0;
	/* `stack_request` looks up the waker, so it has to share the map of threads. */
	return load_later(p, offcpu, stack_request || (offcpu && !p->thread_times));
}

int programs_load_probes(struct programs *p)
{
	uint32_t types = p->options->config.enabled;
	struct braid_bpf *b = NULL;
	int err;

	if (p->probes)
		return 0;
	err = open_later(p, &b);
	err = err ?: offcpu_size(b, false);
	if (!err) {
		uprobe_multi_prepare(b->progs.on_probe);
		uprobe_multi_prepare(b->progs.on_probe_stack);
	}
	err = err ?: bpf_program__set_autoload(b->progs.on_probe, types & TYPES_ANY_PROBES);
	err = err ?: bpf_program__set_autoload(b->progs.on_usdt, types & TYPES_PROBES);
	err = err ?: bpf_program__set_autoload(b->progs.on_probe_stack, types & TYPES_PROBES);
	err = err ?: bpf_program__set_autoload(b->progs.on_function, hits_have(p->options, PROBE_UPROBE));
	err = err ?: bpf_program__set_autoload(b->progs.on_return, hits_have(p->options, PROBE_URETPROBE));
	err = err ?: bpf_program__set_autoload(b->progs.on_call_timed, hits_time_returns(p->options));
	err = err ?: bpf_program__set_autoload(b->progs.on_usdt_hit, hits_have(p->options, PROBE_USDT));
	err = err ?: bpf_program__set_autoload(b->progs.on_native_alloc, hits_have(p->options, PROBE_MALLOC));
	err = err ?: bpf_program__set_autoload(b->progs.on_native_free, hits_have(p->options, PROBE_MALLOC));
	err = err ?: share_maps(p, b);
	err = err ?: braid_bpf__load(b);
	if (err) {
		braid_bpf__destroy(b);
		return err;
	}
	p->probes = b;
	return 0;
}

int programs_stack_request(const struct programs *p)
{
	return p->stack_request ? bpf_program__fd(p->stack_request->progs.stack_request) : -ENOENT;
}

int programs_vthread_times(const struct programs *p)
{
	return p->thread_times ? bpf_map__fd(p->thread_times->maps.vthread_times) : -ENOENT;
}

void programs_forget_vthreads(const struct programs *p, uint32_t slot)
{
	if (p->thread_times)
		offcpu_forget_vthreads(p->thread_times->maps.vthread_times, p->first->maps.vthread_counts, slot);
}

void programs_each_thread(const struct programs *p, offcpu_thread_fn fn, void *ctx)
{
	if (p->thread_times)
		offcpu_each_thread(p->thread_times, fn, ctx);
}

int programs_each_asleep(const struct programs *p, iterator_fn fn, void *ctx)
{
	return p->thread_times ? offcpu_each_asleep(p->offcpu, fn, ctx) : 0;
}

int programs_dump_threads(const struct programs *p, iterator_fn fn, void *ctx)
{
	const struct braid_bpf *b = p->dump ?: p->first;

	return iterator_run(b->progs.on_thread_dump, sizeof(struct braid_dump_thread), fn, ctx);
}

/* The map of the turn before has not been written since it ended, which was at the last call. */
void programs_take_sums(struct programs *p, offcpu_sum_fn fn, void *ctx)
{
	if (!p->thread_times)
		return;
	offcpu_each_sum(p->thread_times, p->settings.turn + 1, fn, ctx);
	if (p->started) {
		p->settings.turn++;
		(void)offcpu_settings_write(p->first, &p->settings);
	} else {
		offcpu_each_sum(p->thread_times, p->settings.turn, fn, ctx);
	}
}
