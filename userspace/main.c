// SPDX-License-Identifier: Apache-2.0
/* The program's entry point: finds the command and calls it. */
#include "cli/cli.h"
#include "util/log.h"
#include "version.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"record", cmd_record, "record processes, or the whole machine, into a trace"},
	{"ctl", cmd_ctl, "change a recording while it runs, or print its state"},
	{"top", cmd_top, "show what processes do now, on a screen that is kept up to date"},
	{"heap", cmd_heap, "count the objects of a JVM by class"},
	{"memory", cmd_memory, "show whose memory the resident set of a process is"},
	{"threads", cmd_threads, "print the threads of a process with their stacks, and deadlocks"},
	{"report", cmd_report, "show a trace as text, HTML flame graph or JSON"},
	{"serve", cmd_serve, "show a trace in the browser, also while it grows"},
	{"diagnose", cmd_diagnose, "say what is wrong in a recording, with evidence"},
	{"explain", cmd_explain, "explain why a thread took as long as it did"},
	{"at", cmd_at, "show what ran and what waited at one moment"},
	{"diff", cmd_diff, "show what differs between two traces"},
	{"replay", cmd_replay, "send a trace through the analyzer again"},
	{"script", cmd_script, "print one event per line, and samples as perf script does"},
	{"query", cmd_query, "ask a trace questions in SQL"},
	{"export", cmd_export, "write a trace in the format of other tools"},
	{"import", cmd_import, "make a trace from the file of another tool"},
	{"cut", cmd_cut, "write a part of a trace as a trace"},
	{"merge", cmd_merge, "write several traces as one"},
	{"strip", cmd_strip, "write a trace without what its reader is not to know"},
	{"verify", cmd_verify, "check whether a trace is whole"},
	{"recover", cmd_recover, "write what can be read of a damaged trace"},
	{"info", cmd_info, "show how a trace was recorded, and how complete it is"},
	{"list", cmd_list, "list the JVMs on this machine"},
	{"doctor", cmd_doctor, "check this machine, and explain how to get missing facilities"},
};

static void usage(FILE *to)
{
	fputs("Usage: braid [-v] COMMAND [ARGUMENT...]\n"
	      "       braid help COMMAND\n\n"
	      "Shows where a Linux machine spends its time when some of its processes are JVMs.\n\n",
	      to);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n"
	      "  -v, --verbose  print more messages; twice: those of libbpf, too\n"
	      "      --help     print this text\n"
	      "      --version  print the version\n\n"
	      "Examples:\n"
	      "  braid record -d 30 -p 4711        a process for 30 s, into braid.trace\n"
	      "  braid record -- java -jar a.jar   a program, from its start on\n"
	      "  braid report braid.trace --html flame.html\n",
	      to);
}

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	log_error("unknown command '%s'; 'braid --help' lists the commands", name);
	return NULL;
}

/* argp uses argv[0] as the program's name in its messages. */
static int command_run(const struct command *c, int argc, char **argv)
{
	static char name[64], help_option[] = "--help";

	snprintf(name, sizeof(name), "braid %s", c->name);
	argv[0] = name;
	if (argc > 1 && strcmp(argv[1], "-h") == 0) /* argp's own short form is -? */
		argv[1] = help_option;
	return c->run(argc, argv);
}

static int help(const char *name)
{
	char option[] = "--help";
	char *argv[] = {NULL, option, NULL};
	const struct command *c = command_find(name);

	return c ? command_run(c, 2, argv) : EXIT_USAGE;
}

/*
 * Parses what precedes the command. Returns the command's index in argv, or 0 when nothing is left to do and *status is
 * the exit status.
 */
static int options_parse(int argc, char **argv, int *status)
{
	int i;

	*status = EXIT_SUCCESS;
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--verbose") == 0) {
			log_verbosity++;
		} else if (argv[i][1] == 'v' && strspn(argv[i] + 1, "v") == strlen(argv[i] + 1)) {
			log_verbosity += (int)strlen(argv[i] + 1);
		} else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0 || strcmp(argv[i], "-h") == 0) {
			usage(stdout);
			return 0;
		} else if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0) {
			puts("braid " BRAID_VERSION);
			return 0;
		} else {
			log_error("unknown option '%s' before the command; 'braid --help' lists the options", argv[i]);
			*status = EXIT_USAGE;
			return 0;
		}
	}
	if (i < argc)
		return i;
	usage(stderr);
	*status = EXIT_USAGE;
	return 0;
}

/* Scripts must not take lost output for success. */
static int output_finish(int status)
{
	bool failed = fflush(stdout) != 0 || ferror(stdout);

	if (!failed || status) /* a command that has failed has printed the reason */
		return status;
	log_error("cannot write to standard output");
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const struct command *c;
	int status, at;

	argp_program_version = "braid " BRAID_VERSION;
	argp_err_exit_status = EXIT_USAGE;
	at = options_parse(argc, argv, &status);
	if (!at)
		return output_finish(status);
	if (strcmp(argv[at], "help") == 0) {
		if (at + 1 < argc)
			return output_finish(help(argv[at + 1]));
		usage(stdout);
		return output_finish(EXIT_SUCCESS);
	}
	c = command_find(argv[at]);
	if (!c)
		return EXIT_USAGE;
	return output_finish(command_run(c, argc - at, argv + at));
}
