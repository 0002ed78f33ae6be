// SPDX-License-Identifier: Apache-2.0
/* `braid serve`: the page of a trace, or of a recording that it begins, in this machine's browsers. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <page/html.h>
#include <record/session.h>
#include <serve/serve.h>
#include <serve/server.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/recording.h"

enum { OPT_PORT = 0x600, OPT_WINDOW, OPT_SOURCE_LINK, OPT_KILL };

struct serve_request {
	struct recording recording;
	struct serve_options options;
	struct stat former; /* what had the name of the recording's trace before */
	const char *output; /* where the recording goes; NULL: to the usual file */
};

static const struct argp_option options[] = {
	{"port", OPT_PORT, "PORT", 0, "Listen at this port of 127.0.0.1 (default: any that is free)", 0},
	{"window", OPT_WINDOW, "TIME", 0,
	 "Show at most this much of the recording's end (default: all of it, or of a trace above 64 MiB the last 5m)",
	 0},
	{"source-link", OPT_SOURCE_LINK, "ADDRESS", 0,
	 "Link methods to their sources, at this address with {path} and {line}", 0},
	{"output", 'o', "FILE", 0, "Write the recording's trace to FILE (default braid.trace)", 0},
	{"duration", 'd', "TIME", 0, "Stop recording after this time: 10 or 10s, 500ms, 2m, 1h; the page stays", 0},
	{"kill", OPT_KILL, NULL, 0, "End the command when the recording ends", 0},
	{0},
};

static const char doc[] =
	"Shows the page of `braid report --html` in a browser on this machine, and keeps it up to date while the recording grows. "
	"FILE (default braid.trace) may be a trace that another braid is writing; with a target, braid serve makes the recording "
	"itself.\vExamples:\n"
	"  braid serve                        show braid.trace, finished or not\n"
	"  braid serve -p 4711                record process 4711 and show it\n"
	"  braid serve -- java -jar app.jar   start a program and show it\n"
	"  braid serve -o app.trace -e cpu,alloc,lock,gc -p 4711\n"
	"  braid serve --port 8900 app.trace\n"
	"\n"
	"It prints the address to open. The address has a token, without which the server answers nothing. The server listens on "
	"127.0.0.1 only, and gives up the rights of root before it answers. For a browser on another machine, choose a port and "
	"run there: ssh -L 8900:127.0.0.1:8900 HOST\n"
	"\n"
	"Ctrl-C ends the server and the recording; the trace stays.";

static uint16_t parse_port(struct argp_state *state, const char *arg)
{
	char *end;
	unsigned long port = strtoul(arg, &end, 10);

	if (arg[0] < '0' || arg[0] > '9' || *end || !port || port > 65535)
		argp_error(state, "--port: '%s' is not a number from 1 to 65535", arg);
	return (uint16_t)port;
}

static bool has_target(const struct record_options *o)
{
	return o->system_wide || o->pid_count || o->command;
}

/* A file, or a recording with its options: not both. */
static void check_request(struct argp_state *state, struct serve_request *r)
{
	struct record_options *o = &r->recording.options;
	bool records = has_target(o);

	if (records && r->options.path)
		argp_error(state, "'%s' and a recording cannot be combined; a command comes after --", r->options.path);
	if (!records && (r->output || o->duration_ns || o->kill || r->recording.given))
		argp_error(state,
			   "these options are for a recording; name its target with -p PID, -a, or a command after --");
	if (o->kill && !o->command)
		argp_error(state, "--kill needs a command after --");
	if (r->output && strcmp(r->output, "-") == 0)
		argp_error(state, "-o -: the trace has to be a file");
	if (records)
		recording_complete(&r->recording, state);
	if (r->output)
		o->output = r->output;
	if (!r->options.path)
		r->options.path = o->output;
	r->options.title = common_name(r->options.path);
}

static error_t serve_parse(int key, char *arg, struct argp_state *state)
{
	struct serve_request *r = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->recording;
		return 0;
	case OPT_PORT:
		r->options.port = parse_port(state, arg);
		return 0;
	case OPT_WINDOW:
		r->options.window_ns = common_length(state, "--window", arg);
		return 0;
	case OPT_SOURCE_LINK:
		r->options.source_link = common_source_link(state, arg);
		return 0;
	case 'o':
		r->output = common_output_name(state, "-o", arg);
		return 0;
	case 'd':
		r->recording.options.duration_ns = common_length(state, "-d", arg);
		return 0;
	case OPT_KILL:
		r->recording.options.kill = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->quoted)
			return ARGP_ERR_UNKNOWN; /* a command: all that follows at once */
		if (r->options.path)
			argp_error(state, "unexpected argument '%s'; a command comes after --", arg);
		r->options.path = arg;
		return 0;
	case ARGP_KEY_ARGS:
		r->recording.options.command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check_request(state, r);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- a recording, and its server as a process of its own ---- */

static pid_t start_server(struct serve_request *r)
{
	pid_t parent = getpid(), pid;

	if (stat(r->options.path, &r->former))
		r->former = (struct stat){0};
	r->options.former = &r->former;
	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_NAME, "braid-serve");
	_exit(getppid() != parent || serve_run(&r->options) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static bool has_ended(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == pid;
}

/* Until the server ends, or somebody ends it. */
static void wait_for_server(pid_t pid)
{
	int signal;
	sigset_t set;

	serve_block_signals(&set);
	fputs("braid: the recording has ended; its page is served until Ctrl-C\n", stderr);
	while (!has_ended(pid)) {
		sigwait(&set, &signal);
		if (signal != SIGCHLD) {
			kill(pid, SIGTERM);
			waitpid(pid, NULL, 0);
			return;
		}
	}
}

static int record_and_serve(struct serve_request *r)
{
	bool interrupted = false;
	int status = 0, err;
	pid_t pid = start_server(r);

	close(r->options.listen_fd);
	if (pid < 0) {
		log_error("cannot start a process: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	r->recording.options.interrupted = &interrupted;
	err = session_record(&r->recording.options, &status);
	if (!err && !interrupted && !has_ended(pid)) {
		wait_for_server(pid);
	} else {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
	return err ? EXIT_FAILURE : status;
}

int cmd_serve(int argc, char **argv)
{
	static const struct argp_child children[] = {{&recording_argp, 0, "A recording:", 0}, {0}};
	static const struct argp argp = {options, serve_parse, "[FILE | -p PID[,PID...] | -a | -- COMMAND...]",
					 doc,	  children,    recording_help,
					 0};
	struct serve_request r = {0};
	int status;

	argp_err_exit_status = EXIT_USAGE;
	recording_init(&r.recording);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &r))
		return EXIT_FAILURE;
	r.options.listen_fd = server_listen(&r.options.port);
	if (r.options.listen_fd < 0) {
		log_error("cannot listen at 127.0.0.1:%u: %s%s", r.options.port, strerror(-r.options.listen_fd),
			  r.options.port ? "; choose another --port, or none" : "");
		status = EXIT_FAILURE;
	} else if (has_target(&r.recording.options)) {
		status = record_and_serve(&r);
	} else {
		status = serve_run(&r.options) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	recording_free(&r.recording);
	return status;
}
