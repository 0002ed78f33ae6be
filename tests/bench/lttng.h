// SPDX-License-Identifier: Apache-2.0
/* One LTTng-UST event; empty where LTTng-UST is not installed. */
#ifndef BRAID_BENCH_LTTNG_H
#define BRAID_BENCH_LTTNG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef WITH_LTTNG

/* Whether a session daemon runs, with a session that records these events. */
bool lttng_enabled(void);
/* `bytes` is 32 or 64. */
void lttng_event(const uint8_t *payload, uint32_t bytes);

#else

static inline bool lttng_enabled(void)
{
	return false;
}

static inline void lttng_event(const uint8_t *payload, uint32_t bytes)
{
	(void)payload;
	(void)bytes;
}

#endif

#endif
