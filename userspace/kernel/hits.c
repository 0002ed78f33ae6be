// SPDX-License-Identifier: Apache-2.0
#include "hits.h"

#include "braid.skel.h"
#include "kernel_programs.h"
#include "probe_file.h"
#include "probe_holder.h"
#include "sampler.h"
#include "tracepoint.h"
#include "util/apart.h"
#include "util/log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool hits_have(const struct record_options *o, enum probe_type type)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (o->probes[i].type == type)
			return true;
	return false;
}

const struct probe_spec *hits_kernel_event(const struct record_options *o, enum braid_kernel_event event)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (o->probes[i].type == PROBE_KERNEL && o->probes[i].event == event)
			return &o->probes[i];
	return NULL;
}

bool hits_in_files(const struct record_options *o)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if ((o->probes[i].type == PROBE_UPROBE || o->probes[i].type == PROBE_URETPROBE ||
		     o->probes[i].type == PROBE_USDT || o->probes[i].type == PROBE_MALLOC) &&
		    !o->probes[i].in_jvms)
			return true;
	return false;
}

static bool reads_elapsed(const struct braid_hit_term *t)
{
	return t->operand == BRAID_HIT_ARGUMENT && t->offset == BRAID_RETURN_ELAPSED;
}

/* Whether a filter or a value is the time since the call. */
static bool is_timed(const struct probe_spec *spec)
{
	bool timed = false;

	for (uint32_t i = 0; i < spec->terms; i++)
		timed |= reads_elapsed(&spec->term[i].term);
	for (uint32_t i = 0; i < spec->fields; i++)
		timed |= reads_elapsed(&spec->field[i].term);
	return timed && spec->type == PROBE_URETPROBE;
}

bool hits_time_returns(const struct record_options *o)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (is_timed(&o->probes[i]))
			return true;
	return false;
}

/* All that the probe turns out to have. */
static void show_arguments(struct probe_spec *spec)
{
	for (spec->fields = 0; spec->fields < BRAID_HIT_ARGUMENTS; spec->fields++) {
		struct probe_field *f = &spec->field[spec->fields];

		*f = (struct probe_field){.term = {.operand = BRAID_HIT_ARGUMENT,
						   .offset = (uint16_t)spec->fields,
						   .size = sizeof(uint64_t),
						   .flags = BRAID_HIT_SIGNED | BRAID_HIT_HEX}};
		snprintf(f->name, sizeof(f->name), "arg%u", spec->fields);
	}
}

static uint32_t reads(const struct braid_hit_term *t)
{
	return t->operand == BRAID_HIT_ARGUMENT || t->operand == BRAID_HIT_POINTED ? BRAID_HIT_READS_ARGUMENTS : 0;
}

static void fill_in(struct braid_hit *hit, const struct probe_spec *spec)
{
	hit->terms = spec->terms;
	hit->fields = spec->fields;
	hit->min_ns = spec->min_ns;
	hit->flags = spec->flags | (is_timed(spec) ? BRAID_HIT_READS_ELAPSED : 0);
	for (uint32_t i = 0; i < spec->terms; i++) {
		hit->term[i] = spec->term[i].term;
		hit->flags |= reads(&hit->term[i]);
	}
	for (uint32_t i = 0; i < spec->fields; i++) {
		hit->field[i] = spec->field[i].term;
		hit->flags |= reads(&hit->field[i]);
	}
}

int hits_find(struct hits *h, const struct record_options *o)
{
	int err = 0;

	*h = (struct hits){.options = o, .map = -1, .counts = -1};
	for (uint32_t i = 0; i < BRAID_HITS; i++)
		h->at[i].fd = -1;
	for (uint32_t i = 0; i < o->probe_count && err >= 0; i++) {
		struct probe_spec *spec = &h->at[i].spec;

		*spec = o->probes[i];
		if (spec->type == PROBE_TRACEPOINT)
			err = h->at[i].fd = tracepoint_open(spec);
		else if (spec->type != PROBE_KERNEL && spec->type != PROBE_COUNTER && !spec->in_jvms)
			err = h->at[i].fd = probe_file_open(spec, o, &h->at[i].offset);
		if (spec->type == PROBE_USDT && !spec->braces)
			show_arguments(spec);
		fill_in(&h->at[i].hit, spec);
	}
	return err < 0 ? err : 0;
}

/* ---- links ---- */

static int keep(struct hits *h, struct bpf_link *link)
{
	int err = link ? VEC_PUSH(&h->links, link) : -errno;

	if (err)
		bpf_link__destroy(link);
	return err;
}

static int attach_tracepoint(struct hits *h, const struct braid_bpf *b, uint32_t number)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = number);
	int err = keep(h, bpf_program__attach_perf_event_opts(b->progs.on_tracepoint, h->at[number].fd, &opts));

	if (!err)
		h->at[number].fd = -1; /* the link owns it */
	return err;
}

/* A return whose time is wanted has its call probed first, so that no return comes without it. */
static int attach_return(struct hits *h, const struct braid_bpf *b, uint32_t number, pid_t pid, const char *path)
{
	LIBBPF_OPTS(bpf_uprobe_opts, call, .bpf_cookie = number);
	LIBBPF_OPTS(bpf_uprobe_opts, back, .bpf_cookie = number, .retprobe = true);
	uint64_t offset = h->at[number].offset;
	int err = 0;

	if (is_timed(&h->at[number].spec))
		err = keep(h, bpf_program__attach_uprobe_opts(b->progs.on_call_timed, pid, path, offset, &call));
	return err ?: keep(h, bpf_program__attach_uprobe_opts(b->progs.on_return, pid, path, offset, &back));
}

/* What is freed is known before what is allocated, so that nothing that was freed looks as if it were not. */
static int attach_malloc(struct hits *h, const struct braid_bpf *b, uint32_t number, pid_t pid, const char *path)
{
	const struct probe_spec *spec = &h->options->probes[number];
	LIBBPF_OPTS(bpf_usdt_opts, opts, .usdt_cookie = number);
	int err = keep(h, bpf_program__attach_usdt(b->progs.on_native_free, pid, path, spec->group, "free", &opts));

	return err
		       ?: keep(h, bpf_program__attach_usdt(b->progs.on_native_alloc, pid, path, spec->group, spec->name,
							   &opts));
}

/* In all processes that run the file, or in one. */
static int attach_in_file(struct hits *h, const struct braid_bpf *b, uint32_t number, pid_t pid)
{
	const struct probe_spec *spec = &h->options->probes[number];
	LIBBPF_OPTS(bpf_uprobe_opts, uprobe, .bpf_cookie = number);
	LIBBPF_OPTS(bpf_usdt_opts, usdt, .usdt_cookie = number);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", h->at[number].fd);
	if (spec->type == PROBE_UPROBE)
		return keep(h, bpf_program__attach_uprobe_opts(b->progs.on_function, pid, path, h->at[number].offset,
							       &uprobe));
	if (spec->type == PROBE_URETPROBE)
		return attach_return(h, b, number, pid, path);
	if (spec->type == PROBE_MALLOC)
		return attach_malloc(h, b, number, pid, path);
	return keep(h, bpf_program__attach_usdt(b->progs.on_usdt_hit, pid, path, spec->group, spec->name, &usdt));
}

/* Perf counts page faults on the CPU on which they happen. The program's cookie says which kind it is. */
static int attach_faults(struct hits *h, struct bpf_program *program)
{
	static const uint64_t kinds[] = {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ};
	int fd, err = 0;

	for (int i = 0; i < 2 * libbpf_num_possible_cpus() && !err; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE, .config = kinds[i % 2], .size = sizeof(attr), .sample_period = 1};
		LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = (uint64_t)i % 2);

		fd = (int)syscall(SYS_perf_event_open, &attr, -1, i / 2, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV) /* the CPU is offline */
			continue;
		err = fd < 0 ? -errno : keep(h, bpf_program__attach_perf_event_opts(program, fd, &opts));
		if (err && fd >= 0)
			close(fd);
	}
	return err;
}

struct counting {
	struct hits *hits;
	const struct bpf_program *program;
	uint32_t number;
};

static int take_counter(void *ctx, int cpu, int fd)
{
	const struct counting *c = ctx;
	const struct record_options *o = c->hits->options;
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = c->number);
	int err = keep(c->hits, bpf_program__attach_perf_event_opts(c->program, fd, &opts));

	return err ? sampler_explain(err, o->probes[c->number].name, o->frequency_hz, cpu) : 0;
}

/* On each CPU, at the frequency of the clock. */
static int attach_counter(struct hits *h, const struct braid_bpf *b, uint32_t number)
{
	struct counting c = {.hits = h, .program = b->progs.on_counter, .number = number};

	return sampler_each_cpu(h->options->probes[number].name, h->options->frequency_hz, take_counter, &c);
}

static int attach_kernel(struct hits *h, const struct braid_bpf *b, enum braid_kernel_event event)
{
	struct bpf_program *programs[KERNEL_PROGRAMS];
	int count = kernel_programs(b, event, programs), err = 0;

	for (int i = 0; i < count && !err; i++)
		err = bpf_program__type(programs[i]) == BPF_PROG_TYPE_PERF_EVENT
			      ? attach_faults(h, programs[i])
			      : keep(h, bpf_program__attach(programs[i]));
	return err;
}

struct attaching {
	struct hits *hits;
	const struct braid_bpf *first, *probes;
	int err;
};

static int attach_one(struct attaching *a, uint32_t number)
{
	struct hits *h = a->hits;
	const struct record_options *o = h->options;
	int err = 0;

	if (o->probes[number].type == PROBE_TRACEPOINT)
		return attach_tracepoint(h, a->first, number);
	if (o->probes[number].type == PROBE_COUNTER)
		return attach_counter(h, a->first, number);
	if (o->probes[number].type == PROBE_KERNEL)
		return attach_kernel(h, a->first, o->probes[number].event);
	if (o->probes[number].in_jvms)
		return 0;
	if (!o->pid_count)
		return attach_in_file(h, a->probes, number, -1);
	for (int i = 0; i < o->pid_count && !err; i++)
		err = apart_orphaned() ? -ECANCELED : attach_in_file(h, a->probes, number, o->pids[i]);
	return err;
}

static void attach_each(void *ctx)
{
	const struct record_options *o = ((struct attaching *)ctx)->hits->options;
	struct attaching *a = ctx;

	for (uint32_t i = 0; i < o->probe_count && !a->err; i++) {
		a->err = apart_orphaned() ? -ECANCELED : attach_one(a, i);
		if (a->err && o->probes[i].type != PROBE_COUNTER) /* which says more */
			log_error("cannot set '%s': %s", o->probes[i].text, strerror(-a->err));
	}
}

int hits_attach(struct hits *h, const struct braid_bpf *first, const struct braid_bpf *probes)
{
	struct attaching a = {.hits = h, .first = first, .probes = probes};
	int err;

	h->map = bpf_map__fd(first->maps.hits);
	h->counts = bpf_map__fd(first->maps.hit_counts);
	err = hits_enable(h, false);
	if (!err && h->options->probe_count)
		apart_run(attach_each, &a);
	return err ?: a.err;
}

int hits_enable(struct hits *h, bool on)
{
	int err = 0;

	for (uint32_t i = 0; i < h->options->probe_count && !err; i++) {
		h->at[i].hit.period = !on ? 0 : h->at[i].spec.type == PROBE_COUNTER ? 1 : h->options->period;
		err = bpf_map_update_elem(h->map, &i, &h->at[i].hit, BPF_ANY) ? -errno : 0;
	}
	return err;
}

void hits_detach(struct hits *h)
{
	int holder = h->links.count && hits_in_files(h->options) ? probe_holder_start() : -1;

	while (h->links.count)
		bpf_link__destroy(h->links.at[--h->links.count]);
	if (holder >= 0)
		close(holder);
}

void hits_close(struct hits *h)
{
	hits_detach(h);
	free(h->links.at);
	h->links.at = NULL;
	h->links.room = 0;
	for (uint32_t i = 0; h->options && i < BRAID_HITS; i++)
		if (h->at[i].fd >= 0)
			close(h->at[i].fd);
	h->options = NULL;
}

void hits_counts(const struct hits *h, uint32_t number, uint64_t *hits, uint64_t *lost)
{
	int n = libbpf_num_possible_cpus();
	struct braid_hit_count *each = calloc((size_t)n, sizeof(*each));

	*hits = *lost = 0;
	if (each && !bpf_map_lookup_elem(h->counts, &number, each))
		for (int i = 0; i < n; i++) {
			*hits += each[i].hits;
			*lost += each[i].lost;
		}
	free(each);
}
