// SPDX-License-Identifier: Apache-2.0
/*
 * Named events, which carry their names as strings and no stack, and a rate limit for kinds that come in floods.
 * Files in events/ and agent.c use it.
 */
#ifndef BRAID_AGENT_NAMED_EVENT_H
#define BRAID_AGENT_NAMED_EVENT_H

#include <braid/jvm_event.h>
#include <braid/ring.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Publishes the event with self_tid() and the current time; strings may be NULL. */
void named_event_publish(struct braid_rec_named_event *r, const char *name, const char *detail, const char *text);

struct rate {
	_Atomic uint64_t second;
	_Atomic uint32_t taken;
};

/* True if one more event may be published, of `max` a second; 0: no limit. */
bool rate_take(struct rate *r, uint32_t max);

#endif
