// SPDX-License-Identifier: Apache-2.0
/*
 * The trace file's blocks. A trace is a sequence of blocks: this header and `stored_bytes` bytes of
 * payload, a zstd frame that unpacks to `raw_bytes` bytes of records (userspace/trace/record.h; docs/trace-format.md
 * is the description for other implementers). The first block is a BRAID_BLOCK_SCHEMA, which names every kind of
 * record and the types of its fields; a reader skips what it does not know.
 *
 * Integers are little endian.
 */
#ifndef BRAID_TRACE_H
#define BRAID_TRACE_H

#include <braid/types.h>

#define BRAID_BLOCK_MAGIC "BRDBLK1\n" /* eight bytes; a reader searches for them after damage */
#define BRAID_TRACE_VERSION 3U
#define BRAID_TRACE_DICTIONARIES 2U /* version in which blocks have dictionaries; in version 1, each stands alone */
#define BRAID_BLOCK_RAW_MAX (1U << 20)
/* A block has at least one stored byte for each 64 raw ones beyond the first 4096. */
#define BRAID_BLOCK_RAW_FREE 4096U
#define BRAID_BLOCK_RATIO_MAX 64U
#define BRAID_BLOCK_DICTIONARY_MAX (256U << 10) /* raw bytes of a block that is a dictionary */
#define BRAID_BLOCK_WINDOW_LOG 20 /* of a frame of definitions: the log2 of how many bytes zstd looks back */

enum braid_block_kind {
	BRAID_BLOCK_SCHEMA = 1,
	BRAID_BLOCK_DEFS = 2, /* definitions; written before every block of events that needs them */
	BRAID_BLOCK_EVENTS = 3,
	BRAID_BLOCK_INDEX = 4,	 /* last block: positions of the others; a reader rebuilds it when it is missing */
	BRAID_BLOCK_SAMPLES = 5, /* events that are samples of the recording's sampling event, and nothing else */
};

struct braid_block {
	char magic[8];
	__u32 version;
	__u16 kind;   /* enum braid_block_kind */
	__u16 schema; /* low 16 bits of XXH3_64bits of the unpacked SCHEMA block that describes the records */
	__u32 stored_bytes;
	__u32 raw_bytes; /* at most BRAID_BLOCK_RAW_MAX */
	__u64 sequence;	 /* 0, 1, 2, ...: a gap means that blocks are missing */
	union {
		__u64 time_min_ns; /* of the events inside, 0 when there are none */
		__u64 continues; /* DEFS: checksum of the DEFS block whose zstd frame goes on in this one; 0: it begins one */
		__u64 dictionary; /* DEFS, version 2: checksum of the one whose unpacked payload is zstd's dictionary, or 0 */
	};
	__u64 time_max_ns;
	__u64 checksum; /* XXH3_64bits of the header with this field 0, then of the stored payload (streamed) */
};
_Static_assert(sizeof(struct braid_block) == 56, "block header");

#endif
