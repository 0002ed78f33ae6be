// SPDX-License-Identifier: Apache-2.0
/* A process that shares everything with this one but the signals that are sent to it. */
#include "apart.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (1UL << 20)
#define LIMIT_S 120 /* for one that waits for a lock whose owner was killed */

struct call {
	void (*fn)(void *ctx);
	void *ctx;
	pid_t parent;
};

static _Thread_local pid_t parent; /* 0: not apart */

static int entry(void *arg)
{
	const struct call *c = arg;
	sigset_t set;

	(void)setpgid(0, 0);		/* who kills the group does not mean this one */
	(void)signal(SIGALRM, SIG_DFL); /* a recorder blocks it, and a command may have been started with it ignored */
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	alarm(LIMIT_S);
	parent = c->parent;
	c->fn(c->ctx);
	parent = 0;
	_exit(0);
}

void apart_run(void (*fn)(void *ctx), void *ctx)
{
	struct call c = {.fn = fn, .ctx = ctx, .parent = getpid()};
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid = -1;

	/* No signal when it ends: others wait for children, too. */
	if (stack != MAP_FAILED)
		pid = clone(entry, stack + STACK_BYTES, CLONE_VM | CLONE_FILES | CLONE_VFORK, &c);
	if (pid < 0)
		fn(ctx);
	else
		(void)waitpid(pid, NULL, __WALL);
	if (stack != MAP_FAILED)
		munmap(stack, STACK_BYTES);
}

bool apart_orphaned(void)
{
	return parent && getppid() != parent;
}
