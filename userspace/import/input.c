// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (INPUT_LINE_MAX + INPUT_PEEK)
#define BUFFER_FIRST (64U << 10)

int input_open(struct input *in, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd;

	*in = (struct input){.file.fd = -1};
	in->buffer = malloc(BUFFER_FIRST);
	if (!in->buffer)
		return -ENOMEM;
	in->room = BUFFER_FIRST;
	fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : unpack_open(&in->file, fd);
}

void input_close(struct input *in)
{
	unpack_close(&in->file);
	free(in->buffer);
	in->buffer = NULL;
}

static int grow(struct input *in)
{
	size_t room = in->room < BUFFER / 2 ? in->room * 2 : BUFFER;
	uint8_t *bigger = realloc(in->buffer, room);

	if (!bigger)
		return -ENOMEM;
	in->buffer = bigger;
	in->room = room;
	return 0;
}

/* Reads more behind what the buffer has, as long as there may be room and there is a file. */
static int fill(struct input *in, size_t wanted)
{
	if (in->at && in->room - in->at < wanted) {
		memmove(in->buffer, in->buffer + in->at, in->end - in->at);
		in->end -= in->at;
		in->at = 0;
	}
	while (!in->ended && in->end - in->at < wanted && in->end < BUFFER) {
		ssize_t got;

		if (in->end == in->room && grow(in))
			return -ENOMEM;
		got = unpack_read(&in->file, in->buffer + in->end, in->room - in->end);
		if (got < 0)
			return (int)got;
		in->ended = got == 0;
		in->end += (size_t)got;
	}
	return 0;
}

static void take(struct input *in, size_t count)
{
	in->at += count;
	in->offset += count;
}

int input_peek(struct input *in, struct trace_str *bytes)
{
	int err = fill(in, INPUT_PEEK);
	size_t count = in->end - in->at;

	*bytes = (struct trace_str){(const char *)in->buffer + in->at,
				    (uint32_t)(count < INPUT_PEEK ? count : INPUT_PEEK)};
	return err;
}

/* Takes the rest of a line that is too long. */
static int skip_line(struct input *in)
{
	for (;;) {
		const uint8_t *from = in->buffer + in->at, *end = memchr(from, '\n', in->end - in->at);
		int err;

		if (end) {
			take(in, (size_t)(end - from) + 1);
			return 0;
		}
		take(in, in->end - in->at);
		err = fill(in, 1);
		if (err || in->at == in->end)
			return err;
	}
}

int input_line(struct input *in, struct trace_str *line)
{
	const uint8_t *from, *end;
	size_t len;
	int err;

	if (in->cut) {
		in->cut = false;
		err = skip_line(in);
		if (err)
			return err;
	}
	from = in->buffer + in->at;
	end = memchr(from, '\n', in->end - in->at);
	if (!end) {
		err = fill(in, INPUT_LINE_MAX);
		if (err)
			return err;
		from = in->buffer + in->at;
		end = memchr(from, '\n', in->end - in->at);
	}
	len = end ? (size_t)(end - from) : in->end - in->at;
	if (!end && (!len || in->file.gave_up)) /* the end of what could be unpacked is rarely that of a line */
		return 0;
	in->line++;
	if (!end && !in->ended)
		in->cut = true;
	else
		take(in, len + (end != NULL));
	if (len && from[len - 1] == '\r')
		len--;
	*line = (struct trace_str){(const char *)from, (uint32_t)len};
	return 1;
}

int input_take(struct input *in, uint64_t count, input_bytes *to)
{
	while (count) {
		int err = fill(in, 1);
		size_t here = in->end - in->at;

		if (err || !here)
			return err;
		if (here > count)
			here = (size_t)count;
		if (VEC_RESERVE(to, here))
			return -ENOMEM;
		memcpy(to->at + to->count, in->buffer + in->at, here);
		to->count += here;
		take(in, here);
		count -= here;
	}
	return 0;
}

int input_refuse(struct input *in, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(in->why, sizeof(in->why), fmt, ap);
	va_end(ap);
	return err;
}
