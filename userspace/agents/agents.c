// SPDX-License-Identifier: Apache-2.0
#include "agents.h"

#include "link.h"
#include "listener.h"
#include "jvm/gc.h"
#include "jvm/jvm.h"
#include "jvm/layouts.h"
#include "jvm/probes.h"
#include "proc/jvm_proc.h"
#include "proc/procfs.h"
#include "util/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define SETTLE_NS 1000000000ULL /* a new JVM may have been started with the agent, which connects within this time */
#define EAGER_NS 1000000000ULL
#define CONNECT_NS 5000000000ULL
#define RUNNABLE_MAX 10U       /* times as long, agents are waited for at the end */
#define GRANT_NS 3000000000ULL /* an agent that starts with its JVM waits for 10 s while the collector runs */

struct agents {
	struct agents_env env;
	struct listeners listeners;
	struct link *links;
	char option[512];
	struct refusals refusals;
};

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

static void links_forget(struct agents *a, const struct process *process)
{
	struct link *l, *next;

	LL_FOREACH_SAFE (a->links, l, next) {
		if (l->process != process)
			continue;
		LL_DELETE(a->links, l);
		link_free(l);
	}
}

static void set_jvm(const struct agents *a, struct process *process, struct jvm *jvm)
{
	processes_set_jvm(a->env.jvms->processes, process, jvm, jvm ? jvm_slot(jvm) : 0);
}

/*
 * Lets the agent report. What it loses from then on is counted for its JVM. An agent that connects again has another
 * one; what came from the earlier one is in the trace already. On failure the process has what it had.
 */
static int grant(struct agents *a, struct process *process, struct link *l)
{
	struct jvm *earlier = process->jvm, *jvm = l->jvm;
	int err;

	if (jvm != earlier) {
		a->env.read_events(a->env.ctx); /* first: stack requests of the earlier agent refer to its ids */
		set_jvm(a, process, jvm);
	}
	err = link_grant(l);
	if (err)
		link_free(l);
	if (jvm == earlier)
		return err;
	if (err) {
		set_jvm(a, process, earlier);
		jvm_free(jvm);
		return err;
	}
	links_forget(a, process);
	jvm_free(earlier);
	return 0;
}

/* Accepts the agent at the other end of `fd`. The link owns `fd` afterwards. */
static int accept_agent(void *ctx, struct process *process, int fd, bool attached)
{
	struct agents *a = ctx;
	const struct agents_env *env = &a->env;
	uint64_t until = now_ns() + GRANT_NS;
	struct link *l;
	int err;

	/*
	 * An agent that starts with its JVM waits for the grant, so no stack and no event is missed. A JVM that was
	 * already running is sampled meanwhile, without what its agent reports for the walk, so its agent does not
	 * wait.
	 */
	layouts_find(env->jvms, process);
	probes_attach(env->jvms->probes, process);
	if (!attached)
		probes_wait(env->jvms->probes, until);
	err = link_open(&l, env, process, fd);
	if (err) {
		close(fd);
		return err;
	}
	err = grant(a, process, l);
	if (err)
		return err;
	l->attached = attached;
	jvm_joined(l->jvm, l->since_ns);
	LL_PREPEND(a->links, l);
	err = link_watch(l);
	if (err) { /* what it has reported so far is kept */
		l->stopped = true;
		link_close(l);
	}
	return err;
}

/* ---- attaching ---- */

int agents_new(struct agents **out, const struct agents_env *env)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->env = *env;
	(*out)->refusals.sink = env->jvms->sink;
	(*out)->refusals.processes = env->jvms->processes;
	(*out)->refusals.config = &env->jvms->config;
	(*out)->listeners = (struct listeners){
		.env = &(*out)->env, .refusals = &(*out)->refusals, .accept = accept_agent, .ctx = *out};
	staging_sweep_own();
	return 0;
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
	if (!listener_has_room(process)) { /* it is tried again */
		if (!refusals_of(&a->refusals, pid))
			refusals_add_delay(&a->refusals, pid,
					   "as many JVMs of its user are being attached to as may be");
		return 1;
	}
	process->considered = true; /* an exec makes a new image, which may be a JVM */
	err = jvm_process_read(pid, &jvm);
	if (err < 0)
		refusals_add(&a->refusals, pid, strerror(-err));
	if (err <= 0)
		return err;
	if (jvm.attachable && jvm.starting && listener_may_be_starting(process)) {
		/* The options of the JVM may load the agent first, and it does not listen yet. */
		log_debug("the JVM in process %d is still starting", pid);
		process->considered = false;
		return 1;
	}
	if (!jvm.attachable) {
		refusals_add(&a->refusals, pid, jvm.why);
		return 1;
	}
	err = listener_open(&a->listeners, pid, &d, why);
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
	int err = listener_open(&a->listeners, 0, &d, why);

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

void agents_drain(struct agents *a)
{
	uint64_t now = now_ns(); /* before the drain, which reads everything older */
	struct listener *d;
	struct link *l;

	LL_FOREACH (a->listeners.list, d) {
		listener_give_up(d, CONNECT_NS);
		listener_mention_silence(d, LISTENER_SILENCE_NS);
	}
	listeners_reap(&a->listeners);

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

	LL_FOREACH_SAFE (a->listeners.list, d, next) {
		if (d->pid != process->pid || processes_latest(a->env.jvms->processes, d->pid) != process)
			continue;
		listener_close(d);
		LL_DELETE(a->listeners.list, d);
		free(d);
	}
	l = link_of(a, process);
	if (!l)
		return;
	link_drain_last(l);
	gc_end(l->jvm);
	jvm_tick(l->jvm, now_ns(), true);
	jvm_emit_stats(l->jvm);
	links_forget(a, process);
	jvm_free(process->jvm);
	process->jvm = NULL;
}

bool agents_expected(const struct agents *a)
{
	const struct listener *d;

	LL_FOREACH (a->listeners.list, d) {
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

/* Runnable threads per CPU: from 1 to RUNNABLE_MAX. */
static uint32_t runnable_per_cpu(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t running = 0;

	if (file && fscanf(file, "%*s %*s %*s %lu/", &running) != 1)
		running = 0;
	if (file)
		fclose(file);
	running /= cpus > 0 ? (uint64_t)cpus : 1;
	return running < 1 ? 1 : running > RUNNABLE_MAX ? RUNNABLE_MAX : (uint32_t)running;
}

/* Waits until the agents have answered, except for JVMs that are stopped. */
static void wait_stopped(struct agents *a)
{
	uint64_t began = now_ns(), now = began;
	bool waits = true, hurried = false;
	uint32_t most = 1, runnable;
	struct link *l;

	for (; waits; now = now_ns()) {
		waits = false;
		hurried |= a->env.hurried(a->env.ctx);
		runnable = runnable_per_cpu();
		most = runnable > most ? runnable : most;
		LL_FOREACH (a->links, l) {
			struct pollfd p = {.fd = l->connection.fd, .events = POLLIN};

			if (l->stopped)
				continue;
			link_drain(l);
			if (poll(&p, 1, 5) > 0)
				l->connection.ready(&l->connection);
			waits |= !l->stopped && !process_stopped(l->process) &&
				 now < began + link_stop_wait_ns(l, hurried, most);
		}
	}
	LL_FOREACH (a->links, l) {
		if (!l->stopped)
			account_notice(&l->process->account, a->env.jvms->sink, BRAID_NOTICE_WARNING,
				       "the agent of process %d did not answer at the end%s: its last reports may be "
				       "missing",
				       l->process->pid,
				       process_stopped(l->process) ? ", as the process is stopped" : "");
	}
}

void agents_stop(struct agents *a)
{
	struct braid_msg stop = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_STOP};
	struct listener *d;
	struct link *l;

	LL_FOREACH (a->listeners.list, d) {
		listener_give_up(d, 0); /* an agent connects before its JVM reports that it is loaded */
		listener_mention_silence(d, 0);
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

bool agents_leave(struct agents *a, pid_t command, bool ended, bool inherited, char *path, size_t size)
{
	bool loaded = false;
	struct listener *d;
	struct link *l;

	LL_FOREACH (a->links, l) {
		loaded |= l->process->pid == command;
	}
	LL_FOREACH (a->listeners.list, d) {
		if (d->pid || d->listening.fd < 0 || ((loaded || ended) && !inherited))
			continue;
		snprintf(path, size, "%s", d->staging.library);
		source_unwatch(a->env.sources, &d->listening);
		d->listening.fd = -1;
		return staging_leave(&d->staging, !ended);
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
	LL_FOREACH_SAFE (a->listeners.list, d, dn) {
		listener_close(d);
		free(d);
	}
	listeners_end(&a->listeners);
	refusals_free(&a->refusals);
	free(a);
}
