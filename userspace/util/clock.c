// SPDX-License-Identifier: Apache-2.0
#include "clock.h"

uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}
