// SPDX-License-Identifier: Apache-2.0
/* Variable-length integers (LEB128): seven bits a byte, low bits first; the top bit means that more follow. */
#ifndef BRAID_UTIL_VARINT_H
#define BRAID_UTIL_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define VARINT_MAX_BYTES 10

/*
 * Writes at most VARINT_MAX_BYTES and returns the end. The form is the shortest one: its first byte is 0 only when `v`
 * is 0.
 */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Reads one from [p, end) and returns what follows it; NULL when it is truncated or exceeds 64 bits. */
static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t value = 0;

	/* Most are this short, and these branches are easier to predict than the loop's. */
	if (end - p >= 3) {
		if (p[0] < 0x80) {
			*v = p[0];
			return p + 1;
		}
		if (p[1] < 0x80) {
			*v = (p[0] & 0x7fU) | (uint64_t)p[1] << 7;
			return p + 2;
		}
		if (p[2] < 0x80) {
			*v = (p[0] & 0x7fU) | (p[1] & 0x7fU) << 7 | (uint64_t)p[2] << 14;
			return p + 3;
		}
	}
	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = value;
			return p;
		}
	}
	return NULL;
}

/*
 * Maps signed numbers to unsigned ones that are small when the magnitude is: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
 */
static inline uint64_t zigzag_encode(uint64_t v)
{
	return v << 1 ^ (0 - (v >> 63));
}

static inline uint64_t zigzag_decode(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

#endif
