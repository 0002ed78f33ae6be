// SPDX-License-Identifier: Apache-2.0
/* Open addressing with linear probing; see slots.h. */
#include "slots.h"

#include <stdlib.h>
#include <string.h>

static size_t home(const uint64_t *key)
{
	return (size_t)(key[0] * HASH_SPREAD >> 20);
}

static uint64_t *find(const struct slots *s, uint64_t *at, size_t room, const uint64_t *key)
{
	for (size_t i = home(key);; i++) {
		uint64_t *entry = at + (i & (room - 1)) * s->entry_words;

		if (!entry[0] || !memcmp(entry, key, s->key_words * sizeof(*key)))
			return entry;
	}
}

void *slots_find(const struct slots *s, const uint64_t *key)
{
	return s->room ? find(s, s->at, s->room, key) : NULL;
}

/* Keeps a quarter of the slots free, so that every search ends. */
bool slots_reserve(struct slots *s)
{
	size_t room = s->room ? s->room * 2 : s->first_room, bytes = s->entry_words * sizeof(*s->at);
	uint64_t *at;

	if (s->used < s->room / 4 * 3)
		return true;
	at = calloc(room, bytes);
	if (!at)
		return false;
	for (size_t i = 0; i < s->room; i++) {
		const uint64_t *entry = s->at + i * s->entry_words;

		if (entry[0])
			memcpy(find(s, at, room, entry), entry, bytes);
	}
	free(s->at);
	s->at = at;
	s->room = room;
	return true;
}

/* Entries behind it that a search would not find any more move up, so no mark of a removed one is left. */
void slots_remove(struct slots *s, void *entry)
{
	size_t hole = (size_t)((uint64_t *)entry - s->at) / s->entry_words, mask = s->room - 1;

	for (size_t i = (hole + 1) & mask; s->at[i * s->entry_words]; i = (i + 1) & mask) {
		uint64_t *e = s->at + i * s->entry_words;

		if (((i - home(e)) & mask) < ((i - hole) & mask))
			continue;
		memcpy(s->at + hole * s->entry_words, e, s->entry_words * sizeof(*e));
		hole = i;
	}
	s->at[hole * s->entry_words] = 0;
	s->used--;
}

void slots_free(struct slots *s)
{
	free(s->at);
	s->at = NULL;
	s->room = s->used = 0;
}

uint64_t hash_text(uint64_t hash, const char *s)
{
	do
		hash = (hash ^ (uint8_t)*s) * 0x100000001b3ULL;
	while (*s++);
	return hash;
}
