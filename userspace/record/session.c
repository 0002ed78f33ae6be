// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include "agentless.h"
#include "asleep.h"
#include "before.h"
#include "block_requests.h"
#include "native_blocks.h"
#include "command.h"
#include "control.h"
#include "deferred_wait.h"
#include "dump.h"
#include "facts.h"
#include "hit_events.h"
#include "host_load.h"
#include "settle.h"
#include "stacks.h"
#include "summary.h"
#include "sums.h"
#include "targets.h"
#include "agents/agents.h"
#include "jvm/jvm.h"
#include "jvm/layouts.h"
#include "jvm/patterns.h"
#include "jvm/probes.h"
#include "jvm/vthreads.h"
#include "kernel/kernel_side.h"
#include "process/charges.h"
#include "process/contexts.h"
#include "process/modules.h"
#include "process/perf_maps.h"
#include "process/processes.h"
#include "process/sideband.h"
#include "process/spans.h"
#include "sink/names.h"
#include "sink/records.h"
#include "util/descriptors.h"
#include "util/log.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define TICK_NS 50000000ULL		 /* rings are read at least this often */
#define FLUSH_NS 800000000ULL		 /* interval of writes: a killed recording loses at most its last second */
#define STATS_NS 5000000000ULL		 /* interval of statistics about the recording */
#define LOAD_NS 1000000000ULL		 /* interval of looking at how busy machine and JVMs are */
#define DISCOVER_NS 500000000ULL	 /* interval of looking for new JVMs */
#define DEFERRED_NAMES_NS 20000000000ULL /* time limit; the remaining frames have no source lines */
#define COLLECTOR_NICE (-10)
#define MMAP_THRESHOLD (128 << 10)
_Static_assert(FLUSH_NS + TICK_NS < 1000000000, "a killed recording loses at most its last second");

/* State of the event loop that other files do not need. */
struct loop {
	struct session *s;
	struct command command;
	struct source signals;
	struct source timer;
	struct source events;	/* signalled when much of the kernel side's ring is full */
	struct source deadline; /* for a recording with a duration */
	struct braid_counters counters;
	struct summary summary;
	struct sums sums;
	struct host_load host;
	uint64_t flushed_ns, stats_ns, load_ns, discovered_ns;
};

static void on_failure(void *ctx, int err)
{
	summary_failure(ctx, err);
}

/* ---- the loop ---- */

/* Agents' records are read first: they define the names for samples. */
static void read_all(struct session *s)
{
	agents_drain(s->agents);
	layouts_tick(&s->jvms, false);
	jvms_tick(&s->jvms, false);
	session_tick_samples(s);
	agents_settle(s->agents, false);
	processes_tick(s->processes);
	contexts_tick(s->processes);
	resources_tick(s->resources, s->processes);
	processes_show_forked(s->processes);
	kernel_side_tick(s->kernel);
	control_tick(s->control);
}

static void emit_lost(void *ctx, struct process *process)
{
	struct session *s = ctx;

	spans_forget(s->spans, process);
	account_report(&process->account, &s->sink);
	jvm_emit_lost(process->jvm);
}

static void emit_stats(struct loop *l)
{
	struct braid_counters c;
	struct session *s = l->s;

	processes_each(s->processes, emit_lost, s);
	kernel_side_counters(s->kernel, &c);
	if (c.samples_lost > l->counters.samples_lost)
		sink_loss(&s->sink, 0, "bpf", "sample", c.samples_lost - l->counters.samples_lost);
	if (c.stacks_lost > l->counters.stacks_lost)
		sink_loss(&s->sink, 0, "bpf", "stack", c.stacks_lost - l->counters.stacks_lost);
	jvms_emit_lost(&s->jvms);
	agentless_stats(s);
	hit_events_stats(s);
	l->counters = c;
	sink_stat(&s->sink, 0, "collector_cpu_ns", own_cpu_ns());
	facts_counters(s, &c);
	host_load_emit(&l->host, &s->sink, s->processes);
	sink_stat(&s->sink, 0, "late_walks", s->deferred);
	sink_stat(&s->sink, 0, "stacks", stacks_count(s->stacks));
	sink_stat(&s->sink, 0, "stack_renewals", stacks_renewals(s->stacks));
}

static void on_tick(struct source *src)
{
	struct loop *l = src->ctx;
	struct session *s = l->s;
	uint64_t now = now_ns(), ticks;

	if (read(src->fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		log_debug("timer: %s", strerror(errno));
	modules_tick(s->modules);
	read_all(s);
	sums_tick(&l->sums, now);
	probes_tick(s->jvms.probes);
	if (now - l->discovered_ns > DISCOVER_NS) {
		if (s->options->attach)
			agents_discover(s->agents);
		agentless_tick(s);
		native_blocks_tick(s);
		probes_discover(s->jvms.probes);
		host_load_look(&l->host, s->processes);
		l->discovered_ns = now;
	}
	if (now - l->load_ns > LOAD_NS) {
		host_load_tick(&l->host, &s->sink, s->processes);
		l->load_ns = now;
	}
	if (now - l->stats_ns > STATS_NS) {
		emit_stats(l);
		l->stats_ns = now;
	}
	if (now - l->flushed_ns > FLUSH_NS) {
		sink_flush(&s->sink);
		l->flushed_ns = now;
	}
	dump_tick(s->dump, now);
	before_tick(s->before);
	summary_progress(&l->summary, s, now);
	if (s->sink.error || targets_gone(s, &l->command))
		s->finished = true;
}

/* Events that are not read soon find no room. Agents' records are read first, as always. */
static void on_events(struct source *src)
{
	struct loop *l = src->ctx;

	agents_drain(l->s->agents);
	session_read_samples(l->s);
}

static void on_deadline(struct source *src)
{
	struct loop *l = src->ctx;

	l->s->finished = true;
}

static void on_signal(struct source *src)
{
	struct loop *l = src->ctx;
	struct signalfd_siginfo info;

	if (read(src->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGCHLD)
		command_reap(&l->command);
	else
		session_interrupt(l->s);
}

void session_interrupt(struct session *s)
{
	s->interrupted = s->finished = true;
}

/* Signals that would end this process end the recording in order instead. SIGHUP stays ignored under nohup. */
static int watch_signals(struct loop *l)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
	struct sigaction hangup;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(&set, ending[i]);
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN); /* writes to a closed pipe or a limited file then fail with an error */
	signal(SIGXFSZ, SIG_IGN);
	l->signals =
		(struct source){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .ready = on_signal, .ctx = l};
	l->s->signals = &l->signals;
	return l->signals.fd < 0 ? -errno : source_watch(&l->s->sources, &l->signals);
}

static int watch_events(struct loop *l)
{
	l->events = (struct source){.fd = kernel_side_events(l->s->kernel), .ready = on_events, .ctx = l};
	return source_watch_edges(&l->s->sources, &l->events);
}

/* Fires after `first_ns`, then every `interval_ns` unless that is 0. */
static int watch_time(struct session *s, struct source *timer, uint64_t first_ns, uint64_t interval_ns)
{
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(first_ns / 1000000000), .tv_nsec = (long)(first_ns % 1000000000)},
		.it_interval = {.tv_nsec = (long)interval_ns},
	};

	timer->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer->fd < 0 || timerfd_settime(timer->fd, 0, &when, NULL))
		return -errno;
	return source_watch(&s->sources, timer);
}

static int watch_timers(struct loop *l)
{
	uint64_t duration_ns = l->s->options->duration_ns;
	int err;

	l->timer = (struct source){.ready = on_tick, .ctx = l};
	l->deadline = (struct source){.fd = -1, .ready = on_deadline, .ctx = l};
	err = watch_time(l->s, &l->timer, TICK_NS, TICK_NS);
	return err ?: duration_ns ? watch_time(l->s, &l->deadline, duration_ns, 0) : 0;
}

/* ---- from start to end ---- */

static void on_process_ended(void *ctx, struct process *process)
{
	native_blocks_ended(ctx);
	jvm_rest(process->jvm);
}

static void on_process_forgotten(void *ctx, struct process *process)
{
	struct session *s = ctx;

	agents_forget(s->agents, process);
	spans_forget(s->spans, process);
	if (process->libjvm_ns)
		jvms_emit_lost(&s->jvms);
	s->jvm_seen = s->jvm_seen || process->libjvm_ns;
	if (process->jvm)
		jvm_tick(process->jvm, now_ns(), true);
	dump_forget(s->dump, process);
	probes_forget(s->jvms.probes, process);
	perf_maps_forget(s->perf_maps, process);
	stacks_forget(s->stacks, process);
}

static void on_process_freed(void *ctx, struct process *process)
{
	(void)ctx;
	jvm_free(process->jvm);
}

static void hook_processes(struct session *s)
{
	processes_hook(s->processes, &(struct process_hooks){.ended = on_process_ended,
							     .forgotten = on_process_forgotten,
							     .freed = on_process_freed,
							     .ctx = s});
}

static uint32_t stack_node(void *ctx, const struct process *process, uint64_t stack)
{
	return stacks_known(((struct session *)ctx)->stacks, process, stack);
}

static void wire_jvms(struct session *s)
{
	s->jvms.sink = &s->sink;
	s->jvms.kernel = s->kernel;
	s->jvms.modules = s->modules;
	s->jvms.threads = s->threads;
	s->jvms.processes = s->processes;
	s->jvms.names = s->names;
	s->jvms.vthreads = s->vthreads;
	s->jvms.spans = s->spans;
	s->jvms.options = s->options;
	s->jvms.stack_node = stack_node;
	s->jvms.stack_ctx = s;
}

static void read_events(void *ctx)
{
	session_read_samples(ctx);
}

static bool hurried(void *ctx)
{
	struct session *s = ctx;
	bool before = s->interrupted, again;

	s->interrupted = false;
	on_signal(s->signals);
	again = s->interrupted;
	s->interrupted = before; /* the command has been told already, or is not to be */
	return again;
}

static int open_agents(struct session *s)
{
	return agents_new(&s->agents, &(struct agents_env){.jvms = &s->jvms,
							   .sources = &s->sources,
							   .sideband = s->sideband,
							   .read_events = read_events,
							   .hurried = hurried,
							   .ctx = s});
}

static int cannot_write(const struct record_options *o, int err)
{
	log_error("cannot write %s: %s", output_name(o), trace_writer_why(err));
	return err;
}

static int open_parts(struct loop *l)
{
	struct session *s = l->s;
	const struct record_options *o = s->options;
	int err;

	err = sources_open(&s->sources);
	err = err ?: targets_check(o);
	if (err)
		return err;
	err = kernel_side_open(&s->kernel, o);
	if (err)
		return err;
	charges_open_pools(&s->pools, s->kernel);
	s->sink.pools = &s->pools;
	err = trace_writer_prepare(&s->sink.writer, o->output);
	if (err)
		return cannot_write(o, err);
	trace_writer_tap(s->sink.writer, o->tap, o->tap_ctx);
	err = watch_signals(l); /* after a FIFO was opened, which can be interrupted */
	err = err ?: modules_new(&s->modules, &s->sink, s->kernel, o->lines);
	err = err ?: threads_new(&s->threads, &s->sink);
	err = err ?: dump_new(&s->dump, s);
	err = err ?: before_new(&s->before, s);
	err = err ?: processes_new(&s->processes, &s->sink, s->kernel, s->modules, s->threads, o);
	err = err ?: stacks_new(&s->stacks, s);
	err = err ?: vthreads_new(&s->vthreads, &s->sink);
	err = err ?: names_new(&s->names, &s->sink);
	err = err ?: resources_new(&s->resources, &s->sink, s->names);
	err = err ?: spans_new(&s->spans, &s->sink, s->kernel, s->names, s->resources);
	err = err ?: perf_maps_new(&s->perf_maps, &s->sink, s->modules);
	err = err ?: sideband_open(&s->sideband, &s->sink, &s->sources, s->processes);
	if (err)
		return err;
	hook_processes(s);
	threads_follow(s->threads, s->sideband);
	wire_jvms(s);
	err = probes_new(&s->jvms.probes, &s->jvms);
	err = err ?: open_agents(s);
	return err ?: control_open(&s->control, s);
}

/* Adds the targets, and the agents in them. */
static int add_targets(struct loop *l)
{
	const struct record_options *o = l->s->options;
	const char *option = NULL;
	int err;

	err = targets_add(l->s->processes, o);
	if (err)
		return err;
	if (o->system_wide && (err = processes_add_all(l->s->processes)))
		return err;
	if (o->command) {
		if (o->attach && (err = agents_prepare(l->s->agents, &option)))
			return err;
		err = command_prepare(&l->command, o->command, option, trace_writer_on_stdout(l->s->sink.writer));
		if (err || (err = processes_add_launched(l->s->processes, l->command.pid)))
			return err;
	}
	if (o->system_wide && o->attach)
		agents_discover(l->s->agents);
	for (int i = 0; i < o->pid_count; i++)
		if (!o->attach || agents_attach(l->s->agents, o->pids[i]) == 0)
			agentless_no_jvm(l->s, o->pids[i]);
	return 0;
}

/*
 * Stacks are incomplete until the kernel side knows new libraries and JVMs. The collector runs briefly and often, and
 * on a busy machine it would wait for a CPU, so it raises its priority where it may. The command was forked before and
 * does not inherit this.
 */
static void go_first(void)
{
	if (setpriority(PRIO_PROCESS, 0, COLLECTOR_NICE))
		log_debug("collector stays at its priority: %s", strerror(errno));
}

static int edge(const struct session *s, bool begins)
{
	return s->options->edge ? s->options->edge(s->options->tap_ctx, begins) : 0;
}

static int session_run(struct loop *l)
{
	struct session *s = l->s;
	int err;

	if (l->command.pid || !settle_is_done(s))
		probes_prepare(s->jvms.probes);
	(void)layouts_find_all(&s->jvms);
	err = settle(s);
	err = err ?: kernel_side_wait(s->kernel);
	if (l->command.pid)
		probes_wait(s->jvms.probes, UINT64_MAX); /* so that a JVM does not, at its start */
	go_first();
	sideband_read(s->sideband);
	sink_clock(&s->sink); /* times are relative to it, so it precedes the first sample */
	modules_start(s->modules, &s->sources);
	host_load_begin(&l->host);
	err = err ?: kernel_side_start(s->kernel, s->options);
	err = err ?: watch_events(l);
	err = err ?: watch_timers(l);
	err = err ?: control_serve(s->control);
	/* A recording that cannot start leaves an older one as it is. */
	if (!err && (err = trace_writer_begin(s->sink.writer)))
		(void)cannot_write(s->options, err);
	l->flushed_ns = l->stats_ns = l->load_ns = now_ns();
	summary_start(&l->summary, !s->options->quiet && isatty(STDERR_FILENO), l->flushed_ns);
	probes_discover(s->jvms.probes);
	err = err ?: edge(s, true);
	if (!err && l->command.pid && !s->finished)
		err = command_go(&l->command);
	while (!err && !s->finished) {
		bool eager = agents_eager(s->agents), soon = layouts_find_all(&s->jvms),
		     behind = agents_behind(s->agents);

		err = sources_dispatch(&s->sources, behind ? 0 : eager || soon ? 1 : -1);
		if (eager || behind)
			agents_drain(s->agents);
	}
	return err ?: edge(s, false);
}

/* Reads and emits what remains. Each step needs what the steps before it have read. */
static void finish(struct loop *l)
{
	struct session *s = l->s;

	dump_end(s->dump);
	s->jvms.stopped_ns = now_ns();
	host_load_tick(&l->host, &s->sink, s->processes);
	kernel_side_stop(s->kernel);
	modules_finish(s->modules);
	probes_stop(s->jvms.probes);
	read_all(s);
	sums_finish(&l->sums);
	asleep_finish(s);
	if (s->interrupted || s->options->kill)
		command_interrupt(&l->command);
	read_all(s);
	agents_stop(s->agents);
	session_read_samples(s); /* for stack requests made meanwhile */
	native_blocks_emit(s, 0);
	block_requests_end(s);
	agents_settle(s->agents, true);
	agentless_end(s);
	patterns_end(&s->jvms);
	layouts_tick(&s->jvms, true);
	jvms_tick(&s->jvms, true);
	stacks_name_deferred(s->stacks, DEFERRED_NAMES_NS);
	perf_maps_name(s->perf_maps);
	sideband_end(s->sideband);
	sink_clock(&s->sink);
	emit_stats(l);
	sink_losses(&s->sink);
	sink_end(&s->sink);
	if (!s->sink.error)
		sink_flush(&s->sink);
}

static void free_parts(struct session *s)
{
	control_close(s->control);
	agents_free(s->agents);
	sideband_free(s->sideband);
	stacks_free(s->stacks);
	vthreads_free(s->vthreads);
	spans_free(s->spans);
	resources_free(s->resources);
	perf_maps_free(s->perf_maps);
	names_free(s->names);
	free(s->hit_values);
	probes_free(s->jvms.probes);
	processes_free(s->processes);
	dump_free(s->dump);
	before_free(s->before);
	deferred_wait_free(s->deferred_wait);
	threads_free(s->threads);
	modules_free(s->modules);
	pools_close(&s->pools);
	kernel_side_free(s->kernel);
	sources_close(&s->sources);
}

int session_record(const struct record_options *o, int *status)
{
	struct session s = {.options = o, .jvms.config = o->config, .sources.epoll_fd = -1};
	struct loop l = {.s = &s, .command.gate_fd = -1, .signals.fd = -1, .timer.fd = -1, .deadline.fd = -1};
	int err, closed;

	*status = 0;
	l.sums.session = &s;
	s.jvms.config.no_settings = !o->properties;
	s.sink.failed = on_failure;
	s.sink.failed_ctx = &s;
	descriptors_raise();
	/*
	 * A fixed threshold: otherwise the first large block that is freed makes glibc keep all later ones in its heap.
	 */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	mallopt(M_ARENA_MAX, 1); /* what its threads free can be used by all */
	err = open_parts(&l);
	if (err)
		goto out;
	facts_emit(&s);
	modules_add_kernel(s.modules);
	err = add_targets(&l);
	err = err ?: session_run(&l);
	if (!err || l.summary.start_ns)
		finish(&l);
	err = err ?: s.sink.error;
	*status = l.command.status;
	if (!err)
		summary_print(&l.summary, &s, l.counters.walk_ns);
	command_cancel(&l.command);
	targets_leave(&s, &l.command);
out:
	closed = trace_writer_close(s.sink.writer);
	if (closed && !s.sink.error)
		log_error("%s: %s; what was written before can be read", output_name(o), trace_writer_why(closed));
	s.sink.error = err = err ?: closed;
	if (o->interrupted)
		*o->interrupted = s.interrupted;
	if (l.signals.fd >= 0)
		close(l.signals.fd);
	if (l.timer.fd >= 0)
		close(l.timer.fd);
	if (l.deadline.fd >= 0)
		close(l.deadline.fd);
	sums_free(&l.sums);
	free_parts(&s);
	return err;
}
