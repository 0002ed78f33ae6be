// SPDX-License-Identifier: Apache-2.0
/* A file of another tool, which is read forwards and in pieces, so it may be a pipe; packed ones are unpacked. */
#ifndef BRAID_IMPORT_INPUT_H
#define BRAID_IMPORT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trace/record.h>
#include <util/vec.h>

#include "unpack.h"

#define INPUT_WHY_MAX 512
#define INPUT_LINE_MAX (1U << 20) /* bytes of a line; longer ones are cut */
#define INPUT_PEEK (128U << 10)	  /* bytes from which the format is recognised */

struct input {
	struct unpack file;
	uint8_t *buffer;
	size_t room;		 /* grows with the lines */
	size_t at, end;		 /* what is read, but not yet taken */
	uint64_t offset;	 /* in what the file contains, of what is taken next */
	uint64_t line;		 /* number of the last line that was taken */
	bool ended;		 /* the buffer has the file's last byte */
	bool cut;		 /* the last line was too long: its beginning was taken */
	char why[INPUT_WHY_MAX]; /* why the file cannot be imported */
};

/* `path` may be "-", standard input. 0 or a negative errno. */
int input_open(struct input *in, const char *path);
void input_close(struct input *in);

/* What comes next, INPUT_PEEK bytes or all that there are. 0 or a negative errno. */
int input_peek(struct input *in, struct trace_str *bytes);

/* Takes the next line, without its end, valid until the next call. 1; 0: there is none; or a negative errno. */
int input_line(struct input *in, struct trace_str *line);

typedef VEC(uint8_t) input_bytes;

/*
 * Appends the next `count` bytes, or all that there are. Memory grows with what the file really has. 0 or a negative
 * errno.
 */
int input_take(struct input *in, uint64_t count, input_bytes *to);

/* Notes why the file cannot be imported, and returns `err`. */
int input_refuse(struct input *in, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
