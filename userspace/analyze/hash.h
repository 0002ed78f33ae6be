// SPDX-License-Identifier: Apache-2.0
/*
 * The analyzer's look-up structures. Ids come from untrusted files: no array has the size of an id's value, and hashes
 * are seeded so that a file cannot cause collisions.
 */
#ifndef BRAID_ANALYZE_HASH_H
#define BRAID_ANALYZE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

/* Maps a 64-bit key to a number that is never 0 (callers store an index + 1). A zeroed one is empty. */
struct u64map {
	uint64_t *keys;
	uint32_t *values; /* 0: free slot */
	unsigned bits;	  /* 1 << bits slots */
	size_t count;
	uint64_t seed;
};

uint32_t u64map_get(const struct u64map *m, uint64_t key); /* 0 when absent */
/* The key's value, 0 when the key is new: the caller must then store another value there. NULL: no memory. */
uint32_t *u64map_put(struct u64map *m, uint64_t key);
/* Puts a key whose value does not matter. 1: it is new, 0: the map had it; -ENOMEM. */
int u64map_add(struct u64map *m, uint64_t key);
void u64map_free(struct u64map *m);

/*
 * Objects by id. Rows have the order of their arrival, which in a valid file is the order of the ids: id n is then row
 * n - 1 and needs no hash. When rows have been removed, those ids are found in `moved`, and all others through `far`.
 */
struct table {
	size_t row_bytes;
	unsigned char *rows;
	uint32_t *ids; /* of each row */
	size_t count;
	size_t dense; /* the first rows, each of which has the id behind its number */
	size_t rows_room;
	size_t ids_room;
	uint32_t *moved; /* row + 1 of each id from 1 on; 0: not here */
	size_t moved_count;
	struct u64map far;
};

#define TABLE_NONE ((size_t)-1)
#define ROW_NONE UINT32_MAX

void table_init(struct table *t, size_t row_bytes);
size_t table_find(const struct table *t, uint32_t id);	   /* row number or TABLE_NONE; no row has the id 0 */
uint32_t table_row_of(const struct table *t, uint32_t id); /* the same, or ROW_NONE */
void *table_get(const struct table *t, uint32_t id);	   /* valid until the next table_put; NULL when absent */
void *table_put(struct table *t, uint32_t id);		   /* the row of `id`, zeroed when new; NULL: no memory */
void *table_row(const struct table *t, size_t row);
/* Removes the rows for which `keep` has false; the others keep order and ids. 0 or -ENOMEM, which changes nothing. */
int table_keep(struct table *t, const bool *keep);
void table_free(struct table *t);

/*
 * Strings, each stored once and zero-terminated, under a number that is valid as long as the pool; number 0 is the
 * empty string. Bytes that could control a terminal or that are not UTF-8 become '?' on insertion, so that every string
 * of a pool is printable.
 */
struct strpool {
	VEC(const char *) strings;
	VEC(char *) chunks;
	size_t chunk_used;
	size_t chunk_bytes;
	uint32_t *slots; /* index + 1 into strings */
	unsigned bits;
	uint64_t seed;
};

#define STRPOOL_FAILED UINT32_MAX

uint32_t strpool_add(struct strpool *p, const char *str, size_t len); /* STRPOOL_FAILED: no memory */
uint32_t strpool_find(const struct strpool *p, const char *str);      /* the same, or when the pool does not have it */
const char *strpool_get(const struct strpool *p, uint32_t id);
void strpool_free(struct strpool *p);

/* Writes a printable form of `src` into dst, which has room for len bytes; returns the length, at most len. */
size_t text_clean(char *dst, const char *src, size_t len);

uint64_t add_saturating(uint64_t a, uint64_t b);

#endif
