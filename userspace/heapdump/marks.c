// SPDX-License-Identifier: Apache-2.0
#include "marks.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_SHIFT 21 /* address bits */
#define CHUNK_WORDS ((1U << CHUNK_SHIFT) / 8 / 64)
#define CHUNKS_SPARE 1024
#define ALIGNMENT_MAX 256U /* -XX:ObjectAlignmentInBytes */

int marks_open(struct marks *m, uint64_t low, uint64_t high, uint64_t bytes)
{
	*m = (struct marks){.low = low, .high = high, .count = ((high - low) >> CHUNK_SHIFT) + 1};
	/* A piece of the heap may have little in memory. */
	m->most = 8 * (bytes >> CHUNK_SHIFT) + CHUNKS_SPARE;
	m->chunks = calloc(m->count, sizeof(*m->chunks));
	return m->chunks ? 0 : -ENOMEM;
}

void marks_free(struct marks *m)
{
	for (size_t i = 0; m->chunks && i < m->count; i++)
		free(m->chunks[i]);
	free(m->chunks);
	m->chunks = NULL;
}

static inline size_t bit_of(uint64_t offset)
{
	return (offset & ((1U << CHUNK_SHIFT) - 1)) >> 3;
}

bool marks_set(struct marks *m, uint64_t address)
{
	uint64_t offset = address - m->low, **chunk = &m->chunks[offset >> CHUNK_SHIFT], bit;
	size_t at = bit_of(offset);

	if (!*chunk) {
		*chunk = m->used < m->most ? calloc(CHUNK_WORDS, sizeof(**chunk)) : NULL;
		if (!*chunk) {
			m->exhausted = true;
			return false;
		}
		m->used++;
	}
	bit = 1ULL << at % 64;
	if ((*chunk)[at / 64] & bit)
		return false;
	(*chunk)[at / 64] |= bit;
	return true;
}

void marks_clear(struct marks *m, uint64_t address)
{
	uint64_t offset = address - m->low, *chunk = m->chunks[offset >> CHUNK_SHIFT];

	if (chunk)
		chunk[bit_of(offset) / 64] &= ~(1ULL << bit_of(offset) % 64);
}

bool marks_has(const struct marks *m, uint64_t address)
{
	uint64_t offset = address - m->low;
	const uint64_t *chunk = marks_cover(m, address) ? m->chunks[offset >> CHUNK_SHIFT] : NULL;

	return chunk && chunk[bit_of(offset) / 64] >> bit_of(offset) % 64 & 1;
}

uint64_t marks_next(const struct marks *m, uint64_t address)
{
	uint64_t offset = address - m->low;
	size_t at = bit_of(offset);

	for (size_t c = offset >> CHUNK_SHIFT; c < m->count; c++, at = 0) {
		const uint64_t *chunk = m->chunks[c];

		for (size_t w = at / 64; chunk && w < CHUNK_WORDS; w++) {
			uint64_t word = chunk[w];

			if (w == at / 64)
				word &= ~0ULL << at % 64;
			if (word)
				return m->low + ((uint64_t)c << CHUNK_SHIFT) +
				       (w * 64 + (uint64_t)__builtin_ctzll(word)) * 8;
		}
	}
	return 0;
}

uint64_t marks_alignment(const struct marks *m)
{
	uint64_t bits = ALIGNMENT_MAX, at = marks_next(m, m->low);

	for (; at && !(bits & 8); at = at + 8 < m->high ? marks_next(m, at + 8) : 0)
		bits |= at;
	return bits & -bits;
}
