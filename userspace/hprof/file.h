// SPDX-License-Identifier: Apache-2.0
/*
 * A dump's bytes, which are big endian: from its beginning to its end, and at any place. A compressed one is first
 * decompressed to a temporary file. The file is read, not mapped, so that one that shrinks meanwhile is an error.
 */
#ifndef BRAID_HPROF_FILE_H
#define BRAID_HPROF_FILE_H

#include <util/scratch.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hprof_file {
	int fd;
	uint64_t size; /* decompressed */
	uint8_t *buf;
	size_t room;
	uint64_t buf_at; /* the place of its first byte in the file */
	size_t filled, next;
	size_t ahead; /* bytes to read at once: few after a jump, then more and more */
	int err;      /* a negative errno; reading stopped because of it, not at the file's end */
};

#define HPROF_TAKE_MAX (1U << 20) /* bytes that are taken at once */

/* 0, or a negative errno with the reason in *why. `room` is for the temporary file. */
int hprof_file_open(struct hprof_file *f, const char *path, struct scratch_room *room, const char **why);
void hprof_file_close(struct hprof_file *f);

static inline uint64_t hprof_file_tell(const struct hprof_file *f)
{
	return f->buf_at + f->next;
}

/* Continues at that place. */
void hprof_file_seek(struct hprof_file *f, uint64_t at);

/* The next `bytes` (at most HPROF_TAKE_MAX), until the next call; NULL: the file has no more. */
const uint8_t *hprof_file_take(struct hprof_file *f, size_t bytes);

/* Reads at any place, which does not change where reading continues. */
bool hprof_file_read(const struct hprof_file *f, uint64_t at, void *to, size_t bytes);

static inline uint64_t hprof_number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

#endif
