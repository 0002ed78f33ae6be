// SPDX-License-Identifier: Apache-2.0
/* Arrays that grow. A zeroed one is empty; what it holds is freed with free(v.at). */
#ifndef BRAID_ANALYZE_VEC_H
#define BRAID_ANALYZE_VEC_H

#include <stddef.h>

#define VEC(type)                                                                                                      \
	struct {                                                                                                       \
		type *at;                                                                                              \
		size_t count;                                                                                          \
		size_t room;                                                                                           \
	}

/* Makes room for `extra` more items of `size` bytes. 0 or -ENOMEM, in which case nothing changed. */
int vec_reserve(void **at, size_t *room, size_t count, size_t extra, size_t size);

#define VEC_RESERVE(v, extra) vec_reserve((void **)&(v)->at, &(v)->room, (v)->count, (extra), sizeof(*(v)->at))

#define VEC_PUSH(v, item) (VEC_RESERVE(v, 1) ? -ENOMEM : ((v)->at[(v)->count++] = (item), 0))

#endif
