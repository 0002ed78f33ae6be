// SPDX-License-Identifier: Apache-2.0
/*
 * Events that are told whole and without a stack, and what keeps those that come in floods within bounds: so many of a
 * kind are told of a second, the others are counted.
 */
#ifndef BRAID_AGENT_NAMED_EVENT_H
#define BRAID_AGENT_NAMED_EVENT_H

#include <braid/jvm_event.h>
#include <braid/ring.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Publishes the event, with self_tid() and the time of now; strings may be NULL. */
void named_event_publish(struct braid_rec_named_event *r, const char *name, const char *detail, const char *text);

struct rate {
	_Atomic uint64_t second;
	_Atomic uint32_t taken;
};

/* May one more be told, of `max` a second? 0: any number. */
bool rate_take(struct rate *r, uint32_t max);

#endif
