// SPDX-License-Identifier: Apache-2.0
#include "records.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER (1U << 20)
#define HEAD 9U /* bytes before a record's content: tag, time, length */
#define NO_SEGMENT SIZE_MAX

int records_open(struct records *h, struct output *output, uint64_t wall_ms)
{
	static const char version[] = "JAVA PROFILE 1.0.2";

	*h = (struct records){.output = output, .buffer = malloc(BUFFER), .segment_at = NO_SEGMENT};
	if (!h->buffer)
		return -ENOMEM;
	records_bytes(h, version, sizeof(version));
	records_u4(h, sizeof(uint64_t));
	records_u8(h, wall_ms);
	return h->error;
}

void records_close(struct records *h)
{
	free(h->buffer);
	h->buffer = NULL;
}

static void flush(struct records *h)
{
	if (!h->error)
		h->error = output_write(h->output, h->buffer, h->used);
	h->used = 0;
}

/* ---- numbers and bytes ---- */

uint8_t *records_room(struct records *h, size_t size)
{
	if (h->used + size > BUFFER)
		flush(h);
	h->used += size;
	return h->buffer + h->used - size;
}

void records_bytes(struct records *h, const void *bytes, size_t size)
{
	while (size) {
		size_t n = size < BUFFER / 2 ? size : BUFFER / 2;

		memcpy(records_room(h, n), bytes, n);
		bytes = (const uint8_t *)bytes + n;
		size -= n;
	}
}

void records_u1(struct records *h, uint8_t value)
{
	*records_room(h, 1) = value;
}

void records_u2(struct records *h, uint16_t value)
{
	value = htobe16(value);
	memcpy(records_room(h, sizeof(value)), &value, sizeof(value));
}

void records_u4(struct records *h, uint32_t value)
{
	value = htobe32(value);
	memcpy(records_room(h, sizeof(value)), &value, sizeof(value));
}

void records_u8(struct records *h, uint64_t value)
{
	value = htobe64(value);
	memcpy(records_room(h, sizeof(value)), &value, sizeof(value));
}

/* ---- records ---- */

/* The buffer has all of a segment until then, so its length is filled in. */
static void segment_end(struct records *h)
{
	uint32_t length;

	if (h->segment_at == NO_SEGMENT)
		return;
	length = htobe32((uint32_t)(h->used - h->segment_at - HEAD));
	memcpy(h->buffer + h->segment_at + HEAD - sizeof(length), &length, sizeof(length));
	h->segment_at = NO_SEGMENT;
}

void records_record(struct records *h, enum hprof_tag tag, uint32_t length)
{
	segment_end(h);
	records_u1(h, (uint8_t)tag);
	records_u4(h, 0);
	records_u4(h, length);
}

void records_heap(struct records *h, enum hprof_heap_tag tag, uint64_t bytes)
{
	uint64_t need = 1 + bytes;

	if (h->segment_at != NO_SEGMENT && h->used + need > BUFFER)
		segment_end(h);
	if (h->segment_at == NO_SEGMENT && HEAD + need <= BUFFER) {
		if (h->used + HEAD + need > BUFFER)
			flush(h);
		h->segment_at = h->used;
		records_u1(h, HPROF_SEGMENT);
		records_u4(h, 0);
		records_u4(h, 0);
	} else if (h->segment_at == NO_SEGMENT) {
		records_record(h, HPROF_SEGMENT, (uint32_t)need);
	}
	records_u1(h, (uint8_t)tag);
}

int records_end(struct records *h)
{
	records_record(h, HPROF_END, 0);
	flush(h);
	return h->error;
}
