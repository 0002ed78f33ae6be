// SPDX-License-Identifier: Apache-2.0
/*
 * The analyzer's look-up structures. Ids come from untrusted files, so no array is sized by an id's value, and the
 * hashes are seeded so that a file cannot be made to collide.
 */
#ifndef BRAID_ANALYZE_HASH_H
#define BRAID_ANALYZE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "util/vec.h"

/* A 64-bit key to a number that is never 0 (callers store an index + 1). A zeroed one is empty. */
struct u64map {
	uint64_t *keys;
	uint32_t *values; /* 0: free slot */
	unsigned bits;	  /* 1 << bits slots */
	size_t count;
	uint64_t seed;
};

uint32_t u64map_get(const struct u64map *m, uint64_t key); /* 0 when absent */
/* The value's place, 0 in it when the key is new: the caller must store another value there. NULL: no memory. */
uint32_t *u64map_put(struct u64map *m, uint64_t key);
void u64map_free(struct u64map *m);

/*
 * Objects by id. Rows lie in the order of their first arrival, which for a sane file is the order of the ids: id n is
 * then row n - 1 and no hash is asked. All other ids are found through `far`.
 */
struct table {
	size_t row_bytes;
	unsigned char *rows;
	uint32_t *ids; /* of each row */
	size_t count;
	size_t rows_room;
	size_t ids_room;
	struct u64map far;
};

#define TABLE_NONE ((size_t)-1)

void table_init(struct table *t, size_t row_bytes);
size_t table_find(const struct table *t, uint32_t id); /* row number or TABLE_NONE */
void *table_get(const struct table *t, uint32_t id);   /* valid until the next table_put; NULL when absent */
void *table_put(struct table *t, uint32_t id);	       /* the row of `id`, zeroed when new; NULL: no memory */
void *table_row(const struct table *t, size_t row);
void table_free(struct table *t);

/*
 * Strings, each kept once, zero-terminated, under a number that stays valid as long as the pool; number 0 is the empty
 * string. Bytes that could steer a terminal or that are not UTF-8 become '?' on the way in, so that everything which
 * comes out of a pool can be printed.
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
