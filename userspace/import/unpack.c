// SPDX-License-Identifier: Apache-2.0
#include "unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#define STEP (64U << 10)
#define GZIP_OR_ZLIB (15 + 32) /* inflateInit2(): recognises both */

static int refuse_large(struct input *in)
{
	return input_refuse(in, -EBADMSG,
			    "has more than %llu MiB, or is packed more than %u times smaller: it is refused",
			    UNPACK_MAX >> 20, UNPACK_RATIO);
}

static bool is_too_large(const input_bytes *packed, const input_bytes *to)
{
	uint64_t allowed = (uint64_t)packed->count * UNPACK_RATIO;

	if (allowed < UNPACK_FREE)
		allowed = UNPACK_FREE;
	return to->count > (allowed < UNPACK_MAX ? allowed : UNPACK_MAX);
}

/* A file may be several packed ones, one behind the other. */
static int inflate_all(struct input *in, z_stream *z, const input_bytes *packed, input_bytes *to)
{
	int got = Z_OK;

	while (got != Z_STREAM_END || z->avail_in) {
		if (got == Z_STREAM_END && inflateReset(z) != Z_OK)
			return -ENOMEM;
		if (VEC_RESERVE(to, STEP))
			return -ENOMEM;
		z->next_out = to->at + to->count;
		z->avail_out = STEP;
		got = inflate(z, Z_NO_FLUSH);
		to->count += STEP - z->avail_out;
		if (is_too_large(packed, to))
			return refuse_large(in);
		if (got == Z_MEM_ERROR)
			return -ENOMEM;
		if (got == Z_BUF_ERROR || (got == Z_OK && !z->avail_in && z->avail_out))
			return input_refuse(in, -EBADMSG, "is packed by gzip and ends early, behind byte %" PRIu64,
					    (uint64_t)packed->count);
		if (got != Z_OK && got != Z_STREAM_END)
			return input_refuse(in, -EBADMSG, "is packed by gzip and damaged at byte %" PRIu64,
					    (uint64_t)(packed->count - z->avail_in));
	}
	return 0;
}

static int unpack(struct input *in, const input_bytes *packed, input_bytes *to)
{
	z_stream z = {.next_in = packed->at, .avail_in = (unsigned)packed->count};
	int err;

	if (inflateInit2(&z, GZIP_OR_ZLIB) != Z_OK)
		return -ENOMEM;
	err = inflate_all(in, &z, packed, to);
	inflateEnd(&z);
	return err;
}

int unpack_all(struct input *in, input_bytes *to)
{
	input_bytes packed;
	int err = input_take(in, UNPACK_MAX + 1, to);

	if (err)
		return err;
	if (to->count > UNPACK_MAX)
		return refuse_large(in);
	if (to->count < 2 || to->at[0] != 0x1f || to->at[1] != 0x8b)
		return 0;
	packed = *to;
	*to = (input_bytes){0};
	err = unpack(in, &packed, to);
	free(packed.at);
	return err;
}
