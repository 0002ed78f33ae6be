// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include "util/clock.h"
#include "util/new_file.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define CHUNK (256U << 10)
#define LEVEL_GZ 1
#define LEVEL_ZST 1
#define GZIP_HEADER 16 /* added to the window's bits: zlib writes the format of gzip */
#define STREAM_WAIT_NS 30000000000ULL
#define STREAM_LOOK_MS 100

enum form { FORM_PLAIN, FORM_GZ, FORM_ZST };

struct output {
	int fd;
	bool is_file; /* created by this program */
	const char *path;
	const atomic_bool *stop;
	enum form form;
	z_stream gz;
	ZSTD_CCtx *zst;
	uint64_t file_bytes;
	uint8_t chunk[CHUNK];
};

static enum form form_of(const char *path)
{
	size_t length = strlen(path);

	if (length > 3 && strcmp(path + length - 3, ".gz") == 0)
		return FORM_GZ;
	return length > 4 && strcmp(path + length - 4, ".zst") == 0 ? FORM_ZST : FORM_PLAIN;
}

static int compressor_open(struct output *o)
{
	if (o->form == FORM_GZ && deflateInit2(&o->gz, LEVEL_GZ, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, MAX_MEM_LEVEL,
					       Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	if (o->form != FORM_ZST)
		return 0;
	o->zst = ZSTD_createCCtx();
	if (!o->zst || ZSTD_isError(ZSTD_CCtx_setParameter(o->zst, ZSTD_c_compressionLevel, LEVEL_ZST)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(o->zst, ZSTD_c_checksumFlag, 1)))
		return -ENOMEM;
	return 0;
}

int output_open(struct output **out, const char *path, const atomic_bool *stop)
{
	struct output *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return -ENOMEM;
	o->path = path;
	o->stop = stop;
	o->form = form_of(path);
	o->is_file = strcmp(path, "-") != 0;
	err = compressor_open(o);
	if (!err) {
		o->fd = o->is_file ? new_file(path) : STDOUT_FILENO;
		err = o->fd < 0 ? o->fd : !o->is_file && isatty(o->fd) ? -ENOTTY : 0;
	}
	if (!err) {
		*out = o;
		return 0;
	}
	ZSTD_freeCCtx(o->zst);
	if (o->form == FORM_GZ)
		deflateEnd(&o->gz);
	free(o);
	return err;
}

/* How much can be written without waiting for long. A pipe that is writable takes PIPE_BUF bytes. */
static ssize_t room(const struct output *o, size_t size)
{
	uint64_t until = now_ns() + STREAM_WAIT_NS;
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};

	if (o->is_file)
		return (ssize_t)size;
	while (poll(&p, 1, STREAM_LOOK_MS) <= 0) {
		if (atomic_load(o->stop))
			return -EINTR;
		if (now_ns() > until)
			return -ETIMEDOUT;
	}
	return size < PIPE_BUF ? (ssize_t)size : PIPE_BUF;
}

static int file_write(struct output *o, const uint8_t *p, size_t size)
{
	while (size) {
		ssize_t n = room(o, size);

		if (n < 0)
			return (int)n;
		n = write(o->fd, p, (size_t)n);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		n = n < 0 ? 0 : n;
		p += n;
		size -= (size_t)n;
		o->file_bytes += (size_t)n;
	}
	return 0;
}

static int gz_write(struct output *o, const void *bytes, size_t size, int mode)
{
	int state = Z_OK, err = 0;

	o->gz.next_in = (void *)(uintptr_t)bytes;
	o->gz.avail_in = (uInt)size;
	do {
		o->gz.next_out = o->chunk;
		o->gz.avail_out = CHUNK;
		state = deflate(&o->gz, mode);
		err = state == Z_STREAM_ERROR ? -EIO : file_write(o, o->chunk, CHUNK - o->gz.avail_out);
	} while (!err && !o->gz.avail_out);
	return err;
}

static int zst_write(struct output *o, const void *bytes, size_t size, ZSTD_EndDirective mode)
{
	ZSTD_inBuffer in = {.src = bytes, .size = size};
	size_t left;
	int err;

	do {
		ZSTD_outBuffer to = {.dst = o->chunk, .size = CHUNK};

		left = ZSTD_compressStream2(o->zst, &to, &in, mode);
		err = ZSTD_isError(left) ? -EIO : file_write(o, o->chunk, to.pos);
	} while (!err && (mode == ZSTD_e_end ? left > 0 : in.pos < in.size));
	return err;
}

int output_write(struct output *o, const void *bytes, size_t size)
{
	if (o->form == FORM_GZ)
		return gz_write(o, bytes, size, Z_NO_FLUSH);
	return o->form == FORM_ZST ? zst_write(o, bytes, size, ZSTD_e_continue) : file_write(o, bytes, size);
}

/* Another program may have put something else in its place. */
void output_remove(const struct output *o)
{
	struct stat mine, there;

	if (o->is_file && !fstat(o->fd, &mine) && !lstat(o->path, &there) && mine.st_ino == there.st_ino &&
	    mine.st_dev == there.st_dev)
		unlink(o->path);
}

int output_close(struct output *o, bool keep, uint64_t *bytes)
{
	int err = 0;

	if (keep && o->form == FORM_GZ)
		err = gz_write(o, NULL, 0, Z_FINISH);
	else if (keep && o->form == FORM_ZST)
		err = zst_write(o, NULL, 0, ZSTD_e_end);
	if (err || !keep)
		output_remove(o);
	if (o->is_file && close(o->fd) && !err && keep)
		err = -errno;
	*bytes = o->file_bytes;
	ZSTD_freeCCtx(o->zst);
	if (o->form == FORM_GZ)
		deflateEnd(&o->gz);
	free(o);
	return err;
}
