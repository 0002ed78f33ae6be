// SPDX-License-Identifier: Apache-2.0
/* Starts itself many times, by fork and an immediate exec; each child works for about four milliseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void burn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

__attribute__((noinline)) static void child_work(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 250;

	while (clock() < end)
		burn(20000);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		child_work();
		return 0;
	}
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 100); i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			execl(argv[0], "child", "child", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
