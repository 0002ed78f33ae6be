// SPDX-License-Identifier: Apache-2.0
/*
 * A growing hash table for what events look up: methods, types and known classes. An entry begins with its key; an
 * entry whose first word is 0 is free. It takes no lock and does not touch the JVM: callers hold a mutex.
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
	/* Sizes of an entry and of its key in 64-bit words, and the initial room in entries. */
	size_t entry_words, key_words, first_room;
};

#define SLOTS_OF(type, words, first)                                                                                   \
	{                                                                                                              \
		.entry_words = sizeof(type) / sizeof(uint64_t), .key_words = (words), .first_room = (first)            \
	}

/* Returns the entry of the key or the free entry for it; NULL while the table is empty. */
void *slots_find(const struct slots *s, const uint64_t *key);
/* Makes room for one more entry. False: out of memory, and nothing has changed. */
bool slots_reserve(struct slots *s);
/* Frees an entry that slots_find() has returned and that has a key. */
void slots_remove(struct slots *s, void *entry);
void slots_free(struct slots *s);

/* FNV-1a, including the terminating zero. `hash` is HASH_BEGIN, or the result for the text before. */
uint64_t hash_text(uint64_t hash, const char *s);

#endif
