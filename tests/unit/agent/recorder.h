// SPDX-License-Identifier: Apache-2.0
/* The other end of an agent's connection: a socket that it finds, a ring that it fills, and what is read of it. */
#ifndef TESTS_UNIT_AGENT_RECORDER_H
#define TESTS_UNIT_AGENT_RECORDER_H

#include "core/jvm.h"

#include <braid/event_config.h>
#include <braid/ring.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDER_RING_BYTES (1U << 20)

struct recorder {
	char path[64];
	int listening;
	int fd; /* the agent's */
	int ring, wake;
	uint8_t *map;
	uint64_t consumed;
	size_t page;
};

void recorder_open(struct recorder *r);
void recorder_close(struct recorder *r);

/* A load of the agent that goes on beside the test. */
struct load {
	enum braid_start start;
	char options[128];
	pthread_t thread;
};
void load_begin(struct load *l, enum braid_start start, const struct recorder *r);
void load_end(struct load *l);

/* Does an agent ask to be let in, within so many milliseconds? */
bool recorder_has_visitor(const struct recorder *r, int ms);
/* Lets the agent in that is being loaded. */
void recorder_grant(struct recorder *r, const struct braid_event_config *c);
/* Loads it and lets it in. */
void recorder_let_in(struct recorder *r, enum braid_start start, const struct braid_event_config *c);

/* A new JVM with the agent in it since its start, and live; no thread of the agent's works beside the test. */
void recorder_begin(struct recorder *r, const struct braid_event_config *c);

/* Waits for a message of the kind, whose value it gets; false: the agent has gone instead. */
bool recorder_hears(const struct recorder *r, uint32_t kind, uint64_t *value);
/* Says that other things are chosen; what can be had of them. */
uint32_t recorder_choose(const struct recorder *r, const struct braid_event_config *c);
/* Ends the connection as a recorder does, and as one that dies. */
void recorder_stop(const struct recorder *r);
void recorder_leave(struct recorder *r);

/* The next record, readable until the next call makes room of it; NULL: there is none. */
const struct braid_rec *recorder_read(struct recorder *r);
/* The next one of the kind; those in front of it are passed over. */
const void *recorder_find(struct recorder *r, uint16_t kind);
/* All that there are: how many of the kind? */
uint32_t recorder_count(struct recorder *r, uint16_t kind);
/* Passes over what there is. */
void recorder_skip(struct recorder *r);
/* Notices among all that there are that contain the words. */
uint32_t recorder_notices(struct recorder *r, const char *words);

#endif
