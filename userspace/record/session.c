// SPDX-License-Identifier: Apache-2.0
#include "record/session.h"

#include "agents/agents.h"
#include "config/choices.h"
#include "record/command.h"
#include "record/control.h"
#include "jvm/jvm.h"
#include "proc/jvm_proc.h"
#include "kernel/kernel_side.h"
#include "process/modules.h"
#include "sink/names.h"
#include "kernel/offcpu.h"
#include "jvm/probes.h"
#include "process/processes.h"
#include "process/sideband.h"
#include "record/stacks.h"
#include "jvm/vthreads.h"
#include "kernel/tracepoint.h"
#include "util/log.h"
#include "util/utf8.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 50		     /* rings are read at least this often */
#define FLUSH_NS 5000000000ULL	     /* a killed recording loses at most this much, or a block */
#define DISCOVER_NS 500000000ULL     /* new JVMs are looked for this often */
#define SETTLE_NS 2000000000ULL	     /* agents have this long to come in before sampling starts without them */
#define LATE_NAMES_NS 20000000000ULL /* after so long the remaining frames have no source lines */
#define PROGRESS_NS 1000000000ULL
#define COLLECTOR_NICE (-10)

/* What the loop needs besides the session. */
struct loop {
	struct session *s;
	struct command command;
	struct source signals;
	struct source timer;
	struct braid_counters counters;
	uint64_t start_ns, flushed_ns, discovered_ns, shown_ns;
	bool progress;
};

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

struct trace_str trace_str_of(const char *text)
{
	/* One record holds four strings at most; what is not ASCII (a path, a comm) may not be UTF-8 either. */
	static char repaired[4][4096];
	static unsigned int turn;
	size_t length = 0;

	while ((signed char)text[length] > 0)
		length++;
	if (text[length]) {
		turn = (turn + 1) % 4;
		length = utf8_from_modified(repaired[turn], sizeof(repaired[turn]), text, strlen(text));
		text = repaired[turn];
	}
	return (struct trace_str){.str = text, .len = (uint32_t)length};
}

/* ---- the trace ---- */

static void fail(struct session *s, int err)
{
	if (s->error)
		return;
	s->error = err;
	if (err == -ENOSPC || err == -EDQUOT)
		log_error("%s: no space left; what was recorded until now is kept and can be read", s->options->output);
	else
		log_error("%s: %s; what was recorded until now is kept", s->options->output, strerror(-err));
}

void session_emit(struct session *s, const struct trace_rec *rec)
{
	int err;

	if (s->error)
		return;
	err = trace_writer_put(s->writer, rec);
	if (err == -EINVAL)
		session_loss(s, 0, "collector", "oversized_record", 1);
	else if (err)
		fail(s, err);
}

void session_notice(struct session *s, uint32_t process, uint32_t severity, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (severity == BRAID_NOTICE_WARNING)
		log_warning("%s", text);
	else
		log_debug("%s", text);
	session_emit(s, &(struct trace_rec){.kind = TRACE_NOTICE,
					    .notice = {.time_ns = now_ns(),
						       .process = process,
						       .severity = severity,
						       .text = trace_str_of(text)}});
}

void session_loss(struct session *s, uint32_t process, const char *hop, const char *kind, uint64_t count)
{
	s->lost += count;
	session_emit(s, &(struct trace_rec){.kind = TRACE_LOSS,
					    .loss = {.time_ns = now_ns(),
						     .process = process,
						     .hop = trace_str_of(hop),
						     .kind = trace_str_of(kind),
						     .count = count}});
}

void session_stat(struct session *s, uint32_t process, const char *key, uint64_t value)
{
	session_emit(
		s,
		&(struct trace_rec){
			.kind = TRACE_STAT,
			.stat = {.time_ns = now_ns(), .process = process, .key = trace_str_of(key), .value = value}});
}

static void emit_info(struct session *s, const char *key, const char *value)
{
	session_emit(s, &(struct trace_rec){.kind = TRACE_INFO,
					    .info = {.key = trace_str_of(key), .value = trace_str_of(value)}});
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static void emit_clock(struct session *s)
{
	session_emit(s, &(struct trace_rec){.kind = TRACE_CLOCK,
					    .clock = {.monotonic_ns = now_ns(),
						      .boottime_ns = read_clock(CLOCK_BOOTTIME),
						      .realtime_ns = read_clock(CLOCK_REALTIME)}});
}

/* What ticks, how often, and what is wanted of JVMs. */
static void emit_what(struct session *s, char *text, size_t size)
{
	const struct record_options *o = s->options;

	if (*o->event)
		emit_info(s, "record.event", o->event);
	if (tracepoint_named(o->event)) {
		snprintf(text, size, "%llu", (unsigned long long)o->period);
		emit_info(s, "record.period", text);
	} else if (*o->event) {
		snprintf(text, size, "%d", o->frequency_hz);
		emit_info(s, "record.frequency_hz", text);
	}
	choices_text(&o->choices, text, size);
	emit_info(s, "record.choices", text);
	if (o->choices.wanted & BRAID_WANT(ALLOC)) {
		snprintf(text, size, "%llu", (unsigned long long)o->choices.alloc_interval);
		emit_info(s, "record.alloc_interval", text);
	}
}

static void emit_facts(struct session *s)
{
	const struct record_options *o = s->options;
	char text[4096] = "";
	struct utsname u;
	size_t used = 0;

	uname(&u);
	emit_info(s, "record.braid", BRAID_VERSION);
	emit_info(s, "host.name", u.nodename);
	snprintf(text, sizeof(text), "%s %s", u.sysname, u.release);
	emit_info(s, "host.kernel", text);
	emit_info(s, "host.machine", u.machine);
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	emit_info(s, "host.cpus", text);
	emit_what(s, text, sizeof(text));
	text[0] = '\0';
	for (char **a = o->command; a && *a && used < sizeof(text); a++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "", *a);
	for (int i = 0; i < o->pid_count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", used ? "," : "-p ", o->pids[i]);
	emit_info(s, "record.target", o->system_wide ? "-a" : text);
}

/* ---- sources ---- */

int session_watch(struct session *s, struct source *src)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = src};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, src->fd, &e) ? -errno : 0;
}

void session_unwatch(struct session *s, struct source *src)
{
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, src->fd, NULL);
}

/* Records first: they name what was sampled. */
static void read_all(struct session *s)
{
	agents_drain(s->agents);
	session_read_samples(s);
	agents_settle(s->agents, false);
	processes_show_forked(s->processes);
	kernel_side_tick(s->kernel);
	control_tick(s->control);
}

static uint64_t own_cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000ULL +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000ULL;
}

static void emit_stats(struct loop *l)
{
	struct braid_counters c;
	struct session *s = l->s;

	kernel_side_counters(s->kernel, &c);
	if (c.samples_lost > l->counters.samples_lost)
		session_loss(s, 0, "bpf", "sample", c.samples_lost - l->counters.samples_lost);
	if (c.stacks_lost > l->counters.stacks_lost)
		session_loss(s, 0, "bpf", "stack", c.stacks_lost - l->counters.stacks_lost);
	for (uint32_t i = 1; i < BRAID_JVM_EVENTS; i++)
		if (c.jvm_lost[i] > l->counters.jvm_lost[i])
			session_loss(s, 0, "bpf", jvm_event_name(i), c.jvm_lost[i] - l->counters.jvm_lost[i]);
	l->counters = c;
	session_stat(s, 0, "collector_cpu_ns", own_cpu_ns());
	session_stat(s, 0, "bpf_cpu_ns", c.walk_ns);
	session_stat(s, 0, "bpf_samples", c.samples);
	session_stat(s, 0, "bpf_stacks", c.stacks);
	session_stat(s, 0, "bpf_stacks_sent", c.stacks_sent);
	session_stat(s, 0, "late_walks", s->late);
	session_stat(s, 0, "bpf_frames_java", c.frames_java);
	session_stat(s, 0, "bpf_frames_native", c.frames_native);
	session_stat(s, 0, "bpf_frames_kernel", c.frames_kernel);
	session_stat(s, 0, "stacks", stacks_count(s->stacks));
}

static void show_progress(struct loop *l, uint64_t now)
{
	double seconds = (double)(now - l->start_ns) / 1e9;

	fprintf(stderr, "\rbraid: %.0f s, %llu samples, %llu stacks, %zu JVM%s, %llu lost, %.1f MB, own CPU %.1f %% ",
		seconds, (unsigned long long)l->s->samples, (unsigned long long)stacks_count(l->s->stacks),
		agents_connected(l->s->agents), agents_connected(l->s->agents) == 1 ? "" : "s",
		(unsigned long long)l->s->lost, (double)trace_writer_bytes(l->s->writer) / 1e6,
		(double)own_cpu_ns() / 1e7 / (seconds > 0 ? seconds : 1));
}

/* Nothing that was asked for is left to record. */
static bool targets_gone(struct loop *l)
{
	if (l->s->options->system_wide)
		return false;
	if (l->command.pid && !l->command.ended)
		return false;
	return l->command.pid ? true : processes_running(l->s->processes) == 0;
}

static void on_tick(struct source *src)
{
	struct loop *l = src->ctx;
	struct session *s = l->s;
	uint64_t now = now_ns(), ticks;

	if (read(src->fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		log_debug("timer: %s", strerror(errno));
	read_all(s);
	if (now - l->discovered_ns > DISCOVER_NS) {
		if (s->options->attach)
			agents_discover(s->agents);
		probes_discover(s->probes);
		l->discovered_ns = now;
	}
	if (now - l->flushed_ns > FLUSH_NS) {
		int err;

		emit_stats(l);
		err = trace_writer_flush(s->writer);
		if (err)
			fail(s, err);
		l->flushed_ns = now;
	}
	if (l->progress && now - l->shown_ns > PROGRESS_NS) {
		show_progress(l, now);
		l->shown_ns = now;
	}
	if (s->error || targets_gone(l) ||
	    (s->options->duration_s > 0 && (double)(now - l->start_ns) / 1e9 >= s->options->duration_s))
		s->finished = true;
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
		l->s->finished = true;
}

static int watch_signals(struct loop *l)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	l->signals =
		(struct source){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .ready = on_signal, .ctx = l};
	return l->signals.fd < 0 ? -errno : session_watch(l->s, &l->signals);
}

static int watch_timer(struct loop *l)
{
	struct itimerspec every = {.it_interval.tv_nsec = TICK_MS * 1000000, .it_value.tv_nsec = TICK_MS * 1000000};

	l->timer = (struct source){
		.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), .ready = on_tick, .ctx = l};
	if (l->timer.fd < 0 || timerfd_settime(l->timer.fd, 0, &every, NULL))
		return -errno;
	return session_watch(l->s, &l->timer);
}

/* ---- from start to end ---- */

/* Before the output is opened: a recording that cannot begin must not cost an older one. */
static int check_targets(const struct record_options *o)
{
	struct proc_status status;
	int err;

	if (o->command && command_find(o->command[0])) {
		log_error("cannot run %s: %s", o->command[0], strerror(errno));
		return -errno;
	}
	for (int i = 0; i < o->pid_count; i++) {
		err = proc_status_read(o->pids[i], &status);
		if (err == -ESRCH)
			log_error("no process %d", o->pids[i]);
		else if (err)
			log_error("cannot read process %d: %s; run as root", o->pids[i], strerror(-err));
		if (err)
			return err;
	}
	return 0;
}

static int open_parts(struct session *s, const struct record_options *o)
{
	int err;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	err = kernel_side_open(&s->kernel, o);
	err = err ?: check_targets(o);
	if (err)
		return err;
	err = trace_writer_open(&s->writer, o->output);
	if (err) {
		log_error("cannot write %s: %s%s", o->output, strerror(-err),
			  err == -EEXIST ? "; it is not a braid trace, choose another name with -o" : "");
		return err;
	}
	trace_writer_tap(s->writer, o->tap, o->tap_ctx);
	err = modules_new(&s->modules, s);
	err = err ?: processes_new(&s->processes, s);
	err = err ?: stacks_new(&s->stacks, s);
	err = err ?: vthreads_new(&s->vthreads, s);
	err = err ?: names_new(&s->names, s);
	err = err ?: probes_new(&s->probes, s);
	err = err ?: agents_new(&s->agents, s);
	err = err ?: control_open(&s->control, s);
	return err ?: sideband_open(&s->sideband, s);
}

/* The kernel's processes, the targets, and the agents in them. */
static int add_targets(struct loop *l)
{
	const struct record_options *o = l->s->options;
	const char *option = NULL;
	int err;

	for (int i = 0; i < o->pid_count; i++) {
		err = processes_add(l->s->processes, o->pids[i]);
		if (err == -ESRCH)
			log_error("no process %d", o->pids[i]);
		else if (err)
			log_error("cannot read process %d: %s; run as root", o->pids[i], strerror(-err));
		if (err)
			return err;
	}
	if (o->system_wide && (err = processes_add_all(l->s->processes)))
		return err;
	if (o->command) {
		if (o->attach && (err = agents_prepare(l->s->agents, &option)))
			return err;
		err = command_prepare(&l->command, o->command, option);
		if (err || (err = processes_add(l->s->processes, l->command.pid)))
			return err;
	}
	if (o->system_wide && o->attach)
		agents_discover(l->s->agents);
	for (int i = 0; o->attach && i < o->pid_count; i++)
		if (agents_attach(l->s->agents, o->pids[i]) == 0)
			session_notice(l->s, 0, BRAID_NOTICE_INFO, "process %d is not a JVM: native frames only",
				       o->pids[i]);
	return 0;
}

static int dispatch(struct session *s, int timeout_ms)
{
	struct epoll_event ready[32];
	int n = epoll_wait(s->epoll_fd, ready, 32, timeout_ms);

	if (n < 0 && errno != EINTR)
		return -errno;
	for (int i = 0; i < n; i++) {
		struct source *src = ready[i].data.ptr;

		src->ready(src);
	}
	return 0;
}

/* A JVM's stacks can be walked when its agent has said how: the first sample is worth waiting for that. */
static int settle(struct session *s)
{
	uint64_t until = now_ns() + SETTLE_NS;
	int err = 0;

	while (!err && !s->finished && now_ns() < until && (agents_expected(s->agents) || agents_eager(s->agents))) {
		err = dispatch(s, 1);
		agents_drain(s->agents);
	}
	return err;
}

/*
 * What the collector tells the kernel side late, stacks lack: where a new library lies, how a new JVM is made. It works
 * little and often, and on a busy machine it would wait for its turn; so it goes first where it may. The command was
 * forked before and does not inherit it.
 */
static void go_first(void)
{
	if (setpriority(PRIO_PROCESS, 0, COLLECTOR_NICE))
		log_debug("collector stays at its priority: %s", strerror(errno));
}

static int run(struct loop *l)
{
	struct session *s = l->s;
	int err;

	probes_discover(s->probes);
	err = settle(s);

	go_first();
	err = err ?: watch_timer(l);
	sideband_read(s->sideband);
	err = err ?: kernel_side_start(s->kernel, s->options);
	l->start_ns = l->flushed_ns = l->shown_ns = now_ns();
	emit_clock(s);
	if (!err && l->command.pid)
		err = command_go(&l->command);
	while (!err && !s->finished) {
		bool eager = agents_eager(s->agents);

		err = dispatch(s, eager ? 1 : -1);
		if (eager)
			agents_drain(s->agents);
	}
	return err;
}

static void say_refusal(const char *text)
{
	fprintf(stderr, "braid: %s\n", text);
}

static void summarise(struct loop *l)
{
	struct session *s = l->s;
	double seconds = (double)(now_ns() - l->start_ns) / 1e9;

	if (l->progress)
		fputc('\n', stderr);
	if (s->options->quiet)
		return;
	fprintf(stderr, "braid: %s: %.1f s, %llu samples (%.2f %% whole stacks), %llu distinct stacks, %.2f MB, ",
		s->options->output, seconds, (unsigned long long)s->samples,
		s->samples ? 100.0 * (double)s->complete / (double)s->samples : 0.0,
		(unsigned long long)stacks_count(s->stacks), (double)trace_writer_bytes(s->writer) / 1e6);
	if (s->lost)
		fprintf(stderr, "%llu lost (`braid report` says what)", (unsigned long long)s->lost);
	else
		fprintf(stderr, "nothing lost");
	fprintf(stderr, "; own CPU %.2f s, in the kernel %.2f s\n", (double)own_cpu_ns() / 1e9,
		(double)l->counters.walk_ns / 1e9);
	agents_each_refusal(s->agents, say_refusal);
}

/* The last words of everybody, in the order in which they can still be said. */
static void finish(struct loop *l)
{
	struct session *s = l->s;

	s->stopped_ns = now_ns();
	kernel_side_stop(s->kernel);
	probes_stop(s->probes);
	read_all(s);
	offcpu_finish(s);
	if (s->options->command && !l->command.ended)
		command_interrupt(&l->command);
	read_all(s);
	agents_stop(s->agents);
	session_read_samples(s); /* what agents asked stacks for in the meantime */
	agents_settle(s->agents, true);
	stacks_name_late(s->stacks, LATE_NAMES_NS);
	emit_clock(s);
	emit_stats(l);
	session_emit(s, &(struct trace_rec){.kind = TRACE_END, .end = {.time_ns = now_ns()}});
}

static void free_parts(struct session *s)
{
	control_close(s->control);
	agents_free(s->agents);
	sideband_free(s->sideband);
	stacks_free(s->stacks);
	vthreads_free(s->vthreads);
	names_free(s->names);
	probes_free(s->probes);
	processes_free(s->processes);
	modules_free(s->modules);
	kernel_side_free(s->kernel);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
}

int session_record(const struct record_options *o, int *status)
{
	struct session s = {.options = o, .choices = o->choices, .epoll_fd = -1};
	struct loop l = {.s = &s, .command.gate_fd = -1, .signals.fd = -1, .timer.fd = -1};
	int err;

	*status = 0;
	l.progress = !o->quiet && isatty(STDERR_FILENO);
	err = open_parts(&s, o);
	if (err)
		goto out;
	emit_facts(&s);
	modules_load_kernel(s.modules);
	err = watch_signals(&l);
	err = err ?: add_targets(&l);
	err = err ?: run(&l);
	if (!err || l.start_ns)
		finish(&l);
	err = err ?: s.error;
	*status = l.command.status;
out:
	command_interrupt(&l.command);
	if (s.writer) {
		int closed;

		if (!err)
			summarise(&l);
		closed = trace_writer_close(s.writer);
		if (closed && !s.error)
			fail(&s, closed);
		err = err ?: closed;
	}
	if (l.signals.fd >= 0)
		close(l.signals.fd);
	if (l.timer.fd >= 0)
		close(l.timer.fd);
	free_parts(&s);
	return err;
}
