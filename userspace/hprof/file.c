// SPDX-License-Identifier: Apache-2.0
#include "file.h"

#include <util/scratch.h>
#include "util/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#define CHUNK (64U << 10)
#define AHEAD_LEAST 2048U

static ssize_t read_some(int fd, void *to, size_t bytes, uint64_t at)
{
	ssize_t n;

	do
		n = pread(fd, to, bytes, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int write_all(int fd, const uint8_t *from, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, from, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* ---- compressed files ---- */

struct inflating {
	int from, to;
	uint64_t at;
	uint8_t in[CHUNK], out[CHUNK];
	const char *why;
};

/* Members of gzip files follow each other, as those that a JVM writes do. */
static int gunzip(struct inflating *c)
{
	z_stream z = {0};
	ssize_t n = 0;
	int err = 0, state = Z_OK;
	bool more = false; /* it has not written all that it has read */

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return -ENOMEM;
	while (!err) {
		if (!z.avail_in && !more) {
			n = read_some(c->from, c->in, CHUNK, c->at);
			if (n <= 0)
				break;
			c->at += (uint64_t)n;
			z.next_in = c->in;
			z.avail_in = (unsigned)n;
		}
		if (state == Z_STREAM_END)
			inflateReset(&z);
		z.next_out = c->out;
		z.avail_out = CHUNK;
		state = inflate(&z, Z_NO_FLUSH);
		if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
			break;
		more = !z.avail_out && state != Z_STREAM_END;
		err = write_all(c->to, c->out, CHUNK - z.avail_out);
	}
	inflateEnd(&z);
	if (err || n < 0)
		return err ? err : (int)n;
	c->why = "its gzip data is damaged or cut";
	return n == 0 && state == Z_STREAM_END ? 0 : -EBADMSG;
}

static int unzstd(struct inflating *c)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = c->in};
	size_t left = 1;
	ssize_t n = 0;
	int err = z ? 0 : -ENOMEM;
	bool more = false; /* it has not written all that it has read */

	while (!err) {
		ZSTD_outBuffer out = {.dst = c->out, .size = CHUNK};

		if (in.pos == in.size && !more) {
			n = read_some(c->from, c->in, CHUNK, c->at);
			if (n <= 0)
				break;
			c->at += (uint64_t)n;
			in.pos = 0;
			in.size = (size_t)n;
		}
		left = ZSTD_decompressStream(z, &out, &in);
		if (ZSTD_isError(left))
			break;
		more = left && out.pos == out.size;
		err = write_all(c->to, c->out, out.pos);
	}
	ZSTD_freeDCtx(z);
	if (err || n < 0)
		return err ? err : (int)n;
	c->why = "its zstd data is damaged or cut";
	return n == 0 && left == 0 ? 0 : -EBADMSG;
}

/* Replaces the file by what it contains. */
static int decompress(struct hprof_file *f, struct scratch_room *room, int (*by)(struct inflating *), const char **why)
{
	struct inflating *c = malloc(sizeof(*c));
	int to = scratch_file(room), err;

	if (!c || to < 0) {
		free(c);
		if (to >= 0)
			close(to);
		return to < 0 ? to : -ENOMEM;
	}
	*c = (struct inflating){.from = f->fd, .to = to};
	err = by(c);
	if (err == -EBADMSG)
		*why = c->why;
	free(c);
	close(f->fd);
	f->fd = to;
	return err;
}

/* ---- files ---- */

static int measure(struct hprof_file *f)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return -errno;
	f->size = (uint64_t)st.st_size;
	return 0;
}

static int expand(struct hprof_file *f, struct scratch_room *room, const char **why)
{
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip[] = {0x1f, 0x8b};
	uint8_t magic[4] = {0};
	ssize_t n = read_some(f->fd, magic, sizeof(magic), 0);
	int err = n < 0 ? (int)n : 0;

	if (!err && !memcmp(magic, zstd, sizeof(zstd)))
		err = decompress(f, room, unzstd, why);
	else if (!err && !memcmp(magic, gzip, sizeof(gzip)))
		err = decompress(f, room, gunzip, why);
	return err ? err : measure(f);
}

int hprof_file_open(struct hprof_file *f, const char *path, struct scratch_room *room, const char **why)
{
	struct stat st = {0};
	int err;

	*f = (struct hprof_file){.fd = regular_open(path, &st)};
	*why = NULL;
	if (f->fd < 0) {
		*why = st.st_mode && !S_ISREG(st.st_mode) ? "it is no regular file" : strerror(-f->fd);
		return f->fd;
	}
	f->ahead = AHEAD_LEAST;
	err = expand(f, room, why);
	if (err)
		hprof_file_close(f);
	return err;
}

void hprof_file_close(struct hprof_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->buf);
	*f = (struct hprof_file){.fd = -1};
}

void hprof_file_seek(struct hprof_file *f, uint64_t at)
{
	if (at >= f->buf_at && at <= f->buf_at + f->filled) {
		f->next = (size_t)(at - f->buf_at);
		return;
	}
	f->buf_at = at;
	f->filled = f->next = 0;
	f->ahead = AHEAD_LEAST;
}

static bool has_room(struct hprof_file *f, size_t bytes)
{
	uint8_t *bigger;

	if (bytes <= f->room)
		return true;
	bigger = realloc(f->buf, bytes);
	if (!bigger)
		return false;
	f->buf = bigger;
	f->room = bytes;
	return true;
}

/* Moves the rest to the front and reads more. */
static void fill(struct hprof_file *f, size_t bytes)
{
	size_t rest = f->filled - f->next;

	f->ahead = f->ahead * 2 < HPROF_TAKE_MAX ? f->ahead * 2 : HPROF_TAKE_MAX;
	if (f->ahead < bytes)
		f->ahead = bytes;
	if (!has_room(f, f->ahead)) {
		f->err = -ENOMEM;
		return;
	}
	memmove(f->buf, f->buf + f->next, rest);
	f->buf_at += f->next;
	f->next = 0;
	f->filled = rest;
	while (f->filled < f->ahead) {
		ssize_t n = read_some(f->fd, f->buf + f->filled, f->ahead - f->filled, f->buf_at + f->filled);

		if (n <= 0) {
			f->err = (int)n;
			return;
		}
		f->filled += (size_t)n;
	}
}

const uint8_t *hprof_file_take(struct hprof_file *f, size_t bytes)
{
	const uint8_t *at;

	if (bytes > HPROF_TAKE_MAX)
		return NULL;
	if (!f->buf || f->filled - f->next < bytes)
		fill(f, bytes);
	if (f->filled - f->next < bytes)
		return NULL;
	at = f->buf + f->next;
	f->next += bytes;
	return at;
}

bool hprof_file_read(const struct hprof_file *f, uint64_t at, void *to, size_t bytes)
{
	uint8_t *p = to;

	if (at >= f->buf_at && at - f->buf_at <= f->filled && bytes <= f->filled - (at - f->buf_at)) {
		if (bytes)
			memcpy(to, f->buf + (at - f->buf_at), bytes);
		return true;
	}
	while (bytes) {
		ssize_t n = read_some(f->fd, p, bytes, at);

		if (n <= 0)
			return false;
		p += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return true;
}
