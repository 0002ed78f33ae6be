// SPDX-License-Identifier: Apache-2.0
/* LTTng's headers define functions without prototypes and shadow names, so they have their own file. */
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "lttng_events.h"

#include "lttng.h"

bool lttng_enabled(void)
{
	return tracepoint_enabled(braid_bench, event32) && tracepoint_enabled(braid_bench, event64);
}

void lttng_event(const uint8_t *payload, uint32_t bytes)
{
	if (bytes == 32)
		tracepoint(braid_bench, event32, payload);
	else
		tracepoint(braid_bench, event64, payload);
}
