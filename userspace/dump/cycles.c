// SPDX-License-Identifier: Apache-2.0
#include "cycles.h"

#include <stdlib.h>

/* Numbers the cycle that `at` is in. */
static void number(const uint32_t *next, uint32_t at, uint32_t *cycle, uint32_t as)
{
	for (uint32_t i = at; !cycle[i]; i = next[i])
		cycle[i] = as;
}

/* Each member is visited once: a way ends where it meets one that was visited, on this way or on an earlier one. */
size_t cycles_find(const uint32_t *next, size_t count, uint32_t *cycle)
{
	uint32_t *way = calloc(count + 1, sizeof(*way)), at;
	size_t found = 0;

	if (!way)
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		cycle[i] = 0;
	for (size_t i = 0; i < count; i++) {
		for (at = (uint32_t)i; at < count && !way[at]; at = next[at])
			way[at] = (uint32_t)i + 1;
		if (at < count && way[at] == i + 1)
			number(next, at, cycle, (uint32_t)++found);
	}
	free(way);
	return found;
}
