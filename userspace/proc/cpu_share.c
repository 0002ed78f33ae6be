// SPDX-License-Identifier: Apache-2.0
#include "cpu_share.h"

#include <stdint.h>
#include <time.h>

#define MEASURED_NS 100000000U /* some tens of the scheduler's slices */
#define FACTOR_MAX 100.0

static uint64_t time_ns(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

double cpu_share_factor(void)
{
	uint64_t start = time_ns(CLOCK_MONOTONIC), cpu = time_ns(CLOCK_THREAD_CPUTIME_ID), took;

	do
		took = time_ns(CLOCK_MONOTONIC) - start;
	while (took < MEASURED_NS);
	cpu = time_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	if ((double)cpu * FACTOR_MAX <= (double)took)
		return FACTOR_MAX;
	return cpu < took ? (double)took / (double)cpu : 1;
}
