// SPDX-License-Identifier: Apache-2.0
#include "top_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <record/session.h>
#include <util/utf8.h>

#define PIPE_BYTES (1 << 20) /* some minutes, if the reader is stopped */

void top_recorder_signals(void (*handler)(int number))
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct sigaction action = {.sa_handler = handler};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &action, NULL);
}

/* Until the recording watches signals itself, they end it. */
static void reset_signals(void)
{
	sigset_t none;

	top_recorder_signals(SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * With all signals blocked. The recording has a session of its own, so that keys of the terminal reach its reader only.
 */
__attribute__((noreturn)) static void record(const struct record_options *asked, pid_t reader, int trace, int messages)
{
	struct record_options o = *asked;
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), status = EXIT_FAILURE, err;

	setsid();
	reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != reader || nothing < 0)
		_exit(EXIT_FAILURE);
	dup2(nothing, STDIN_FILENO);
	dup2(trace, STDOUT_FILENO);
	if (messages >= 0)
		dup2(messages, STDERR_FILENO);
	o.output = "-";
	o.quiet = true;
	err = session_record(&o, &status);
	fflush(stderr);
	_exit(err ? EXIT_FAILURE : status);
}

static int open_messages(struct top_recorder *r, int messages[2])
{
	if (pipe2(messages, O_CLOEXEC))
		return -errno;
	r->messages = messages[0];
	return fcntl(messages[0], F_SETFL, O_NONBLOCK) ? -errno : 0;
}

int top_recorder_start(struct top_recorder *r, const struct record_options *o, bool quiet)
{
	int trace[2], messages[2] = {-1, -1}, err;
	pid_t reader = getpid();
	sigset_t all, before;

	*r = (struct top_recorder){.trace = -1, .messages = -1};
	if (pipe2(trace, O_CLOEXEC))
		return -errno;
	(void)fcntl(trace[1], F_SETPIPE_SZ, PIPE_BYTES); /* a smaller one does, too */
	err = quiet ? open_messages(r, messages) : 0;
	if (!err) {
		fflush(NULL);
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &before);
		r->pid = fork();
		err = r->pid < 0 ? -errno : 0;
		if (r->pid == 0)
			record(o, reader, trace[1], messages[1]);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	close(trace[1]);
	if (messages[1] >= 0)
		close(messages[1]);
	if (err)
		close(trace[0]);
	else
		r->trace = trace[0];
	return err;
}

static void add_line(struct top_recorder *r)
{
	char *to = r->kept[r->count++ % MESSAGES_KEPT];

	utf8_printable(to, MESSAGE_BYTES, r->line, r->length);
	r->length = 0;
}

const char *top_recorder_message(struct top_recorder *r)
{
	unsigned before = r->count;
	char text[1024];
	ssize_t n;

	while (r->messages >= 0 && (n = read(r->messages, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] == '\n' || r->length == sizeof(r->line))
				add_line(r);
			if (text[i] != '\n')
				r->line[r->length++] = text[i];
		}
	return r->count > before ? r->kept[(r->count - 1) % MESSAGES_KEPT] : NULL;
}

void top_recorder_stop(const struct top_recorder *r)
{
	if (r->pid > 0)
		kill(r->pid, SIGINT);
}

void top_recorder_wait(struct top_recorder *r)
{
	int status = 0;

	if (r->pid <= 0)
		return;
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)top_recorder_message(r);
	if (r->messages >= 0)
		close(r->messages);
	r->messages = -1;
	r->pid = 0;
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

void top_recorder_print(const struct top_recorder *r)
{
	unsigned from = r->count > MESSAGES_KEPT ? r->count - MESSAGES_KEPT : 0;

	for (unsigned i = from; i < r->count; i++)
		fprintf(stderr, "%s\n", r->kept[i % MESSAGES_KEPT]);
}
