// SPDX-License-Identifier: Apache-2.0
/*
 * A fake recorder for tests of the agent: the socket that the agent finds, the ring that it fills, and the records read
 * from the ring.
 */
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

/* A load of the agent that runs beside the test. */
struct load {
	enum braid_start start;
	char options[128];
	pthread_t thread;
};
void load_begin(struct load *l, enum braid_start start, const struct recorder *r);
void load_end(struct load *l);

/* Whether an agent tries to connect within `ms` milliseconds. */
bool recorder_has_visitor(const struct recorder *r, int ms);
/* Accepts the agent that is being loaded. */
void recorder_grant(struct recorder *r, const struct braid_event_config *c);
/* Loads the agent and accepts it. */
void recorder_let_in(struct recorder *r, enum braid_start start, const struct braid_event_config *c);

/* Starts a new JVM with the agent, which is live afterwards; no thread of the agent runs beside the test. */
void recorder_begin(struct recorder *r, const struct braid_event_config *c);

/* Waits for a message of the kind and returns its value in *value; false: the agent has closed the connection. */
bool recorder_hears(const struct recorder *r, uint32_t kind, uint64_t *value);
/* Sends another event configuration; returns the types that the agent can record. */
uint32_t recorder_choose(const struct recorder *r, const struct braid_event_config *c);
/* Sends a command. */
void recorder_command(const struct recorder *r, enum braid_command command);
/* Ends the connection, as a recorder that stops and as one that dies. */
void recorder_stop(const struct recorder *r);
void recorder_leave(struct recorder *r);

/* The next record, valid until the next call frees its room; NULL: there is none. */
const struct braid_rec *recorder_read(struct recorder *r);
/* The next record of the kind; skips those before it. */
const void *recorder_find(struct recorder *r, uint16_t kind);
/* Reads everything and returns the number of records of the kind. */
uint32_t recorder_count(struct recorder *r, uint16_t kind);
/* Reads and discards everything. */
void recorder_skip(struct recorder *r);
/* Reads everything and returns the number of notices that contain `words`. */
uint32_t recorder_notices(struct recorder *r, const char *words);

#endif
