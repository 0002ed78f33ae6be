// SPDX-License-Identifier: Apache-2.0
#include "jvm/probes.h"

#include "braid.skel.h"
#include "collect/jvm_events.h"
#include "kernel/kernel_side.h"
#include "jvm/libjvm.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

enum group { SAFEPOINTS, STOPS, COMPILATIONS, DEOPTIMISATIONS, COLLECTIONS, GROUPS };

static const struct {
	const char *what;
	uint32_t wanted;
} groups[GROUPS] = {
	[SAFEPOINTS] = {"safepoints", BRAID_WANT(SAFEPOINT)},
	[STOPS] = {"which threads stopped late", BRAID_WANT(SAFEPOINT)},
	[COMPILATIONS] = {"how long compilations took", BRAID_WANT(JIT)},
	[DEOPTIMISATIONS] = {"deoptimisations", BRAID_WANT(JIT)},
	[COLLECTIONS] = {"GC cycles and phases", BRAID_WANT(GC)},
};

/*
 * How a VM can be made to tell: of each group the first row is used all of whose probes a libjvm.so has. Only functions
 * that compilers were seen to leave alone are named; those that tell more come before the USDT probes that VMs without
 * symbols may have.
 */
#define WAY_PROBES 9
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
static const struct way {
	enum group group;
	bool times; /* needs SafepointTracing's data */
	struct way_probe {
		enum braid_probe probe;	   /* 0: none */
		const char *symbol, *usdt; /* one of the two */
		const char *provider;	   /* NULL: hotspot */
		bool stack;		   /* the program that takes one */
	} probes[WAY_PROBES];
} ways[] = {
	/* safepoint.cpp, runtimeService.cpp; 13 and later */
	{SAFEPOINTS, true, {{BRAID_PROBE_SAFEPOINT_TOLD, .symbol = "_ZN14RuntimeService20record_safepoint_endEl"}}},
	/* 8 to 12 */
	{SAFEPOINTS,
	 false,
	 {{BRAID_PROBE_SAFEPOINT_OBJECT, .symbol = "_ZN14RuntimeService22record_safepoint_beginEv"},
	  {BRAID_PROBE_SAFEPOINT_REACHED, .symbol = "_ZN14RuntimeService29record_safepoint_synchronizedEv"},
	  {BRAID_PROBE_SAFEPOINT_END, .symbol = "_ZN14RuntimeService20record_safepoint_endEv"}}},
	{SAFEPOINTS,
	 false,
	 {{BRAID_PROBE_SAFEPOINT_BEGIN, .provider = "hs_private", .usdt = "safepoint__begin"},
	  {BRAID_PROBE_SAFEPOINT_NAME, .usdt = "vmops__begin"},
	  {BRAID_PROBE_SAFEPOINT_END, .provider = "hs_private", .usdt = "safepoint__end"}}},
	{STOPS,
	 false,
	 {{BRAID_PROBE_SAFEPOINT_STOP, .symbol = "_ZN20SafepointSynchronize5blockEP10JavaThread", .stack = true}}},
	/* compileBroker.cpp */
	{COMPILATIONS,
	 false,
	 {{BRAID_PROBE_COMPILE_END, .usdt = "method__compile__end"},
	  {BRAID_PROBE_COMPILE_TASK, .symbol = "_ZN13CompileBroker25invoke_compiler_on_methodEP11CompileTask"}}},
	{COMPILATIONS,
	 false,
	 {{BRAID_PROBE_COMPILE_POST,
	   .symbol = "_ZN13CompileBroker12post_compileEP14CompilerThreadP11CompileTaskbP5ciEnviPKc"},
	  {BRAID_PROBE_COMPILE_TASK, .symbol = "_ZN13CompileBroker25invoke_compiler_on_methodEP11CompileTask"}}},
	{COMPILATIONS,
	 false,
	 {{BRAID_PROBE_COMPILE_END, .usdt = "method__compile__end"},
	  {BRAID_PROBE_COMPILE_BEGIN, .usdt = "method__compile__begin"}}},
	/* deoptimization.cpp */
	{DEOPTIMISATIONS,
	 false,
	 {{BRAID_PROBE_TRAP, .symbol = "_ZN14Deoptimization13uncommon_trapEP10JavaThreadii", .stack = true},
	  {BRAID_PROBE_UNPACK, .symbol = "_ZN14Deoptimization17fetch_unroll_infoEP10JavaThreadi", .stack = true}}},
	/* gcTrace.cpp, gcTimer.cpp; up to 11, then later */
	{COLLECTIONS,
	 false,
	 {COLLECTION_PROBES,
	  {BRAID_PROBE_GC_PAUSE, .symbol = "_ZN17ConcurrentGCTimer23register_gc_pause_startEPKcRK11" TICKS},
	  {BRAID_PROBE_GC_PAUSE_END, .symbol = "_ZN17ConcurrentGCTimer21register_gc_pause_endERK11" TICKS},
	  /* G1's; and what pauses consist of, which is not asked for */
	  {BRAID_PROBE_GC_PAUSE, .symbol = "_ZN7GCTimer23register_gc_phase_startEPKcRK11" TICKS},
	  {BRAID_PROBE_GC_PAUSE_END, .symbol = "_ZN7GCTimer21register_gc_phase_endERK11" TICKS}}},
	{COLLECTIONS,
	 false,
	 {COLLECTION_PROBES,
	  {BRAID_PROBE_GC_PAUSE, .symbol = "_ZN7GCTimer23register_gc_pause_startEPKcRK11" TICKS},
	  {BRAID_PROBE_GC_PAUSE_END, .symbol = "_ZN7GCTimer21register_gc_pause_endERK11" TICKS}}},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct links {
	struct bpf_link *at[GROUPS][WAY_PROBES];
	const struct way *way[GROUPS]; /* NULL: it tells nothing of this group */
};

/*
 * A libjvm.so. Probes of one process disturb nobody else; but each takes its time, to come and to go: where more than a
 * few JVMs may come, they are in the file, for whoever runs it, and those who are not recorded pay for the traps.
 */
struct library {
	struct libjvm *jvm;
	const struct module *module;
	struct links links;
	bool attached, told;
	struct library *next;
};

/* A JVM. */
struct probed {
	struct process *process;
	struct library *library;
	uint64_t bias;
	struct links links;
	bool shared; /* those of its library are used */
	bool ready;  /* nothing more is to be read from it */
	bool gone;
	struct braid_probed told; /* what was counted until now */
	struct probed *next;
};

#define OWN_PROBES_MAX 8 /* JVMs */

struct probes {
	struct session *session;
	size_t own; /* JVMs with probes of their own */
	struct library *libraries;
	struct probed *jvms;
};

int probes_new(struct probes **out, struct session *s)
{
	*out = NULL;
	if (!(s->options->choices.wanted & (BRAID_WANT(SAFEPOINT) | BRAID_WANT(JIT) | BRAID_WANT(GC))))
		return 0;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->session = s;
	return 0;
}

static void group_destroy(struct links *l, enum group group)
{
	for (int i = 0; i < WAY_PROBES; i++) {
		bpf_link__destroy(l->at[group][i]);
		l->at[group][i] = NULL;
	}
}

/* The kernel waits for all CPUs before it gives a probe up, a tenth of a second on a busy machine: done at the end
 * only. */
static void links_destroy(struct links *l)
{
	for (int i = 0; i < GROUPS; i++)
		group_destroy(l, (enum group)i);
}

void probes_free(struct probes *p)
{
	struct library *l, *next_l;
	struct probed *j, *next_j;

	if (!p)
		return;
	LL_FOREACH_SAFE (p->jvms, j, next_j) {
		links_destroy(&j->links);
		free(j);
	}
	LL_FOREACH_SAFE (p->libraries, l, next_l) {
		links_destroy(&l->links);
		libjvm_free(l->jvm);
		free(l);
	}
	free(p);
}

/* ---- attaching ---- */

/* Where a probe's function is in what libjvm_open() found. */
static size_t function_of(const struct way *way, int probe)
{
	return (size_t)(way - ways) * WAY_PROBES + (size_t)probe;
}

/* 0, or a negative errno: -ENOENT when there is no such place. */
static int attach(struct probes *p, const struct libjvm *l, const struct way *way, int probe, pid_t pid,
		  struct bpf_link **out)
{
	struct braid_bpf *b = kernel_side_programs(p->session->kernel);
	const struct way_probe *w = &way->probes[probe];
	LIBBPF_OPTS(bpf_uprobe_opts, uprobe, .bpf_cookie = w->probe);
	LIBBPF_OPTS(bpf_usdt_opts, usdt, .usdt_cookie = w->probe);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", l->fd); /* whatever its mount namespace */
	if (w->symbol)
		*out = bpf_program__attach_uprobe_opts(w->stack ? b->progs.on_probe_stack : b->progs.on_probe, pid,
						       path, l->functions[function_of(way, probe)], &uprobe);
	else
		*out = bpf_program__attach_usdt(b->progs.on_usdt, pid, path, w->provider ?: "hotspot", w->usdt, &usdt);
	return *out ? 0 : -errno;
}

/* Has the file what this way needs, as far as that is known beforehand? */
static bool possible(const struct libjvm *l, const struct way *way)
{
	for (int i = 0; i < WAY_PROBES; i++)
		if (way->probes[i].symbol && !l->functions[function_of(way, i)])
			return false;
	return !way->times ||
	       (l->at[SAFEPOINT_TYPE] && l->at[SAFEPOINT_BEGIN] && l->at[SAFEPOINT_REACHED] && l->at[SAFEPOINT_END]);
}

static int way_attach(struct probes *p, const struct libjvm *l, const struct way *way, pid_t pid, struct links *to)
{
	int err = possible(l, way) ? 0 : -ENOENT;

	for (int i = 0; i < WAY_PROBES && way->probes[i].probe && !err; i++)
		err = attach(p, l, way, i, pid, &to->at[way->group][i]);
	if (err)
		group_destroy(to, way->group);
	else
		to->way[way->group] = way;
	return err;
}

static void say_missing(struct probes *p, struct probed *j, const struct links *l)
{
	char what[256] = "";
	size_t used = 0;

	for (int i = 0; i < GROUPS; i++)
		if (!l->way[i] && (p->session->options->choices.wanted & groups[i].wanted))
			used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s", used ? ", " : "",
						 groups[i].what);
	if (!used || j->library->told)
		return;
	j->library->told = true;
	session_notice(p->session, j->process->id, BRAID_NOTICE_WARNING,
		       "JVM %d does not tell of %s: %s has neither the symbols nor the USDT probes for it; the package "
		       "with its debug symbols has them (openjdk-N-dbg on Debian, java-N-openjdk-debuginfo on Fedora), "
		       "installed where the JVM runs",
		       (int)j->process->pid, what, j->library->module->path);
}

static void links_attach(struct probes *p, struct probed *j, struct links *to, pid_t pid)
{
	int err = 0;

	for (size_t i = 0; i < WAYS && (!err || err == -ENOENT); i++)
		if (!to->way[ways[i].group] && (p->session->options->choices.wanted & groups[ways[i].group].wanted))
			err = way_attach(p, j->library->jvm, &ways[i], pid, to);
	if (err && err != -ENOENT)
		session_notice(p->session, j->process->id, BRAID_NOTICE_WARNING,
			       "cannot set probes in %s for JVM %d: %s", j->library->module->path, (int)j->process->pid,
			       strerror(-err));
	else
		say_missing(p, j, to);
}

static struct library *library_of(struct probes *p, const struct process *process, const struct process_mapping *m)
{
	const char *names[WAYS * WAY_PROBES];
	struct library *l;

	LL_FOREACH (p->libraries, l) {
		if (l->module == m->module)
			return l;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	for (size_t i = 0; i < WAYS * WAY_PROBES; i++)
		names[i] = ways[i / WAY_PROBES].probes[i % WAY_PROBES].symbol ?: "";
	l->module = m->module;
	l->jvm = libjvm_open(process, m, names, WAYS * WAY_PROBES);
	LL_PREPEND(p->libraries, l);
	return l;
}

static struct probed *probed_of(const struct probes *p, const struct process *process)
{
	struct probed *j;

	LL_FOREACH (p->jvms, j) {
		if (j->process == process)
			return j;
	}
	return NULL;
}

static struct probed *probed_new(struct probes *p, struct process *process)
{
	const struct process_mapping *m = libjvm_mapping(process);
	struct library *l = m ? library_of(p, process, m) : NULL;
	struct probed *j;

	if (!l || !l->jvm)
		return NULL;
	j = calloc(1, sizeof(*j));
	if (!j)
		return NULL;
	j->process = process;
	j->library = l;
	j->bias = m->bias;
	LL_PREPEND(p->jvms, j);
	return j;
}

static struct links *links_of(struct probed *j)
{
	return j->shared ? &j->library->links : &j->links;
}

static int probed_map(const struct probes *p)
{
	return bpf_map__fd(kernel_side_programs(p->session->kernel)->maps.probed);
}

static uint64_t address_of(const struct probed *j, enum libjvm_data data)
{
	const struct libjvm *l = j->library->jvm;

	return l->at[data] ? j->bias + l->at[data] : 0;
}

/* From here on its hits count. */
static int show(struct probes *p, struct probed *j)
{
	const struct libjvm *l = j->library->jvm;
	uint32_t key = (uint32_t)j->process->pid;
	struct braid_probed value = {
		.operation_at = address_of(j, OPERATION),
		.type_at = address_of(j, SAFEPOINT_TYPE),
		.begin_at = address_of(j, SAFEPOINT_BEGIN),
		.reached_at = address_of(j, SAFEPOINT_REACHED),
		.end_at = address_of(j, SAFEPOINT_END),
		.task_id = l->field[TASK_ID].offset,
		.task_method = l->field[TASK_METHOD].offset,
		.task_osr_bci = l->field[TASK_OSR_BCI].offset,
		.task_level = l->field[TASK_LEVEL].offset,
		.flags = BRAID_PROBED_TASK,
	};

	for (int i = 0; i < TASK_FIELDS; i++)
		if (!l->field[i].found)
			value.flags &= ~BRAID_PROBED_TASK;
	return bpf_map_update_elem(probed_map(p), &key, &value, BPF_ANY);
}

void probes_attach(struct probes *p, struct process *process)
{
	struct probed *j;
	pid_t pid = process->pid;

	if (!p || process->ended_ns)
		return;
	j = probed_of(p, process) ?: probed_new(p, process);
	if (!j || j->ready || j->gone || libjvm_read_tables(j->library->jvm, pid, j->bias) == -EAGAIN)
		return;
	j->ready = true;
	if (show(p, j)) {
		session_notice(p->session, process->id, BRAID_NOTICE_WARNING,
			       "no room for the probes of JVM %d: %d have theirs", (int)pid, BRAID_MAX_JVMS);
		return;
	}
	j->shared = !p->session->options->pid_count || p->own == OWN_PROBES_MAX;
	if (!j->shared) {
		p->own++;
		links_attach(p, j, &j->links, pid);
	} else if (!j->library->attached) {
		j->library->attached = true;
		links_attach(p, j, &j->library->links, -1);
	}
}

/* ---- while it goes on ---- */

static void count(struct probes *p, struct probed *j, enum braid_jvm_event kind, __u64 now, __u64 *before)
{
	struct trace_jvm_event e = {.time_ns = now_ns(),
				    .kind = BRAID_JVM_COUNTED,
				    .value = now - *before,
				    .number = kind,
				    .source = BRAID_SOURCE_PROBE};

	if (now > *before)
		jvm_events_emit(p->session, j->process, &e);
	*before = now;
}

static void tell_counted(struct probes *p, struct probed *j)
{
	uint32_t key = (uint32_t)j->process->pid;
	struct braid_probed now;

	if (!j->ready || j->gone || bpf_map_lookup_elem(probed_map(p), &key, &now))
		return;
	count(p, j, BRAID_JVM_SAFEPOINT_STOP, now.stops_untold, &j->told.stops_untold);
	count(p, j, BRAID_JVM_DEOPT, now.deopts_untold, &j->told.deopts_untold);
}

static void give_up(struct probes *p, struct probed *j)
{
	uint32_t key = (uint32_t)j->process->pid;

	tell_counted(p, j);
	if (j->ready && processes_latest(p->session->processes, j->process->pid) == j->process)
		bpf_map_delete_elem(probed_map(p), &key);
	j->gone = true;
}

static void consider(void *ctx, struct process *process)
{
	if (process->libjvm_ns && !process->ended_ns)
		probes_attach(ctx, process);
}

void probes_discover(struct probes *p)
{
	struct probed *j;

	if (!p)
		return;
	LL_FOREACH (p->jvms, j) {
		if (j->process->ended_ns && !j->gone)
			give_up(p, j);
		else
			tell_counted(p, j);
	}
	processes_each(p->session->processes, consider, p);
}

/*
 * The kernel waits for all CPUs, and for one probe after the other, before it gives them up: a minute on a busy
 * machine. Who waits is a child that holds the probes' perf events, which have been disabled, and nothing else of this
 * process.
 */
static void events_leave(void)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *e;

	while (fds && (e = readdir(fds))) {
		char to[32] = "";
		int fd = atoi(e->d_name);

		if (fd != dirfd(fds) && (readlinkat(dirfd(fds), e->d_name, to, sizeof(to) - 1) < 0 ||
					 strcmp(to, "anon_inode:[perf_event]") != 0))
			close(fd);
	}
	_exit(0);
}

void probes_stop(struct probes *p)
{
	struct library *l;
	struct probed *j;

	if (!p)
		return;
	if ((p->libraries || p->jvms) && fork() == 0)
		events_leave();
	LL_FOREACH (p->libraries, l) {
		links_destroy(&l->links);
	}
	LL_FOREACH (p->jvms, j) {
		links_destroy(&j->links);
		tell_counted(p, j);
	}
}

struct libjvm *probes_library(const struct probes *p, const struct process *process, uint64_t *bias)
{
	struct probed *j = p ? probed_of(p, process) : NULL;

	if (!j || !j->ready)
		return NULL;
	*bias = j->bias;
	return j->library->jvm;
}

bool probes_compilations(const struct probes *p, const struct process *process)
{
	struct probed *j = p ? probed_of(p, process) : NULL;

	return j && links_of(j)->way[COMPILATIONS];
}
