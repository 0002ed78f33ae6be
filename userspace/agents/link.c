// SPDX-License-Identifier: Apache-2.0
#include "agents/link.h"

#include "proc/procfs.h"

#include "jvm/jvm.h"
#include "kernel/kernel_side.h"
#include "util/log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define RING_BYTES (1U << 20)

void link_close(struct link *l)
{
	struct session *s = l ? l->session : NULL;

	if (!l)
		return;
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

void link_drain(struct link *l)
{
	struct session *s = l->session;
	struct braid_drain d = {0};
	int err;

	if (l->ring_fd < 0)
		return;
	err = kernel_side_drain(s->kernel, jvm_slot(l->jvm), on_record, l, &d);
	if (d.lost)
		session_loss(s, l->process->id, "ring", "record", d.lost);
	if (d.bad)
		session_loss(s, l->process->id, "ring", "bad_record", d.bad);
	if (!err || err == -EBUSY || l->damage_told)
		return;
	l->damage_told = true; /* the JVM has scribbled over its ring: nothing after this can be read */
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
	session_read_samples(((struct link *)src->ctx)->session);
	link_drain(src->ctx);
}

static void on_connection(struct source *src)
{
	struct link *l = src->ctx;
	struct braid_msg msg;
	ssize_t n = recv(src->fd, &msg, sizeof(msg), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(msg) && msg.magic == BRAID_SOCK_MAGIC && msg.kind != BRAID_MSG_STOPPED) {
		if (msg.kind == BRAID_MSG_CHOSEN) {
			l->held = (uint32_t)msg.value;
			l->unanswered -= l->unanswered > 0;
		}
		return;
	}
	link_drain(l); /* the last words */
	l->stopped = true;
	link_close(l);
}

/* A message with descriptors. */
static int say_with(const struct link *l, const struct braid_grant *grant, const int *fds, size_t count)
{
	struct iovec iov = {.iov_base = (void *)grant, .iov_len = sizeof(*grant)};
	size_t bytes = count * sizeof(*fds);
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(3 * sizeof(*fds))];
	} control = {0};
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = CMSG_SPACE(bytes)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(c), fds, bytes);
	return sendmsg(l->connection.fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*grant) ? 0 : -errno;
}

/* The program that agents run goes along where there is one: without it, their events come without stacks. */
static int send_grant(struct link *l)
{
	struct braid_grant grant = {.msg = {.magic = BRAID_SOCK_MAGIC,
					    .version = BRAID_RING_VERSION,
					    .kind = BRAID_MSG_GRANT,
					    .value = RING_BYTES},
				    .choices = l->choices};
	int fds[3] = {l->ring_fd, l->wake.fd, kernel_side_demand(l->session->kernel)};

	l->demand_fd = fds[2];
	return say_with(l, &grant, fds, fds[2] >= 0 ? 3 : 2);
}

int link_open(struct link **out, struct session *s, struct process *process, int fd)
{
	struct link *l = calloc(1, sizeof(*l));
	uint32_t generation;
	int slot, err;

	*out = NULL;
	if (!l)
		return -ENOMEM;
	*l = (struct link){
		.session = s, .process = process, .since_ns = now_ns(), .choices = s->choices, .unanswered = 1};
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
	kernel_side_choose(s->kernel, (uint32_t)slot, &l->choices);
	l->jvm = jvm_new(s, process, (uint32_t)slot, generation);
	err = l->jvm ? send_grant(l) : -ENOMEM;
	if (!err) {
		*out = l;
		return 0;
	}
	kernel_side_remove_ring(s->kernel, (uint32_t)slot);
	jvm_free(l->jvm);
out:
	if (l->wake.fd >= 0)
		close(l->wake.fd);
	if (l->ring_fd >= 0)
		close(l->ring_fd);
	free(l);
	return err;
}

int link_watch(struct link *l)
{
	int err = session_watch(l->session, &l->connection);

	return err ?: session_watch(l->session, &l->wake);
}

void link_free(struct link *l)
{
	link_close(l);
	free(l);
}

int link_choose(struct link *l, const struct braid_choices *choices)
{
	struct braid_grant g = {
		.msg = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_CHOOSE},
		.choices = *choices};
	int demand_fd = kernel_side_demand(l->session->kernel), err;

	if (l->connection.fd < 0)
		return -ENOTCONN;
	for (size_t i = 0; i < BRAID_CHOSEN_THREADS; i++)
		if (g.choices.threads[i].tid)
			g.choices.threads[i].tid =
				(__u32)procfs_ns_tid(l->process->pid, (pid_t)g.choices.threads[i].tid);
	if (demand_fd == l->demand_fd)
		err = link_say(l, &g, sizeof(g));
	else /* loaded since */
		err = say_with(l, &g, &demand_fd, 1);
	if (!err) {
		l->demand_fd = demand_fd;
		l->choices = *choices;
		kernel_side_choose(l->session->kernel, jvm_slot(l->jvm), choices);
		l->unanswered++;
		jvm_choose(l->jvm, choices->wanted);
	}
	return err;
}

int link_say(struct link *l, const void *message, size_t size)
{
	if (l->connection.fd < 0)
		return -ENOTCONN;
	return send(l->connection.fd, message, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size ? 0 : -errno;
}
