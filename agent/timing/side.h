// SPDX-License-Identifier: Apache-2.0
/* What the event types method and field have of their own: timing.c does for both what they share. */
#ifndef BRAID_AGENT_SIDE_H
#define BRAID_AGENT_SIDE_H

#include "java_side.h"

#include <braid/event_config.h>

struct side {
	uint32_t type;
	struct java_side *java;
	const void *natives;
	void (*publish)(const jlong numbers[JAVA_SIDE_NUMBERS]); /* what was counted */
	const char *what;					 /* "methods are not timed" */
	_Atomic bool on;     /* its Java class is there, and counts for this agent */
	uint64_t enabled_ns; /* it is to be on, and is not yet; set before the helper thread starts, or on it */
};

extern struct side methods_side, fields_side;

/* Text for an event. */
uint32_t side_name(uint32_t id);
/* BraidMethods or BraidFields has found no memory. */
void side_unmeasured(void);

#endif
