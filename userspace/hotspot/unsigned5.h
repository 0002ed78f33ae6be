// SPDX-License-Identifier: Apache-2.0
/*
 * HotSpot's compressed numbers (unsigned5.hpp): a byte below 192 ends a number, and each byte adds six bits.
 * hotspot_scopes.c and classes.c read them.
 */
#ifndef BRAID_HOTSPOT_UNSIGNED5_H
#define BRAID_HOTSPOT_UNSIGNED5_H

#include <stdbool.h>
#include <stdint.h>

struct stream {
	const uint8_t *at, *end;
	bool no_zero; /* later versions have no byte 0 */
	bool failed;
};

static inline uint8_t take_byte(struct stream *s)
{
	if (s->at < s->end)
		return *s->at++;
	s->failed = true;
	return 0;
}

static inline uint32_t take_unsigned(struct stream *s)
{
	uint32_t excluded = s->no_zero ? 1 : 0, sum = 0;

	for (uint32_t i = 0; i < 5 && !s->failed; i++) {
		uint8_t b = take_byte(s);

		if (b < excluded)
			s->failed = true;
		sum += (b - excluded) << 6 * i;
		if (b < 192)
			break;
	}
	return sum;
}

#endif
