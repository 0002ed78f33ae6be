// SPDX-License-Identifier: Apache-2.0
#include "vec.h"

#include <stdint.h>
#include <stdlib.h>

int vec_reserve(void **at, size_t *room, size_t count, size_t extra, size_t size)
{
	size_t want = *room ? *room : 16;
	void *p;

	if (extra > SIZE_MAX - count)
		return -ENOMEM;
	if (count + extra <= *room)
		return 0;
	while (want < count + extra) {
		if (want > SIZE_MAX / 2)
			return -ENOMEM;
		want *= 2;
	}
	if (want > SIZE_MAX / size)
		return -ENOMEM;
	p = realloc(*at, want * size);
	if (!p)
		return -ENOMEM;
	*at = p;
	*room = want;
	return 0;
}
