// SPDX-License-Identifier: Apache-2.0
/* See link.h. A process in the place of the collector may be hostile: credentials and messages are checked. */
#include "link.h"

#include "state.h"

#include <braid/ring.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define OVERFLOW_UID_DEFAULT 65534U
#define LOOK_MS 100U /* how often to check that the collector still runs */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int link_fail(char why[LINK_WHY_MAX], int err, const char *what)
{
	snprintf(why, LINK_WHY_MAX, "%s: %s", what, strerror(-err));
	return err;
}

/* Waits for `events`: 0, -ETIMEDOUT or another negative errno. */
static int wait_for(int fd, short events, uint64_t deadline_ms)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		uint64_t now = now_ms();
		int n = poll(&p, 1, now < deadline_ms ? (int)(deadline_ms - now) : 0);

		if (n > 0)
			return 0;
		if (n == 0 && now >= deadline_ms)
			return -ETIMEDOUT;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

/* A non-blocking connect to a SOCK_SEQPACKET socket with a full backlog fails with EAGAIN, and poll cannot wait for
 * it. */
static int connect_until(int fd, const char *path, uint64_t deadline_ms)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const struct timespec step = {.tv_nsec = 5000000};

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, path, strlen(path));
	for (;;) {
		if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (now_ms() >= deadline_ms)
			return -ETIMEDOUT;
		nanosleep(&step, NULL);
	}
}

static bool read_line(const char *path, char *to, int size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(to, size, f);

	if (f)
		fclose(f);
	return ok;
}

static bool in_initial_user_namespace(void)
{
	unsigned long inside, outside, count;
	char line[128];

	/* A kernel without user namespaces has no such file. */
	if (!read_line("/proc/self/uid_map", line, sizeof(line)))
		return true;
	return sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
	       count == 4294967295UL;
}

static bool uid_is_overflow(uid_t uid)
{
	unsigned long overflow = OVERFLOW_UID_DEFAULT;
	char line[32];

	if (read_line("/proc/sys/kernel/overflowuid", line, sizeof(line)))
		sscanf(line, "%lu", &overflow);
	return uid == overflow;
}

/*
 * Only root and the JVM's own user may read what the JVM is doing. Inside a user namespace the host's root appears as
 * the overflow uid, which no process inside can have.
 */
static int check_peer(int fd, char why[LINK_WHY_MAX])
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return link_fail(why, -errno, "reading the collector's credentials");
	if (peer.uid == 0 || peer.uid == geteuid())
		return 0;
	if (uid_is_overflow(peer.uid) && !in_initial_user_namespace())
		return 0;
	snprintf(why, LINK_WHY_MAX, "the collector runs as uid %u, which is neither root nor this JVM's user",
		 (unsigned)peer.uid);
	return -EPERM;
}

static int send_message(int fd, uint32_t kind, uint64_t value)
{
	struct braid_msg m = {.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = kind, .value = value};

	if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) != (ssize_t)sizeof(m))
		return -errno;
	return 0;
}

#define FDS_MIN 2 /* the ring and the eventfd; the third is the program, if there is one */
#define FDS_MAX 3

union link_control {
	char bytes[CMSG_SPACE(8 * sizeof(int))];
	struct cmsghdr align;
};

/* Takes `least` to `most` descriptors out of a message; closes all when their number is another. */
static int take_fds(struct msghdr *msg, int *fds, int least, int most)
{
	int count = 0;
	int fd;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
			memcpy(&fd, (unsigned char *)c + at, sizeof(fd));
			if (count < most)
				fds[count] = fd;
			else
				close(fd);
			count++;
		}
	}
	if (count >= least && count <= most && !(msg->msg_flags & MSG_CTRUNC))
		return 0;
	for (int i = 0; i < count && i < most; i++) {
		close(fds[i]);
		fds[i] = -1;
	}
	return -EPROTO;
}

static int receive_grant(struct link *l)
{
	union link_control control;
	struct braid_grant grant;
	const struct braid_msg *m = &grant.msg;
	struct iovec part = {.iov_base = &grant, .iov_len = sizeof(grant)};
	struct msghdr msg = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	int fds[FDS_MAX] = {-1, -1, -1};
	ssize_t n = recvmsg(l->sock_fd, &msg, MSG_CMSG_CLOEXEC);
	int err;

	if (n < 0)
		return -errno;
	err = take_fds(&msg, fds, FDS_MIN, FDS_MAX);
	l->ring_fd = fds[0];
	l->wake_fd = fds[1];
	l->stack_request_fd = fds[2];
	if (n == 0)
		return -ECONNRESET;
	if (n != (ssize_t)sizeof(grant) || (msg.msg_flags & MSG_TRUNC) || m->magic != BRAID_SOCK_MAGIC)
		return -EPROTO;
	if (m->version != BRAID_RING_VERSION)
		return -EPROTONOSUPPORT;
	if (m->kind != BRAID_MSG_GRANT)
		return -EPROTO;
	l->ring_bytes = m->value;
	l->config = grant.config;
	return err;
}

/* A wake-up must never block a callback, and the collector may have made its eventfd blocking. */
static int make_non_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return 0;
}

/* True unless /proc shows that the collector is stopped or gone: in another pid namespace it has no number here. */
static bool collector_runs(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	char path[32], line[256];
	const char *state;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)peer.pid);
	if (!read_line(path, line, sizeof(line)))
		return true;
	state = strrchr(line, ')');
	return !state || !state[1] || !strchr("TtZX", state[2]);
}

/* On a busy machine the collector may answer late. It will record, so it is worth the wait. */
static int wait_on(int fd, uint32_t more_ms)
{
	uint64_t deadline_ms = now_ms() + more_ms, now;
	int err = -ETIMEDOUT;

	if (more_ms)
		agent_log("the collector is connected but has not answered yet: waiting up to %u ms more", more_ms);
	while (err == -ETIMEDOUT && (now = now_ms()) < deadline_ms && collector_runs(fd))
		err = wait_for(fd, POLLIN, now + LOOK_MS < deadline_ms ? now + LOOK_MS : deadline_ms);
	return err;
}

int link_open(struct link *l, const char *path, uint32_t wait_ms, uint32_t more_ms, char why[LINK_WHY_MAX])
{
	uint64_t deadline_ms = now_ms() + wait_ms;
	int err;

	*l = LINK_NONE;
	l->sock_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->sock_fd < 0)
		return link_fail(why, -errno, "making a socket");

	err = connect_until(l->sock_fd, path, deadline_ms);
	if (err) {
		link_fail(why, err, "connecting to the collector");
		goto out;
	}
	err = check_peer(l->sock_fd, why);
	if (err)
		goto out;
	err = send_message(l->sock_fd, BRAID_MSG_JOIN, (uint64_t)getpid());
	if (!err)
		err = wait_for(l->sock_fd, POLLIN, deadline_ms);
	if (err == -ETIMEDOUT)
		err = wait_on(l->sock_fd, more_ms);
	if (!err)
		err = receive_grant(l);
	if (!err)
		err = make_non_blocking(l->wake_fd);
	if (err)
		link_fail(why, err, "waiting for the collector's ring");
out:
	if (err)
		link_close(l);
	return err;
}

void link_close(struct link *l)
{
	if (!l)
		return;
	if (l->stack_request_fd >= 0)
		close(l->stack_request_fd);
	if (l->wake_fd >= 0)
		close(l->wake_fd);
	if (l->ring_fd >= 0)
		close(l->ring_fd);
	if (l->sock_fd >= 0)
		close(l->sock_fd);
	*l = LINK_NONE;
}

/* Other threads may be running the old program through this descriptor, so dup3 replaces it in place. */
static bool replace_program(struct link *l, int fd)
{
	bool changed = true;

	if (l->stack_request_fd < 0) {
		l->stack_request_fd = fd;
		return true;
	}
	if (dup3(fd, l->stack_request_fd, O_CLOEXEC) < 0)
		changed = false;
	close(fd);
	return changed;
}

enum link_message link_receive(struct link *l, struct braid_grant *message, bool *replaced)
{
	const struct braid_msg *m = &message->msg;
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	union link_control control;
	struct msghdr msg = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(l->sock_fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd = -1;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? LINK_IDLE : LINK_CLOSED;
	(void)take_fds(&msg, &fd, 0, 1); /* no message of this protocol has more */
	if (n == 0)
		return LINK_CLOSED;
	if (fd >= 0 && n == (ssize_t)sizeof(*message) && m->magic == BRAID_SOCK_MAGIC && m->kind == BRAID_MSG_CONFIGURE)
		*replaced = replace_program(l, fd) || *replaced;
	else if (fd >= 0)
		close(fd);
	if (n < (ssize_t)sizeof(*m) || m->magic != BRAID_SOCK_MAGIC)
		return LINK_IDLE;
	if (m->kind == BRAID_MSG_STOP)
		return LINK_STOP;
	if (m->kind == BRAID_MSG_COMMAND)
		return LINK_COMMAND;
	if (m->kind == BRAID_MSG_CONFIGURE && n == (ssize_t)sizeof(*message))
		return LINK_CONFIGURE;
	return LINK_IDLE; /* a message of a later version */
}

bool link_is_closed(const struct link *l)
{
	struct pollfd p = {.fd = l->sock_fd, .events = POLLRDHUP};

	return l->sock_fd >= 0 && poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL);
}

void link_configured(const struct link *l, uint32_t types)
{
	/* A collector that has gone needs no answer. */
	(void)send_message(l->sock_fd, BRAID_MSG_CONFIGURED, types);
}

void link_stopped(const struct link *l)
{
	/* A collector that does not read its socket learns the same from the hang-up. */
	(void)send_message(l->sock_fd, BRAID_MSG_STOPPED, 0);
}

void link_wake(const struct link *l)
{
	const uint64_t one = 1;
	int saved = errno;

	/* EAGAIN: the counter is full, so the collector has wake-ups pending. */
	(void)!write(l->wake_fd, &one, sizeof(one));
	errno = saved;
}
