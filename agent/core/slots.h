// SPDX-License-Identifier: Apache-2.0
/*
 * Hash tables that only grow, of entries that begin with their key; one whose first word is 0 is free. They are for
 * what is looked up in events: no lock and nothing of the JVM in here, the callers have a mutex.
 */
#ifndef BRAID_AGENT_SLOTS_H
#define BRAID_AGENT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN 0xcbf29ce484222325ULL
#define HASH_SPREAD 0x9e3779b97f4a7c15ULL

struct slots {
	uint64_t *at;
	size_t room, used; /* entries; room is a power of two, or 0 */
	/* What the table is of: 64-bit words of an entry and of its key, and the entries that it begins with. */
	size_t entry_words, key_words, first_room;
};

#define SLOTS_OF(type, words, first)                                                                                   \
	{                                                                                                              \
		.entry_words = sizeof(type) / sizeof(uint64_t), .key_words = (words), .first_room = (first)            \
	}

/* The entry of this key, or the free one that is its place. NULL: there is no room at all so far. */
void *slots_find(const struct slots *s, const uint64_t *key);
/* Room for one more. False: there is none, and nothing has changed. */
bool slots_reserve(struct slots *s);
void slots_free(struct slots *s);

/* FNV-1a, the terminating zero included: it goes on from `hash`, which is HASH_BEGIN at first. */
uint64_t hash_text(uint64_t hash, const char *s);

#endif
