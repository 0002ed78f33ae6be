// SPDX-License-Identifier: Apache-2.0
/* The header of a chunk: a magic number, and then big-endian numbers at these offsets. */
#ifndef BRAID_JFR_CHUNK_H
#define BRAID_JFR_CHUNK_H

#define JFR_MAGIC "FLR"	 /* with its zero */
#define JFR_COMPRESSED 1 /* of the features: numbers are LEB128 */

enum {
	JFR_HEAD_MAJOR = 4,
	JFR_HEAD_MINOR = 6,
	JFR_HEAD_SIZE = 8,
	JFR_HEAD_POOLS = 16,
	JFR_HEAD_METADATA = 24,
	JFR_HEAD_START_NS = 32,
	JFR_HEAD_DURATION = 40,
	JFR_HEAD_START_TICKS = 48,
	JFR_HEAD_TICKS_PER_SECOND = 56,
	JFR_HEAD_FEATURES = 64,
	JFR_HEAD_BYTES = 68
};

#endif
