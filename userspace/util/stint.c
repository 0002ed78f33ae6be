// SPDX-License-Identifier: Apache-2.0
/* The end of a piece of work, by the CPU time of the thread that does it. */
#include "stint.h"

#include "clock.h"

#define TURNS 1024U /* between two looks at the clock */

static _Thread_local uint64_t until_ns;
static _Thread_local const atomic_bool *stopped;
static _Thread_local uint32_t turns;
static _Thread_local bool over;

void stint_begin(uint64_t cpu_ns, const atomic_bool *stop)
{
	until_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
	stopped = stop;
	turns = 0;
	over = false;
}

void stint_end(void)
{
	until_ns = 0;
	over = false;
}

bool stint_over(void)
{
	if (until_ns && !over && ++turns % TURNS == 0)
		over = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) > until_ns || (stopped && atomic_load(stopped));
	return over;
}
