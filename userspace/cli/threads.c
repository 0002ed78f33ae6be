// SPDX-License-Identifier: Apache-2.0
/* `braid threads`: a short recording of one process that takes one thread dump, which it prints. */
#include "cli.h"
#include "snapshot.h"

#include "report/dump.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

#define EXIT_DEADLOCK 4
#define FREQUENCY_HZ 999 /* of samples of threads that run */

enum { OPT_ALL = 0x100, OPT_DEADLOCKS, OPT_NO_ATTACH };

static const char doc[] =
	"Prints every thread of a process, a JVM or another program, with its state and its stack of Java, native and "
	"kernel frames, grouped by equal stacks, and the deadlocks among Java threads.\vNothing is stopped: the stacks of "
	"threads that are off the CPU are read from outside, and those of threads that run are samples of the next "
	"tenth of a second. Virtual threads, parked ones included, are read in the heap. Threads that wait for monitors and "
	"for locks of java.util.concurrent are shown with the class of the object and the thread that owns it.\n"
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
	"are missing; virtual threads have both.";

static const struct argp_option options[] = {
	{"all", OPT_ALL, NULL, 0, "Print every thread by itself", 0},
	{"deadlocks", OPT_DEADLOCKS, NULL, 0, "Print the deadlocks only", 0},
	{"no-attach", OPT_NO_ATTACH, NULL, 0, "Do not load the agent into the JVM", 0},
	{0},
};

struct threads_command {
	struct snapshot snapshot;
	struct dump_style style;
};

static error_t threads_parse(int key, char *arg, struct argp_state *state)
{
	struct threads_command *c = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->snapshot;
		return 0;
	case OPT_ALL:
		c->style.all = true;
		return 0;
	case OPT_DEADLOCKS:
		c->style.deadlocks = true;
		return 0;
	case OPT_NO_ATTACH:
		c->snapshot.record.attach = false;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The exit status. */
static int print_dump(const struct threads_command *c)
{
	const struct snapshot *s = &c->snapshot;
	struct dump_view *v = NULL;
	int status = EXIT_FAILURE, err = dump_view_new(&v, s->live.analysis, (uint32_t)s->pid);

	if (!err && !v->threads.count) {
		log_error("process %d has no threads any more", (int)s->pid);
	} else {
		if (!err)
			(s->as_json ? dump_json : dump_text)(stdout, v, &c->style);
		if (common_output_close(stdout, NULL, err))
			status = v->deadlocks ? EXIT_DEADLOCK : EXIT_SUCCESS;
	}
	dump_view_free(v);
	return status;
}

int cmd_threads(int argc, char **argv)
{
	static const struct argp_child children[] = {{.argp = &snapshot_argp}, {0}};
	static const struct argp argp = {
		.options = options, .parser = threads_parse, .args_doc = "PID", .doc = doc, .children = children};
	struct threads_command c = {0};
	struct snapshot *s = &c.snapshot;
	int status = EXIT_FAILURE;

	argp_err_exit_status = EXIT_USAGE;
	snapshot_init(s, "thread dump");
	s->record.frequency_hz = FREQUENCY_HZ;
	s->record.dump = true;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c))
		return status;
	selection_complete(&s->selection); /* samples by the clock */
	s->selection.config.enabled = BRAID_EVENT_TYPE(CPU);
	if (snapshot_run(s))
		status = print_dump(&c);
	snapshot_free(s);
	return status;
}
