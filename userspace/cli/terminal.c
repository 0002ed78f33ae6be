// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <util/log.h>
#include <util/style.h>

/* ---- options ---- */

enum { OPT_COLOR = 0x400, OPT_NO_PAGER };

static const struct argp_option options[] = {
	{0, 0, 0, 0, "Terminal:", 20},
	{"color", OPT_COLOR, "WHEN", 0,
	 "Colours: auto (default: on a terminal, unless NO_COLOR is set), always or never", 0},
	{"no-pager", OPT_NO_PAGER, 0, 0, "Print to the terminal directly, instead of into $BRAID_PAGER, $PAGER or less",
	 0},
	{0},
};

static error_t terminal_parse(int key, char *arg, struct argp_state *state)
{
	static const char *const words[] = {
		[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};
	struct terminal_options *o = state->input;

	switch (key) {
	case OPT_COLOR:
		for (int i = 0; i < (int)(sizeof(words) / sizeof(words[0])); i++)
			if (strcmp(arg, words[i]) == 0) {
				o->colour = (enum terminal_colour)i;
				return 0;
			}
		argp_error(state, "--color: '%s' is none of auto, always and never", arg);
		return EINVAL;
	case OPT_NO_PAGER:
		o->no_pager = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp terminal_argp = {options, terminal_parse, 0, 0, 0, 0, 0};

/* ---- the pager ---- */

static volatile sig_atomic_t pager;

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* NULL: none. */
static const char *pager_command(void)
{
	const char *command = getenv("BRAID_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* The terminal belongs to the pager until it ends. */
static void wait_for_pager(void)
{
	pid_t pid = pager;

	pager = 0;
	if (pid > 0)
		waitpid(pid, NULL, 0); /* signal() lets calls go on */
}

/* The pager's user has seen enough, or wants to end the program. */
static void on_end(int number)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	wait_for_pager();
	signal(number, SIG_DFL);
	raise(number);
}

__attribute__((noreturn)) static void become_pager(const char *command, int in, int failed)
{
	int err;

	dup2(in, STDIN_FILENO);
	setenv("LESS", "FRX", 0); /* ends if a screen is enough, shows colours, and leaves the text on the screen */
	setenv("LV", "-c", 0);
	if (command[strcspn(command, "|&;<>()$`\\\"' \t\n*?[#~=%")])
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	else
		execlp(command, command, (char *)NULL);
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static int start_pager(const char *command, int *in)
{
	int text[2], failed[2], err = 0;
	pid_t pid;

	if (pipe2(text, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		close(text[0]);
		close(text[1]);
		return err;
	}
	pid = fork();
	if (pid == 0)
		become_pager(command, text[0], failed[1]);
	err = pid < 0 ? errno : 0;
	close(text[0]);
	close(failed[1]);
	if (!err && read(failed[0], &err, sizeof(err)) != sizeof(err))
		err = 0; /* it runs: the pipe was closed by exec */
	close(failed[0]);
	if (!err) {
		pager = pid;
		*in = text[1];
		return 0;
	}
	close(text[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return -err;
}

static void page(void)
{
	static const int ends[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const char *command = pager_command();
	int in = -1, err = command ? start_pager(command, &in) : -ENOENT;

	if (err) {
		if (command && (is_set("BRAID_PAGER") || is_set("PAGER")))
			log_warning("cannot start the pager %s: %s", command, strerror(-err));
		return;
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], on_end);
	fflush(stdout);
	dup2(in, STDOUT_FILENO);
	if (isatty(STDERR_FILENO))
		dup2(in, STDERR_FILENO);
	close(in);
}

/* ---- life ---- */

void terminal_begin(const struct terminal_options *o)
{
	bool terminal = isatty(STDOUT_FILENO);
	const char *type = getenv("TERM");
	bool plain = is_set("NO_COLOR") || !type || strcmp(type, "dumb") == 0;

	style_use(o->colour == COLOUR_ALWAYS || (o->colour == COLOUR_AUTO && terminal && !plain));
	if (terminal && !o->no_pager)
		page();
}

void terminal_end(void)
{
	if (!pager)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	wait_for_pager();
}
