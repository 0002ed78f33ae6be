// SPDX-License-Identifier: Apache-2.0
/*
 * A malicious program without privileges, to be recorded by root. Each mode is one way to use
 * up the collector's memory or time, to block it, or to make it report what is false. argv[0] is the name of a mode,
 * so that a recording names its process after it.
 *
 *	hostile --list KIND	the modes of a kind, one a line: "jvm", "asked", "launched" or "program"
 *	hostile --about		all of them, with what they do
 *	MODE[.NUMBER]		"ready PID" when it can be recorded, "under way" when it misbehaves; ends when it is
 *killed
 *
 * KIND is how it meets the collector: as a JVM that the collector attaches to, as one whose answer to that is hostile,
 *as one that `braid record -- COMMAND` starts, or as a program that needs no agent. When such a recording starts a mode
 * of kind "jvm", that mode connects, too.
 */
#include "hostile.h"

#include <errno.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFE_S 150 /* after this the process ends in any case */
#define CANNOT_RUN 77

enum kind { JVM, ASKED, LAUNCHED, PROGRAM, KINDS };

static const char *const kind_names[KINDS] = {"jvm", "asked", "launched", "program"};

static const struct mode {
	const char *name;
	enum kind kind;
	const char *about;
	void (*over_ring)(struct grip *g);
	void (*alone)(void);
	enum attach_answer answer;
	bool namespaces; /* it gets its own user and pid namespaces */
} modes[] = {
	{.name = "shared", .kind = JVM, .over_ring = ring_shared, .about = "makes its eventfd blocking"},
	{.name = "ahead",
	 .kind = JVM,
	 .over_ring = ring_ahead,
	 .about = "claims to have written more than its ring holds"},
	{.name = "full", .kind = JVM, .over_ring = ring_full, .about = "keeps its ring full"},
	{.name = "garbage", .kind = JVM, .over_ring = ring_garbage, .about = "writes records of random bytes"},
	{.name = "messages",
	 .kind = JVM,
	 .over_ring = ring_messages,
	 .about = "sends messages of all sizes without end"},
	{.name = "requests", .kind = JVM, .over_ring = ring_requests, .about = "sends stack requests without end"},
	{.name = "mounts",
	 .kind = JVM,
	 .over_ring = ring_mounts,
	 .about = "mounts 125,000 virtual threads, again and again until all are followed"},
	{.name = "heap", .kind = JVM, .over_ring = say_heap, .about = "has a code heap of 8 TiB, and shifts by 77"},
	{.name = "loads", .kind = JVM, .over_ring = say_loads, .about = "loads code that overlaps, 4 GiB a piece"},
	{.name = "methods",
	 .kind = JVM,
	 .over_ring = say_methods,
	 .about = "defines new methods with long names without end"},
	{.name = "tids",
	 .kind = JVM,
	 .over_ring = say_tids,
	 .about = "reports new threads that do not exist without end"},
	{.name = "crowd",
	 .kind = JVM,
	 .over_ring = say_tids,
	 .namespaces = true,
	 .about = "the same, beside 3,000 threads that exist, in a pid namespace"},
	{.name = "renames", .kind = JVM, .over_ring = say_renames, .about = "renames one thread without end"},
	{.name = "names", .kind = JVM, .over_ring = say_names, .about = "has events with new names without end"},
	{.name = "rows", .kind = JVM, .over_ring = say_rows, .about = "has histograms of the heap without end"},
	{.name = "calls",
	 .kind = JVM,
	 .over_ring = say_calls,
	 .about = "tells values of calls that never come, and has calls without the values that they announce"},
	{.name = "times", .kind = JVM, .over_ring = say_times, .about = "has events of the past and of the future"},
	{.name = "notices", .kind = JVM, .over_ring = say_notices, .about = "warns without end, in control sequences"},
	{.name = "losses", .kind = JVM, .over_ring = say_losses, .about = "reports losses of every kind without end"},
	{.name = "tables",
	 .kind = JVM,
	 .over_ring = say_tables,
	 .alone = tables_change,
	 .about = "has changed the tables of its libjvm.so"},
	{.name = "stops", .kind = ASKED, .answer = STOP_THE_ASKER, .about = "stops the process that attaches to it"},
	{.name = "silent", .kind = ASKED, .answer = ANSWER_NEVER, .about = "does not answer that process"},
	{.name = "absent",
	 .kind = ASKED,
	 .answer = ANSWER_ALONE,
	 .about = "answers that process, and does not connect"},
	{.name = "again",
	 .kind = LAUNCHED,
	 .over_ring = ring_again,
	 .about = "connects again and again while its earlier connection has records"},
	{.name = "deep", .kind = PROGRAM, .alone = run_deep, .about = "has new stacks of 16,384 frames without end"},
	{.name = "forks", .kind = PROGRAM, .alone = run_forks, .about = "starts processes and programs without end"},
	{.name = "leader", .kind = PROGRAM, .alone = run_leader, .about = "continues after its first thread has ended"},
	{.name = "sparse",
	 .kind = PROGRAM,
	 .alone = map_sparse,
	 .about = "runs code of a file whose symbol table is 3 GiB of holes"},
	{.name = "sections", .kind = PROGRAM, .alone = map_sections, .about = "the same with many large sections"},
	{.name = "overlaps",
	 .kind = PROGRAM,
	 .alone = map_names,
	 .about = "the same with symbols whose names of 8 MiB overlap"},
	{.name = "debuglink", .kind = PROGRAM, .alone = map_debuglink, .about = "the same with a debug file of 2 GiB"},
	{.name = "impostor",
	 .kind = PROGRAM,
	 .alone = map_impostor,
	 .about = "runs code of a C library with the build-id of the machine's, and other unwind tables"},
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

/* ---- what all modes use ---- */

void under_way(void)
{
	static bool said;

	if (said)
		return;
	said = true;
	puts("under way");
	fflush(stdout);
}

void rest(void)
{
	for (;;)
		pause();
}

/* A fixed sequence, the same in each run: xorshift. */
uint32_t random_number(void)
{
	static uint32_t x = 2463534242U;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

/* ---- life ---- */

static void say_ready(pid_t pid)
{
	printf("ready %d\n", (int)pid);
	fflush(stdout);
}

static _Noreturn void live(const struct mode *m, pid_t host_pid)
{
	const char *launched = getenv("JAVA_TOOL_OPTIONS"); /* set by `braid record -- COMMAND` */
	struct grip g = {.sock = -1};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFE_S);
	if (m->kind == LAUNCHED || (m->kind == JVM && launched)) {
		find_socket(launched);
		g = receive(dial());
		say_ready(host_pid);
	} else if (m->kind == PROGRAM) {
		say_ready(host_pid);
	} else {
		if (m->alone)
			m->alone();
		listen_as_jvm(host_pid);
		answer_attach(m->answer, &g);
	}
	g.saturated = under_way;
	if (m->over_ring)
		m->over_ring(&g);
	else if (m->kind == PROGRAM)
		m->alone();
	under_way();
	rest();
}

/* Becomes the first process of a pid namespace. Only the outside knows its pid there. */
static _Noreturn void live_in_namespaces(const struct mode *m)
{
	int numbers[2], status = 0;
	pid_t child;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID)) {
		perror("cannot create a user namespace");
		exit(CANNOT_RUN);
	}
	if (pipe(numbers) || (child = fork()) < 0)
		die("fork");
	if (child == 0) {
		if (read(numbers[0], &child, sizeof(child)) != sizeof(child))
			die("read");
		live(m, child);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(numbers[1], &child, sizeof(child)) != sizeof(child))
		die("write");
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	exit(1);
}

static int list(const char *kind)
{
	bool known = false;

	for (int k = 0; k < KINDS; k++)
		known |= strcmp(kind, kind_names[k]) == 0;
	for (size_t i = 0; i < MODES; i++)
		if (strcmp(kind, kind_names[modes[i].kind]) == 0)
			puts(modes[i].name);
	return known ? 0 : 2;
}

int main(int argc, char **argv)
{
	char *name = basename(argv[0]);

	if (argc == 3 && strcmp(argv[1], "--list") == 0)
		return list(argv[2]);
	if (argc == 2 && strcmp(argv[1], "--about") == 0) {
		for (size_t i = 0; i < MODES; i++)
			printf("%-10s %-9s %s\n", modes[i].name, kind_names[modes[i].kind], modes[i].about);
		return 0;
	}
	name[strcspn(name, ".")] = '\0';
	for (size_t i = 0; i < MODES; i++) {
		if (strcmp(name, modes[i].name) != 0)
			continue;
		if (modes[i].namespaces)
			live_in_namespaces(&modes[i]);
		live(&modes[i], getpid());
	}
	fprintf(stderr, "%s: not a mode; hostile --about lists them\n", name);
	return 2;
}
