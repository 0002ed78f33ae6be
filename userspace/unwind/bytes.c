// SPDX-License-Identifier: Apache-2.0
/*
 * A bounded reader of the integers in call frame information. A read beyond the end sets `bad`, and it and all later
 * reads return zero.
 */
#include "cfi.h"

#include <string.h>

const uint8_t *bytes_skip(struct cfi_bytes *b, uint64_t count)
{
	const uint8_t *at = b->at;

	if (b->bad || count > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return NULL;
	}
	b->at += count;
	return at;
}

uint64_t bytes_uint(struct cfi_bytes *b, unsigned int size)
{
	const uint8_t *at = bytes_skip(b, size);
	uint64_t value = 0;

	if (at)
		for (unsigned int i = 0; i < size; i++)
			value |= (uint64_t)at[i] << i * 8;
	return value;
}

/* Drops bits beyond the 64th, as every other reader does; only the section limits the number's length. */
static uint64_t leb(struct cfi_bytes *b, unsigned int *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	*last = 0;
	do {
		if (b->bad || b->at == b->end) {
			b->bad = true;
			return 0;
		}
		*last = *b->at++;
		if (*shift < 64) {
			value |= (uint64_t)(*last & 0x7f) << *shift;
			*shift += 7;
		}
	} while (*last & 0x80);
	return value;
}

uint64_t bytes_uleb(struct cfi_bytes *b)
{
	unsigned int shift;
	uint8_t last;

	return leb(b, &shift, &last);
}

int64_t bytes_sleb(struct cfi_bytes *b)
{
	unsigned int shift;
	uint8_t last;
	uint64_t value = leb(b, &shift, &last);

	if (shift < 64 && (last & 0x40))
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}
