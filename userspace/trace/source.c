// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"

/* A whole block is always found in this much, so a stream's writer waits rather than memory grows. */
#define HELD_MAX (2 * TRACE_BLOCK_MAX)
#define PIECE_BYTES (64UL << 10)

static size_t read_held(const struct trace_source *s, uint64_t pos, void *buf, size_t len)
{
	uint64_t skip = pos - s->first;
	size_t there = pos >= s->first && skip < s->held.count ? s->held.count - (size_t)skip : 0;

	if (there < len)
		len = there;
	if (len)
		memcpy(buf, s->held.at + skip, len);
	return len;
}

static ssize_t read_file(const struct trace_source *s, uint64_t pos, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(s->fd, (char *)buf + done, len - done, (off_t)(pos + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Whether all of it was read ahead, or is now. */
static bool has_ahead(struct trace_source *s, uint64_t pos, size_t len)
{
	ssize_t n;

	if (pos >= s->ahead_pos && pos + len <= s->ahead_pos + s->ahead_bytes)
		return true;
	if (s->changes || len > sizeof(s->ahead) / 2)
		return false;
	n = read_file(s, pos, s->ahead, sizeof(s->ahead));
	s->ahead_pos = pos;
	s->ahead_bytes = n > 0 ? (size_t)n : 0;
	return len <= s->ahead_bytes;
}

ssize_t trace_source_read(struct trace_source *s, uint64_t pos, void *buf, size_t len)
{
	if (s->stream)
		return (ssize_t)read_held(s, pos, buf, len);
	if (!has_ahead(s, pos, len))
		return read_file(s, pos, buf, len);
	memcpy(buf, s->ahead + (pos - s->ahead_pos), len);
	return (ssize_t)len;
}

static void forget(struct trace_source *s, uint64_t pos)
{
	uint64_t old = pos > s->first ? pos - s->first : 0;

	if (old > s->held.count)
		old = s->held.count;
	if (!old)
		return;
	memmove(s->held.at, s->held.at + old, s->held.count - (size_t)old);
	s->held.count -= (size_t)old;
	s->first += old;
}

static int take(struct trace_source *s)
{
	while (!s->ended && s->held.count < HELD_MAX) {
		ssize_t n;

		if (VEC_RESERVE(&s->held, PIECE_BYTES))
			return -ENOMEM;
		n = read(s->fd, s->held.at + s->held.count, PIECE_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		s->ended = n == 0;
		s->held.count += (size_t)n;
		s->size += (uint64_t)n;
	}
	return 0;
}

int trace_source_more(struct trace_source *s, uint64_t pos)
{
	struct stat st;

	if (s->stream) {
		forget(s, pos);
		return take(s);
	}
	if (fstat(s->fd, &st))
		return -errno;
	s->size = (uint64_t)st.st_size;
	return 0;
}

/* A writer locks its file, see output.c. The shared lock is held for no longer than the question takes. */
bool trace_source_grows(const struct trace_source *s)
{
	if (s->stream)
		return !s->ended;
	if (flock(s->fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(s->fd, LOCK_UN);
	return false;
}

void trace_source_close(struct trace_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->held.at);
	*s = (struct trace_source){.fd = -1};
}
