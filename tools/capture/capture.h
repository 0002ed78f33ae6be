// SPDX-License-Identifier: Apache-2.0
/* Walks the stacks of a JVM's threads from outside, at random moments or at every instruction, and writes snapshots. */
#ifndef BRAID_CAPTURE_CAPTURE_H
#define BRAID_CAPTURE_CAPTURE_H

#include "target.h"

#include <sys/user.h>

#define CAPTURE_LABEL 192

/* Counts of keys; the sets are small and searched linearly. */
struct tally {
	char (*keys)[CAPTURE_LABEL];
	uint64_t *counts;
	size_t count;
	size_t room;
};

/* Counts and returns the new count; 0 without memory. */
uint64_t tally_add(struct tally *t, const char *key);
void tally_print(const struct tally *t, const char *title, uint64_t total);
void tally_free(struct tally *t);

struct capture_options {
	const char *agent;
	const char *snapshots; /* directory, or NULL */
	const char *thread;    /* name, or NULL: any running thread */
	unsigned int samples;
	unsigned int interval_us;
	unsigned int steps; /* instructions per round; 0: samples only */
	unsigned int rounds;
	unsigned int warmup_ms;
	unsigned int examples;
	bool summary;
	char **command;
};

/* The smallest stack of a kind is kept. */
struct kept {
	char label[CAPTURE_LABEL];
	uint64_t size;
};

#define CAPTURE_KINDS 512

struct capture {
	struct capture_options o;
	struct target target;
	struct host_walk walk;
	struct host_walk before; /* step mode: the walk at the previous instruction */
	struct host_walk scratch;
	struct tally ends;
	struct tally leaves;
	struct tally anomalies;
	uint64_t walks;
	uint64_t wrong;	     /* steps whose stack does not follow from the previous one */
	uint64_t incomplete; /* the same, because the walk did not reach the end */
	uint64_t frames;
	struct host_regs regs; /* of the last walk */
	struct kept kept[CAPTURE_KINDS];
	size_t kept_count;
};

/* ---- ptrace.c ---- */

/* Stops the thread and reads its registers for a walk. -ESRCH when it has ended. */
int thread_stop(pid_t tid, struct host_regs *regs);
void thread_go(pid_t tid, bool stepped);

/* Executes one instruction. 1: a signal handler was entered; -EAGAIN: it waits in the kernel; -ESRCH: it has ended. */
int thread_step(pid_t tid, struct host_regs *regs, int *signal);

/*
 * Selects a thread by the CPU time that it used since the last call; `running` selects one that runs right now. 0 when
 * there is none.
 */
pid_t thread_choose(pid_t pid, const char *name, bool running);

/* ---- step.c ---- */
int capture_steps(struct capture *c);

/* ---- capture.c ---- */

/* The kind of place at the leaf: "interpreted entry", "C2 +16", "StubRoutines (1) +8", ... */
void capture_leaf_label(struct capture *c, const struct host_walk *w, const struct host_regs *regs, char *to,
			size_t size);

void capture_walk(struct capture *c, const struct host_regs *regs);

/* Writes a snapshot of c->walk, unless one of the same kind is as small. */
int capture_keep(struct capture *c);

#endif
