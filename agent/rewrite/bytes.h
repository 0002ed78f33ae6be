// SPDX-License-Identifier: Apache-2.0
/* Bounded reading of class files and growing buffers to write them: big-endian, as class files are. */
#ifndef BRAID_AGENT_BYTES_H
#define BRAID_AGENT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What lies beyond the end reads as 0 and sets `bad`, which the caller looks at before it trusts what it has read. */
struct reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline const uint8_t *read_bytes(struct reader *r, size_t count)
{
	const uint8_t *at = r->at;

	if (r->bad || count > (size_t)(r->end - at)) {
		r->bad = true;
		return NULL;
	}
	r->at += count;
	return at;
}

static inline uint32_t get_u2(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t get_u4(const uint8_t *p)
{
	return get_u2(p) << 16 | get_u2(p + 2);
}

static inline uint32_t read_u1(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 1);

	return p ? *p : 0;
}

static inline uint32_t read_u2(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 2);

	return p ? get_u2(p) : 0;
}

static inline uint32_t read_u4(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 4);

	return p ? get_u4(p) : 0;
}

/* The next `count` bytes as a reader of their own. */
static inline struct reader read_part(struct reader *r, size_t count)
{
	const uint8_t *p = read_bytes(r, count);

	return (struct reader){.at = p, .end = p ? p + count : NULL, .bad = !p};
}

/* After a failed allocation it writes nothing more. */
struct writer {
	uint8_t *bytes;
	size_t used, room;
	bool failed;
};

static inline uint8_t *write_room(struct writer *w, size_t count)
{
	size_t room = w->room ?: 1024;
	uint8_t *bytes;

	while (room - w->used < count)
		room *= 2;
	if (room != w->room && !w->failed) {
		bytes = realloc(w->bytes, room);
		w->failed = !bytes;
		if (bytes) {
			w->bytes = bytes;
			w->room = room;
		}
	}
	if (w->failed)
		return NULL;
	w->used += count;
	return w->bytes + w->used - count;
}

static inline void put_u2(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static inline void put_u4(uint8_t *p, uint32_t value)
{
	put_u2(p, value >> 16);
	put_u2(p + 2, value);
}

static inline void write_bytes(struct writer *w, const void *bytes, size_t count)
{
	uint8_t *p = write_room(w, count);

	if (p && count)
		memcpy(p, bytes, count);
}

static inline void write_u1(struct writer *w, uint32_t value)
{
	uint8_t *p = write_room(w, 1);

	if (p)
		*p = (uint8_t)value;
}

static inline void write_u2(struct writer *w, uint32_t value)
{
	uint8_t *p = write_room(w, 2);

	if (p)
		put_u2(p, value);
}

static inline void write_u4(struct writer *w, uint32_t value)
{
	uint8_t *p = write_room(w, 4);

	if (p)
		put_u4(p, value);
}

/* Writes a length in front of what has been written since `at`, where 4 bytes were left for it. */
static inline void write_length(struct writer *w, size_t at)
{
	if (!w->failed)
		put_u4(w->bytes + at, (uint32_t)(w->used - at - 4));
}

#endif
