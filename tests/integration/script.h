/* SPDX-License-Identifier: Apache-2.0 */
/* One SUBJECT/t_NAME.sh: the directives in its head, how it is run, and how it ended. main.c calls it. */
#ifndef TESTS_INTEGRATION_SCRIPT_H
#define TESTS_INTEGRATION_SCRIPT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Exit statuses; those of timeout(1) and of a shell's Ctrl-C are the supervisor's. */
#define CANNOT_RUN 77
#define TIMED_OUT 124
#define JVM_CRASHED 125
#define INTERRUPTED 130

enum class { QUICK = 1, NORMAL = 2, LONG = 4 };

struct script {
	char *name; /* SUBJECT/NAME */
	char *path;
	char *dir; /* where it runs */
	char *output;
	enum class class;
	bool alone;
	int takes_s; /* approximate, on a quiet machine: longer ones start earlier */
	pid_t supervisor;
	double start_s, took_s, cpu_s;
	int status;
};

/* 0, or 1 for an unknown class. */
int class_parse(const char *word, size_t length, unsigned int *classes);

/*
 * Reads the lines "# class: ", "# alone: " and "# takes: " among the comments at its head; 1 and a message for an
 * invalid one.
 */
int script_read(struct script *s);

/*
 * Starts it under its own supervisor, which ends whatever the script leaves behind. The signals in `waited` are
 * blocked, and the supervisor waits for them; the script starts with the mask `usual`.
 */
int script_start(struct script *s, const sigset_t *waited, const sigset_t *usual);

int script_limit_s(const struct script *s);

double now_s(void);

#endif
