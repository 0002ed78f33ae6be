// SPDX-License-Identifier: Apache-2.0
#include "bytes.h"

#include <string.h>

#define NUMBER_BYTES 9

static bool reserve(struct bytes *b, size_t size)
{
	b->failed = b->failed || VEC_RESERVE(b, size);
	return !b->failed;
}

void bytes_put(struct bytes *b, const void *from, size_t size)
{
	if (!size || !reserve(b, size))
		return;
	memcpy(b->at + b->count, from, size);
	b->count += size;
}

void bytes_put_byte(struct bytes *b, uint8_t value)
{
	if (reserve(b, 1))
		b->at[b->count++] = value;
}

void bytes_put_number(struct bytes *b, uint64_t value)
{
	if (!reserve(b, NUMBER_BYTES))
		return;
	for (unsigned i = 0; i < NUMBER_BYTES - 1 && value >= 0x80; i++, value >>= 7)
		b->at[b->count++] = (uint8_t)(value | 0x80);
	b->at[b->count++] = (uint8_t)value;
}

void bytes_put_float(struct bytes *b, float value)
{
	uint32_t bits;
	size_t at = b->count;

	memcpy(&bits, &value, sizeof(bits));
	bytes_put(b, &bits, sizeof(bits));
	bytes_set_be(b, at, bits, sizeof(bits));
}

void bytes_put_string(struct bytes *b, const char *s)
{
	size_t length = strlen(s);

	bytes_put_byte(b, length ? STRING_UTF8 : STRING_EMPTY);
	if (length)
		bytes_put_number(b, length);
	bytes_put(b, s, length);
}

void bytes_set_be(struct bytes *b, size_t offset, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size && !b->failed; i++)
		b->at[offset + i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

void bytes_put_sized(struct bytes *b, const struct bytes *body)
{
	uint64_t size = body->count + 1;

	for (uint64_t limit = 0x80; size >= limit && limit < 1ULL << 56; limit <<= 7)
		size++;
	b->failed = b->failed || body->failed;
	bytes_put_number(b, size);
	bytes_put(b, body->at, body->count);
}

void bytes_free(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){0};
}
