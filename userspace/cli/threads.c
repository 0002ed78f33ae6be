// SPDX-License-Identifier: Apache-2.0
/* `braid threads`: a short recording of one process that takes one thread dump, which it prints. */
#include "cli.h"
#include "common.h"

#include "config/event_config.h"
#include "export/dump.h"
#include "record/session.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

#define EXIT_DEADLOCK 4
#define FREQUENCY_HZ 999 /* of samples of threads that run */

enum { OPT_ALL = 0x100, OPT_DEADLOCKS, OPT_JSON, OPT_NO_ATTACH };

static const char doc[] =
	"Prints every thread of a process, a JVM or another program, with its state and its stack of Java, native and "
	"kernel frames, grouped by equal stacks, and the deadlocks among Java threads.\vNothing is stopped: the stacks of "
	"threads that are off the CPU are read from outside, and those of threads that run are samples of the next "
	"tenth of a second. Threads that wait for monitors and for locks of java.util.concurrent are shown with the "
	"class of the object and the thread that owns it.\n"
	"\n"
	"The exit status is 4 if there is a deadlock.\n"
	"\n"
	"Examples:\n"
	"  braid threads 4711\n"
	"  braid threads 4711 --all\n"
	"  braid threads 4711 --deadlocks\n"
	"  braid threads 4711 --json -o dump.trace\n"
	"\n"
	"braid loads its agent into a JVM for names of Java threads and for what they wait for. With --no-attach both "
	"are missing.";

static const struct argp_option options[] = {
	{"all", OPT_ALL, NULL, 0, "Print every thread by itself", 0},
	{"deadlocks", OPT_DEADLOCKS, NULL, 0, "Print the deadlocks only", 0},
	{"json", OPT_JSON, NULL, 0, "Print JSON", 0},
	{"no-attach", OPT_NO_ATTACH, NULL, 0, "Do not load the agent into the JVM", 0},
	{"output", 'o', "FILE", 0, "Keep the recording's trace in FILE", 0},
	{"verbose", 'v', NULL, 0, "Print more messages", 0},
	{0},
};

struct threads_command {
	struct record_options record;
	struct event_selection selection;
	pid_t pid;
	struct dump_style style;
	bool as_json;
	struct loaded live;
};

static error_t threads_parse(int key, char *arg, struct argp_state *state)
{
	struct threads_command *c = state->input;

	switch (key) {
	case OPT_ALL:
		c->style.all = true;
		return 0;
	case OPT_DEADLOCKS:
		c->style.deadlocks = true;
		return 0;
	case OPT_JSON:
		c->as_json = true;
		return 0;
	case OPT_NO_ATTACH:
		c->record.attach = false;
		return 0;
	case 'o':
		c->record.output = arg;
		return 0;
	case 'v':
		log_verbosity++;
		return 0;
	case ARGP_KEY_ARG:
	case ARGP_KEY_END:
		return common_pid_arg(key, arg, state, &c->pid);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void take(void *ctx, const struct trace_rec *rec)
{
	struct threads_command *c = ctx;

	if (c->live.analyzer && analyzer_feed(c->live.analyzer, rec)) {
		log_error("not enough memory for the thread dump");
		analyzer_free(c->live.analyzer);
		c->live.analyzer = NULL;
	}
}

/* The exit status. */
static int print_dump(struct threads_command *c)
{
	struct filter everything = {0};
	struct dump_view *v = NULL;
	int status = EXIT_FAILURE, err;

	if (!c->live.analyzer || !common_analyze(&c->live, &everything))
		return status;
	err = dump_view_new(&v, c->live.analysis, (uint32_t)c->pid);
	if (!err && !v->threads.count) {
		log_error("process %d has no threads any more", (int)c->pid);
	} else {
		if (!err)
			(c->as_json ? dump_json : dump_text)(stdout, v, &c->style);
		if (common_output_close(stdout, NULL, err))
			status = v->deadlocks ? EXIT_DEADLOCK : EXIT_SUCCESS;
	}
	dump_view_free(v);
	return status;
}

static void configure(struct threads_command *c)
{
	selection_complete(&c->selection); /* samples by the clock */
	c->selection.config.enabled = BRAID_EVENT_TYPE(CPU);
	c->record.config = c->selection.config;
	c->record.event = c->selection.event;
	c->record.clock = c->selection.clock;
	c->record.offcpu = &c->selection.offcpu;
	c->record.pids = &c->pid;
	c->record.pid_count = 1;
	c->record.tap = take;
	c->record.tap_ctx = c;
	c->live.path = c->record.output;
}

int cmd_threads(int argc, char **argv)
{
	static const struct argp argp = {.options = options, .parser = threads_parse, .args_doc = "PID", .doc = doc};
	struct threads_command c = {.record = {.frequency_hz = FREQUENCY_HZ,
					       .output = "/dev/null",
					       .event = "",
					       .period = 1,
					       .attach = true,
					       .quiet = true,
					       .dump = true,
					       .max_depth = BRAID_MAX_DEPTH}};
	int status = EXIT_FAILURE, unused;

	argp_err_exit_status = EXIT_USAGE;
	selection_init(&c.selection);
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c))
		return status;
	configure(&c);
	if (!analyzer_new(&c.live.analyzer) && !session_record(&c.record, &unused))
		status = print_dump(&c);
	common_unload(&c.live);
	return status;
}
