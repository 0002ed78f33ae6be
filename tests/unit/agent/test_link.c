// SPDX-License-Identifier: Apache-2.0
/* Tests of the agent's link: it accepts only a collector that answers in time, with valid values. */
#include "core/link.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS_MAX 4

Suite *test_link(void);

/* A collector's answer. */
struct answer {
	struct braid_grant grant;
	size_t size;
	int fds;     /* descriptors that come with it */
	bool silent; /* it sends no answer */
	useconds_t late_us;
	int listening;
	int sent[FDS_MAX];
};

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void send_with(int fd, const void *data, size_t size, const int *fds, int count)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = {0};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1};

	if (count) {
		h.msg_control = control.space;
		h.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
		*CMSG_FIRSTHDR(&h) = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						      .cmsg_type = SCM_RIGHTS,
						      .cmsg_len = CMSG_LEN((size_t)count * sizeof(int))};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&h)), fds, (size_t)count * sizeof(int));
	}
	ck_assert_int_eq(sendmsg(fd, &h, MSG_NOSIGNAL), (ssize_t)size);
}

static void *collector(void *arg)
{
	struct answer *a = arg;
	int fd = accept(a->listening, NULL, NULL);
	struct braid_msg join;

	ck_assert_int_eq(recv(fd, &join, sizeof(join), 0), sizeof(join));
	ck_assert_uint_eq(join.kind, BRAID_MSG_JOIN);
	ck_assert_uint_eq(join.value, (uint64_t)getpid());
	usleep(a->late_us);
	if (!a->silent)
		send_with(fd, &a->grant, a->size, a->sent, a->fds);
	if (a->silent)
		(void)!recv(fd, &join, sizeof(join), 0); /* until the agent closes the connection */
	close(fd);
	return NULL;
}

static struct answer right(void)
{
	return (struct answer){
		.grant = {.msg = {.magic = BRAID_SOCK_MAGIC,
				  .version = BRAID_RING_VERSION,
				  .kind = BRAID_MSG_GRANT,
				  .value = 1 << 20}},
		.size = sizeof(struct braid_grant),
		.fds = 2,
	};
}

/* The result of the answer. A refused link and a closed one leave no descriptor. */
static int answered_late(struct answer a, uint32_t wait_ms, uint32_t more_ms)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char why[LINK_WHY_MAX] = "";
	struct link l;
	pthread_t thread;
	int before, err;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/braid-test-link.%d", (int)getpid());
	unlink(address.sun_path);
	before = descriptors();
	a.listening = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ck_assert_int_eq(bind(a.listening, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(a.listening, 1), 0);
	for (int i = 0; i < FDS_MAX; i++)
		a.sent[i] = eventfd(0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, collector, &a), 0);
	err = link_open(&l, address.sun_path, wait_ms, more_ms, why);
	ck_assert_msg(!err == !why[0], "%d: %s", err, why);
	if (!err) {
		ck_assert(fcntl(l.wake_fd, F_GETFL) & O_NONBLOCK); /* a handler must not wait */
		ck_assert_int_eq(l.stack_request_fd >= 0, a.fds == 3);
	} else {
		ck_assert_int_eq(l.sock_fd & l.ring_fd & l.wake_fd & l.stack_request_fd, -1);
	}
	link_close(&l);
	pthread_join(thread, NULL);
	for (int i = 0; i < FDS_MAX; i++)
		close(a.sent[i]);
	close(a.listening);
	unlink(address.sun_path);
	ck_assert_int_eq(descriptors(), before);
	return err;
}

static int answered(struct answer a, uint32_t wait_ms)
{
	return answered_late(a, wait_ms, 0);
}

START_TEST(a_grant)
{
	struct answer a = right();

	ck_assert_int_eq(answered(a, 20000), 0);
	a.fds = 3;
	ck_assert_int_eq(answered(a, 20000), 0);
}
END_TEST

START_TEST(no_grant)
{
	struct answer a = right();

	a.grant.msg.magic++;
	ck_assert_int_eq(answered(a, 20000), -EPROTO);
	a = right();
	a.grant.msg.version++;
	ck_assert_int_eq(answered(a, 20000), -EPROTONOSUPPORT);
	a = right();
	a.grant.msg.kind = BRAID_MSG_STOP;
	ck_assert_int_eq(answered(a, 20000), -EPROTO);
	a = right();
	a.size = sizeof(struct braid_msg);
	ck_assert_int_eq(answered(a, 20000), -EPROTO);
	for (int fds = 0; fds <= FDS_MAX; fds++) {
		a = right();
		a.fds = fds;
		if (fds < 2 || fds > 3)
			ck_assert_int_eq(answered(a, 20000), -EPROTO);
	}
}
END_TEST

START_TEST(no_answer)
{
	struct answer a = right();

	a.silent = true;
	ck_assert_int_eq(answered(a, 20), -ETIMEDOUT);
}
END_TEST

/* The collector is this process, which runs: the agent waits longer than for one that may be gone, but not for ever. */
START_TEST(a_late_answer)
{
	struct answer a = right();

	a.late_us = 300000;
	ck_assert_int_eq(answered_late(a, 20, 20000), 0);
	a.silent = true;
	ck_assert_int_eq(answered_late(a, 20, 50), -ETIMEDOUT);
}
END_TEST

/* The agent does not wait for a stopped collector. */
START_TEST(a_stopped_collector)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char why[LINK_WHY_MAX] = "";
	struct link l;
	int fd, status;
	pid_t pid;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/braid-test-stopped.%d", (int)getpid());
	unlink(address.sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	pid = fork();
	if (pid == 0) {
		listen(fd, 1); /* listen() makes this process the peer */
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(link_open(&l, address.sun_path, 20, 3600000, why), -ETIMEDOUT); /* not for an hour */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(fd);
	unlink(address.sun_path);
}
END_TEST

START_TEST(nobody_there)
{
	char why[LINK_WHY_MAX], path[200];
	struct link l;

	ck_assert_int_eq(link_open(&l, "/nonexistent/braid", 20000, 0, why), -ENOENT);
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(link_open(&l, path, 20000, 0, why), -ENAMETOOLONG);
	ck_assert(!link_is_closed(&l));
	link_close(&l);
	link_close(NULL);
}
END_TEST

/* Later messages of a collector, valid and invalid ones. */
START_TEST(words)
{
	struct braid_grant g = right().grant, message;
	struct link l = LINK_NONE;
	bool replaced = false;
	int pair[2], fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fds[0] = fds[1] = eventfd(0, 0);
	l.sock_fd = pair[0];
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_IDLE);
	ck_assert(!link_is_closed(&l));
	g.msg.kind = BRAID_MSG_CONFIGURE;
	send_with(pair[1], &g, sizeof(g.msg), NULL, 0); /* without an event configuration */
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_IDLE);
	send_with(pair[1], &g, sizeof(g), fds, 2); /* with one descriptor too many */
	(void)link_receive(&l, &message, &replaced);
	ck_assert(!replaced && l.stack_request_fd < 0);
	send_with(pair[1], &g, sizeof(g), fds, 1);
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_CONFIGURE);
	ck_assert(replaced && l.stack_request_fd >= 0);
	g.msg.kind = BRAID_MSG_COMMAND;
	send_with(pair[1], &g, sizeof(g.msg), NULL, 0);
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_COMMAND);
	g.msg.kind = 1000;
	send_with(pair[1], &g, sizeof(g), fds, 1);
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_IDLE);
	g.msg.magic++;
	g.msg.kind = BRAID_MSG_STOP;
	send_with(pair[1], &g, sizeof(g), NULL, 0);
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_IDLE);
	g.msg.magic--;
	send_with(pair[1], &g, sizeof(g), NULL, 0);
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_STOP);
	close(pair[1]);
	ck_assert(link_is_closed(&l));
	ck_assert_int_eq(link_receive(&l, &message, &replaced), LINK_CLOSED);
	link_stopped(&l); /* which no one receives */
	link_close(&l);
	close(fds[0]);
}
END_TEST

Suite *test_link(void)
{
	Suite *s = suite_create("agent link");
	TCase *t = tcase_create("link");

	tcase_add_test(t, a_grant);
	tcase_add_test(t, no_grant);
	tcase_add_test(t, no_answer);
	tcase_add_test(t, a_late_answer);
	tcase_add_test(t, a_stopped_collector);
	tcase_add_test(t, nobody_there);
	tcase_add_test(t, words);
	suite_add_tcase(s, t);
	return s;
}
