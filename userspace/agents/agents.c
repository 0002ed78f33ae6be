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

#define SETTLE_NS 1000000000ULL /* a new JVM may have been started with the agent: give that one time to connect */
#define EAGER_NS 1000000000ULL
#define CONNECT_NS 5000000000ULL
#define SILENCE_NS 3000000000ULL /* more than a child needs to say why it takes long */
#define STOP_WAIT_NS 1000000000ULL
#define STARTING_NS 60000000000ULL /* a JVM that starts may have the agent among its options */
#define CHILD_END_NS 1000000000ULL
#define PROBES_NS 1500000000ULL /* an agent that starts with its JVM waits for 2 s */

/* A place where an agent can find this collector: one per attached JVM, or one for all that a command starts. */
struct door {
	struct agents *agents;
	struct drop drop;
	struct source listening;
	struct source result; /* of the attaching child; fd -1: none */
	pid_t child;
	uint64_t knocked_ns;  /* the child was started */
	uint64_t attached_ns; /* the JVM has loaded the agent; 0: not so far */
	bool waits;	      /* the JVM does not answer, or the child says nothing: nobody else waits for it */
	uint32_t copies;      /* of the agent in the JVM that were asked */
	pid_t pid;	      /* 0: whoever the command starts */
	struct door *next;
};

struct agents {
	struct agents_env env;
	struct door *doors;
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
	drop_sweep_own();
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

/* An agent that comes back gets a new ring: what the old one said is in the trace. */
static void forget(struct agents *a, struct process *process)
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

static void door_close(struct door *d);

/* The agent is in, by one door: what was tried or said besides does not count any more. */
static void arrived(struct agents *a, const struct process *process, const struct door *by)
{
	struct door *d;

	LL_FOREACH (a->doors, d) {
		if (d->pid == process->pid && d != by)
			door_close(d);
	}
	refusals_forget(&a->refusals, process->pid);
}

/* Takes in the agent at the other end of `fd`, which is the link's from here on. */
static int let_in(struct agents *a, struct process *process, int fd)
{
	const struct agents_env *env = &a->env;
	struct link *l;
	int err;

	/* An agent that starts with its JVM waits for the grant: no stack and no event is missed. */
	layouts_find(env->jvms, process);
	probes_attach(env->jvms->probes, process);
	probes_wait(env->jvms->probes, PROBES_NS);
	err = link_open(&l, env, process, fd);
	if (err) {
		close(fd);
		return err;
	}
	if (l->jvm != process->jvm) {
		env->read_events(env->ctx); /* what the agent before has asked stacks for: by its ids */
		forget(a, process);
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

/* ---- doors ---- */

/* Nobody else comes in, and what lay there is taken away: a loaded library needs its file no longer. */
static void door_shut(struct door *d)
{
	if (d->listening.fd >= 0) {
		source_unwatch(d->agents->env.sources, &d->listening);
		d->listening.fd = -1;
	}
	drop_remove(&d->drop);
}

/* The process that connects, if it is one that this door is for. */
static struct process *peer(const struct door *d, int fd)
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

/* An agent that starts with its JVM does not hold that up for long: it is attached to later. */
static void not_let_in(struct door *d, const struct process *process, int err)
{
	char why[ATTACH_WHY_MAX];

	if (err == -EPIPE || err == -ECONNRESET) {
		refusals_add_delay(&d->agents->refusals, process->pid, "the agent was not answered in time");
		return;
	}
	snprintf(why, sizeof(why), "no ring for it: %s", strerror(-err));
	refusals_add(&d->agents->refusals, process->pid, why);
}

static void on_listening(struct source *src)
{
	struct door *d = src->ctx;
	int fd = accept4(src->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), err;
	struct process *process;

	if (fd < 0)
		return;
	process = peer(d, fd);
	if (!process) {
		log_debug("%s: a stranger knocked", d->drop.socket);
		close(fd);
		return;
	}
	if (!account_has(&process->account, d->agents->env.jvms->sink, BUDGET_CONNECTIONS, 1)) {
		close(fd);
		return;
	}
	account_spend(&process->account, BUDGET_CONNECTIONS, 1); /* the kernel waits for all CPUs: 25 to 50 ms */
	err = let_in(d->agents, process, fd);
	if (err) {
		not_let_in(d, process, err);
		return;
	}
	arrived(d->agents, process, d);
	if (d->pid)
		door_shut(d);
}

/* A child that still waits ends when nobody reads its result, and takes back what it has left in the JVM's /tmp. */
static void reap(struct door *d)
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

static void door_close(struct door *d)
{
	reap(d);
	door_shut(d);
}

static void on_result(struct source *src);

/* Starts the attaching child for a door of one process. */
static int door_knock(struct door *d, char *why)
{
	struct jvm_process jvm;
	int fd, err = jvm_process_read(d->pid, &jvm);

	if (err == 0)
		err = -ESRCH;
	if (err > 0)
		err = attach_start(&jvm, &d->drop, d->agents->env.jvms->options->agent_options, &fd, &d->child);
	if (err) {
		snprintf(why, ATTACH_WHY_MAX, "%s", strerror(-err));
		return err;
	}
	d->result = (struct source){.fd = fd, .ready = on_result, .ctx = d};
	d->knocked_ns = now_ns();
	return source_watch(d->agents->env.sources, &d->result);
}

/* Asks the next copy that is in the JVM already; when there is none that comes, the JVM loads another one. */
static int door_try(struct door *d, char *why)
{
	const struct process *p = processes_latest(d->agents->env.jvms->processes, d->pid);

	if (!p || !copies_name(p, d->copies++, d->drop.loaded, sizeof(d->drop.loaded)))
		d->drop.loaded[0] = '\0';
	return door_knock(d, why);
}

static bool has_agent(const struct door *d)
{
	const struct process *process = processes_latest(d->agents->env.jvms->processes, d->pid);

	return process && jvm_had_agent(process->jvm);
}

/* An agent connects while it is being loaded: one that is not at the door now does not come. */
static bool has_come(struct door *d)
{
	if (d->listening.fd >= 0)
		on_listening(&d->listening);
	return d->listening.fd < 0;
}

static bool may_be_starting(const struct process *p)
{
	return now_ns() - p->libjvm_ns < STARTING_NS;
}

/* It listens, but does not load agents yet (JDK 21 and later say so): it is asked anew, with the next look at
 * processes. */
static bool asks_again(struct door *d)
{
	struct process *p = processes_latest(d->agents->env.jvms->processes, d->pid);

	if (!p || !may_be_starting(p))
		return false;
	log_debug("the JVM in process %d is still starting", d->pid);
	p->considered = false;
	door_close(d);
	return true;
}

static void on_result(struct source *src)
{
	struct door *d = src->ctx;
	struct attach_result r;

	if (src->fd < 0) /* closed since it became ready */
		return;
	if (read(src->fd, &r, sizeof(r)) != sizeof(r))
		r = (struct attach_result){.error = -EIO, .why = "the attaching child died"};
	r.why[sizeof(r.why) - 1] = '\0';
	if (r.error == -EINPROGRESS) {
		d->waits = true;
		if (!has_agent(d)) /* it may have come between the child's word and this */
			refusals_add_delay(&d->agents->refusals, d->pid, r.why);
		return;
	}
	d->waits = false;
	reap(d);
	if ((!r.error && has_come(d)) || (r.error == -EAGAIN && asks_again(d)))
		return;
	if (d->drop.loaded[0]) { /* it is busy, or this C library does not find it by its name */
		log_debug("process %d: its agent %s does not come%s%s", d->pid, d->drop.loaded, r.error ? ": " : "",
			  r.error ? r.why : "");
		r.error = door_try(d, r.why);
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
	door_close(d);
}

static int door_open(struct agents *a, pid_t pid, struct door **out, char *why)
{
	struct door *d = calloc(1, sizeof(*d));
	int err;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->agents = a;
	d->pid = pid;
	d->result.fd = d->listening.fd = -1;
	err = drop_create(&d->drop, pid, why);
	if (err) {
		free(d);
		return err;
	}
	d->listening = (struct source){.fd = d->drop.listen_fd, .ready = on_listening, .ctx = d};
	LL_PREPEND(a->doors, d);
	*out = d;
	return source_watch(a->env.sources, &d->listening);
}

int agents_attach(struct agents *a, pid_t pid)
{
	char why[ATTACH_WHY_MAX] = "";
	struct process *process = processes_latest(a->env.jvms->processes, pid);
	struct jvm_process jvm;
	struct door *d;
	int err;

	if (!process || process->considered || !process_is_there(process))
		return 0;
	process->considered = true; /* an exec makes another image of it, which may be a JVM */
	err = jvm_process_read(pid, &jvm);
	if (err < 0)
		refusals_add(&a->refusals, pid, strerror(-err));
	if (err <= 0)
		return err;
	if (jvm.attachable && jvm.starting && may_be_starting(process)) {
		/* What it was started with comes first; it does not listen yet anyway. */
		log_debug("the JVM in process %d is still starting", pid);
		process->considered = false;
		return 1;
	}
	if (!jvm.attachable) {
		refusals_add(&a->refusals, pid, jvm.why);
		return 1;
	}
	err = door_open(a, pid, &d, why);
	if (err) {
		refusals_add(&a->refusals, pid, why[0] ? why : strerror(-err));
		return 1;
	}
	if (door_try(d, why)) {
		refusals_add(&a->refusals, pid, why);
		door_close(d);
	}
	return 1;
}

int agents_prepare(struct agents *a, const char **option)
{
	const char *extra = a->env.jvms->options->agent_options;
	char why[ATTACH_WHY_MAX] = "";
	struct door *d;
	int err = door_open(a, 0, &d, why);

	if (err) {
		log_error("cannot stage the agent for the command: %s", why[0] ? why : strerror(-err));
		return err;
	}
	snprintf(a->option, sizeof(a->option), "-agentpath:%s=sock=%s%s%s", d->drop.library, d->drop.socket,
		 extra && *extra ? "," : "", extra ? extra : "");
	*option = a->option;
	return 0;
}

static void consider(void *ctx, struct process *p)
{
	struct agents *a = ctx;

	if (p->libjvm_ns && !jvm_had_agent(p->jvm) && !p->ended_ns && now_ns() - p->libjvm_ns > SETTLE_NS)
		(void)agents_attach(a, p->pid); /* its failures are notices */
}

void agents_discover(struct agents *a)
{
	processes_each(a->env.jvms->processes, consider, a);
}

/* ---- the running recording ---- */

/*
 * An agent that was loaded but cannot or will not connect has said why, if anywhere, on the JVM's stderr (verbose). It
 * may have connected while this process did not run.
 */
static void give_up_waiting(struct door *d, uint64_t limit_ns)
{
	if (!d->attached_ns || d->listening.fd < 0 || now_ns() - d->attached_ns < limit_ns)
		return;
	on_listening(&d->listening);
	if (d->listening.fd < 0)
		return;
	refusals_add(&d->agents->refusals, d->pid,
		     "the agent was loaded but did not connect (--agent-opts verbose lets it say why)");
	door_close(d);
}

/* A child that says nothing for so long does not run: it has its JVM's user, whose processes can stop it. */
static void mention_silence(struct door *d, uint64_t limit_ns)
{
	if (d->result.fd < 0 || d->waits || now_ns() - d->knocked_ns < limit_ns)
		return;
	d->waits = true;
	if (has_agent(d))
		return;
	refusals_add_delay(&d->agents->refusals, d->pid,
			   now_ns() - d->knocked_ns < SILENCE_NS
				   ? "it was still being asked when the recording ended"
				   : "the process that asks it for that says nothing: it is stopped, or hangs");
}

void agents_drain(struct agents *a)
{
	uint64_t now = now_ns(); /* all that is older has been read after the drain */
	struct door *d;
	struct link *l;

	LL_FOREACH (a->doors, d) {
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
	struct door *d, *next;
	struct link *l;

	LL_FOREACH_SAFE (a->doors, d, next) {
		if (d->pid != process->pid || processes_latest(a->env.jvms->processes, d->pid) != process)
			continue;
		door_close(d);
		LL_DELETE(a->doors, d);
		free(d);
	}
	l = link_of(a, process);
	if (!l)
		return;
	link_drain_last(l);
	gc_end(l->jvm);
	jvm_tick(l->jvm, now_ns(), true);
	jvm_emit_stats(l->jvm);
	forget(a, process);
}

bool agents_expected(const struct agents *a)
{
	const struct door *d;

	LL_FOREACH (a->doors, d) {
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
	*state = (struct agent_state){.connected = !l->stopped, .choices = l->choices, .silent = l->unanswered > 0};
	if (!state->silent)
		state->refused = l->choices.wanted & ~(l->held | BRAID_WANT(CPU));
	return true;
}

int agents_choose(struct agents *a, const struct process *process, const struct braid_choices *choices)
{
	struct link *l = link_of(a, process);

	if (!l)
		return -ENOENT;
	if (l->stopped)
		return -EPIPE;
	/* What has happened is told by what was wanted when it did. */
	link_drain(l);
	a->env.read_events(a->env.ctx);
	return link_choose(l, choices);
}

int agents_act(struct agents *a, const struct process *process, enum braid_act act)
{
	struct braid_msg msg = {
		.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_ACT, .value = act};
	struct link *l = link_of(a, process);

	if (!l)
		return -ENOENT;
	return l->stopped ? -EPIPE : link_say(l, &msg, sizeof(msg));
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

/* Until the agents have answered, but not for JVMs that cannot. */
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
	struct door *d;
	struct link *l;

	LL_FOREACH (a->doors, d) {
		give_up_waiting(d, 0); /* an agent connects before its JVM says that it is loaded */
		mention_silence(d, 0);
	}

	LL_FOREACH (a->links, l) {
		if (l->connection.fd >= 0 && link_say(l, &stop, sizeof(stop)))
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
	struct door *d;
	struct link *l;

	LL_FOREACH (a->links, l) {
		loaded |= l->process->pid == command;
	}
	LL_FOREACH (a->doors, d) {
		if (d->pid || d->listening.fd < 0 || (loaded && !inherited))
			continue;
		snprintf(path, size, "%s", d->drop.library);
		source_unwatch(a->env.sources, &d->listening);
		d->listening.fd = -1;
		drop_leave(&d->drop);
		return true;
	}
	return false;
}

void agents_free(struct agents *a)
{
	struct door *d, *dn;
	struct link *l, *ln;

	if (!a)
		return;
	LL_FOREACH_SAFE (a->links, l, ln) {
		link_free(l);
	}
	LL_FOREACH_SAFE (a->doors, d, dn) {
		door_close(d);
		free(d);
	}
	refusals_free(&a->refusals);
	free(a);
}
