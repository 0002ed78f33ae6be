// SPDX-License-Identifier: Apache-2.0
/*
 * Loads one of two libraries, works in it, and unloads it, again and again: usually both get the same address. Prints
 * how often, and the percentage of its CPU time in the first one.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 50, same = 0;
	double used_s[2] = {0};
	void *before = NULL;

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
		void (*work)(unsigned long) = NULL;
		double from_s;

		if (library)
			*(void **)&work = dlsym(library, "work");
		if (!work) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		same += (void *)work == before;
		before = (void *)work;
		from_s = cpu_s();
		if (i % 2)
			call_second(work, 6000000);
		else
			call_first(work, 6000000);
		used_s[i % 2] += cpu_s() - from_s;
		dlclose(library);
	}
	printf("%d %.2f\n", same, 100 * used_s[0] / (used_s[0] + used_s[1]));
	return 0;
}
