/*
 * leader: its first thread ends and another one continues. It prints "ready", burns CPU time until it reads a line,
 * then executes this program as "leader exec", which prints "again" and does the same.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *self;

static void until_a_line(void)
{
	struct pollfd p = {.events = POLLIN};
	char byte;

	while (!poll(&p, 1, 0))
		;
	while (read(0, &byte, 1) == 1 && byte != '\n')
		;
}

static void *burns_alone(void *unused)
{
	char path[64], program[1];

	/* The first thread is a zombie when it has no executable any more. */
	snprintf(path, sizeof(path), "/proc/self/task/%d/exe", (int)getpid());
	while (readlink(path, program, sizeof(program)) > 0)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	until_a_line();
	execl(self, self, "exec", (char *)NULL);
	perror(self);
	exit(1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	self = argv[0];
	if (argc > 1) {
		puts("again");
		fflush(stdout);
		until_a_line();
		return 0;
	}
	if (pthread_create(&thread, NULL, burns_alone, NULL))
		return 1;
	pthread_exit(NULL);
}
