/*
 * forks COUNT: for each of two lines that it reads, starts COUNT children that end at once, and then prints a word. A
 * third line ends it.
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

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;

	say("ready");
	for (int round = 0; round < 2 && getchar() != EOF; round++) {
		for (long i = 0; i < count; i++) {
			pid_t child = fork();

			if (child == 0)
				_exit(0);
			if (child < 0 || waitpid(child, NULL, 0) < 0)
				return 1;
		}
		say("done");
	}
	(void)getchar();
	return 0;
}
