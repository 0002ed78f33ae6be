// SPDX-License-Identifier: Apache-2.0
/* paths SECONDS: burns this CPU time with stacks that are almost all different. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH 48
#define CLOCK_EVERY 64

static uint64_t state = 88172645463325252ULL;
static volatile uint64_t sink;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void burn(void)
{
	for (int i = 0; i < 20000; i++)
		sink += random_bits();
}

static void left(uint64_t path, int depth);

static __attribute__((noinline)) void right(uint64_t path, int depth)
{
	if (!depth)
		burn();
	else if (path & 1)
		right(path >> 1, depth - 1);
	else
		left(path >> 1, depth - 1);
	sink++;
}

static __attribute__((noinline)) void left(uint64_t path, int depth)
{
	if (!depth)
		burn();
	else if (path & 1)
		right(path >> 1, depth - 1);
	else
		left(path >> 1, depth - 1);
	sink--;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	while (cpu_seconds() < seconds)
		for (int i = 0; i < CLOCK_EVERY; i++)
			left(random_bits(), DEPTH);
	return 0;
}
