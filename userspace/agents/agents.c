// SPDX-License-Identifier: Apache-2.0
#include "agents/agents.h"

#include "attach/attach.h"
#include "jvm/gc.h"
#include "jvm/jvm.h"
#include "agents/link.h"
#include "jvm/probes.h"
#include "proc/procfs.h"
#include "process/sideband.h"
#include "util/log.h"

#include <errno.h>
#include <poll.h>
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
#define STOP_WAIT_NS 1000000000ULL

/* A place where an agent can find this collector: one per attached JVM, or one for all that a command starts. */
struct door {
	struct agents *agents;
	struct drop drop;
	struct source listening;
	struct source result; /* of the attaching child; fd -1: none */
	pid_t child;
	uint64_t attached_ns; /* the JVM has loaded the agent; 0: not so far */
	pid_t pid;	      /* 0: whoever the command starts */
	struct door *next;
};

struct refusal {
	pid_t pid;
	char text[ATTACH_WHY_MAX + 64];
	struct refusal *next;
};

struct agents {
	struct session *session;
	struct door *doors;
	struct link *links;
	char option[512];
	struct refusal *refusals;
};

int agents_new(struct agents **out, struct session *s)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->session = s;
	return 0;
}

/* ---- links ---- */

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

/* Takes in the agent at the other end of `fd`, which is the caller's again when that fails. */
static int let_in(struct agents *a, struct process *process, int fd)
{
	struct session *s = a->session;
	struct link *l;
	int err;

	probes_attach(s->probes,
		      process); /* an agent that starts with its JVM waits for the grant: nothing is missed */
	err = link_open(&l, s, process, fd);
	if (err)
		return err;
	forget(a, process);
	processes_set_jvm(s->processes, process, l->jvm);
	jvm_joined(l->jvm);
	LL_PREPEND(a->links, l);
	return link_watch(l);
}

/* ---- doors ---- */

/* Said at once, and once more in the summary. */
static void refuse(struct agents *a, pid_t pid, const char *why)
{
	struct process *p = processes_latest(a->session->processes, pid);
	struct refusal *r = calloc(1, sizeof(*r));

	if (r) {
		r->pid = pid;
		snprintf(r->text, sizeof(r->text), "JVM %d (%s) has no agent: %s", pid, p ? p->comm : "ended", why);
		LL_APPEND(a->refusals, r);
	}
	session_notice(a->session, p ? p->id : 0, BRAID_NOTICE_WARNING,
		       "cannot attach to the JVM in process %d: %s; it is recorded without Java names", pid, why);
}

/* Nobody else comes in, and what lay there is taken away: a loaded library needs its file no longer. */
static void door_shut(struct door *d)
{
	if (d->listening.fd >= 0) {
		session_unwatch(d->agents->session, &d->listening);
		d->listening.fd = -1;
	}
	drop_remove(&d->drop);
}

/* The process that connects, if it is one that this door is for. */
static struct process *peer(const struct door *d, int fd)
{
	struct session *s = d->agents->session;
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || (d->pid && who.pid != d->pid))
		return NULL;
	sideband_read(s->sideband); /* the process may be younger than the last tick */
	return processes_latest(s->processes, who.pid);
}

static void on_listening(struct source *src)
{
	struct door *d = src->ctx;
	int fd = accept4(src->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), err;
	char why[ATTACH_WHY_MAX];
	struct process *process;

	if (fd < 0)
		return;
	process = peer(d, fd);
	if (!process) {
		log_debug("%s: a stranger knocked", d->drop.socket);
		close(fd);
		return;
	}
	err = let_in(d->agents, process, fd);
	if (err) {
		close(fd);
		snprintf(why, sizeof(why), "no ring for it: %s", strerror(-err));
		refuse(d->agents, process->pid, why);
		return;
	}
	if (d->pid)
		door_shut(d);
}

static void reap(struct door *d)
{
	if (d->result.fd < 0)
		return;
	session_unwatch(d->agents->session, &d->result);
	close(d->result.fd);
	d->result.fd = -1;
	waitpid(d->child, NULL, 0);
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
		err = attach_start(&jvm, &d->drop, d->agents->session->options->agent_options, &fd, &d->child);
	if (err) {
		snprintf(why, ATTACH_WHY_MAX, "%s", strerror(-err));
		return err;
	}
	d->result = (struct source){.fd = fd, .ready = on_result, .ctx = d};
	return session_watch(d->agents->session, &d->result);
}

/*
 * Did an earlier recording leave the library that this program carries in the process, and is it dormant now? While
 * another recording uses it, it has a thread there; then this one brings a copy of its own.
 */
static bool agent_dormant(const struct process *p)
{
	extern const char agent_blob_start[], agent_blob_end[];
	char ours[41];

	if (build_id_of_image(agent_blob_start, (size_t)(agent_blob_end - agent_blob_start), ours, sizeof(ours)))
		return false;
	if (procfs_thread_named(p->pid, "braid agent"))
		return false;
	for (uint32_t i = 0; i < p->mapping_count; i++)
		if (strstr(p->mappings[i].module->path, "/libbraid-agent.so") &&
		    strcmp(p->mappings[i].module->build_id, ours) == 0)
			return true;
	return false;
}

static void on_result(struct source *src)
{
	struct door *d = src->ctx;
	struct attach_result r;

	if (read(src->fd, &r, sizeof(r)) != sizeof(r))
		r = (struct attach_result){.error = -EIO, .why = "the attaching child died"};
	r.why[sizeof(r.why) - 1] = '\0';
	reap(d);
	if (!r.error) {
		d->attached_ns = now_ns();
		return;
	}
	if (d->drop.loaded) { /* not every C library finds it by its name */
		log_debug("process %d: the agent that it has cannot be woken: %s", d->pid, r.why);
		d->drop.loaded = false;
		r.error = door_knock(d, r.why);
		if (!r.error)
			return;
	}
	refuse(d->agents, d->pid, r.why);
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
	return session_watch(a->session, &d->listening);
}

int agents_attach(struct agents *a, pid_t pid)
{
	char why[ATTACH_WHY_MAX] = "";
	struct process *process = processes_latest(a->session->processes, pid);
	struct jvm_process jvm;
	struct door *d;
	int err;

	if (!process || process->considered)
		return 0;
	process->considered = true; /* an exec makes another image of it, which may be a JVM */
	err = jvm_process_read(pid, &jvm);
	if (err < 0)
		refuse(a, pid, strerror(-err));
	if (err <= 0)
		return err;
	if (!jvm.attachable) {
		refuse(a, pid, jvm.why);
		return 1;
	}
	err = door_open(a, pid, &d, why);
	if (err) {
		refuse(a, pid, why[0] ? why : strerror(-err));
		return 1;
	}
	d->drop.loaded = agent_dormant(process);
	if (door_knock(d, why)) {
		refuse(a, pid, why);
		door_close(d);
	}
	return 1;
}

int agents_prepare(struct agents *a, const char **option)
{
	const char *extra = a->session->options->agent_options;
	char why[ATTACH_WHY_MAX] = "";
	struct door *d;
	int err = door_open(a, 0, &d, why);

	if (err) {
		log_error("cannot lay down the agent for the command: %s", why[0] ? why : strerror(-err));
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

	if (p->libjvm_ns && !p->jvm && !p->ended_ns && now_ns() - p->libjvm_ns > SETTLE_NS)
		(void)agents_attach(a, p->pid); /* its failures are notices */
}

void agents_discover(struct agents *a)
{
	processes_each(a->session->processes, consider, a);
}

/* ---- the running recording ---- */

/* An agent that was loaded but cannot or will not connect has told why, if anybody, the JVM's stderr (verbose). */
static void give_up_waiting(struct door *d)
{
	if (!d->attached_ns || d->listening.fd < 0 || now_ns() - d->attached_ns < CONNECT_NS)
		return;
	refuse(d->agents, d->pid, "the agent was loaded but did not connect (--agent-opts verbose lets it say why)");
	door_close(d);
}

void agents_drain(struct agents *a)
{
	uint64_t now = now_ns(); /* all that is older has been read after the drain */
	struct door *d;
	struct link *l;

	LL_FOREACH (a->doors, d) {
		give_up_waiting(d);
	}

	LL_FOREACH (a->links, l) {
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

bool agents_expected(const struct agents *a)
{
	const struct door *d;

	LL_FOREACH (a->doors, d) {
		if (d->pid && d->listening.fd >= 0)
			return true;
	}
	return false;
}

bool agents_eager(const struct agents *a)
{
	const struct link *l;

	LL_FOREACH (a->links, l) {
		if (!l->stopped && !jvm_layout_told(l->jvm) && now_ns() - l->since_ns < EAGER_NS)
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
	const struct refusal *r;

	LL_FOREACH (a->refusals, r) {
		fn(r->text);
	}
}

const char *agents_refusal(const struct agents *a, pid_t pid)
{
	const struct refusal *r;

	LL_FOREACH (a->refusals, r) {
		if (r->pid == pid)
			return r->text;
	}
	return NULL;
}

static struct link *link_of(const struct agents *a, const struct process *process)
{
	struct link *l;

	LL_FOREACH (a->links, l) {
		if (l->process == process)
			return l;
	}
	return NULL;
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
	session_read_samples(a->session);
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

void agents_stop(struct agents *a)
{
	struct braid_msg stop = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_STOP};
	uint64_t until = now_ns() + STOP_WAIT_NS;
	struct link *l;

	LL_FOREACH (a->links, l) {
		if (l->connection.fd >= 0 && link_say(l, &stop, sizeof(stop)))
			l->stopped = true;
	}
	while (agents_connected(a) && now_ns() < until) {
		LL_FOREACH (a->links, l) {
			struct pollfd p = {.fd = l->connection.fd, .events = POLLIN};

			if (l->stopped)
				continue;
			link_drain(l);
			if (poll(&p, 1, 5) > 0)
				l->connection.ready(&l->connection);
		}
	}
	LL_FOREACH (a->links, l) {
		link_drain(l);
		jvm_tick(l->jvm, now_ns(), true);
		jvm_emit_stats(l->jvm);
	}
}

void agents_free(struct agents *a)
{
	struct refusal *r, *rn;
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
	LL_FOREACH_SAFE (a->refusals, r, rn) {
		free(r);
	}
	free(a);
}
