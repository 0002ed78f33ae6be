// SPDX-License-Identifier: Apache-2.0
/* Bytes of a JFR chunk while it is in memory. Every function may fail for want of memory, which `failed` remembers. */
#ifndef BRAID_JFR_BYTES_H
#define BRAID_JFR_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <util/vec.h>

struct bytes { /* with the members of a VEC */
	uint8_t *at;
	size_t count, room;
	bool failed; /* then nothing more is added */
};

void bytes_put(struct bytes *b, const void *from, size_t size);
void bytes_put_byte(struct bytes *b, uint8_t value);
/* LEB128 as JFR has it: at most nine bytes, of which the last one has eight bits of the number. */
void bytes_put_number(struct bytes *b, uint64_t value);
void bytes_put_float(struct bytes *b, float value);
/* How strings begin; an empty one consists of it only. */
enum { STRING_NULL = 0, STRING_EMPTY = 1, STRING_POOL = 2, STRING_UTF8 = 3 };
void bytes_put_string(struct bytes *b, const char *s);
/* Big-endian numbers, which only the header and floats have. */
void bytes_set_be(struct bytes *b, size_t offset, uint64_t value, unsigned size);
/* What begins with its own size: puts the size, its own bytes included, and then `body`. */
void bytes_put_sized(struct bytes *b, const struct bytes *body);
void bytes_free(struct bytes *b);

#endif
