// SPDX-License-Identifier: Apache-2.0
/* A chained hash table with entries in chunks; see intervals.h. */
#include "intervals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS (INTERVALS_MAX / INTERVALS_CHUNK)
#define BUCKETS 16384U /* a power of two; untouched pages cost no memory */

struct entry {
	uint64_t key;
	struct interval interval;
	uint32_t next; /* number of the entry + 1, 0: none */
};

/* Numbers name entries, and chunks never move, so an entry stays in place while the table grows. */
static struct {
	pthread_mutex_t mutex; /* held for a few steps along a chain; its holder never waits */
	struct entry *chunks[CHUNKS];
	uint32_t chunk_count;
	uint32_t buckets[BUCKETS];
	uint32_t free;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct entry *entry_at(uint32_t number)
{
	return &table.chunks[(number - 1) / INTERVALS_CHUNK][(number - 1) % INTERVALS_CHUNK];
}

static uint32_t *bucket_of(uint64_t key)
{
	return &table.buckets[(key * 0x9e3779b97f4a7c15ULL >> 40) & (BUCKETS - 1)];
}

/* The link that leads to the key's entry, or the end of its chain. */
static uint32_t *link_to(uint64_t key)
{
	uint32_t *link = bucket_of(key);

	while (*link && entry_at(*link)->key != key)
		link = &entry_at(*link)->next;
	return link;
}

static void grow(void)
{
	uint32_t first = table.chunk_count * INTERVALS_CHUNK + 1;
	struct entry *chunk = table.chunk_count < CHUNKS ? calloc(INTERVALS_CHUNK, sizeof(*chunk)) : NULL;

	if (!chunk)
		return;
	table.chunks[table.chunk_count++] = chunk;
	for (uint32_t i = 0; i < INTERVALS_CHUNK; i++) {
		chunk[i].next = table.free;
		table.free = first + i;
	}
}

/* The caller holds the mutex. Appends an entry to the chain and returns its number; 0: the table is full. */
static uint32_t entry_add(uint32_t *link, uint64_t key)
{
	uint32_t number;

	if (!table.free)
		grow();
	number = table.free;
	if (!number)
		return 0;
	table.free = entry_at(number)->next;
	*entry_at(number) = (struct entry){.key = key};
	*link = number;
	return number;
}

bool intervals_put(uint64_t key, const struct interval *b)
{
	uint32_t *link, number;

	pthread_mutex_lock(&table.mutex);
	link = link_to(key);
	number = *link ?: entry_add(link, key);
	if (number)
		entry_at(number)->interval = *b;
	pthread_mutex_unlock(&table.mutex);
	return number;
}

bool intervals_take(uint64_t key, struct interval *b)
{
	uint32_t *link, number;

	pthread_mutex_lock(&table.mutex);
	link = link_to(key);
	number = *link;
	if (number) {
		*b = entry_at(number)->interval;
		*link = entry_at(number)->next;
		entry_at(number)->next = table.free;
		table.free = number;
	}
	pthread_mutex_unlock(&table.mutex);
	return number;
}

void intervals_clear(void)
{
	pthread_mutex_lock(&table.mutex);
	for (uint32_t i = 0; i < table.chunk_count; i++)
		free(table.chunks[i]);
	table.chunk_count = table.free = 0;
	memset(table.buckets, 0, sizeof(table.buckets));
	pthread_mutex_unlock(&table.mutex);
}
