// SPDX-License-Identifier: Apache-2.0
/* Strings of records, which have a length and no zero at their end. */
#ifndef BRAID_TRACE_STR_H
#define BRAID_TRACE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record.h"

static inline struct trace_str str_of(const char *text)
{
	return (struct trace_str){text, (uint32_t)strlen(text)};
}

/* Part of a string. */
struct trace_str str_part(struct trace_str s, size_t from, size_t to);
/* Takes the first line of a text, without its end. */
struct trace_str str_line(struct trace_str *text);
/* The place of the last such byte, or -1. */
long str_last(struct trace_str s, char c);
bool str_begins(struct trace_str s, const char *with);
bool str_ends(struct trace_str s, const char *with);
bool str_equals(struct trace_str s, const char *to);
/* Takes digits from the front: false if there are none, or too many. */
bool str_number(struct trace_str *s, uint64_t *number);

#endif
