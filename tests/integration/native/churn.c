// SPDX-License-Identifier: Apache-2.0
/*
 * Loads one of two libraries, works in it, and unloads it, again and again: usually both get the same address. Prints
 * how often.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline))

static volatile unsigned long sink;

OWN static void call_first(void (*work)(unsigned long), unsigned long n)
{
	work(n);
	sink++;
}

OWN static void call_second(void (*work)(unsigned long), unsigned long n)
{
	work(n);
	sink++;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 50, same = 0;
	void *before = NULL;

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
		void (*work)(unsigned long) = NULL;

		if (library)
			*(void **)&work = dlsym(library, "work");
		if (!work) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		same += (void *)work == before;
		before = (void *)work;
		if (i % 2)
			call_second(work, 3000000);
		else
			call_first(work, 3000000);
		dlclose(library);
	}
	printf("%d\n", same);
	return 0;
}
