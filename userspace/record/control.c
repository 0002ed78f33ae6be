// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include "native_blocks.h"
#include "stacks.h"
#include "agents/agents.h"
#include "config/event_config.h"
#include "jvm/jvm.h"
#include "jvm/jvm_emit.h"
#include "jvm/probes.h"
#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "sink/names.h"
#include "util/log.h"
#include "util/utf8.h"

#include <braid/jvm_event.h>
#include <braid/ring.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#define BACKLOG 8
#define CLIENTS_MAX 8		  /* at a time; another one disconnects the oldest */
#define ANSWER_BYTES (1 << 20)	  /* fits thousands of JVMs; the collector waits for no client */
#define AGENTS_WAIT_NS 1000000000 /* for the answers of agents */

struct client {
	struct source src;
	struct control *control;
	struct braid_control_request request;
	uint64_t deadline_ns; /* until when answers of agents are waited for; 0: no request yet */
	uint32_t named;	      /* event types of its list */
	uint32_t lacking;     /* of these, what this recording cannot enable now */
	bool lenient;	      /* the list is "all": types that cannot be enabled are no failure */
	uint32_t failed;
	bool gone;     /* it does not read its answers */
	bool stopping; /* it waits for the end of the recording */
	struct client *next;
};

struct control {
	struct session *session;
	struct source listening;
	struct sockaddr_un address;
	struct client *clients; /* oldest first */
	struct client *ended;	/* one round of the event loop may still reach these */
	struct client *freed;	/* these are safe to free */
	uint64_t start_ns;
};

/* ---- answers ---- */

static struct braid_control_header header(enum braid_control_kind kind)
{
	return (struct braid_control_header){
		.magic = BRAID_CONTROL_MAGIC, .version = BRAID_CONTROL_VERSION, .kind = (uint16_t)kind};
}

static void answer(struct client *c, const void *message, size_t size)
{
	if (!c->gone && send(c->src.fd, message, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size)
		c->gone = true;
}

static void note(struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct client *c, const char *fmt, ...)
{
	struct braid_control_error e = {.hdr = header(BRAID_CONTROL_NOTE)};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	answer(c, &e, sizeof(e));
}

static void refuse(struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void refuse(struct client *c, const char *fmt, ...)
{
	struct braid_control_error e = {.hdr = header(BRAID_CONTROL_ERROR)};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	c->failed++;
	answer(c, &e, sizeof(e));
}

static void client_free(struct client *c)
{
	source_unwatch(&c->control->session->sources, &c->src);
	close(c->src.fd);
	c->src.fd = -1;
	LL_DELETE(c->control->clients, c);
	LL_PREPEND(c->control->ended, c);
}

static void free_list(struct client **list)
{
	struct client *c, *next;

	LL_FOREACH_SAFE (*list, c, next) {
		free(c);
	}
	*list = NULL;
}

static void client_end(struct client *c, bool unknown)
{
	struct braid_control_end e = {.hdr = header(BRAID_CONTROL_END), .failed = c->failed, .unknown = unknown};

	answer(c, &e, sizeof(e));
	client_free(c);
}

static void answer_recording(struct client *c)
{
	struct session *s = c->control->session;
	struct braid_control_recording r = {.hdr = header(BRAID_CONTROL_RECORDING),
					    .pid = (uint32_t)getpid(),
					    .duration_ns = now_ns() - c->control->start_ns,
					    .samples = s->samples,
					    .stacks = stacks_count(s->stacks),
					    .lost = s->sink.lost,
					    .bytes = trace_writer_bytes(s->sink.writer),
					    .config = s->jvms.config};

	snprintf(r.event, sizeof(r.event), "%s", s->options->event);
	snprintf(r.output, sizeof(r.output), "%s", output_name(s->options));
	answer(c, &r, sizeof(r));
}

static void answer_jvm(void *ctx, struct process *p)
{
	struct client *c = ctx;
	struct braid_control_jvm j = {.hdr = header(BRAID_CONTROL_JVM), .pid = (uint32_t)p->pid};
	struct agent_state state;

	if (!p->libjvm_ns && !p->jvm)
		return;
	if (agents_state(c->control->session->agents, p, &state)) {
		j.agent = state.connected && !p->ended_ns ? BRAID_CONTROL_CONNECTED : BRAID_CONTROL_GONE;
		j.config = state.config;
		j.refused = state.refused;
		j.silent = state.silent;
		if (!c->lenient && j.refused & c->named)
			c->failed++;
	}
	utf8_printable(j.name, sizeof(j.name), p->comm, strlen(p->comm));
	answer(c, &j, sizeof(j));
}

/* ---- changes ---- */

/* Readers of the trace then know when a type was enabled. */
static void emit_config(struct session *s, struct process *p, const struct braid_event_config *config)
{
	char text[EVENT_CONFIG_TEXT];
	struct trace_jvm_event e = {.time_ns = now_ns(),
				    .kind = BRAID_JVM_CONFIG,
				    .value = config->enabled,
				    .source = BRAID_SOURCE_COLLECTOR};

	event_config_text(config, text, sizeof(text));
	e.name = names_id(s->names, NULL, trace_str_of(text));
	jvm_events_emit(&s->jvms, p, &e);
}

/*
 * Probes in JVMs are only set at the start. Without them an event type is missing as a whole, or reduced to what the
 * agent reports.
 */
static const struct {
	enum braid_event_type type;
	bool all;
	const char *what;
} loaded[] = {
	{BRAID_EVENT_TYPE_SAFEPOINT, true, "safepoints"},
	{BRAID_EVENT_TYPE_GC, false, "cycles, phases and causes of garbage collections"},
	{BRAID_EVENT_TYPE_JIT, false, "deoptimisations and the duration of compilations"},
};

#define LOADED (sizeof(loaded) / sizeof(loaded[0]))

/* Other programs are loaded at the first use. */
static void load_programs(struct client *c)
{
	struct session *s = c->control->session;
	int err;

	probes_wait(s->jvms.probes, UINT64_MAX); /* only one thread at a time may load programs */
	err = kernel_side_load(s->kernel, c->named);
	c->deadline_ns = now_ns() + AGENTS_WAIT_NS; /* loading takes nothing from the agents' time */
	if (!err)
		return;
	note(c,
	     "cannot load the eBPF programs for %s (%s): events may lack their stacks, and the threads that ended "
	     "the waits",
	     c->request.list, strerror(-err));
	c->lacking |= BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(OFFCPU);
	if (c->named & (BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(OFFCPU)) && !c->lenient)
		refuse(c, "wait, offcpu: waiting threads cannot be recorded without these programs");
}

static void look_lacking(struct client *c)
{
	uint32_t began = c->control->session->options->config.enabled;

	c->lacking = 0;
	for (size_t i = 0; i < LOADED; i++) {
		const char *name = event_type_name(loaded[i].type);

		if (!(c->named & ~began & 1U << loaded[i].type))
			continue;
		if (loaded[i].all)
			c->lacking |= 1U << loaded[i].type;
		if (loaded[i].all && !c->lenient)
			refuse(c, "%s: %s can only be enabled in a recording that started with -e %s", name,
			       loaded[i].what, name);
		else
			note(c, "%s: without %s, which needs a recording that started with -e %s", name, loaded[i].what,
			     name);
	}
	load_programs(c);
}

static bool thread_lives(const struct process *p, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%u", (int)p->pid, tid);
	return access(path, F_OK) == 0;
}

/* The tids of ended threads are reused. Types enabled only for such a thread are enabled for no thread then. */
static void forget_ended(const struct process *p, struct braid_event_config *c)
{
	for (size_t i = 0; i < BRAID_CONFIG_THREADS; i++)
		if (c->threads[i].tid && !thread_lives(p, c->threads[i].tid))
			c->threads[i] = (struct braid_thread_config){0};
}

static const char *change_agent(struct client *c, struct process *p)
{
	enum config_change change = (enum config_change)(c->request.verb - BRAID_CONTROL_ENABLE);
	struct session *s = c->control->session;
	char list[sizeof(c->request.list)], why[SELECTION_WHY];
	struct braid_event_config before;
	struct agent_state state;
	uint32_t named;
	int err;

	if (!agents_state(s->agents, p, &state))
		return "the agent is not connected yet; try again in a moment";
	if (c->request.thread && !thread_lives(p, c->request.thread))
		return "it has no such thread; `ls /proc/PID/task` and `braid report` show thread ids";
	forget_ended(p, &state.config);
	before = state.config;
	memcpy(list, c->request.list, sizeof(list));
	if (event_config_change(&state.config, change, list, &named, why)) /* perform() has parsed it before */
		return "the list cannot be read";
	if (event_config_thread(&state.config, &before, change, named, c->request.thread, why)) {
		refuse(c, "process %d: %s", (int)p->pid, why);
		return NULL;
	}
	state.config.enabled &= ~(BRAID_EVENT_TYPE(CPU) | c->lacking);
	state.config.enabled |= s->jvms.config.enabled & BRAID_EVENT_TYPE(CPU);
	err = agents_configure(s->agents, p, &state.config);
	if (err == -EPIPE)
		return "the agent has disconnected";
	if (err)
		return strerror(-err);
	emit_config(s, p, &state.config);
	return NULL;
}

static const char *command_agent(struct client *c, struct process *p)
{
	static const enum braid_command commands[BRAID_CONTROL_VERBS] = {[BRAID_CONTROL_RESET] = BRAID_COMMAND_RESET,
									 [BRAID_CONTROL_GC] = BRAID_COMMAND_GC,
									 [BRAID_CONTROL_DUMP] = BRAID_COMMAND_DUMP};
	int err = agents_command(c->control->session->agents, p, commands[c->request.verb]);

	if (err == -ENOENT)
		return "the agent is not connected yet; try again in a moment";
	return err == -EPIPE ? "the agent has disconnected" : err ? strerror(-err) : NULL;
}

/* Performs the request for one of the requested processes. */
static void perform_one(void *ctx, struct process *p)
{
	struct client *c = ctx;
	const char *refused = agents_refusal(c->control->session->agents, p->pid), *why;

	if (p->ended_ns && !c->request.pid)
		return;
	if (p->ended_ns)
		why = "it has ended";
	else if (!p->libjvm_ns && !p->jvm)
		why = native_blocks_command(c->control->session, p->pid, c->request.verb) || !c->request.pid
			      ? NULL
			      : "it is not a JVM";
	else if (!jvm_had_agent(p->jvm) && refused)
		why = refused;
	else
		why = c->request.verb <= BRAID_CONTROL_INTERVAL ? change_agent(c, p) : command_agent(c, p);
	if (why)
		refuse(c, "process %d: %s", (int)p->pid, why);
}

/* Applies a change to the recording itself: sampling, and JVMs to come. */
static void perform_recording(struct client *c, const struct braid_event_config *config)
{
	struct session *s = c->control->session;
	bool cpu = config->enabled & BRAID_EVENT_TYPE(CPU);
	int err = 0;

	if (cpu != !!(s->jvms.config.enabled & BRAID_EVENT_TYPE(CPU)))
		err = kernel_side_sample(s->kernel, cpu);
	if (err == -ENOENT && !c->lenient)
		refuse(c, "cpu: this recording started without samples; start it with -e cpu");
	else if (err && err != -ENOENT)
		refuse(c, "cpu: %s", strerror(-err));
	s->jvms.config = *config;
	s->jvms.config.enabled &= ~c->lacking;
	if (err)
		s->jvms.config.enabled ^= BRAID_EVENT_TYPE(CPU);
	kernel_side_follow(s->kernel, &s->jvms.config);
	emit_config(s, NULL, &s->jvms.config);
}

static bool prepare_change(struct client *c, struct braid_event_config *config)
{
	enum config_change change = (enum config_change)(c->request.verb - BRAID_CONTROL_ENABLE);
	char list[sizeof(c->request.list)], why[SELECTION_WHY];

	*config = c->control->session->jvms.config;
	memcpy(list, c->request.list, sizeof(list));
	c->lenient = strcmp(list, "all") == 0;
	if (event_config_change(config, change, list, &c->named, why)) {
		refuse(c, "%s", why);
		return false;
	}
	if (c->request.thread && !c->request.pid) {
		refuse(c, "thread=%u: name the JVM of the thread instead of the recorder", c->request.thread);
		return false;
	}
	if (c->named & BRAID_EVENT_TYPE(CPU) && c->request.pid && !c->lenient) {
		refuse(c, "cpu: sampling is enabled and disabled for a whole recording; name its recorder, process %d",
		       (int)getpid());
		return false;
	}
	if (change == CONFIG_ENABLE)
		look_lacking(c);
	else
		c->named = 0; /* no type has to be available */
	return true;
}

static void perform_stop(struct client *c)
{
	if (c->request.pid) {
		refuse(c, "process %u: a recording can only be stopped as a whole: `braid ctl %d stop`", c->request.pid,
		       (int)getpid());
		return;
	}
	c->stopping = true;
	session_interrupt(c->control->session);
}

static void perform(struct client *c, struct process *one)
{
	struct braid_event_config config;
	bool change = c->request.verb >= BRAID_CONTROL_ENABLE && c->request.verb <= BRAID_CONTROL_INTERVAL;

	c->deadline_ns = now_ns() + AGENTS_WAIT_NS;
	if (c->request.verb == BRAID_CONTROL_STOP)
		perform_stop(c);
	if (c->request.verb == BRAID_CONTROL_STATUS || c->request.verb == BRAID_CONTROL_STOP ||
	    (change && !prepare_change(c, &config)))
		return;
	if (change && !one)
		perform_recording(c, &config);
	if (one)
		perform_one(c, one);
	else
		processes_each(c->control->session->processes, perform_one, c);
}

/* ---- clients ---- */

static struct process *requested_process(const struct client *c)
{
	return c->request.pid ? processes_latest(c->control->session->processes, (pid_t)c->request.pid) : NULL;
}

static void on_request(struct source *src)
{
	struct client *c = src->ctx;
	ssize_t n;

	if (src->fd < 0)
		return;
	if (c->deadline_ns) { /* a client has one request; more data, or its end, ends it */
		client_free(c);
		return;
	}
	n = recv(src->fd, &c->request, sizeof(c->request), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_free(c);
		return;
	}
	if (!control_request_good(&c->request, (size_t)n)) {
		refuse(c, "this recorder does not understand the request; use the braid that it belongs to");
		client_end(c, false);
		return;
	}
	if (c->request.pid && !requested_process(c)) {
		client_end(c, true);
		return;
	}
	answer_recording(c);
	perform(c, requested_process(c));
}

struct pending {
	const struct agents *agents;
	bool any;
};

static void look_pending(void *ctx, struct process *p)
{
	struct pending *w = ctx;
	struct agent_state state;

	if (!p->ended_ns && agents_state(w->agents, p, &state) && state.connected && state.silent)
		w->any = true;
}

/* Answers when the agents have confirmed the change, or their time is over. */
static void client_finish(struct client *c)
{
	struct session *s = c->control->session;
	struct pending w = {.agents = s->agents};
	struct process *one = requested_process(c);

	if (one)
		look_pending(&w, one);
	else
		processes_each(s->processes, look_pending, &w);
	if (w.any && now_ns() < c->deadline_ns)
		return;
	if (one)
		answer_jvm(c, one);
	else
		processes_each(s->processes, answer_jvm, c);
	client_end(c, false);
}

void control_tick(struct control *control)
{
	struct client *c, *next;

	if (!control)
		return;
	free_list(&control->freed);
	control->freed = control->ended;
	control->ended = NULL;
	LL_FOREACH_SAFE (control->clients, c, next) {
		if (c->gone)
			client_free(c);
		else if (c->deadline_ns && !c->stopping)
			client_finish(c);
	}
}

static void control_on_connect(struct source *src)
{
	struct control *control = src->ctx;
	int fd = accept4(src->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), room = ANSWER_BYTES, count;
	struct client *c;
	pid_t pid;

	if (fd < 0)
		return;
	LL_COUNT(control->clients, c, count);
	if (count >= CLIENTS_MAX)
		client_free(control->clients);
	c = control_trusts(fd, &pid) ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	/* Neither is needed for an answer of the usual length. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	c->control = control;
	c->src = (struct source){.fd = fd, .ready = on_request, .ctx = c};
	LL_APPEND(control->clients, c);
	if (source_watch(&control->session->sources, &c->src))
		client_free(c);
}

/* ---- the socket ---- */

static int listen_at(struct control *c)
{
	char directory[sizeof(c->address.sun_path)];
	int err = control_directory(directory, sizeof(directory));

	err = err ?: control_directory_make(directory);
	err = err ?: control_address(&c->address, directory, getpid());
	if (err)
		return err;
	control_directory_sweep(directory);
	(void)unlink(c->address.sun_path); /* left by an earlier process with this pid */
	c->listening.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listening.fd < 0 || bind(c->listening.fd, (struct sockaddr *)&c->address, sizeof(c->address)))
		return -errno;
	if (chmod(c->address.sun_path, 0600) || listen(c->listening.fd, BACKLOG))
		return -errno;
	return 0;
}

int control_open(struct control **out, struct session *s)
{
	struct control *c = calloc(1, sizeof(*c));
	int err;

	*out = c;
	if (!c)
		return -ENOMEM;
	c->session = s;
	c->listening = (struct source){.fd = -1, .ready = control_on_connect, .ctx = c};
	err = listen_at(c);
	if (err) {
		sink_notice(&s->sink, 0, BRAID_NOTICE_INFO, "`braid ctl` cannot change this recording: %s: %s",
			    c->address.sun_path[0] ? c->address.sun_path : "no directory for its socket",
			    strerror(-err));
		control_close(c);
		*out = NULL;
	}
	return 0;
}

int control_serve(struct control *c)
{
	if (!c)
		return 0;
	c->start_ns = now_ns();
	return source_watch(&c->session->sources, &c->listening);
}

/* Sends the result of the recording to a client that waits for its end. */
static void stop_answer(struct client *c)
{
	int err = c->control->session->sink.error;

	if (err)
		refuse(c, "%s: %s", output_name(c->control->session->options), trace_writer_why(err));
	client_end(c, false);
}

void control_close(struct control *c)
{
	if (!c)
		return;
	while (c->clients)
		if (c->clients->stopping)
			stop_answer(c->clients);
		else
			client_free(c->clients);
	free_list(&c->ended);
	free_list(&c->freed);
	if (c->listening.fd >= 0) {
		source_unwatch(&c->session->sources, &c->listening);
		close(c->listening.fd);
		(void)unlink(c->address.sun_path);
	}
	free(c);
}
