// SPDX-License-Identifier: Apache-2.0
/* A file's bytes from its beginning to its end; of one that is packed by gzip or zstd, what it contains. */
#ifndef BRAID_IMPORT_UNPACK_H
#define BRAID_IMPORT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <zlib.h>
#include <zstd.h>

#define UNPACK_FREE (4U << 20) /* bytes that a packed file of any size may contain */
#define UNPACK_RATIO 100U      /* of larger ones, bytes for each packed byte: recordings have 3 to 50 */
#define UNPACK_WHY_MAX 192

struct unpack {
	int fd;
	enum { UNPACK_UNKNOWN, UNPACK_NOT_PACKED, UNPACK_GZIP, UNPACK_ZSTD } by;
	bool ended;	 /* everything of the file is in `packed`, or was */
	bool in_part;	 /* of a file that is several packed ones, one behind the other, a part has begun */
	bool gave_up;	 /* the rest is damaged, or is too much: `why` */
	uint8_t *packed; /* what was read and is not yet unpacked, from `at` to `end` */
	size_t at, end;
	uint64_t count_in, count_out; /* bytes that were read, and that were given */
	z_stream z;
	ZSTD_DCtx *zstd;
	char why[UNPACK_WHY_MAX]; /* behind the file's name */
};

/* Takes the descriptor. *u must stay where it is. 0 or -ENOMEM. */
int unpack_open(struct unpack *u, int fd);
void unpack_close(struct unpack *u);

/* Up to `room` bytes. 0: there are no more, or u->gave_up; or a negative errno. */
ssize_t unpack_read(struct unpack *u, void *to, size_t room);

#endif
