// SPDX-License-Identifier: Apache-2.0
#include "agents.h"

#include "attach.h"
#include "jvm.h"
#include "procfs.h"
#include "sideband.h"
#include "util/log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#define RING_BYTES (1U << 20)
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

/* One agent at the other end of a socket, with its ring. */
struct link {
	struct agents *agents;
	struct source connection; /* fd -1: closed */
	struct source wake;
	int ring_fd;
	struct process *process;
	struct jvm *jvm; /* owned by the process */
	uint64_t since_ns;
	bool stopped; /* nothing more will come */
	uint64_t ring_refused_told;
	struct link *next;
};

struct refusal {
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

static void link_close(struct link *l)
{
	struct session *s = l->agents->session;

	if (l->connection.fd >= 0) {
		session_unwatch(s, &l->connection);
		close(l->connection.fd);
		l->connection.fd = -1;
	}
	if (l->wake.fd >= 0) {
		session_unwatch(s, &l->wake);
		close(l->wake.fd);
		l->wake.fd = -1;
	}
	if (l->ring_fd >= 0) {
		kernel_side_remove_ring(s->kernel, jvm_slot(l->jvm));
		close(l->ring_fd);
		l->ring_fd = -1;
	}
}

static void on_record(void *ctx, const struct braid_event *e)
{
	struct link *l = ctx;
	const struct braid_event_agent *a = (const void *)e;
	const struct braid_rec *rec = (const void *)(a + 1);

	if (e->kind != BRAID_EVENT_AGENT || e->size < sizeof(*a) + sizeof(*rec) || a->slot != jvm_slot(l->jvm) ||
	    a->generation != jvm_generation(l->jvm))
		return;
	jvm_record(l->jvm, rec, e->size - sizeof(*a));
}

static void link_drain(struct link *l)
{
	struct session *s = l->agents->session;
	struct braid_drain d = {0};
	int err;

	if (l->ring_fd < 0)
		return;
	err = kernel_side_drain(s->kernel, jvm_slot(l->jvm), on_record, l, &d);
	if (d.lost)
		session_loss(s, l->process->id, "ring", "record", d.lost);
	if (d.bad)
		session_loss(s, l->process->id, "ring", "bad_record", d.bad);
	if (!err || err == -EBUSY || l->ring_refused_told)
		return;
	l->ring_refused_told = 1; /* the JVM has scribbled over its ring: nothing after this can be read */
	session_notice(s, l->process->id, BRAID_NOTICE_WARNING,
		       "the ring of process %d is damaged (%s): its agent is stopped", l->process->pid, strerror(-err));
	session_loss(s, l->process->id, "ring", "damaged", 1);
	l->stopped = true;
}

static void on_wake(struct source *src)
{
	uint64_t count;

	if (read(src->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_debug("eventfd: %s", strerror(errno));
	/* A JVM that ends waits for its ring to be read: what was sampled in it is read first, while its names are
	 * there. */
	session_read_samples(((struct link *)src->ctx)->agents->session);
	link_drain(src->ctx);
}

static void on_connection(struct source *src)
{
	struct link *l = src->ctx;
	struct braid_msg msg;
	ssize_t n = recv(src->fd, &msg, sizeof(msg), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(msg) && msg.magic == BRAID_SOCK_MAGIC && msg.kind != BRAID_MSG_STOPPED)
		return;
	link_drain(l); /* the last words */
	l->stopped = true;
	link_close(l);
}

static int send_grant(int fd, int ring_fd, int event_fd)
{
	struct braid_msg msg = {
		.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_GRANT, .value = RING_BYTES};
	struct iovec iov = {.iov_base = &msg, .iov_len = sizeof(msg)};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct msghdr h = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.space,
			   .msg_controllen = sizeof(control.space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	int fds[2] = {ring_fd, event_fd};

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	return sendmsg(fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(msg) ? 0 : -errno;
}

/* An agent that comes back gets a new ring: what the old one said is in the trace. */
static void forget(struct agents *a, struct process *process)
{
	struct link *l, *next;

	LL_FOREACH_SAFE (a->links, l, next) {
		if (l->process != process)
			continue;
		link_close(l);
		LL_DELETE(a->links, l);
		free(l);
	}
	jvm_free(process->jvm);
	process->jvm = NULL;
}

/* A ring for the agent at the other end of `fd`. */
static int link_grant(struct agents *a, struct process *process, int fd)
{
	struct session *s = a->session;
	struct link *l = calloc(1, sizeof(*l));
	uint32_t generation;
	int slot = -ENOMEM, err;

	if (!l)
		return -ENOMEM;
	l->agents = a;
	l->process = process;
	l->since_ns = now_ns();
	l->connection = (struct source){.fd = fd, .ready = on_connection, .ctx = l};
	l->wake = (struct source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_wake, .ctx = l};
	l->ring_fd = bpf_map_create(BPF_MAP_TYPE_USER_RINGBUF, "braid_ring", 0, 0, RING_BYTES, NULL);
	if (l->wake.fd < 0 || l->ring_fd < 0) {
		err = -errno;
		goto out;
	}
	slot = err = kernel_side_add_ring(s->kernel, l->ring_fd, &generation);
	if (err < 0)
		goto out;
	l->jvm = jvm_new(s, process, (uint32_t)slot, generation);
	err = l->jvm ? send_grant(fd, l->ring_fd, l->wake.fd) : -ENOMEM;
	if (err) {
		kernel_side_remove_ring(s->kernel, (uint32_t)slot);
		jvm_free(l->jvm);
		goto out;
	}
	forget(a, process);
	processes_set_jvm(s->processes, process, l->jvm);
	session_emit(s, &(struct trace_rec){.kind = TRACE_PROCESS_STATE,
					    .process_state = {.time_ns = now_ns(), .process = process->id, .what = 3}});
	LL_PREPEND(a->links, l);
	err = session_watch(s, &l->connection);
	return err ?: session_watch(s, &l->wake);
out:
	if (l->wake.fd >= 0)
		close(l->wake.fd);
	if (l->ring_fd >= 0)
		close(l->ring_fd);
	free(l);
	return err;
}

/* ---- doors ---- */

/* Said at once, and once more in the summary. */
static void refuse(struct agents *a, pid_t pid, const char *why)
{
	struct process *p = processes_latest(a->session->processes, pid);
	struct refusal *r = calloc(1, sizeof(*r));

	if (r) {
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
	err = link_grant(d->agents, process, fd);
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
	struct door *d;
	struct link *l;

	LL_FOREACH (a->doors, d) {
		give_up_waiting(d);
	}

	LL_FOREACH (a->links, l) {
		link_drain(l);
		if (l->stopped)
			link_close(l);
		jvm_tick(l->jvm, now_ns(), false);
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

void agents_stop(struct agents *a)
{
	struct braid_msg stop = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_STOP};
	uint64_t until = now_ns() + STOP_WAIT_NS;
	struct link *l;

	LL_FOREACH (a->links, l) {
		if (l->connection.fd >= 0 &&
		    send(l->connection.fd, &stop, sizeof(stop), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			l->stopped = true;
	}
	while (agents_connected(a) && now_ns() < until) {
		LL_FOREACH (a->links, l) {
			struct pollfd p = {.fd = l->connection.fd, .events = POLLIN};

			if (l->stopped)
				continue;
			link_drain(l);
			if (poll(&p, 1, 5) > 0)
				on_connection(&l->connection);
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
		link_close(l);
		free(l);
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
