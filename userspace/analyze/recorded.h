// SPDX-License-Identifier: Apache-2.0
/* Which event types a recording has: events.h has what others ask of it. */
#ifndef BRAID_ANALYZE_RECORDED_H
#define BRAID_ANALYZE_RECORDED_H

#include <braid/event_config.h>

#include <stdint.h>

struct analyzer;

struct recorded {
	uint32_t types; /* bits of enum braid_event_type: what was enabled at any time */
	uint64_t min_ns[BRAID_EVENT_TYPES];
};

/* `choices`: what the trace says that was enabled, a list. If it says nothing, the types of its events were. */
void recorded_find(struct recorded *r, const struct analyzer *a, const char *choices);

#endif
