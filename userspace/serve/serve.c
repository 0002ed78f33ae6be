// SPDX-License-Identifier: Apache-2.0
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <util/log.h>

#include "rights.h"
#include "server.h"

#define TICK_MS 250
#define WAIT_MS 50 /* for a trace that is to come */

struct serving {
	const struct serve_options *o;
	char token[TOKEN_DIGITS + 1];
	int signals; /* a descriptor */
	int trace_fd;
	struct trace_reader *reader;
	struct parts parts;
	struct server *server;
	bool ended, announced;
};

void serve_block_signals(sigset_t *set)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGCHLD};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sigaddset(set, ending[i]);
	sigprocmask(SIG_BLOCK, set, NULL);
}

/* Waits until there is something to do, at most so long, and does it. */
static void wait_ms(struct serving *s, int most)
{
	struct pollfd signals = {.fd = s->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (s->server)
		server_wait(s->server, s->signals, most);
	else
		poll(&signals, 1, most);
	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			s->ended = true;
}

/* ---- the trace ---- */

/* What the recording writes is another file, or has been written to. */
static bool has_come(const struct serve_options *o)
{
	const struct stat *was = o->former;
	struct stat st;

	if (!was)
		return true;
	if (stat(o->path, &st) || !st.st_size)
		return false;
	return st.st_dev != was->st_dev || st.st_ino != was->st_ino || st.st_mtim.tv_sec != was->st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != was->st_mtim.tv_nsec;
}

static int cannot_read(const struct serve_options *o, int err, const char *why)
{
	log_error("cannot serve %s: %s", o->path, why && *why ? why : strerror(-err));
	return err;
}

/* The file stays the same one if its name gets another one meanwhile. */
static int open_trace(struct serving *s)
{
	const struct serve_options *o = s->o;
	const char *why = NULL;
	struct stat st;
	char path[64];
	int err;

	while (!s->ended && !has_come(o))
		wait_ms(s, WAIT_MS);
	if (s->ended)
		return 0;
	s->trace_fd = open(o->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->trace_fd < 0)
		return cannot_read(o, -errno, NULL);
	if (fstat(s->trace_fd, &st) || !S_ISREG(st.st_mode))
		return cannot_read(o, -EINVAL, "it is not a regular file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->trace_fd);
	err = trace_reader_open(&s->reader, path, &why);
	if (err)
		return cannot_read(o, err, why);
	trace_reader_follow(s->reader);
	return 0;
}

/* ---- serving ---- */

static int begin(struct serving *s, const struct parts_options *options)
{
	pid_t parent = getppid();
	int err = rights_drop();

	if (err) {
		log_error("cannot give up the rights of root: %s", strerror(-err));
		return err;
	}
	if (s->o->former) { /* the recording is the parent's; giving up rights has forgotten what was set before */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			s->ended = true;
	}
	err = parts_open(&s->parts, options);
	err = err ?: server_open(&s->server, s->o->listen_fd, s->token, &s->parts);
	if (err)
		log_error("cannot serve: %s", strerror(-err));
	return err;
}

/* The address is printed when there is something to see. */
static int announce(struct serving *s)
{
	const struct part *whole = &s->parts.list[0];

	if (!whole->data)
		return whole->err ? cannot_read(s->o, whole->err, NULL) : 0;
	printf("http://127.0.0.1:%u/%s/\n", s->o->port, s->token);
	fflush(stdout);
	s->announced = true;
	return 0;
}

static int serve(struct serving *s)
{
	int err = 0;

	while (!s->ended && !err) {
		if (!s->announced)
			parts_want(&s->parts, 0);
		parts_tick(&s->parts);
		if (!s->announced)
			err = announce(s);
		wait_ms(s, TICK_MS);
	}
	return err;
}

int serve_run(const struct serve_options *o)
{
	struct serving s = {.o = o, .trace_fd = -1};
	struct parts_options options;
	sigset_t set;
	int err;

	serve_block_signals(&set);
	s.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	err = s.signals < 0 ? -errno : random_digits(s.token);
	if (err)
		log_error("cannot serve: %s", strerror(-err));
	err = err ?: open_trace(&s);
	if (!err && !s.ended) {
		options = (struct parts_options){.trace_fd = s.trace_fd,
						 .reader = s.reader,
						 .title = o->title,
						 .source_link = o->source_link,
						 .window_ns = o->window_ns};
		err = begin(&s, &options) ?: serve(&s);
		server_close(s.server);
		parts_close(&s.parts);
	}
	trace_reader_close(s.reader);
	if (s.trace_fd >= 0)
		close(s.trace_fd);
	if (s.signals >= 0)
		close(s.signals);
	return err;
}
