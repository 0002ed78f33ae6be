// SPDX-License-Identifier: Apache-2.0
/* Times and sizes as users write and read them: the one grammar of all commands. */
#ifndef BRAID_UTIL_QUANTITY_H
#define BRAID_UTIL_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/*
 * A decimal number and its unit without a space: ns, us or µs, ms, s, m, h. "1.5s", "500ms", "2m". 0, -EINVAL, or
 * -EDOM: a valid number without a unit. Zero needs none.
 */
int duration_parse_unit(const char *text, uint64_t *ns);

/* The same, but a number without a unit means seconds. 0 or -EINVAL. */
int duration_parse(const char *text, uint64_t *ns);

/* A whole number of bytes, or of KiB (k, K, KiB), MiB (m, M, MiB) or GiB (g, G, GiB). 0 or -EINVAL. */
int size_parse(const char *text, uint64_t *bytes);

#define QUANTITY_TEXT 24

/* "812 ns", "1.50 µs", "2.25 s". Returns `buf`. */
const char *duration_text(char buf[QUANTITY_TEXT], uint64_t ns);

/* The same, right-aligned in a column of that width, because printf() counts bytes and µ has two. Returns `buf`. */
const char *duration_cell(char buf[QUANTITY_TEXT], int width, uint64_t ns);

/* "812 B", "1.50 MiB". Returns `buf`. */
const char *size_text(char buf[QUANTITY_TEXT], uint64_t bytes);

#define NUMBER_TEXT 24

/*
 * A number of unknown type: in decimal, such as -1; from `large` on, where it is mostly an address or flags, as 0x1000.
 */
void number_text(char buf[NUMBER_TEXT], uint64_t value, uint64_t large);

static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* The whole part of a number, at least 0 and at most UINT64_MAX. */
static inline uint64_t whole_part(double number)
{
	return number >= 0x1p64 ? UINT64_MAX : number > 0 ? (uint64_t)number : 0;
}

/* "s" for every number except one: "%llu sample%s". */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
