// SPDX-License-Identifier: Apache-2.0
#include "probe_links.h"

#include "braid.skel.h"
#include "config/event_config.h"
#include "kernel/probe_file.h"
#include "kernel/uprobe_multi.h"
#include "util/apart.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *what;
	uint32_t types;
} groups[PROBE_GROUPS] = {
	[PROBE_SAFEPOINTS] = {"safepoints", BRAID_EVENT_TYPE(SAFEPOINT)},
	[PROBE_STOPS] = {"which threads stopped late", BRAID_EVENT_TYPE(SAFEPOINT)},
	[PROBE_COMPILATIONS] = {"how long compilations took", BRAID_EVENT_TYPE(JIT)},
	[PROBE_DEOPTIMISATIONS] = {"deoptimisations", BRAID_EVENT_TYPE(JIT)},
	[PROBE_COLLECTIONS] = {"GC cycles and phases", BRAID_EVENT_TYPE(GC)},
};

/*
 * The ways to probe a VM. For each group, the first row counts whose probes a libjvm.so has all. The rows name only
 * functions that compilers were seen to leave intact. Rows that report more come before USDT probes, which VMs without
 * symbols may have.
 */
#define TICKS "TimeInstantI30CompositeCounterRepresentation29CompositeElapsedCounterSourceE"
#define COLLECTION_PROBES                                                                                              \
	{BRAID_PROBE_GC_BEGIN, .symbol = "_ZN8GCTracer15report_gc_startEN7GCCause5CauseERK11" TICKS},                  \
		{BRAID_PROBE_GC_END, .symbol = "_ZN8GCTracer13report_gc_endERK11" TICKS "P14TimePartitions"},          \
		{BRAID_PROBE_GC_HEAP,                                                                                  \
		 .symbol = "_ZNK8GCTracer22report_gc_heap_summaryEN6GCWhen4TypeERK13GCHeapSummary"},                   \
		{BRAID_PROBE_GC_PHASE,                                                                                 \
		 .symbol = "_ZN17ConcurrentGCTimer28register_gc_concurrent_startEPKcRK11" TICKS},                      \
	{                                                                                                              \
		BRAID_PROBE_GC_PHASE_END, .symbol = "_ZN17ConcurrentGCTimer26register_gc_concurrent_endERK11" TICKS    \
	}

enum {
	TIMES = 1, /* it needs SafepointTracing's data */
	STACK = 2, /* its functions are set on the program that walks the stack */
};

static const struct probe_way {
	enum probe_group group;
	unsigned how;
	struct way_probe {
		enum braid_probe probe;	   /* 0: none */
		const char *symbol, *usdt; /* one of the two */
		const char *provider;	   /* NULL: hotspot */
	} probes[WAY_PROBES];
} ways[] = {
	/* safepoint.cpp, runtimeService.cpp; 13 and later */
	{PROBE_SAFEPOINTS,
	 TIMES,
	 {{BRAID_PROBE_SAFEPOINT_TIMED, .symbol = "_ZN14RuntimeService20record_safepoint_endEl"}}},
	/* 8 to 12 */
	{PROBE_SAFEPOINTS,
	 0,
	 {{BRAID_PROBE_SAFEPOINT_OBJECT, .symbol = "_ZN14RuntimeService22record_safepoint_beginEv"},
	  {BRAID_PROBE_SAFEPOINT_REACHED, .symbol = "_ZN14RuntimeService29record_safepoint_synchronizedEv"},
	  {BRAID_PROBE_SAFEPOINT_END, .symbol = "_ZN14RuntimeService20record_safepoint_endEv"}}},
	{PROBE_SAFEPOINTS,
	 0,
	 {{BRAID_PROBE_SAFEPOINT_BEGIN, .provider = "hs_private", .usdt = "safepoint__begin"},
	  {BRAID_PROBE_SAFEPOINT_NAME, .usdt = "vmops__begin"},
	  {BRAID_PROBE_SAFEPOINT_END, .provider = "hs_private", .usdt = "safepoint__end"}}},
	{PROBE_STOPS, STACK, {{BRAID_PROBE_SAFEPOINT_STOP, .symbol = "_ZN20SafepointSynchronize5blockEP10JavaThread"}}},
	/* compileBroker.cpp */
	{PROBE_COMPILATIONS,
	 0,
	 {{BRAID_PROBE_COMPILE_END, .usdt = "method__compile__end"},
	  {BRAID_PROBE_COMPILE_TASK, .symbol = "_ZN13CompileBroker25invoke_compiler_on_methodEP11CompileTask"}}},
	{PROBE_COMPILATIONS,
	 0,
	 {{BRAID_PROBE_COMPILE_POST,
	   .symbol = "_ZN13CompileBroker12post_compileEP14CompilerThreadP11CompileTaskbP5ciEnviPKc"},
	  {BRAID_PROBE_COMPILE_TASK, .symbol = "_ZN13CompileBroker25invoke_compiler_on_methodEP11CompileTask"}}},
	{PROBE_COMPILATIONS,
	 0,
	 {{BRAID_PROBE_COMPILE_END, .usdt = "method__compile__end"},
	  {BRAID_PROBE_COMPILE_BEGIN, .usdt = "method__compile__begin"}}},
	/* deoptimization.cpp */
	{PROBE_DEOPTIMISATIONS,
	 STACK,
	 {{BRAID_PROBE_TRAP, .symbol = "_ZN14Deoptimization13uncommon_trapEP10JavaThreadii"},
	  {BRAID_PROBE_UNPACK, .symbol = "_ZN14Deoptimization17fetch_unroll_infoEP10JavaThreadi"}}},
	/* gcTrace.cpp, gcTimer.cpp; up to 11, then later */
	{PROBE_COLLECTIONS,
	 0,
	 {COLLECTION_PROBES,
	  {BRAID_PROBE_GC_PAUSE, .symbol = "_ZN17ConcurrentGCTimer23register_gc_pause_startEPKcRK11" TICKS},
	  {BRAID_PROBE_GC_PAUSE_END, .symbol = "_ZN17ConcurrentGCTimer21register_gc_pause_endERK11" TICKS},
	  /* G1's. These also hit for parts of pauses, which are dropped. */
	  {BRAID_PROBE_GC_PAUSE, .symbol = "_ZN7GCTimer23register_gc_phase_startEPKcRK11" TICKS},
	  {BRAID_PROBE_GC_PAUSE_END, .symbol = "_ZN7GCTimer21register_gc_phase_endERK11" TICKS}}},
	{PROBE_COLLECTIONS,
	 0,
	 {COLLECTION_PROBES,
	  {BRAID_PROBE_GC_PAUSE, .symbol = "_ZN7GCTimer23register_gc_pause_startEPKcRK11" TICKS},
	  {BRAID_PROBE_GC_PAUSE_END, .symbol = "_ZN7GCTimer21register_gc_pause_endERK11" TICKS}}},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void group_destroy(struct probe_links *l, enum probe_group group)
{
	for (int i = 0; i < WAY_PROBES; i++) {
		bpf_link__destroy(l->at[group][i]);
		l->at[group][i] = NULL;
	}
	if (l->functions[group].set)
		close(l->functions[group].fd);
	l->functions[group].set = false;
}

/*
 * The kernel waits for all CPUs before it removes a probe, a tenth of a second on a busy machine. So this runs only at
 * the end.
 */
void probe_links_destroy(struct probe_links *l)
{
	for (int i = 0; i < PROBE_GROUPS; i++)
		group_destroy(l, (enum probe_group)i);
	for (int i = 0; i < BRAID_HITS; i++) {
		bpf_link__destroy(l->named[i]);
		l->named[i] = NULL;
	}
}

/* The index of a probe's function in libjvm_open()'s result. */
static size_t function_of(const struct probe_way *way, int probe)
{
	return (size_t)(way - ways) * WAY_PROBES + (size_t)probe;
}

struct file_path {
	char text[32];
};

/* Independent of the file's mount namespace. */
static struct file_path path_of(const struct libjvm *l)
{
	struct file_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", l->fd);
	return path;
}

static const struct bpf_program *program_of(const struct braid_bpf *b, const struct probe_way *way)
{
	return way->how & STACK ? b->progs.on_probe_stack : b->progs.on_probe;
}

/* All functions of the way by one link. 0, or a negative errno. */
static int attach_functions(const struct braid_bpf *b, const struct libjvm *l, const struct probe_way *way, pid_t pid,
			    struct probe_links *to)
{
	uint64_t offsets[WAY_PROBES], cookies[WAY_PROBES];
	uint32_t count = 0;
	int fd;

	for (int i = 0; i < WAY_PROBES; i++)
		if (way->probes[i].symbol) {
			offsets[count] = l->functions[function_of(way, i)];
			cookies[count++] = way->probes[i].probe;
		}
	if (!count)
		return 0;
	fd = uprobe_multi_attach(program_of(b, way), pid, path_of(l).text, offsets, cookies, count);
	if (fd < 0)
		return fd;
	to->functions[way->group].set = true;
	to->functions[way->group].fd = fd;
	return 0;
}

/* 0, or a negative errno; -ENOENT: there is no such place. */
static int attach(const struct braid_bpf *b, const struct libjvm *l, const struct probe_way *way, int probe, pid_t pid,
		  struct bpf_link **out)
{
	const struct way_probe *w = &way->probes[probe];
	LIBBPF_OPTS(bpf_uprobe_opts, uprobe, .bpf_cookie = w->probe);
	LIBBPF_OPTS(bpf_usdt_opts, usdt, .usdt_cookie = w->probe);
	const char *provider = w->provider ?: "hotspot";
	const struct file_path path = path_of(l);

	if (w->symbol)
		*out = bpf_program__attach_uprobe_opts(program_of(b, way), pid, path.text,
						       l->functions[function_of(way, probe)], &uprobe);
	else if (probe_file_usdt(l->fd, provider, w->usdt))
		*out = bpf_program__attach_usdt(b->progs.on_usdt, pid, path.text, provider, w->usdt, &usdt);
	else
		return -ENOENT;
	return *out ? 0 : -errno;
}

/* Whether the file has what this way needs, as far as that is known before attaching. */
static bool possible(const struct libjvm *l, const struct probe_way *way)
{
	for (int i = 0; i < WAY_PROBES; i++)
		if (way->probes[i].symbol && !l->functions[function_of(way, i)])
			return false;
	return !(way->how & TIMES) ||
	       (l->at[SAFEPOINT_TYPE] && l->at[SAFEPOINT_BEGIN] && l->at[SAFEPOINT_REACHED] && l->at[SAFEPOINT_END]);
}

static bool is_ending(const atomic_bool *stop)
{
	return atomic_load(stop) || apart_orphaned();
}

static int way_attach(const struct braid_bpf *b, const struct libjvm *l, const struct probe_way *way, pid_t pid,
		      struct probe_links *to, const atomic_bool *stop)
{
	bool multi = uprobe_multi_is(program_of(b, way));
	int err = possible(l, way) ? 0 : -ENOENT;

	if (multi && !err)
		err = is_ending(stop) ? -ECANCELED : attach_functions(b, l, way, pid, to);
	for (int i = 0; i < WAY_PROBES && way->probes[i].probe && !err; i++)
		if (!multi || !way->probes[i].symbol)
			err = is_ending(stop) ? -ECANCELED : attach(b, l, way, i, pid, &to->at[way->group][i]);
	if (err)
		group_destroy(to, way->group);
	else
		to->way[way->group] = way;
	return err;
}

size_t probe_functions(const char *names[PROBE_FUNCTIONS_MAX])
{
	_Static_assert(WAYS * WAY_PROBES <= PROBE_FUNCTIONS_MAX, "PROBE_FUNCTIONS_MAX");

	for (size_t i = 0; i < WAYS * WAY_PROBES; i++)
		names[i] = ways[i / WAY_PROBES].probes[i % WAY_PROBES].symbol ?: "";
	return WAYS * WAY_PROBES;
}

static int attach_named(const struct braid_bpf *b, const struct libjvm *l, const struct probe_spec *spec,
			uint32_t number, pid_t pid, struct bpf_link **out)
{
	LIBBPF_OPTS(bpf_usdt_opts, usdt, .usdt_cookie = number);

	if (!spec->in_jvms)
		return 0;
	if (!probe_file_usdt(l->fd, spec->group, spec->name))
		return -ENOENT;
	*out = bpf_program__attach_usdt(b->progs.on_usdt_hit, pid, path_of(l).text, spec->group, spec->name, &usdt);
	return *out ? 0 : -errno;
}

int probe_links_attach(struct probe_links *to, const struct braid_bpf *b, const struct libjvm *l,
		       const struct record_options *o, pid_t pid, const atomic_bool *stop)
{
	uint32_t types = o->config.enabled;
	int err = 0;

	for (size_t i = 0; i < WAYS && (!err || err == -ENOENT); i++)
		if (!to->way[ways[i].group] && (types & groups[ways[i].group].types))
			err = way_attach(b, l, &ways[i], pid, to, stop);
	for (uint32_t i = 0; i < o->probe_count && (!err || err == -ENOENT); i++)
		if (!to->named[i])
			err = is_ending(stop) ? -ECANCELED : attach_named(b, l, &o->probes[i], i, pid, &to->named[i]);
	return err;
}

size_t probe_links_missing(const struct probe_links *l, uint32_t types, char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; i < PROBE_GROUPS && used < size; i++)
		if (!l->way[i] && (types & groups[i].types))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", groups[i].what);
	return used;
}

size_t probe_links_unknown(const struct probe_links *l, const struct record_options *o, char *text, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < o->probe_count && used < size; i++)
		if (!l->named[i] && o->probes[i].in_jvms)
			used += (size_t)snprintf(text + used, size - used, "%s'%s:%s'", used ? ", " : "",
						 o->probes[i].group, o->probes[i].name);
	return used;
}
