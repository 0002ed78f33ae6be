// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the sockets at which agents connect: how many JVMs of a user are attached to at a time, and peers that leave
 * early, say nothing, are strangers, or connect without end.
 */
#include "agents/listener.h"
#include "jvm/jvms.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *test_listener(void);

#define STRANGER 65534U
#define OTHER 65533U

static char path[64];
static struct sink sink;
static struct pools pools;
static struct sources sources;
static struct jvms jvms;
static struct agents_env env;
static struct refusals refusals;
static struct listeners listeners;
static struct process *self; /* the process that connects: this one */
static unsigned int accepted;
static int accepted_fd, accept_result;
static struct listener *to_close; /* by the next accept */
static int reused;

/* Accepts an agent as agents.c does: it owns the descriptor. */
static int accept_one(void *ctx, struct process *process, int fd, bool attached)
{
	(void)ctx;
	(void)attached;
	ck_assert_ptr_eq(process, self);
	accepted++;
	accepted_fd = fd;
	if (to_close) { /* and something else gets its descriptor */
		int closed = to_close->listening.fd;

		listener_close(to_close);
		reused = dup2(fd, closed);
		ck_assert_int_eq(reused, closed);
		to_close = NULL;
	}
	if (accept_result)
		close(fd);
	return accept_result;
}

static void setup(void)
{
	static const struct record_options options = {.system_wide = true};
	int fd = mkstemp(strcpy(path, "/tmp/braid-listener-XXXXXX"));

	ck_assert_int_ge(fd, 0);
	close(fd);
	pools_open(&pools, &(struct pool_room){.jvms = 12});
	sink = (struct sink){.pools = &pools};
	jvms = (struct jvms){.sink = &sink, .options = &options};
	ck_assert_int_eq(trace_writer_open(&sink.writer, path), 0);
	ck_assert_int_eq(sources_open(&sources), 0);
	ck_assert_int_eq(modules_new(&jvms.modules, &sink, NULL, false), 0);
	ck_assert_int_eq(threads_new(&jvms.threads, &sink), 0);
	ck_assert_int_eq(processes_new(&jvms.processes, &sink, NULL, jvms.modules, jvms.threads, &options), 0);
	processes_exec(jvms.processes, getpid(), "self", now_ns());
	self = processes_latest(jvms.processes, getpid());
	ck_assert_ptr_nonnull(self);
	env = (struct agents_env){.jvms = &jvms, .sources = &sources};
	refusals = (struct refusals){.sink = &sink, .processes = jvms.processes, .config = &jvms.config};
	listeners = (struct listeners){.env = &env, .refusals = &refusals, .accept = accept_one};
	accepted = 0;
	accept_result = 0;
}

static void teardown(void)
{
	struct listener *d;

	while ((d = listeners.list)) {
		listeners.list = d->next;
		listener_close(d);
		free(d);
	}
	listeners_end(&listeners);
	refusals_free(&refusals);
	processes_free(jvms.processes);
	threads_free(jvms.threads);
	modules_free(jvms.modules);
	pools_close(&pools);
	sources_close(&sources);
	ck_assert_int_eq(trace_writer_close(sink.writer), 0);
	unlink(path);
}

static struct listener *listen_for(pid_t pid)
{
	char why[ATTACH_WHY_MAX] = "";
	struct listener *d;

	ck_assert_msg(listener_open(&listeners, pid, &d, why) == 0, "%s", why);
	return d;
}

static void never(struct source *src)
{
	ck_abort_msg("a result from %d", src->fd);
}

/* Gives it a child as the attaching one, which a process of its JVM's user has stopped. */
static pid_t add_stopped_child(struct listener *d)
{
	int fds[2], status;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	d->child = fork();
	if (d->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		_exit(0);
	}
	close(fds[1]);
	ck_assert_int_eq(waitpid(d->child, &status, WUNTRACED), d->child);
	ck_assert(WIFSTOPPED(status));
	d->result = (struct source){.fd = fds[0], .ready = never, .ctx = d};
	ck_assert_int_eq(source_watch(&sources, &d->result), 0);
	return d->child;
}

static int dial(const struct listener *d)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%.100s", d->staging.socket);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void dispatch(void)
{
	ck_assert_int_eq(sources_dispatch(&sources, 0), 0);
}

static bool hung_up(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* However many JVMs of one user do not answer, those of another one are attached to. */
START_TEST(a_user_has_part_of_the_pool)
{
	struct process other = {.account.share = pools_share(&pools, OTHER)};
	unsigned int open = 0;

	self->account.share = pools_share(&pools, STRANGER);
	while (open < 100 && listener_has_room(self)) {
		(void)listen_for(getpid());
		open++;
	}
	ck_assert_uint_gt(open, 0);
	ck_assert_uint_lt(open, 6);
	ck_assert(listener_has_room(&other));
	listener_close(listeners.list);
	ck_assert(listener_has_room(self));
	listener_close(listeners.list); /* again: nothing is given back twice */
	ck_assert_uint_eq(pools.strangers.used[POOL_ATTACHES], open - 1);
}
END_TEST

/* The agent of another listener's process has connected: this attempt is over, and gives its place back. */
START_TEST(an_agent_that_has_connected_ends_its_attempts)
{
	struct listener *all = listen_for(0), *one;
	int fd;

	self->account.share = pools_share(&pools, STRANGER);
	one = listen_for(getpid());
	fd = dial(all);
	dispatch();
	ck_assert_uint_eq(accepted, 1);
	ck_assert_int_lt(one->listening.fd, 0);
	ck_assert_int_ge(all->listening.fd, 0);
	ck_assert_uint_eq(pools.strangers.used[POOL_ATTACHES], 0);
	close(fd);
	close(accepted_fd);
}
END_TEST

START_TEST(a_peer_that_leaves_while_it_waits)
{
	struct listener *d = listen_for(0);
	int fd;

	close(dial(d));
	accept_result = -EPIPE; /* as the grant cannot be sent */
	dispatch();
	ck_assert_uint_eq(accepted, 1);
	ck_assert_ptr_nonnull(refusals_of(&refusals, getpid()));
	ck_assert_int_ge(d->listening.fd, 0);

	accept_result = 0;
	fd = dial(d);
	dispatch();
	ck_assert_uint_eq(accepted, 2);
	ck_assert_ptr_null(refusals_of(&refusals, getpid())); /* it has an agent after all */
	close(fd);
	close(accepted_fd);
}
END_TEST

/* It is accepted, and nobody waits for it: the next one is served. */
START_TEST(a_peer_that_says_nothing)
{
	struct listener *d = listen_for(0);
	int silent = dial(d), fd = dial(d), first;

	dispatch();
	ck_assert_uint_eq(accepted, 1);
	first = accepted_fd;
	dispatch();
	ck_assert_uint_eq(accepted, 2);
	dispatch();
	ck_assert_uint_eq(accepted, 2);
	close(first);
	close(accepted_fd);
	close(silent);
	close(fd);
}
END_TEST

/* A process that is not recorded. */
START_TEST(a_stranger_is_hung_up_on)
{
	struct listener *d = listen_for(0);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = dial(d);
		char byte;

		_exit(recv(fd, &byte, 1, 0) == 0 ? 0 : 1);
	}
	while (sources_dispatch(&sources, 100) == 0 && waitpid(pid, &status, WNOHANG) == 0)
		;
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(accepted, 0);
}
END_TEST

/* The number is that of a process that was recorded, and has ended. */
START_TEST(a_pid_that_is_used_again)
{
	struct listener *d = listen_for(0);
	int fd;

	self->start_ticks++;
	fd = dial(d);
	dispatch();
	ck_assert_uint_eq(accepted, 0);
	ck_assert(hung_up(fd));
	close(fd);
}
END_TEST

static uint32_t severity;

static void tap(void *ctx, const struct trace_rec *rec)
{
	(void)ctx;
	if (rec->kind == TRACE_NOTICE && memmem(rec->notice.text.str, rec->notice.text.len, "No such process", 15))
		severity = rec->notice.severity;
}

/* It may have ended by itself before it was attached to, which is no fault. */
START_TEST(a_jvm_that_has_ended_is_no_warning)
{
	trace_writer_tap(sink.writer, tap, NULL);
	severity = UINT32_MAX;
	refusals_add(&refusals, getpid(), "No such process");
	ck_assert_uint_eq(severity, BRAID_NOTICE_WARNING);
	ck_assert_ptr_nonnull(refusals_of(&refusals, getpid()));
	self->start_ticks++;
	refusals_add(&refusals, getpid(), "No such process");
	ck_assert_uint_eq(severity, BRAID_NOTICE_INFO);
	ck_assert_ptr_null(refusals_of(&refusals, getpid()));
	severity = UINT32_MAX;
	refusals_add_delay(&refusals, getpid(), "No such process");
	ck_assert_uint_eq(severity, BRAID_NOTICE_INFO);
}
END_TEST

/* Each connection takes the kernel long. */
START_TEST(connections_without_end)
{
	struct listener *d = listen_for(0);

	for (int i = 0; i < 100; i++) {
		int fd = dial(d);
		unsigned int before = accepted;

		dispatch();
		if (accepted > before)
			close(accepted_fd);
		else
			ck_assert(hung_up(fd));
		close(fd);
	}
	ck_assert_uint_ge(accepted, 32);
	ck_assert_uint_lt(accepted, 60);
	ck_assert_uint_eq(self->account.refused[BUDGET_CONNECTIONS], 100 - accepted);
}
END_TEST

/* Two are ready at once. Serving one closes the other one, whose descriptor something else gets. */
START_TEST(a_descriptor_that_is_used_again)
{
	struct listener *first = listen_for(0), *second = listen_for(0);
	int fds[2] = {dial(first), dial(second)};

	to_close = second;
	dispatch();
	ck_assert_uint_eq(accepted, 1);
	dispatch();
	ck_assert_int_ge(fcntl(reused, F_GETFD), 0);
	for (int i = 0; i < 2; i++)
		close(fds[i]);
	close(reused);
	close(accepted_fd);
}
END_TEST

/* Nobody waits for children that do not end. After a while they are killed, and none is left. */
START_TEST(children_that_are_stopped)
{
	pid_t children[5];

	self->account.share = pools_share(&pools, STRANGER);
	for (size_t i = 0; i < 5; i++) {
		struct listener *d = listen_for(getpid());

		children[i] = add_stopped_child(d);
		listener_close(d);
		ck_assert_uint_eq(listeners.leaving.count, i + 1);
		ck_assert_uint_eq(pools.strangers.used[POOL_ATTACHES], i + 1);
		listeners.leaving.at[i].until_ns += 3600000000000;
	}
	listeners_reap(&listeners);
	ck_assert_uint_eq(listeners.leaving.count, 5);
	for (size_t i = 0; i < 5; i++)
		listeners.leaving.at[i].until_ns = 0;
	while (listeners_reap(&listeners), listeners.leaving.count)
		poll(NULL, 0, 1);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(waitpid(children[i], NULL, WNOHANG), -1);
		ck_assert_int_eq(errno, ECHILD);
	}
	ck_assert_uint_eq(pools.strangers.used[POOL_ATTACHES], 0);
}
END_TEST

Suite *test_listener(void)
{
	Suite *s = suite_create("listener");
	TCase *t = tcase_create("listener");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_user_has_part_of_the_pool);
	tcase_add_test(t, an_agent_that_has_connected_ends_its_attempts);
	tcase_add_test(t, a_peer_that_leaves_while_it_waits);
	tcase_add_test(t, a_peer_that_says_nothing);
	tcase_add_test(t, a_stranger_is_hung_up_on);
	tcase_add_test(t, a_pid_that_is_used_again);
	tcase_add_test(t, a_jvm_that_has_ended_is_no_warning);
	tcase_add_test(t, connections_without_end);
	tcase_add_test(t, a_descriptor_that_is_used_again);
	tcase_add_test(t, children_that_are_stopped);
	suite_add_tcase(s, t);
	return s;
}
