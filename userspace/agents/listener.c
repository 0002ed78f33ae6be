// SPDX-License-Identifier: Apache-2.0
#include "listener.h"

#include "copies.h"
#include "jvm/jvm.h"
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

#define STARTING_NS 60000000000ULL /* within this time a JVM may still load an agent from its options */
#define LEAVE_NS 1000000000ULL	   /* for a child to end by itself, and once more after it was killed */

/* The agent has connected by one listener: other attempts and refusals for its process are obsolete. */
static void arrived(struct listeners *a, const struct process *process, const struct listener *by)
{
	struct listener *d;

	LL_FOREACH (a->list, d) {
		if (d->pid == process->pid && d != by)
			listener_close(d);
	}
	refusals_forget(a->refusals, process->pid);
}

/* Stops listening and removes the staged files. A loaded library needs its file no longer. */
static void listener_stop(struct listener *d)
{
	if (d->share)
		share_add(d->share, POOL_ATTACHES, -1);
	d->share = NULL;
	if (d->listening.fd >= 0) {
		source_unwatch(d->owner->env->sources, &d->listening);
		d->listening.fd = -1;
	}
	staging_remove(&d->staging);
}

/* The process that connects, if this listener is for it. */
static struct process *peer(const struct listener *d, int fd)
{
	const struct agents_env *env = d->owner->env;
	struct process *process;
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || (d->pid && who.pid != d->pid))
		return NULL;
	sideband_read(env->sideband); /* the process may have started after the last tick */
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
		refusals_add_delay(d->owner->refusals, process->pid, "the agent's connection was not accepted in time");
		return;
	}
	snprintf(why, sizeof(why), "cannot create its ring: %s", strerror(-err));
	refusals_add(d->owner->refusals, process->pid, why);
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
	if (!account_has(&process->account, d->owner->env->jvms->sink, BUDGET_CONNECTIONS, 1)) {
		close(fd);
		return;
	}
	/* adding a ring waits for all CPUs in the kernel: 25 to 50 ms */
	account_spend(&process->account, BUDGET_CONNECTIONS, 1);
	err = d->owner->accept(d->owner->ctx, process, fd, d->pid);
	if (err) {
		report_not_accepted(d, process, err);
		return;
	}
	arrived(d->owner, process, d);
	if (d->pid)
		listener_stop(d);
}

/* Lets the child end, which takes part of the pool until then. */
static void child_leave(struct listener *d)
{
	struct leaving leaving = {.child = d->child, .until_ns = now_ns() + LEAVE_NS, .share = d->share};

	if (d->result.fd < 0)
		return;
	source_unwatch(d->owner->env->sources, &d->result);
	if (VEC_PUSH(&d->owner->leaving, leaving)) {
		attach_end(d->result.fd, d->child);
	} else {
		close(d->result.fd);
		if (leaving.share)
			share_add(leaving.share, POOL_ATTACHES, 1);
	}
	d->result.fd = -1;
}

void listeners_reap(struct listeners *a)
{
	uint64_t now = now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < a->leaving.count; i++) {
		struct leaving *l = &a->leaving.at[i];

		if (waitpid(l->child, NULL, WNOHANG) == 0) {
			if (now > l->until_ns)
				kill(l->child, SIGKILL);
			a->leaving.at[kept++] = *l;
		} else if (l->share) {
			share_add(l->share, POOL_ATTACHES, -1);
		}
	}
	a->leaving.count = kept;
}

void listeners_end(struct listeners *a)
{
	uint64_t until = now_ns() + 2 * LEAVE_NS;

	while (listeners_reap(a), a->leaving.count && now_ns() < until)
		poll(NULL, 0, 1);
	free(a->leaving.at);
	a->leaving.at = NULL;
	a->leaving.count = a->leaving.room = 0;
}

void listener_close(struct listener *d)
{
	child_leave(d);
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
		err = attach_start(&jvm, &d->staging, d->owner->env->jvms->options->agent_options, &fd, &d->child);
	if (err) {
		snprintf(why, ATTACH_WHY_MAX, "%s", strerror(-err));
		return err;
	}
	d->result = (struct source){.fd = fd, .ready = on_result, .ctx = d};
	d->started_ns = now_ns();
	return source_watch(d->owner->env->sources, &d->result);
}

/* Tries the next copy of the agent that is already in the JVM. When none is left, the JVM loads a new one. */
int listener_try(struct listener *d, char *why)
{
	const struct process *p = processes_latest(d->owner->env->jvms->processes, d->pid);

	if (!p || !copies_name(p, d->copies++, d->staging.loaded, sizeof(d->staging.loaded)))
		d->staging.loaded[0] = '\0';
	return listener_attach(d, why);
}

static bool has_agent(const struct listener *d)
{
	const struct process *process = processes_latest(d->owner->env->jvms->processes, d->pid);

	return process && jvm_had_agent(process->jvm);
}

/* An agent connects while it is being loaded. If it has not connected now, it will not. */
static bool has_connected(struct listener *d)
{
	if (d->listening.fd >= 0)
		listener_on_connect(&d->listening);
	return d->listening.fd < 0;
}

bool listener_may_be_starting(const struct process *p)
{
	return now_ns() - p->libjvm_ns < STARTING_NS;
}

/*
 * The JVM listens, but does not load agents yet (JDK 21 and later report this). The next agents_discover() tries again.
 */
static bool retry_later(struct listener *d)
{
	struct process *p = processes_latest(d->owner->env->jvms->processes, d->pid);

	if (!p || !listener_may_be_starting(p))
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
	attach_result_read(src->fd, &r);
	if (r.error == -EINPROGRESS) {
		d->waits = true;
		if (!has_agent(d)) /* it may have connected since the child wrote */
			refusals_add_delay(d->owner->refusals, d->pid, r.why);
		return;
	}
	d->waits = false;
	child_leave(d);
	if ((!r.error && has_connected(d)) || (r.error == -EAGAIN && retry_later(d)))
		return;
	if (d->staging.loaded[0]) { /* that copy is busy, or this C library does not find it by its name */
		log_debug("process %d: the copy %s of the agent did not connect%s%s", d->pid, d->staging.loaded,
			  r.error ? ": " : "", r.error ? r.why : "");
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
		refusals_add(d->owner->refusals, d->pid, r.why);
	listener_close(d);
}

bool listener_has_room(const struct process *p)
{
	return !p->account.share || share_has(p->account.share, POOL_ATTACHES, 0, 1);
}

int listener_open(struct listeners *a, pid_t pid, struct listener **out, char *why)
{
	const struct process *process = pid ? processes_latest(a->env->jvms->processes, pid) : NULL;
	struct listener *d = calloc(1, sizeof(*d));
	int err;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->owner = a;
	d->pid = pid;
	d->result.fd = d->listening.fd = -1;
	err = staging_create(&d->staging, pid, why);
	if (err) {
		free(d);
		return err;
	}
	d->listening = (struct source){.fd = d->staging.listen_fd, .ready = listener_on_connect, .ctx = d};
	d->share = process ? process->account.share : NULL;
	if (d->share)
		share_add(d->share, POOL_ATTACHES, 1);
	LL_PREPEND(a->list, d);
	*out = d;
	return source_watch(a->env->sources, &d->listening);
}

/*
 * An agent that was loaded but does not connect reports the reason on the JVM's stderr, with the option verbose. It may
 * have connected while the collector did not run.
 */
void listener_give_up(struct listener *d, uint64_t limit_ns)
{
	if (!d->attached_ns || d->listening.fd < 0 || now_ns() - d->attached_ns < limit_ns)
		return;
	listener_on_connect(&d->listening);
	if (d->listening.fd < 0)
		return;
	refusals_add(d->owner->refusals, d->pid,
		     "the agent was loaded but did not connect (with --agent-opts verbose it prints the reason)");
	listener_close(d);
}

/* A child without a report for this time does not run: it has the user id of its JVM, whose processes can stop it. */
void listener_mention_silence(struct listener *d, uint64_t limit_ns)
{
	if (d->result.fd < 0 || d->waits || now_ns() - d->started_ns < limit_ns)
		return;
	d->waits = true;
	if (has_agent(d))
		return;
	refusals_add_delay(d->owner->refusals, d->pid,
			   now_ns() - d->started_ns < LISTENER_SILENCE_NS
				   ? "the recording ended before the JVM answered"
				   : "the attaching child reports nothing: it is stopped, or hangs");
}
