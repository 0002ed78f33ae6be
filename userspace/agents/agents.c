// SPDX-License-Identifier: Apache-2.0
#include "agents.h"

#include "copies.h"
#include "link.h"
#include "refusals.h"
#include "attach/attach.h"
#include "jvm/gc.h"
#include "jvm/jvm.h"
#include "jvm/layouts.h"
#include "jvm/probes.h"
#include "proc/jvm_proc.h"
#include "proc/procfs.h"
#include "process/sideband.h"
#include "util/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#define SETTLE_NS 1000000000ULL /* a new JVM may have been started with the agent, which connects within this time */
#define EAGER_NS 1000000000ULL
#define CONNECT_NS 5000000000ULL
#define SILENCE_NS 3000000000ULL /* longer than the child needs to report a delay */
#define STOP_WAIT_NS 1000000000ULL
#define STARTING_NS 60000000000ULL /* within this time a JVM may still load an agent from its options */
#define CHILD_END_NS 1000000000ULL
#define PROBES_NS 1500000000ULL /* less than the 2 s for which an agent that starts with its JVM waits */

/* The socket for one attached JVM, or for all JVMs that a launched command starts. */
struct listener {
	struct agents *agents;
	struct staging staging;
	struct source listening;
	struct source result; /* pipe from the attaching child; fd -1: none */
	pid_t child;
	uint64_t knocked_ns;  /* when the child was started */
	uint64_t attached_ns; /* when the JVM loaded the agent; 0: not yet */
	/* the JVM does not answer, or the child reports nothing: the recording does not wait for it */
	bool waits;
	uint32_t copies; /* copies of the agent in the JVM that were tried */
	pid_t pid;	 /* 0: any process of the launched command */
	struct listener *next;
};

struct agents {
	struct agents_env env;
	struct listener *listeners;
	struct link *links;
	char option[512];
	struct refusals refusals;
};

int agents_new(struct agents **out, const struct agents_env *env)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->env = *env;
	(*out)->refusals.sink = env->jvms->sink;
	(*out)->refusals.processes = env->jvms->processes;
	staging_sweep_own();
	return 0;
}

/* ---- links ---- */

static struct link *link_of(const struct agents *a, const struct process *process)
{
	struct link *l;

	LL_FOREACH (a->links, l) {
		if (l->process == process)
			return l;
	}
	return NULL;
}

/* An agent that connects again gets a new ring. What came by the old one is in the trace already. */
static void link_forget(struct agents *a, struct process *process)
{
	struct link *l, *next;

	LL_FOREACH_SAFE (a->links, l, next) {
		if (l->process != process)
			continue;
		LL_DELETE(a->links, l);
		link_free(l);
	}
	jvm_free(process->jvm);
	process->jvm = NULL;
}

static void listener_close(struct listener *d);

/* The agent has connected by one listener: other attempts and refusals for its process are obsolete. */
static void arrived(struct agents *a, const struct process *process, const struct listener *by)
{
	struct listener *d;

	LL_FOREACH (a->listeners, d) {
		if (d->pid == process->pid && d != by)
			listener_close(d);
	}
	refusals_forget(&a->refusals, process->pid);
}

/* Accepts the agent at the other end of `fd`. The link owns `fd` afterwards. */
static int accept_agent(struct agents *a, struct process *process, int fd)
{
	const struct agents_env *env = &a->env;
	struct link *l;
	int err;

	/* An agent that starts with its JVM waits for the grant, so no stack and no event is missed. */
	layouts_find(env->jvms, process);
	probes_attach(env->jvms->probes, process);
	probes_wait(env->jvms->probes, PROBES_NS);
	err = link_open(&l, env, process, fd);
	if (err) {
		close(fd);
		return err;
	}
	if (l->jvm != process->jvm) {
		env->read_events(env->ctx); /* first: stack requests of the earlier agent refer to its ids */
		link_forget(a, process);
		processes_set_jvm(env->jvms->processes, process, l->jvm, jvm_slot(l->jvm));
	}
	jvm_joined(l->jvm, l->since_ns);
	LL_PREPEND(a->links, l);
	err = link_watch(l);
	if (err) { /* what it has reported so far is kept */
		l->stopped = true;
		link_close(l);
	}
	return err;
}

/* ---- listeners ---- */

/* Stops listening and removes the staged files. A loaded library needs its file no longer. */
static void listener_stop(struct listener *d)
{
	if (d->listening.fd >= 0) {
		source_unwatch(d->agents->env.sources, &d->listening);
		d->listening.fd = -1;
	}
	staging_remove(&d->staging);
}

/* The process that connects, if this listener is for it. */
static struct process *peer(const struct listener *d, int fd)
{
	const struct agents_env *env = &d->agents->env;
	struct process *process;
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || (d->pid && who.pid != d->pid))
		return NULL;
	sideband_read(env->sideband); /* the process may be younger than the last tick */
	process = processes_latest(env->jvms->processes, who.pid);
	return process && process_is_there(process) ? process : NULL;
}

/*
 * An agent that starts with its JVM waits only briefly for the grant. When it has given up, the collector attaches
 * later.
 */
static void report_not_accepted(struct listener *d, const struct process *process, int err)
{
	char why[ATTACH_WHY_MAX];

	if (err == -EPIPE || err == -ECONNRESET) {
		refusals_add_delay(&d->agents->refusals, process->pid, "the agent was not answered in time");
		return;
	}
	snprintf(why, sizeof(why), "no ring for it: %s", strerror(-err));
	refusals_add(&d->agents->refusals, process->pid, why);
}

static void listener_on_connect(struct source *src)
{
	struct listener *d = src->ctx;
	int fd = accept4(src->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), err;
	struct process *process;

	if (fd < 0)
		return;
	process = peer(d, fd);
	if (!process) {
		log_debug("%s: refused a connection from another process", d->staging.socket);
		close(fd);
		return;
	}
	if (!account_has(&process->account, d->agents->env.jvms->sink, BUDGET_CONNECTIONS, 1)) {
		close(fd);
		return;
	}
	/* adding a ring waits for all CPUs in the kernel: 25 to 50 ms */
	account_spend(&process->account, BUDGET_CONNECTIONS, 1);
	err = accept_agent(d->agents, process, fd);
	if (err) {
		report_not_accepted(d, process, err);
		return;
	}
	arrived(d->agents, process, d);
	if (d->pid)
		listener_stop(d);
}

/* A waiting child ends when the pipe's reader is closed, and removes the file that it has left in the JVM's /tmp. */
static void reap(struct listener *d)
{
	uint64_t until = now_ns() + CHILD_END_NS;
	bool ended;

	if (d->result.fd < 0)
		return;
	source_unwatch(d->agents->env.sources, &d->result);
	close(d->result.fd);
	d->result.fd = -1;
	while (!(ended = waitpid(d->child, NULL, WNOHANG) != 0) && now_ns() < until)
		poll(NULL, 0, 1);
	if (!ended) /* it hangs in a file system */
		kill(d->child, SIGKILL);
}

static void listener_close(struct listener *d)
{
	reap(d);
	listener_stop(d);
}

static void on_result(struct source *src);

/* Starts the attaching child for the listener of one process. */
static int listener_attach(struct listener *d, char *why)
{
	struct jvm_process jvm;
	int fd, err = jvm_process_read(d->pid, &jvm);

	if (err == 0)
		err = -ESRCH;
	if (err > 0)
		err = attach_start(&jvm, &d->staging, d->agents->env.jvms->options->agent_options, &fd, &d->child);
	if (err) {
		snprintf(why, ATTACH_WHY_MAX, "%s", strerror(-err));
		return err;
	}
	d->result = (struct source){.fd = fd, .ready = on_result, .ctx = d};
	d->knocked_ns = now_ns();
	return source_watch(d->agents->env.sources, &d->result);
}

/* Tries the next copy of the agent that is already in the JVM. When none is left, the JVM loads a new one. */
static int listener_try(struct listener *d, char *why)
{
	const struct process *p = processes_latest(d->agents->env.jvms->processes, d->pid);

	if (!p || !copies_name(p, d->copies++, d->staging.loaded, sizeof(d->staging.loaded)))
		d->staging.loaded[0] = '\0';
	return listener_attach(d, why);
}

static bool has_agent(const struct listener *d)
{
	const struct process *process = processes_latest(d->agents->env.jvms->processes, d->pid);

	return process && jvm_had_agent(process->jvm);
}

/* An agent connects while it is being loaded. If it has not connected now, it will not. */
static bool has_connected(struct listener *d)
{
	if (d->listening.fd >= 0)
		listener_on_connect(&d->listening);
	return d->listening.fd < 0;
}

static bool may_be_starting(const struct process *p)
{
	return now_ns() - p->libjvm_ns < STARTING_NS;
}

/*
 * The JVM listens, but does not load agents yet (JDK 21 and later report this). The next agents_discover() tries again.
 */
static bool retry_later(struct listener *d)
{
	struct process *p = processes_latest(d->agents->env.jvms->processes, d->pid);

	if (!p || !may_be_starting(p))
		return false;
	log_debug("the JVM in process %d is still starting", d->pid);
	p->considered = false;
	listener_close(d);
	return true;
}

static void on_result(struct source *src)
{
	struct listener *d = src->ctx;
	struct attach_result r;

	if (src->fd < 0) /* closed since it became ready */
		return;
	if (read(src->fd, &r, sizeof(r)) != sizeof(r))
		r = (struct attach_result){.error = -EIO, .why = "the attaching child died"};
	r.why[sizeof(r.why) - 1] = '\0';
	if (r.error == -EINPROGRESS) {
		d->waits = true;
		if (!has_agent(d)) /* it may have connected since the child wrote */
			refusals_add_delay(&d->agents->refusals, d->pid, r.why);
		return;
	}
	d->waits = false;
	reap(d);
	if ((!r.error && has_connected(d)) || (r.error == -EAGAIN && retry_later(d)))
		return;
	if (d->staging.loaded[0]) { /* that copy is busy, or this C library does not find it by its name */
		log_debug("process %d: its agent %s does not come%s%s", d->pid, d->staging.loaded, r.error ? ": " : "",
			  r.error ? r.why : "");
		r.error = listener_try(d, r.why);
		if (!r.error)
			return;
	}
	if (!r.error) {
		d->attached_ns = now_ns();
		return;
	}
	if (has_agent(d))
		log_debug("process %d: has its agent from elsewhere: %s", d->pid, r.why);
	else
		refusals_add(&d->agents->refusals, d->pid, r.why);
	listener_close(d);
}

static int listener_open(struct agents *a, pid_t pid, struct listener **out, char *why)
{
	struct listener *d = calloc(1, sizeof(*d));
	int err;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->agents = a;
	d->pid = pid;
	d->result.fd = d->listening.fd = -1;
	err = staging_create(&d->staging, pid, why);
	if (err) {
		free(d);
		return err;
	}
	d->listening = (struct source){.fd = d->staging.listen_fd, .ready = listener_on_connect, .ctx = d};
	LL_PREPEND(a->listeners, d);
	*out = d;
	return source_watch(a->env.sources, &d->listening);
}

int agents_attach(struct agents *a, pid_t pid)
{
	char why[ATTACH_WHY_MAX] = "";
	struct process *process = processes_latest(a->env.jvms->processes, pid);
	struct jvm_process jvm;
	struct listener *d;
	int err;

	if (!process || process->considered || !process_is_there(process))
		return 0;
	process->considered = true; /* an exec makes a new image, which may be a JVM */
	err = jvm_process_read(pid, &jvm);
	if (err < 0)
		refusals_add(&a->refusals, pid, strerror(-err));
	if (err <= 0)
		return err;
	if (jvm.attachable && jvm.starting && may_be_starting(process)) {
		/* The options of the JVM may load the agent first, and it does not listen yet. */
		log_debug("the JVM in process %d is still starting", pid);
		process->considered = false;
		return 1;
	}
	if (!jvm.attachable) {
		refusals_add(&a->refusals, pid, jvm.why);
		return 1;
	}
	err = listener_open(a, pid, &d, why);
	if (err) {
		refusals_add(&a->refusals, pid, why[0] ? why : strerror(-err));
		return 1;
	}
	if (listener_try(d, why)) {
		refusals_add(&a->refusals, pid, why);
		listener_close(d);
	}
	return 1;
}

int agents_prepare(struct agents *a, const char **option)
{
	const char *extra = a->env.jvms->options->agent_options;
	char why[ATTACH_WHY_MAX] = "";
	struct listener *d;
	int err = listener_open(a, 0, &d, why);

	if (err) {
		log_error("cannot stage the agent for the command: %s", why[0] ? why : strerror(-err));
		return err;
	}
	snprintf(a->option, sizeof(a->option), "-agentpath:%s=sock=%s%s%s", d->staging.library, d->staging.socket,
		 extra && *extra ? "," : "", extra ? extra : "");
	*option = a->option;
	return 0;
}

static void consider(void *ctx, struct process *p)
{
	struct agents *a = ctx;

	if (p->libjvm_ns && !jvm_had_agent(p->jvm) && !p->ended_ns && now_ns() - p->libjvm_ns > SETTLE_NS)
		(void)agents_attach(a, p->pid); /* it reports failures as notices */
}

void agents_discover(struct agents *a)
{
	processes_each(a->env.jvms->processes, consider, a);
}

/* ---- the running recording ---- */

/*
 * An agent that was loaded but does not connect reports the reason on the JVM's stderr, with the option verbose. It may
 * have connected while the collector did not run.
 */
static void give_up_waiting(struct listener *d, uint64_t limit_ns)
{
	if (!d->attached_ns || d->listening.fd < 0 || now_ns() - d->attached_ns < limit_ns)
		return;
	listener_on_connect(&d->listening);
	if (d->listening.fd < 0)
		return;
	refusals_add(&d->agents->refusals, d->pid,
		     "the agent was loaded but did not connect (--agent-opts verbose lets it say why)");
	listener_close(d);
}

/* A child without a report for this time does not run: it has the user id of its JVM, whose processes can stop it. */
static void mention_silence(struct listener *d, uint64_t limit_ns)
{
	if (d->result.fd < 0 || d->waits || now_ns() - d->knocked_ns < limit_ns)
		return;
	d->waits = true;
	if (has_agent(d))
		return;
	refusals_add_delay(&d->agents->refusals, d->pid,
			   now_ns() - d->knocked_ns < SILENCE_NS
				   ? "the recording ended before the JVM answered"
				   : "the attaching child reports nothing: it is stopped, or hangs");
}

void agents_drain(struct agents *a)
{
	uint64_t now = now_ns(); /* before the drain, which reads everything older */
	struct listener *d;
	struct link *l;

	LL_FOREACH (a->listeners, d) {
		give_up_waiting(d, CONNECT_NS);
		mention_silence(d, SILENCE_NS);
	}

	LL_FOREACH (a->links, l) {
		link_tick(l);
		link_drain(l);
		if (l->stopped)
			link_close(l);
		jvm_tick(l->jvm, now, false);
	}
}

void agents_catch_up(struct agents *a, const struct process *process)
{
	struct link *l;

	LL_FOREACH (a->links, l) {
		if (l->process == process)
			link_drain(l);
	}
}

void agents_forget(struct agents *a, struct process *process)
{
	struct listener *d, *next;
	struct link *l;

	LL_FOREACH_SAFE (a->listeners, d, next) {
		if (d->pid != process->pid || processes_latest(a->env.jvms->processes, d->pid) != process)
			continue;
		listener_close(d);
		LL_DELETE(a->listeners, d);
		free(d);
	}
	l = link_of(a, process);
	if (!l)
		return;
	link_drain_last(l);
	gc_end(l->jvm);
	jvm_tick(l->jvm, now_ns(), true);
	jvm_emit_stats(l->jvm);
	link_forget(a, process);
}

bool agents_expected(const struct agents *a)
{
	const struct listener *d;

	LL_FOREACH (a->listeners, d) {
		if (d->pid && d->listening.fd >= 0 && !d->waits)
			return true;
	}
	return false;
}

bool agents_eager(const struct agents *a)
{
	const struct link *l;

	LL_FOREACH (a->links, l) {
		if (!l->stopped && !jvm_layout_known(l->jvm) && now_ns() - l->since_ns < EAGER_NS)
			return true;
	}
	return false;
}

bool agents_behind(const struct agents *a)
{
	const struct link *l;

	LL_FOREACH (a->links, l) {
		if (l->behind)
			return true;
	}
	return false;
}

size_t agents_connected(const struct agents *a)
{
	const struct link *l;
	size_t n = 0;

	LL_FOREACH (a->links, l) {
		n += !l->stopped;
	}
	return n;
}

void agents_each_refusal(const struct agents *a, void (*fn)(const char *text))
{
	refusals_each(&a->refusals, fn);
}

const char *agents_refusal(const struct agents *a, pid_t pid)
{
	return refusals_of(&a->refusals, pid);
}

bool agents_state(const struct agents *a, const struct process *process, struct agent_state *state)
{
	const struct link *l = link_of(a, process);

	if (!l)
		return false;
	*state = (struct agent_state){.connected = !l->stopped, .config = l->config, .silent = l->unanswered > 0};
	if (!state->silent)
		state->refused = l->config.enabled & ~(l->held | BRAID_EVENT_TYPE(CPU));
	return true;
}

int agents_configure(struct agents *a, const struct process *process, const struct braid_event_config *config)
{
	struct link *l = link_of(a, process);

	if (!l)
		return -ENOENT;
	if (l->stopped)
		return -EPIPE;
	/* Earlier events are reported under the configuration that they happened under. */
	link_drain(l);
	a->env.read_events(a->env.ctx);
	return link_configure(l, config);
}

int agents_command(struct agents *a, const struct process *process, enum braid_command command)
{
	struct braid_msg msg = {
		.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_COMMAND, .value = command};
	struct link *l = link_of(a, process);

	if (!l)
		return -ENOENT;
	return l->stopped ? -EPIPE : link_send(l, &msg, sizeof(msg));
}

void agents_settle(struct agents *a, bool final)
{
	uint64_t now = now_ns();
	struct link *l;

	LL_FOREACH (a->links, l) {
		if (final)
			gc_end(l->jvm);
		else
			gc_settle(l->jvm, now);
	}
}

static bool process_stopped(const struct process *process)
{
	struct proc_status status;

	return proc_status_read(process->pid, &status) == 0 && status.stopped;
}

/* Waits until the agents have answered, except for JVMs that are stopped. */
static void wait_stopped(struct agents *a)
{
	uint64_t until = now_ns() + STOP_WAIT_NS;
	bool waits = true;
	struct link *l;

	while (waits && now_ns() < until) {
		waits = false;
		LL_FOREACH (a->links, l) {
			struct pollfd p = {.fd = l->connection.fd, .events = POLLIN};

			if (l->stopped)
				continue;
			link_drain(l);
			if (poll(&p, 1, 5) > 0)
				l->connection.ready(&l->connection);
			waits |= !l->stopped && !process_stopped(l->process);
		}
	}
	LL_FOREACH (a->links, l) {
		if (!l->stopped)
			sink_notice(a->env.jvms->sink, l->process->id, BRAID_NOTICE_WARNING,
				    "the agent of process %d did not answer at the end%s: its last reports may be "
				    "missing",
				    l->process->pid, process_stopped(l->process) ? ", as the process is stopped" : "");
	}
}

void agents_stop(struct agents *a)
{
	struct braid_msg stop = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_STOP};
	struct listener *d;
	struct link *l;

	LL_FOREACH (a->listeners, d) {
		give_up_waiting(d, 0); /* an agent connects before its JVM reports that it is loaded */
		mention_silence(d, 0);
	}

	LL_FOREACH (a->links, l) {
		if (l->connection.fd >= 0 && link_send(l, &stop, sizeof(stop)))
			l->stopped = true;
	}
	wait_stopped(a);
	LL_FOREACH (a->links, l) {
		link_drain_last(l);
		if (l->behind)
			sink_loss(a->env.jvms->sink, l->process->id, "ring", "unread", 1);
		jvm_tick(l->jvm, now_ns(), true);
		jvm_emit_stats(l->jvm);
	}
}

bool agents_leave(struct agents *a, pid_t command, bool inherited, char *path, size_t size)
{
	bool loaded = false;
	struct listener *d;
	struct link *l;

	LL_FOREACH (a->links, l) {
		loaded |= l->process->pid == command;
	}
	LL_FOREACH (a->listeners, d) {
		if (d->pid || d->listening.fd < 0 || (loaded && !inherited))
			continue;
		snprintf(path, size, "%s", d->staging.library);
		source_unwatch(a->env.sources, &d->listening);
		d->listening.fd = -1;
		staging_leave(&d->staging);
		return true;
	}
	return false;
}

void agents_free(struct agents *a)
{
	struct listener *d, *dn;
	struct link *l, *ln;

	if (!a)
		return;
	LL_FOREACH_SAFE (a->links, l, ln) {
		link_free(l);
	}
	LL_FOREACH_SAFE (a->listeners, d, dn) {
		listener_close(d);
		free(d);
	}
	refusals_free(&a->refusals);
	free(a);
}
