// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the records of an HPROF file, version 1.0.2 with eight bytes for each id. What belongs to a heap is collected
 * in segments. An error stays, and makes all later calls do nothing.
 */
#ifndef BRAID_HEAPDUMP_RECORDS_H
#define BRAID_HEAPDUMP_RECORDS_H

#include "output.h"

#include <stddef.h>
#include <stdint.h>

enum hprof_tag {
	HPROF_UTF8 = 0x01,
	HPROF_LOAD_CLASS = 0x02,
	HPROF_FRAME = 0x04,
	HPROF_TRACE = 0x05,
	HPROF_SITES = 0x06,
	HPROF_SEGMENT = 0x1c,
	HPROF_END = 0x2c,
};

enum hprof_heap_tag {
	HPROF_ROOT_UNKNOWN = 0xff,
	HPROF_ROOT_JNI_GLOBAL = 0x01,
	HPROF_ROOT_JNI_LOCAL = 0x02,
	HPROF_ROOT_FRAME = 0x03,
	HPROF_ROOT_STICKY_CLASS = 0x05,
	HPROF_ROOT_MONITOR = 0x07,
	HPROF_ROOT_THREAD = 0x08,
	HPROF_CLASS = 0x20,
	HPROF_INSTANCE = 0x21,
	HPROF_OBJECTS = 0x22,
	HPROF_VALUES = 0x23,
};

#define HPROF_HEAP_MAX (UINT32_MAX - 1)
#define HPROF_ROOM_MAX (512U << 10)

struct records {
	struct output *output;
	uint8_t *buffer;
	size_t used;
	size_t segment_at; /* where a segment begins that is open for more */
	int error;	   /* 0 or a negative errno */
};

int records_open(struct records *h, struct output *output, uint64_t wall_ms);
void records_close(struct records *h);

/* A record of its own: its head, then `length` bytes that are put next. Ends the segment before it. */
void records_record(struct records *h, enum hprof_tag tag, uint32_t length);

/*
 * A record of the heap: its tag, then `bytes` bytes that are put next. At most HPROF_HEAP_MAX. A long one has a segment
 * of its own.
 */
void records_heap(struct records *h, enum hprof_heap_tag tag, uint64_t bytes);

/* Numbers in the file's byte order, and bytes as they are. */
void records_u1(struct records *h, uint8_t value);
void records_u2(struct records *h, uint16_t value);
void records_u4(struct records *h, uint32_t value);
void records_u8(struct records *h, uint64_t value);
void records_bytes(struct records *h, const void *bytes, size_t size);

/* Room for `size` bytes, which the caller fills in at once. At most HPROF_ROOM_MAX. */
uint8_t *records_room(struct records *h, size_t size);

/* The end of the file. Returns the error of all. */
int records_end(struct records *h);

#endif
