// SPDX-License-Identifier: Apache-2.0
#include "kernel_side.h"

#include "braid.skel.h"
#include "hits.h"
#include "map_sizes.h"
#include "map_window.h"
#include "object.h"
#include "offcpu_filter.h"
#include "programs.h"
#include "sampler.h"
#include "strays.h"
#include "util/log.h"
#include "util/search.h"
#include "util/vec.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Extents have sizes of powers of two, and return to the list of their size. */
#define EXTENT_CLASSES 17

typedef VEC(uint32_t) extent_list; /* first entries */

struct kernel_side {
	struct braid_bpf *skel;
	struct map_window mappings, tables, pages, rows;
	uint32_t mappings_used, tables_used, pages_used, rows_used;
	extent_list spare[EXTENT_CLASSES];
	extent_list limbo[EXTENT_CLASSES]; /* dropped since the last tick */
	struct ring_buffer *events;
	struct ring_buffer *records;
	kernel_event_fn event_fn;
	kernel_record_fn record_fn;
	void *fn_ctx;
	size_t event_budget; /* bytes left to read in this call */
	struct sampler sampler;
	struct bpf_link *fork_link, *exec_link;
	struct programs programs;
	struct hits hits;
	struct strays strays;
	uint64_t slots_used[BRAID_MAX_JVMS / 64];
};

static int quiet_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (log_verbosity < (level == LIBBPF_DEBUG ? 2 : 1))
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static bool is_whole(const struct braid_event *e, size_t size)
{
	return size >= sizeof(*e) && e->size <= size;
}

/* A JVM's threads can request stacks as fast as they are read, so the budget leaves other sources their turn. */
static int on_event(void *ctx, void *data, size_t size)
{
	struct kernel_side *k = ctx;
	size_t bytes = size + BPF_RINGBUF_HDR_SZ;
	bool more = !is_whole(data, size) || k->event_fn(k->fn_ctx, data);

	k->event_budget -= bytes < k->event_budget ? bytes : k->event_budget;
	return more && k->event_budget ? 0 : -ECANCELED;
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct kernel_side *k = ctx;

	if (is_whole(data, size))
		k->record_fn(k->fn_ctx, data);
	return 0;
}

/* 0: nothing is to be said. */
static int explain_load(int err)
{
	if (!err)
		return 0;
	if (err == -EPERM || err == -EACCES)
		log_error("cannot load the eBPF programs: permission denied; run as root, or with CAP_BPF, CAP_PERFMON "
			  "and CAP_SYS_PTRACE (`braid doctor` shows which is missing)");
	else
		log_error("cannot load the eBPF programs: %s; `braid doctor` shows what this kernel lacks, -v shows "
			  "why it refused",
			  strerror(-err));
	return err;
}

/* The verifier takes long for each program that walks stacks, so only those in use are loaded. */
static int configure_programs(struct kernel_side *k, const struct record_options *o,
			      const struct braid_offcpu_filter *filter)
{
	int err = bpf_program__set_autoload(k->skel->progs.on_tracepoint, hits_have(o, PROBE_TRACEPOINT));

	err = err ?: bpf_program__set_autoload(k->skel->progs.on_counter, hits_have(o, PROBE_COUNTER));
	err = err ?: programs_configure(&k->programs, k->skel, o, filter);
	return err ?: bpf_program__set_autoload(k->skel->progs.on_sample, o->clock);
}

static int open_windows(struct kernel_side *k)
{
	struct braid_bpf *b = k->skel;
	int err = map_window_open(&k->mappings, b->maps.mappings);

	err = err ?: map_window_open(&k->tables, b->maps.tables);
	err = err ?: map_window_open(&k->pages, b->maps.pages);
	return err ?: map_window_open(&k->rows, b->maps.rows);
}

static int attach_hits(struct kernel_side *k, const struct record_options *o)
{
	int err = hits_in_files(o) ? programs_load_probes(&k->programs) : 0;

	return err ? explain_load(err) : hits_attach(&k->hits, k->skel, k->programs.probes);
}

int kernel_side_open(struct kernel_side **out, const struct record_options *o)
{
	struct kernel_side *k = calloc(1, sizeof(*k));
	struct braid_offcpu_filter filter;
	int err = -ENOMEM;

	*out = NULL;
	if (!k)
		return -ENOMEM;
	err = hits_find(&k->hits, o);
	err = err ?: offcpu_filter_find(&filter, o->offcpu);
	if (err)
		goto out;
	libbpf_set_print(quiet_libbpf);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	k->skel = object_open();
	if (!k->skel) {
		err = explain_load(-errno);
		goto out;
	}
	err = map_sizes_set(k->skel, o);
	err = err ?: configure_programs(k, o, &filter);
	err = err ?: programs_begin(&k->programs);
	err = err ?: braid_bpf__load(k->skel);
	err = err ?: open_windows(k);
	if (err) {
		explain_load(err);
		goto out;
	}
	k->events = ring_buffer__new(bpf_map__fd(k->skel->maps.events), on_event, k, NULL);
	k->records = ring_buffer__new(bpf_map__fd(k->skel->maps.records), on_record, k, NULL);
	if (!k->events || !k->records) {
		err = explain_load(-errno);
		goto out;
	}
	/* Forks and execs are followed before the first process is read. */
	k->fork_link = bpf_program__attach(k->skel->progs.on_fork);
	k->exec_link = bpf_program__attach(k->skel->progs.on_exec);
	if (!k->fork_link || !k->exec_link) {
		err = explain_load(-errno);
		goto out;
	}
	err = attach_hits(k, o);
	if (err)
		goto out;
	*out = k;
	return 0;
out:
	kernel_side_free(k);
	return err;
}

int kernel_side_wait(struct kernel_side *k)
{
	return explain_load(programs_wait(&k->programs));
}

int kernel_side_start(struct kernel_side *k, const struct record_options *o)
{
	int err = explain_load(programs_start(&k->programs) ?: hits_enable(&k->hits, true));

	if (err)
		return err;
	return o->clock ? sampler_start_clock(&k->sampler, k->skel->progs.on_sample, o) : 0;
}

int kernel_side_sample(struct kernel_side *k, bool on)
{
	const struct record_options *o = k->hits.options;

	return !o->clock && o->probe_count ? hits_enable(&k->hits, on) : sampler_enable(&k->sampler, on);
}

void kernel_side_hits(const struct kernel_side *k, uint32_t number, uint64_t *hits, uint64_t *lost)
{
	hits_counts(&k->hits, number, hits, lost);
}

void kernel_side_stop(struct kernel_side *k)
{
	sampler_stop(&k->sampler);
	hits_detach(&k->hits);
	programs_stop(&k->programs);
	bpf_link__destroy(k->fork_link);
	bpf_link__destroy(k->exec_link);
	k->fork_link = k->exec_link = NULL;
}

void kernel_side_free(struct kernel_side *k)
{
	if (!k)
		return;
	kernel_side_stop(k);
	ring_buffer__free(k->events);
	ring_buffer__free(k->records);
	map_window_close(&k->mappings);
	map_window_close(&k->tables);
	map_window_close(&k->pages);
	map_window_close(&k->rows);
	hits_close(&k->hits);
	programs_free(&k->programs);
	braid_bpf__destroy(k->skel);
	for (int i = 0; i < EXTENT_CLASSES; i++) {
		free(k->spare[i].at);
		free(k->limbo[i].at);
	}
	free(k);
}

int kernel_side_load_probes(struct kernel_side *k, const struct braid_bpf **programs)
{
	int err = programs_load_probes(&k->programs);

	*programs = k->programs.probes;
	return err;
}

int kernel_side_map(const struct kernel_side *k, enum kernel_map map)
{
	const struct bpf_map *const maps[] = {[KERNEL_MAP_PROBED] = k->skel->maps.probed,
					      [KERNEL_MAP_NATIVE_BLOCKS] = k->skel->maps.native_blocks,
					      [KERNEL_MAP_NATIVE_COUNTS] = k->skel->maps.native_counts,
					      [KERNEL_MAP_BLOCK_REQUESTS] = k->skel->maps.block_requests};

	return bpf_map__fd(maps[map]);
}

/* ---- tables and mappings ---- */

struct kernel_room kernel_side_room(const struct kernel_side *k)
{
	return (struct kernel_room){
		.mappings = bpf_map__max_entries(k->skel->maps.mappings),
		.tables = bpf_map__max_entries(k->skel->maps.tables),
		.rows = bpf_map__max_entries(k->skel->maps.rows),
		.pages = bpf_map__max_entries(k->skel->maps.pages),
	};
}

uint32_t kernel_side_add_table(struct kernel_side *k, const struct unwind_table *t)
{
	uint32_t id = k->tables_used;
	struct braid_page *pages;

	if (map_window_reach(&k->tables, id + 1UL) ||
	    map_window_reach(&k->pages, (size_t)k->pages_used + t->page_count) ||
	    map_window_reach(&k->rows, (size_t)k->rows_used + t->row_count))
		return BRAID_NO_TABLE;
	pages = (struct braid_page *)k->pages.base + k->pages_used;
	memcpy((struct braid_unwind_row *)k->rows.base + k->rows_used, t->rows, t->row_count * sizeof(*t->rows));
	for (uint32_t i = 0; i < t->page_count; i++)
		pages[i] = (struct braid_page){.first = t->index[i], .end = t->index[i + 1]};
	((struct braid_table *)k->tables.base)[id] = (struct braid_table){.first_page = t->first_page,
									  .page_count = t->page_count,
									  .pages_at = k->pages_used,
									  .rows_at = k->rows_used};
	k->rows_used += t->row_count;
	k->pages_used += t->page_count;
	k->tables_used++;
	return id;
}

uint32_t kernel_side_rule(const struct kernel_side *k, uint32_t table, uint64_t vaddr)
{
	const struct braid_table *t = (const struct braid_table *)k->tables.base + table;
	const struct braid_unwind_row *rows;
	const struct braid_page *p;
	uint64_t page;
	size_t low;

	if (table >= k->tables_used || (page = (vaddr >> BRAID_UNWIND_PAGE_SHIFT) - t->first_page) >= t->page_count)
		return BRAID_CFA_NONE;
	rows = (const struct braid_unwind_row *)k->rows.base + t->rows_at;
	p = (const struct braid_page *)k->pages.base + t->pages_at + page;
	low = SEARCH(i, p->first, p->end, rows[i].pc <= vaddr);
	return low ? rows[low - 1].rule : BRAID_CFA_NONE;
}

static int extent_class(uint32_t count)
{
	int log2 = 0;

	while ((1U << log2) < count)
		log2++;
	return log2;
}

int kernel_side_add_mappings(struct kernel_side *k, const struct braid_mapping *m, uint32_t count,
			     struct mapping_extent *out)
{
	int class = extent_class(count);
	extent_list *spare;

	*out = (struct mapping_extent){0};
	if (!count)
		return 0;
	if (class >= EXTENT_CLASSES)
		return -ENOSPC;
	spare = &k->spare[class];
	if (spare->count) {
		out->first = spare->at[--spare->count];
	} else {
		int err = map_window_reach(&k->mappings, k->mappings_used + (1UL << class));

		if (err)
			return err;
		out->first = k->mappings_used;
		k->mappings_used += 1U << class;
	}
	out->count = count;
	memcpy((struct braid_mapping *)k->mappings.base + out->first, m, count * sizeof(*m));
	return 0;
}

void kernel_side_drop_mappings(struct kernel_side *k, struct mapping_extent extent)
{
	/* Without memory for the list, the extent is never reused, which only costs room. */
	if (extent.count)
		(void)VEC_PUSH(&k->limbo[extent_class(extent.count)], extent.first);
}

void kernel_side_tick(struct kernel_side *k)
{
	for (int i = 0; i < EXTENT_CLASSES; i++) {
		for (size_t n = 0; n < k->limbo[i].count; n++)
			(void)VEC_PUSH(&k->spare[i], k->limbo[i].at[n]);
		k->limbo[i].count = 0;
	}
	programs_tick(&k->programs);
}

int kernel_side_set_process(struct kernel_side *k, pid_t pid, const struct braid_process *p)
{
	uint32_t key = (uint32_t)pid;

	return bpf_map_update_elem(bpf_map__fd(k->skel->maps.processes), &key, p, BPF_ANY);
}

void kernel_side_remove_process(struct kernel_side *k, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(k->skel->maps.processes), &key);
}

/* ---- events and rings ---- */

int kernel_side_events(const struct kernel_side *k)
{
	return bpf_map__fd(k->skel->maps.events);
}

size_t kernel_side_event_bytes(const struct kernel_side *k)
{
	return bpf_map__max_entries(k->skel->maps.events);
}

void kernel_side_read_events(struct kernel_side *k, kernel_event_fn fn, void *ctx, size_t *budget)
{
	k->event_fn = fn;
	k->fn_ctx = ctx;
	k->event_budget = *budget;
	(void)ring_buffer__consume(k->events);
	*budget = k->event_budget;
}

void kernel_side_forget_stacks(struct kernel_side *k)
{
	map_window_clear(k->skel->maps.sent_stacks);
}

void kernel_side_forget_spans(struct kernel_side *k)
{
	map_window_clear(k->skel->maps.sent_spans);
}

int kernel_side_add_jvm(struct kernel_side *k, const struct braid_event_config *config, uint32_t *generation)
{
	int jvms = bpf_map__fd(k->skel->maps.jvms), err;
	const struct braid_request_share nothing = {0};
	struct braid_jvm jvm, fresh;
	uint32_t slot;

	for (slot = 0; slot < BRAID_MAX_JVMS; slot++)
		if (!(k->slots_used[slot / 64] >> slot % 64 & 1))
			break;
	if (slot == BRAID_MAX_JVMS)
		return -ENOSPC;
	err = bpf_map_lookup_elem(jvms, &slot, &jvm);
	/* Stacks of the slot's earlier JVM must not be taken for this one's. */
	fresh = (struct braid_jvm){.generation = jvm.generation + 1, .epoch = jvm.epoch + 1};
	programs_limits(&k->programs, config, &fresh.offcpu);
	err = err ?: bpf_map_update_elem(jvms, &slot, &fresh, BPF_ANY);
	err = err ?: bpf_map_update_elem(bpf_map__fd(k->skel->maps.request_shares), &slot, &nothing, BPF_ANY);
	if (err)
		return err;
	k->slots_used[slot / 64] |= 1ULL << slot % 64;
	*generation = fresh.generation;
	return (int)slot;
}

void kernel_side_remove_jvm(struct kernel_side *k, uint32_t slot)
{
	k->slots_used[slot / 64] &= ~(1ULL << slot % 64);
}

bool kernel_side_request_share(const struct kernel_side *k, uint32_t slot, struct braid_request_share *share)
{
	return !bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.request_shares), &slot, share);
}

const struct probe_spec *kernel_side_hit(const struct kernel_side *k, uint32_t number)
{
	return &k->hits.at[number].spec;
}

void kernel_side_lost(struct kernel_side *k, kernel_lost_fn fn, void *ctx)
{
	strays_read(&k->strays, bpf_map__fd(k->skel->maps.strays), fn, ctx);
}

void kernel_side_layout(struct kernel_side *k, uint32_t slot, const struct braid_layout *l,
			const struct braid_statics *v)
{
	int jvms = bpf_map__fd(k->skel->maps.jvms);
	struct braid_jvm jvm;

	if (bpf_map_lookup_elem(jvms, &slot, &jvm))
		return;
	jvm.layout = *l;
	jvm.statics = *v;
	(void)bpf_map_update_elem(jvms, &slot, &jvm, BPF_ANY);
}

int kernel_side_add_ring(struct kernel_side *k, uint32_t slot, int ring_fd)
{
	return bpf_map_update_elem(bpf_map__fd(k->skel->maps.rings), &slot, &ring_fd, BPF_ANY);
}

void kernel_side_redefined(struct kernel_side *k, uint32_t slot)
{
	int jvms = bpf_map__fd(k->skel->maps.jvms);
	struct braid_jvm jvm;

	/* The drain also writes this, but only runs when this thread calls it. */
	if (bpf_map_lookup_elem(jvms, &slot, &jvm) || !jvm.class_unloads)
		return;
	jvm.class_unloads = 0;
	(void)bpf_map_update_elem(jvms, &slot, &jvm, BPF_ANY);
}

void kernel_side_configure(struct kernel_side *k, uint32_t slot, const struct braid_event_config *config)
{
	int jvms = bpf_map__fd(k->skel->maps.jvms);
	struct braid_jvm jvm;
	bool all;

	if (bpf_map_lookup_elem(jvms, &slot, &jvm))
		return;
	all = jvm.offcpu.all;
	programs_limits(&k->programs, config, &jvm.offcpu);
	(void)bpf_map_update_elem(jvms, &slot, &jvm, BPF_ANY);
	if (jvm.offcpu.all && !all)
		programs_find_threads(&k->programs);
}

void kernel_side_follow(struct kernel_side *k, const struct braid_event_config *config)
{
	programs_follow(&k->programs, config);
}

void kernel_side_remove_ring(struct kernel_side *k, uint32_t slot)
{
	bpf_map_delete_elem(bpf_map__fd(k->skel->maps.rings), &slot);
}

int kernel_side_symbol(const struct kernel_side *k, uint64_t address, char **text)
{
	*text = k->skel->bss->kernel_symbol_text;
	return object_run(k->skel->progs.kernel_symbol, &address, sizeof(address));
}

int kernel_side_drain(struct kernel_side *k, uint32_t slot, kernel_record_fn fn, void *ctx, struct braid_drain *total)
{
	struct braid_drain d;
	int result, err;

	k->record_fn = fn;
	k->fn_ctx = ctx;
	do {
		d = (struct braid_drain){.slot = slot, .budget = total->budget};
		result = object_run(k->skel->progs.drain, &d, sizeof(d));
		total->records += d.records;
		total->bad += d.bad;
		total->lost += d.lost;
		total->budget = d.budget;
		err = ring_buffer__consume(k->records);
		err = err < 0 ? err : result;
	} while (err >= 0 && d.more && d.budget);
	total->more = err >= 0 && d.more;
	return err < 0 ? err : 0;
}

int kernel_side_stack_request(const struct kernel_side *k)
{
	return programs_stack_request(&k->programs);
}

uint64_t kernel_side_followed_until(const struct kernel_side *k)
{
	return k->programs.settings.end_ns;
}

void kernel_side_each_thread(const struct kernel_side *k, kernel_thread_fn fn, void *ctx)
{
	programs_each_thread(&k->programs, fn, ctx);
}

int kernel_side_vthread_times(const struct kernel_side *k)
{
	return programs_vthread_times(&k->programs);
}

void kernel_side_forget_vthreads(const struct kernel_side *k, uint32_t slot)
{
	programs_forget_vthreads(&k->programs, slot);
}

int kernel_side_each_asleep(const struct kernel_side *k, void (*fn)(void *ctx, const void *thread), void *ctx)
{
	return programs_each_asleep(&k->programs, fn, ctx);
}

bool kernel_side_wants_before(const struct kernel_side *k)
{
	return programs_want_before(&k->programs);
}

void kernel_side_before_known(struct kernel_side *k)
{
	programs_before_known(&k->programs);
}

int kernel_side_dump_threads(const struct kernel_side *k, void (*fn)(void *ctx, const void *thread), void *ctx)
{
	return programs_dump_threads(&k->programs, fn, ctx);
}

int kernel_side_load(struct kernel_side *k, uint32_t types)
{
	return explain_load(programs_load(&k->programs, types));
}

void kernel_side_counters(struct kernel_side *k, struct braid_counters *sum)
{
	int n = libbpf_num_possible_cpus();
	struct braid_counters *each = calloc((size_t)n, sizeof(*each));
	uint32_t zero = 0;

	memset(sum, 0, sizeof(*sum));
	if (each && !bpf_map_lookup_elem(bpf_map__fd(k->skel->maps.counters), &zero, each)) {
		for (int i = 0; i < n; i++)
			for (size_t f = 0; f < sizeof(*sum) / sizeof(uint64_t); f++)
				((uint64_t *)sum)[f] += ((uint64_t *)&each[i])[f];
	}
	free(each);
}

const struct braid_offcpu_filter *kernel_side_offcpu_filter(const struct kernel_side *k)
{
	return &k->programs.filter;
}

void kernel_side_take_sums(struct kernel_side *k, kernel_sum_fn fn, void *ctx)
{
	programs_take_sums(&k->programs, fn, ctx);
}
