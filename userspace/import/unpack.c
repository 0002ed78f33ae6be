// SPDX-License-Identifier: Apache-2.0
#include "unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd_errors.h>

#define PACKED (64U << 10)
#define MAGIC_BYTES 4U

int unpack_open(struct unpack *u, int fd)
{
	*u = (struct unpack){.fd = fd, .packed = malloc(PACKED)};
	return u->packed ? 0 : -ENOMEM;
}

void unpack_close(struct unpack *u)
{
	if (u->by == UNPACK_GZIP)
		inflateEnd(&u->z);
	ZSTD_freeDCtx(u->zstd);
	free(u->packed);
	if (u->fd >= 0)
		close(u->fd);
	*u = (struct unpack){.fd = -1};
}

/* ---- the file ---- */

static ssize_t read_some(struct unpack *u, void *to, size_t room)
{
	ssize_t got;

	do
		got = read(u->fd, to, room);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	u->ended = got == 0;
	u->count_in += (uint64_t)got;
	return got;
}

/* Reads what is packed, unless some of it is there. */
static int refill(struct unpack *u)
{
	ssize_t got;

	if (u->at < u->end || u->ended)
		return 0;
	got = read_some(u, u->packed, PACKED);
	if (got < 0)
		return (int)got;
	u->at = 0;
	u->end = (size_t)got;
	return 0;
}

static bool is_zstd(const uint8_t *magic)
{
	static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd}, to_skip[] = {0x2a, 0x4d, 0x18};

	return memcmp(magic, frame, sizeof(frame)) == 0 ||
	       ((magic[0] & 0xf0) == 0x50 && memcmp(magic + 1, to_skip, sizeof(to_skip)) == 0);
}

static int recognise(struct unpack *u)
{
	while (u->end < MAGIC_BYTES && !u->ended) {
		ssize_t got = read_some(u, u->packed + u->end, PACKED - u->end);

		if (got < 0)
			return (int)got;
		u->end += (size_t)got;
	}
	u->by = UNPACK_NOT_PACKED;
	if (u->end >= MAGIC_BYTES && is_zstd(u->packed)) {
		u->zstd = ZSTD_createDCtx();
		if (!u->zstd)
			return -ENOMEM;
		u->by = UNPACK_ZSTD;
	} else if (u->end >= 2 && u->packed[0] == 0x1f && u->packed[1] == 0x8b) {
		if (inflateInit2(&u->z, MAX_WBITS + 16) != Z_OK)
			return -ENOMEM;
		u->by = UNPACK_GZIP;
	}
	return 0;
}

/* ---- what it contains ---- */

static const char *name_of(const struct unpack *u)
{
	return u->by == UNPACK_GZIP ? "gzip" : "zstd";
}

static void give_up(struct unpack *u, const char *why)
{
	u->gave_up = true;
	snprintf(u->why, sizeof(u->why), "is packed by %s and %s byte %" PRIu64, name_of(u), why,
		 u->count_in - (u->end - u->at));
}

/* Takes from `packed`, and adds to *count what that was. 0 or a negative errno; the file may be damaged, too. */
static int step_gzip(struct unpack *u, uint8_t *to, size_t room, size_t *count)
{
	int got;

	if (!u->in_part && inflateReset(&u->z) != Z_OK)
		return -ENOMEM;
	u->z.next_in = u->packed + u->at;
	u->z.avail_in = (unsigned)(u->end - u->at);
	u->z.next_out = to;
	u->z.avail_out = (unsigned)room;
	got = inflate(&u->z, Z_NO_FLUSH);
	u->at = u->end - u->z.avail_in;
	*count += room - u->z.avail_out;
	u->in_part = got != Z_STREAM_END;
	if (got == Z_MEM_ERROR)
		return -ENOMEM;
	if (got != Z_OK && got != Z_STREAM_END && got != Z_BUF_ERROR)
		give_up(u, "damaged at");
	return 0;
}

static int step_zstd(struct unpack *u, uint8_t *to, size_t room, size_t *count)
{
	ZSTD_inBuffer in = {.src = u->packed, .size = u->end, .pos = u->at};
	ZSTD_outBuffer out = {.dst = to, .size = room};
	size_t left = ZSTD_decompressStream(u->zstd, &out, &in);

	u->at = in.pos;
	*count += out.pos;
	u->in_part = left != 0;
	if (ZSTD_isError(left)) {
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			return -ENOMEM;
		if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
			give_up(u, "needs a window of more than 128 MiB (zstd --long) at");
		else
			give_up(u, "damaged at");
	}
	return 0;
}

static void bound(struct unpack *u)
{
	if (u->count_out <= UNPACK_FREE || u->count_out / UNPACK_RATIO <= u->count_in)
		return;
	u->gave_up = true;
	snprintf(
		u->why, sizeof(u->why),
		"is packed more than %u times smaller, so the rest is refused; if you trust it: %s -dc FILE | braid import -",
		UNPACK_RATIO, name_of(u));
}

static ssize_t unpack_some(struct unpack *u, uint8_t *to, size_t room)
{
	size_t count = 0;

	while (!count && !u->gave_up) {
		int err = refill(u);
		bool nothing_more = u->at == u->end; /* but the unpacker may still have something */

		if (!err && nothing_more && !u->in_part)
			return 0;
		if (!err)
			err = u->by == UNPACK_GZIP ? step_gzip(u, to, room, &count) : step_zstd(u, to, room, &count);
		if (err)
			return err;
		if (!count && nothing_more && u->in_part && !u->gave_up)
			give_up(u, "ends early, behind");
	}
	u->count_out += count;
	bound(u);
	return (ssize_t)count;
}

ssize_t unpack_read(struct unpack *u, void *to, size_t room)
{
	int err = u->by == UNPACK_UNKNOWN ? recognise(u) : 0;
	size_t here = u->end - u->at;

	if (err)
		return err;
	if (u->by != UNPACK_NOT_PACKED)
		return unpack_some(u, to, room);
	if (here) {
		here = here < room ? here : room;
		memcpy(to, u->packed + u->at, here);
		u->at += here;
		return (ssize_t)here;
	}
	return u->ended ? 0 : read_some(u, to, room);
}
