// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_side.h"

#include "braid.skel.h"
#include "kernel/programs.h"
#include "kernel/tracepoint.h"
#include "util/log.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Extents are handed out in powers of two, and go back to the list of their size. */
#define EXTENT_CLASSES 17

struct extent_list {
	uint32_t *first;
	size_t count, capacity;
};

struct kernel_side {
	struct braid_bpf *skel;
	struct kernel_limits limits;
	struct braid_mapping *mappings;
	struct braid_table *tables;
	struct braid_page *pages;
	struct braid_unwind_row *rows;
	uint32_t mappings_used, tables_used, pages_used, rows_used;
	struct extent_list spare[EXTENT_CLASSES];
	struct extent_list limbo[EXTENT_CLASSES]; /* dropped since the last tick */
	struct ring_buffer *events;
	struct ring_buffer *records;
	kernel_event_fn fn;
	void *fn_ctx;
	int *perf_fds; /* what ticks: a clock on each CPU, or one tracepoint */
	struct bpf_link **perf_links;
	int perf_count;
	struct bpf_link *fork_link, *exec_link;
	struct programs programs;
	int tracepoint_fd; /* or -1 */
	uint64_t slots_used[BRAID_MAX_JVMS / 64];
};

static int quiet_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_DEBUG || log_verbosity < 1)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct kernel_side *k = ctx;
	const struct braid_event *e = data;

	if (size >= sizeof(*e) && e->size <= size)
		k->fn(k->fn_ctx, e);
	return 0;
}

static void *map_memory(const struct bpf_map *map, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

static int explain_load(int err)
{
	if (err == -EPERM || err == -EACCES)
		log_error("cannot load the eBPF programs: permission denied; run as root, or with CAP_BPF, CAP_PERFMON "
			  "and "
			  "CAP_SYS_PTRACE (`braid doctor` tells which is missing)");
	else
		log_error("cannot load the eBPF programs: %s; `braid doctor` tells what this kernel lacks, -v shows "
			  "why it "
			  "refused",
			  strerror(-err));
	return err;
}

#define WANT_PROBES (BRAID_WANT(SAFEPOINT) | BRAID_WANT(JIT))

static int set_sizes(struct kernel_side *k, const struct record_options *o)
{
	struct braid_bpf *b = k->skel;
	int err;

	k->limits =
		(struct kernel_limits){.mappings = 1 << 16, .pages = 1 << 19, .rows = 1 << 22, .event_bytes = 1 << 23};
	if (o->system_wide)
		k->limits = (struct kernel_limits){
			.mappings = 1 << 18, .pages = 1 << 20, .rows = 1 << 23, .event_bytes = 1 << 25};
	err = bpf_map__set_max_entries(b->maps.mappings, k->limits.mappings);
	err = err ?: bpf_map__set_max_entries(b->maps.pages, k->limits.pages);
	err = err ?: bpf_map__set_max_entries(b->maps.rows, k->limits.rows);
	return err ?: bpf_map__set_max_entries(b->maps.events, k->limits.event_bytes);
}

/* The verifier takes its time for each program that walks: only what is used is loaded. */
static int choose_programs(struct kernel_side *k, const struct record_options *o)
{
	bool tracepoint = tracepoint_named(o->event);
	int err = bpf_program__set_autoload(k->skel->progs.on_tracepoint, tracepoint);

	err = err ?: programs_choose(&k->programs, k->skel, o);
	err = err
		      ?: bpf_program__set_autoload(k->skel->progs.on_probe,
						   o->choices.wanted & (WANT_PROBES | BRAID_WANT(GC)));
	err = err ?: bpf_program__set_autoload(k->skel->progs.on_usdt, o->choices.wanted & WANT_PROBES);
	err = err ?: bpf_program__set_autoload(k->skel->progs.on_probe_stack, o->choices.wanted & WANT_PROBES);
	return err ?: bpf_program__set_autoload(k->skel->progs.on_sample, *o->event && !tracepoint);
}

static int map_arrays(struct kernel_side *k)
{
	struct braid_bpf *b = k->skel;

	k->mappings = map_memory(b->maps.mappings, k->limits.mappings * sizeof(*k->mappings));
	k->tables = map_memory(b->maps.tables, bpf_map__max_entries(b->maps.tables) * sizeof(*k->tables));
	k->pages = map_memory(b->maps.pages, k->limits.pages * sizeof(*k->pages));
	k->rows = map_memory(b->maps.rows, k->limits.rows * sizeof(*k->rows));
	return k->mappings && k->tables && k->pages && k->rows ? 0 : -ENOMEM;
}

int kernel_side_open(struct kernel_side **out, const struct record_options *o)
{
	struct kernel_side *k = calloc(1, sizeof(*k));
	int err = -ENOMEM;

	*out = NULL;
	if (!k)
		return -ENOMEM;
	k->tracepoint_fd = -1;
	if (tracepoint_named(o->event)) {
		err = k->tracepoint_fd = tracepoint_open(o->event);
		if (err < 0)
			goto out;
	}
	libbpf_set_print(quiet_libbpf);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	k->skel = braid_bpf__open();
	if (!k->skel) {
		err = explain_load(-errno);
		goto out;
	}
	err = set_sizes(k, o);
	err = err ?: choose_programs(k, o);
	err = err ?: braid_bpf__load(k->skel);
	err = err ?: map_arrays(k);
	if (err) {
		explain_load(err);
		goto out;
	}
	k->events = ring_buffer__new(bpf_map__fd(k->skel->maps.events), on_event, k, NULL);
	k->records = ring_buffer__new(bpf_map__fd(k->skel->maps.records), on_event, k, NULL);
	if (!k->events || !k->records) {
		err = explain_load(-errno);
		goto out;
	}
	/* What processes do is followed before the first of them is looked at. */
	k->fork_link = bpf_program__attach(k->skel->progs.on_fork);
	k->exec_link = bpf_program__attach(k->skel->progs.on_exec);
	if (!k->fork_link || !k->exec_link) {
		err = explain_load(-errno);
		goto out;
	}
	*out = k;
	return 0;
out:
	kernel_side_free(k);
	return err;
}

static int open_perf_event(const struct record_options *o, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = (uint64_t)o->frequency_hz,
		.exclude_idle = 1,
		.disabled = 1,
	};
	int fd;

	if (strcmp(o->event, "cycles") == 0) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
	}
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int explain_perf(int err, const struct record_options *o, int cpu)
{
	if (err == -ENOENT || err == -EOPNOTSUPP)
		log_error("no '%s' event on this machine (virtual machines often have no PMU); use -e cpu-clock",
			  o->event);
	else if (err == -EINVAL)
		log_error("cannot sample at %d Hz: the limit is sysctl kernel.perf_event_max_sample_rate",
			  o->frequency_hz);
	else if (err == -EACCES || err == -EPERM)
		log_error("cannot open a perf event on CPU %d: permission denied; run as root or with CAP_PERFMON",
			  cpu);
	else
		log_error("cannot open a perf event on CPU %d: %s", cpu, strerror(-err));
	return err;
}

static int start_tracepoint(struct kernel_side *k)
{
	k->perf_links[0] = bpf_program__attach_perf_event(k->skel->progs.on_tracepoint, k->tracepoint_fd);
	if (!k->perf_links[0])
		return explain_load(-errno);
	k->perf_fds[k->perf_count++] = k->tracepoint_fd; /* owned by the link */
	k->tracepoint_fd = -1;
	return 0;
}

static int start_clock(struct kernel_side *k, const struct record_options *o)
{
	int n = libbpf_num_possible_cpus(), fd;

	for (int cpu = 0; cpu < n; cpu++) {
		fd = open_perf_event(o, cpu);
		if (fd == -ENODEV) /* offline */
			continue;
		if (fd < 0)
			return explain_perf(fd, o, cpu);
		k->perf_links[k->perf_count] = bpf_program__attach_perf_event(k->skel->progs.on_sample, fd);
		if (!k->perf_links[k->perf_count]) {
			close(fd);
			return explain_load(-errno);
		}
		k->perf_fds[k->perf_count++] = fd; /* owned by the link */
	}
	for (int i = 0; i < k->perf_count; i++)
		if (ioctl(k->perf_fds[i], PERF_EVENT_IOC_ENABLE, 0))
			return explain_perf(-errno, o, i);
	return 0;
}

int kernel_side_start(struct kernel_side *k, const struct record_options *o)
{
	size_t n = (size_t)libbpf_num_possible_cpus();
	int err = programs_start(&k->programs);

	if (err)
		return explain_load(err);
	if (!*o->event)
		return 0;
	k->perf_fds = calloc(n, sizeof(*k->perf_fds));
	k->perf_links = calloc(n, sizeof(*k->perf_links));
	if (!k->perf_fds || !k->perf_links)
		return -ENOMEM;
	return k->tracepoint_fd >= 0 ? start_tracepoint(k) : start_clock(k, o);
}

int kernel_side_sample(struct kernel_side *k, bool on)
{
	if (!k->perf_count)
		return -ENOENT;
	for (int i = 0; i < k->perf_count; i++)
		if (ioctl(k->perf_fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			return -errno;
	return 0;
}

void kernel_side_stop(struct kernel_side *k)
{
	for (int i = 0; i < k->perf_count; i++)
		bpf_link__destroy(k->perf_links[i]);
	k->perf_count = 0;
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
	if (k->mappings)
		munmap(k->mappings, k->limits.mappings * sizeof(*k->mappings));
	if (k->tables)
		munmap(k->tables, bpf_map__max_entries(k->skel->maps.tables) * sizeof(*k->tables));
	if (k->pages)
		munmap(k->pages, k->limits.pages * sizeof(*k->pages));
	if (k->rows)
		munmap(k->rows, k->limits.rows * sizeof(*k->rows));
	if (k->tracepoint_fd >= 0)
		close(k->tracepoint_fd);
	programs_free(&k->programs);
	braid_bpf__destroy(k->skel);
	for (int i = 0; i < EXTENT_CLASSES; i++) {
		free(k->spare[i].first);
		free(k->limbo[i].first);
	}
	free(k->perf_fds);
	free(k->perf_links);
	free(k);
}

struct braid_bpf *kernel_side_programs(struct kernel_side *k)
{
	return k->skel;
}

/* ---- tables and mappings ---- */

uint32_t kernel_side_add_table(struct kernel_side *k, const struct unwind_table *t)
{
	uint32_t id = k->tables_used;

	if (id >= bpf_map__max_entries(k->skel->maps.tables) || t->row_count > k->limits.rows - k->rows_used ||
	    t->page_count > k->limits.pages - k->pages_used)
		return BRAID_NO_TABLE;
	memcpy(k->rows + k->rows_used, t->rows, t->row_count * sizeof(*t->rows));
	for (uint32_t i = 0; i < t->page_count; i++)
		k->pages[k->pages_used + i] = (struct braid_page){.first = t->index[i], .end = t->index[i + 1]};
	k->tables[id] = (struct braid_table){.first_page = t->first_page,
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
	const struct braid_table *t = &k->tables[table];
	const struct braid_unwind_row *rows;
	uint64_t page;
	uint32_t low, high;

	if (table >= k->tables_used || (page = (vaddr >> BRAID_UNWIND_PAGE_SHIFT) - t->first_page) >= t->page_count)
		return BRAID_CFA_NONE;
	rows = k->rows + t->rows_at;
	low = k->pages[t->pages_at + page].first;
	high = k->pages[t->pages_at + page].end;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows[middle].pc <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? rows[low - 1].rule : BRAID_CFA_NONE;
}

static int extent_class(uint32_t count)
{
	int class = 0;

	while ((1U << class) < count)
		class ++;
	return class;
}

static int extent_push(struct extent_list *l, uint32_t first)
{
	uint32_t *bigger;

	if (l->count == l->capacity) {
		size_t capacity = l->capacity ? l->capacity * 2 : 16;

		bigger = realloc(l->first, capacity * sizeof(*l->first));
		if (!bigger)
			return -ENOMEM;
		l->first = bigger;
		l->capacity = capacity;
	}
	l->first[l->count++] = first;
	return 0;
}

int kernel_side_add_mappings(struct kernel_side *k, const struct braid_mapping *m, uint32_t count,
			     struct mapping_extent *out)
{
	int class = extent_class(count);
	struct extent_list *spare;

	*out = (struct mapping_extent){0};
	if (!count)
		return 0;
	if (class >= EXTENT_CLASSES)
		return -ENOSPC;
	spare = &k->spare[class];
	if (spare->count) {
		out->first = spare->first[--spare->count];
	} else if (k->limits.mappings - k->mappings_used >= 1U << class) {
		out->first = k->mappings_used;
		k->mappings_used += 1U << class;
	} else {
		return -ENOSPC;
	}
	out->count = count;
	memcpy(k->mappings + out->first, m, count * sizeof(*m));
	return 0;
}

void kernel_side_drop_mappings(struct kernel_side *k, struct mapping_extent extent)
{
	/* Without memory for the list the extent is never used again, which costs room but nothing else. */
	if (extent.count)
		(void)extent_push(&k->limbo[extent_class(extent.count)], extent.first);
}

void kernel_side_tick(struct kernel_side *k)
{
	for (int i = 0; i < EXTENT_CLASSES; i++) {
		for (size_t n = 0; n < k->limbo[i].count; n++)
			(void)extent_push(&k->spare[i], k->limbo[i].first[n]);
		k->limbo[i].count = 0;
	}
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

int kernel_side_consume_samples(struct kernel_side *k, kernel_event_fn fn, void *ctx)
{
	k->fn = fn;
	k->fn_ctx = ctx;
	return ring_buffer__consume(k->events);
}

int kernel_side_add_ring(struct kernel_side *k, int ring_fd, uint32_t *generation)
{
	int jvms = bpf_map__fd(k->skel->maps.jvms), err;
	struct braid_jvm jvm;
	uint32_t slot;

	for (slot = 0; slot < BRAID_MAX_JVMS; slot++)
		if (!(k->slots_used[slot / 64] >> slot % 64 & 1))
			break;
	if (slot == BRAID_MAX_JVMS)
		return -ENOSPC;
	err = bpf_map_lookup_elem(jvms, &slot, &jvm);
	jvm.generation++;
	jvm.epoch++; /* stacks of the slot's earlier JVM are not this one's */
	jvm.class_unloads = jvm.code_unloads = jvm.code_unloads_seen = jvm.code_unload_ns = 0;
	memset(&jvm.layout, 0, sizeof(jvm.layout));
	err = err ?: bpf_map_update_elem(jvms, &slot, &jvm, BPF_ANY);
	err = err ?: bpf_map_update_elem(bpf_map__fd(k->skel->maps.rings), &slot, &ring_fd, BPF_ANY);
	if (err)
		return err;
	k->slots_used[slot / 64] |= 1ULL << slot % 64;
	*generation = jvm.generation;
	return (int)slot;
}

void kernel_side_redefined(struct kernel_side *k, uint32_t slot)
{
	int jvms = bpf_map__fd(k->skel->maps.jvms);
	struct braid_jvm jvm;

	/* The drain, which writes it too, runs when this thread calls it. */
	if (bpf_map_lookup_elem(jvms, &slot, &jvm) || !jvm.class_unloads)
		return;
	jvm.class_unloads = 0;
	(void)bpf_map_update_elem(jvms, &slot, &jvm, BPF_ANY);
}

void kernel_side_choose(struct kernel_side *k, uint32_t slot, const struct braid_choices *choices)
{
	int jvms = bpf_map__fd(k->skel->maps.jvms);
	struct braid_jvm jvm;

	if (bpf_map_lookup_elem(jvms, &slot, &jvm))
		return;
	offcpu_limits(&jvm, choices);
	(void)bpf_map_update_elem(jvms, &slot, &jvm, BPF_ANY);
}

void kernel_side_remove_ring(struct kernel_side *k, uint32_t slot)
{
	bpf_map_delete_elem(bpf_map__fd(k->skel->maps.rings), &slot);
	k->slots_used[slot / 64] &= ~(1ULL << slot % 64);
}

int kernel_side_drain(struct kernel_side *k, uint32_t slot, kernel_event_fn fn, void *ctx, struct braid_drain *total)
{
	kernel_event_fn outer_fn = k->fn; /* an event at hand may need what a ring holds */
	void *outer_ctx = k->fn_ctx;
	struct braid_drain d;
	int err;

	k->fn = fn;
	k->fn_ctx = ctx;
	do {
		LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &d, .ctx_size_in = sizeof(d));

		d = (struct braid_drain){.slot = slot};
		err = bpf_prog_test_run_opts(bpf_program__fd(k->skel->progs.drain), &run);
		if (err)
			break;
		total->records += d.records;
		total->bad += d.bad;
		total->lost += d.lost;
		err = ring_buffer__consume(k->records);
		err = err < 0 ? err : (int)run.retval;
	} while (err >= 0 && d.more);
	k->fn = outer_fn;
	k->fn_ctx = outer_ctx;
	return err < 0 ? err : 0;
}

int kernel_side_demand(const struct kernel_side *k)
{
	return programs_demand(&k->programs);
}

int kernel_side_sleepers(const struct kernel_side *k)
{
	return programs_sleepers(&k->programs);
}

int kernel_side_load(struct kernel_side *k, uint32_t wanted)
{
	int err = programs_load(&k->programs, wanted);

	return err ? explain_load(err) : 0;
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
