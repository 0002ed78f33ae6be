// SPDX-License-Identifier: Apache-2.0
/*
 * `braid threads`: prints a thread dump. Of a process, it takes one in a short recording; of a trace, it is one of
 * those that `record -e dump` took.
 */
#include "cli/cli.h"
#include "snapshot.h"
#include "threads_locks.h"

#include "dump/dumps.h"
#include "report/dump.h"
#include "util/log.h"
#include "util/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_DEADLOCK 4
#define FREQUENCY_HZ 999 /* of samples of threads that run */

enum { OPT_ALL = 0x100, OPT_DEADLOCKS, OPT_LOCKS, OPT_NO_ATTACH, OPT_AT };

static const char doc[] =
	"Prints every thread of a process, a JVM or another program, with its state and its stack of Java, native and "
	"kernel frames, grouped by equal stacks, and the deadlocks among Java threads; or a thread dump of a trace.\vNothing is stopped: the stacks of "
	"threads that are off the CPU are read from outside, and those of threads that run are samples of the next "
	"tenth of a second. Virtual threads, parked ones included, are read in the heap. Threads that wait for monitors and "
	"for locks of java.util.concurrent are shown with the class of the object and the thread that owns it.\n"
	"\n"
	"The exit status is 4 if there is a deadlock, and 1 if --deadlocks could not be answered.\n"
	"\n"
	"Examples:\n"
	"  braid threads 4711\n"
	"  braid threads 4711 --all\n"
	"  braid threads 4711 --deadlocks\n"
	"  braid threads 4711 --locks\n"
	"  braid threads 4711 --json -o dump.trace\n"
	"  braid threads --at 90 app.trace\n"
	"\n"
	"`braid record -e dump=30s` takes a thread dump every 30 seconds. Of such a trace is printed the last one, or, with "
	"--at, the last one that began until then.\n"
	"\n"
	"braid loads its agent into a JVM, which tells when Java threads start and are renamed. Without it (--no-attach, a JVM that refuses "
	"it) their names and what they wait for are read in the JVM's memory, as virtual threads are.";

static const struct argp_option options[] = {
	{"all", OPT_ALL, NULL, 0, "Print every thread by itself", 0},
	{"deadlocks", OPT_DEADLOCKS, NULL, 0, "Print the deadlocks only", 0},
	{"locks", OPT_LOCKS, NULL, 0,
	 "Ask the JVM, too, which monitors each thread owns, and which frames have locked them: it stands still for that, mostly some "
	 "milliseconds",
	 0},
	{"no-attach", OPT_NO_ATTACH, NULL, 0, "Do not load the agent into the JVM", 0},
	{0, 0, NULL, 0, "Of a trace:", 1},
	{"at", OPT_AT, "TIME", 0,
	 "Print the last thread dump that began until TIME, since the recording's start (1.5, 500ms, 2m) or as a time of "
	 "day (12:30:05)",
	 1},
	{"pid", 'p', "PID", 0, "Print a thread dump of this process, if the trace has dumps of several", 1},
	{0},
};

struct threads_command {
	struct snapshot snapshot;
	struct dump_style style;
	const char *path;   /* of a trace; NULL: the dump is taken of a process */
	const char *option; /* the last one that needs a process; NULL: none was given */
	bool locks;
	struct owned owned;
	bool has_at;
	struct moment at;
	uint32_t pid; /* in the trace; 0: any */
};

static void check_options(const struct threads_command *c, struct argp_state *state)
{
	const char *option = c->option ? c->option : strcmp(c->snapshot.record.output, "/dev/null") ? "output" : NULL;

	if (c->path && option)
		argp_error(state, "--%s is for a running process, not for a trace", option);
	if (!c->path && (c->has_at || c->pid))
		argp_error(state, "--%s is for a trace; `braid record -e dump` records one", c->has_at ? "at" : "pid");
}

static error_t threads_parse(int key, char *arg, struct argp_state *state)
{
	struct threads_command *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->snapshot;
		return 0;
	case ARGP_KEY_ARG:
		if (arg[strspn(arg, "0123456789")] == '\0' || c->path)
			return ARGP_ERR_UNKNOWN;
		c->path = arg;
		c->snapshot.pid = -1; /* the argument that the snapshot's parser expects is there */
		return 0;
	case ARGP_KEY_END:
		check_options(c, state);
		return ARGP_ERR_UNKNOWN;
	case OPT_AT:
		common_time(state, "at", arg, &c->has_at, &c->at);
		return 0;
	case 'p':
		c->pid = common_number(state, "pid", "processes", arg);
		return 0;
	case OPT_ALL:
		c->style.all = true;
		return 0;
	case OPT_DEADLOCKS:
		c->style.deadlocks = true;
		return 0;
	case OPT_LOCKS:
		c->option = "locks";
		c->locks = true;
		return 0;
	case OPT_NO_ATTACH:
		c->option = "no-attach";
		c->snapshot.record.attach = false;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The exit status. */
static int print_dump(const struct threads_command *c, const struct analysis *an, const struct dump_ref *ref)
{
	struct dump_view *v = NULL;
	int status = EXIT_FAILURE, err = dump_view_new(&v, an, ref, true);

	if (!err)
		(c->snapshot.as_json ? dump_json : dump_text)(stdout, v, &c->style);
	if (common_output_close(stdout, NULL, err))
		status = v->deadlocks ? EXIT_DEADLOCK : v->unread && c->style.deadlocks ? EXIT_FAILURE : EXIT_SUCCESS;
	dump_view_free(v);
	return status;
}

/* ---- of a process ---- */

static int print_taken(const struct threads_command *c)
{
	const struct snapshot *s = &c->snapshot;
	const struct dump_ref *ref;
	struct dumps dumps;
	int status = EXIT_FAILURE;

	if (dumps_list(&dumps, s->live.analysis))
		log_error("not enough memory for the thread dump");
	else if (!(ref = dumps_at(&dumps, (uint32_t)s->pid, UINT64_MAX)))
		log_error("process %d has no threads to show: it is a kernel thread, or has just ended", (int)s->pid);
	else
		status = print_dump(c, s->live.analysis, ref);
	dumps_free(&dumps);
	return status;
}

/* ---- of a trace ---- */

/* The end of the time in which a dump may have begun. False, with the reason printed: there is no such time. */
static bool until(const struct threads_command *c, const struct analysis *an, uint64_t *until_ns)
{
	int64_t since_ns;

	*until_ns = UINT64_MAX;
	if (!c->has_at)
		return true;
	if (moment_since(&c->at, an->start_realtime_ns, an->duration_ns, &since_ns)) {
		log_error("%s has no time of day; give --at as seconds since its start", c->path);
		return false;
	}
	*until_ns = since_ns < 0 ? 0 : an->start_ns + (uint64_t)since_ns;
	return true;
}

/* One of several processes has to be named. */
static bool is_one_process(const struct threads_command *c, const struct dumps *dumps)
{
	for (size_t i = 1; i < dumps->refs.count && !c->pid; i++)
		if (dumps->refs.at[i].pid != dumps->refs.at[0].pid) {
			log_error(
				"%s has thread dumps of several processes; choose one with --pid, such as --pid %u or "
				"--pid %u",
				c->path, dumps->refs.at[0].pid, dumps->refs.at[i].pid);
			return false;
		}
	return true;
}

static const struct dump_ref *choose(const struct threads_command *c, const struct analysis *an,
				     const struct dumps *dumps)
{
	const struct dump_ref *first = dumps->refs.at, *ref;
	char began[QUANTITY_TEXT], of[32] = "";
	uint64_t until_ns;

	if (c->pid)
		snprintf(of, sizeof(of), " of process %u", c->pid);
	while (first < dumps->refs.at + dumps->refs.count && c->pid && first->pid != c->pid)
		first++;
	if (first == dumps->refs.at + dumps->refs.count) {
		log_error("%s has no thread dump%s; `braid record -e dump` takes them", c->path, of);
		return NULL;
	}
	if (!is_one_process(c, dumps) || !until(c, an, &until_ns))
		return NULL;
	ref = dumps_at(dumps, c->pid, until_ns);
	if (!ref)
		log_error("%s has no thread dump%s that early: its first one began at %s", c->path, of,
			  duration_text(began, analysis_since(an, first->time_ns)));
	return ref;
}

static int print_recorded(struct threads_command *c)
{
	const struct dump_ref *ref;
	struct loaded l;
	struct dumps dumps;
	int status = EXIT_FAILURE;

	if (!common_load(&l, c->path, NULL))
		return status;
	c->style.at = true;
	if (dumps_list(&dumps, l.analysis))
		log_error("not enough memory for the thread dumps of %s", c->path);
	else if ((ref = choose(c, l.analysis, &dumps)))
		status = print_dump(c, l.analysis, ref);
	if (status == EXIT_SUCCESS)
		status = common_status(&l, true);
	dumps_free(&dumps);
	common_unload(&l);
	return status;
}

int cmd_threads(int argc, char **argv)
{
	static const struct argp_child children[] = {{.argp = &snapshot_argp}, {0}};
	static const struct argp argp = {
		.options = options, .parser = threads_parse, .args_doc = "PID\nFILE", .doc = doc, .children = children};
	struct threads_command c = {0};
	struct snapshot *s = &c.snapshot;
	int status = EXIT_FAILURE;

	argp_err_exit_status = EXIT_USAGE;
	snapshot_init(s, "thread dump");
	s->record.frequency_hz = FREQUENCY_HZ;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c))
		return status;
	if (c.path)
		return print_recorded(&c);
	selection_complete(&s->selection); /* samples by the clock */
	s->selection.config.enabled = BRAID_EVENT_TYPE(CPU) | BRAID_EVENT_TYPE(DUMP);
	s->selection.config.dump_interval_ns = 0;
	if (snapshot_run(s)) {
		bool failed = c.locks && !threads_locks(s->pid, &c.owned);

		c.style.owned = c.locks && !failed ? &c.owned : NULL;
		status = print_taken(&c);
		status = failed ? EXIT_FAILURE : status;
	}
	owned_free(&c.owned);
	snapshot_free(s);
	return status;
}
