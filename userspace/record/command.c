// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include "util/descriptors.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERRUPT_WAIT_MS 5000

int command_find(const char *program)
{
	const char *path = getenv("PATH"), *end;
	char full[4096];
	int err = ENOENT;

	if (strchr(program, '/'))
		return access(program, X_OK);
	for (; path && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		snprintf(full, sizeof(full), "%.*s/%s", (int)(end - path), end > path ? path : ".", program);
		if (access(full, X_OK) == 0)
			return 0;
		if (errno == EACCES)
			err = errno;
	}
	errno = err;
	return -1;
}

static bool calls_java(const char *program)
{
	const char *name = strrchr(program, '/');

	return strcmp(name ? name + 1 : program, "java") == 0;
}

/*
 * In the command line the agent is invisible. JAVA_TOOL_OPTIONS makes the JVM print a line, but JVMs at any depth
 * inherit it.
 */
static char **with_agent(char **argv, const char *option)
{
	const char *had = getenv("JAVA_TOOL_OPTIONS");
	size_t count = 0;
	char **longer, *value;

	while (argv[count])
		count++;
	if (calls_java(argv[0])) {
		longer = calloc(count + 2, sizeof(*longer));
		if (!longer)
			return NULL;
		longer[0] = argv[0];
		longer[1] = strdup(option);
		memcpy(longer + 2, argv + 1, count * sizeof(*longer));
		return longer;
	}
	if (asprintf(&value, "%s%s%s", had ? had : "", had && *had ? " " : "", option) < 0)
		return NULL;
	setenv("JAVA_TOOL_OPTIONS", value, 1);
	free(value);
	return argv;
}

/* The child: waits for the gate, then executes the command. It reports a failed exec through the gate. */
static void become(int gate, char **argv, const char *option, bool stdout_taken)
{
	sigset_t none;
	char go;
	int err;

	if (read(gate, &go, 1) != 1)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL); /* ignored by the recorder */
	signal(SIGXFSZ, SIG_DFL);
	descriptors_restore();
	if (stdout_taken && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(126);
	if (option)
		argv = with_agent(argv, option);
	if (argv)
		execvp(argv[0], argv);
	err = errno;
	if (write(gate, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

int command_prepare(struct command *c, char **argv, const char *agent_option, bool stdout_taken)
{
	int gate[2];

	*c = (struct command){.gate_fd = -1, .in_environment = agent_option && !calls_java(argv[0])};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate)) {
		log_error("cannot start %s: %s", argv[0], strerror(errno));
		return -errno;
	}
	c->pid = fork();
	if (c->pid < 0) {
		int err = -errno;

		log_error("cannot start %s: %s", argv[0], strerror(-err));
		close(gate[0]);
		close(gate[1]);
		c->pid = 0;
		return err;
	}
	if (c->pid == 0) {
		close(gate[0]);
		become(gate[1], argv, agent_option, stdout_taken);
	}
	close(gate[1]);
	c->gate_fd = gate[0];
	return 0;
}

int command_go(struct command *c)
{
	int err = 0;

	if (write(c->gate_fd, "g", 1) != 1)
		err = errno;
	else if (read(c->gate_fd, &err, sizeof(err)) != sizeof(err))
		err = 0; /* closed by the exec */
	close(c->gate_fd);
	c->gate_fd = -1;
	if (err)
		log_error("cannot run the command: %s", strerror(err));
	return -err;
}

void command_reap(struct command *c)
{
	int status;

	if (!c->pid || c->ended || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	c->ended = true;
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void command_cancel(struct command *c)
{
	if (c->gate_fd < 0)
		return;
	close(c->gate_fd);
	c->gate_fd = -1;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
}

bool command_runs(struct command *c)
{
	command_reap(c);
	return c->pid && !c->ended;
}

void command_interrupt(struct command *c)
{
	command_cancel(c);
	if (!command_runs(c))
		return;
	kill(c->pid, SIGTERM);
	for (int i = 0; i < INTERRUPT_WAIT_MS && !c->ended; i += 10) {
		usleep(10000);
		command_reap(c);
	}
}
