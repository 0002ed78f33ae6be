/*
 * again parent: has a child that ends at once, and prints its pid; then burns CPU time until it reads a line. again PID
 * PROGRAM: executes PROGRAM in a new process with this pid, and waits for its end.
 */
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int parent(void)
{
	struct pollfd p = {.events = POLLIN};
	pid_t child = fork();

	if (!child)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		return 1;
	printf("ready %d\n", (int)child);
	fflush(stdout);
	while (!poll(&p, 1, 0))
		;
	return 0;
}

int main(int argc, char **argv)
{
	pid_t wanted, child;
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&wanted, .set_tid_size = 1};

	if (argc == 2 && !strcmp(argv[1], "parent"))
		return parent();
	if (argc != 3)
		return 2;
	wanted = (pid_t)atoi(argv[1]);
	child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (!child) {
		execl(argv[2], argv[2], (char *)NULL);
		_exit(127);
	}
	if (child < 0) {
		perror("clone3");
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	return waitpid(child, NULL, 0) != child;
}
