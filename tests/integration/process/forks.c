/*
 * forks COUNT COUNT: for each of two lines that it reads, starts that many children, which end at once, and then prints
 * "first" or "second". A third line ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

static int start(long count)
{
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) < 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	say("ready");
	(void)getchar();
	if (start(atol(argv[1])))
		return 1;
	say("first");
	(void)getchar();
	if (start(atol(argv[2])))
		return 1;
	say("second");
	(void)getchar();
	return 0;
}
