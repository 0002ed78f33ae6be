// SPDX-License-Identifier: Apache-2.0
/* Parts of strings. */
#ifndef BRAID_UTIL_TEXT_H
#define BRAID_UTIL_TEXT_H

#include <stdbool.h>
#include <string.h>

static inline bool text_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The last part of a path; the whole path if it ends with '/'. */
static inline const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
