// SPDX-License-Identifier: Apache-2.0
/* Arrays that grow. A zeroed one is empty; free its items with free(v.at). */
#ifndef BRAID_UTIL_VEC_H
#define BRAID_UTIL_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                                      \
	struct {                                                                                                       \
		type *at;                                                                                              \
		size_t count;                                                                                          \
		size_t room;                                                                                           \
	}

/* Makes room for `extra` more items of `size` bytes. 0 or -ENOMEM, which changes nothing. */
int vec_reserve(void **at, size_t *room, size_t count, size_t extra, size_t size);

#define VEC_RESERVE(v, extra) vec_reserve((void **)&(v)->at, &(v)->room, (v)->count, (extra), sizeof(*(v)->at))

/* Appends an item, which may be a compound literal. 0 or -ENOMEM. */
#define VEC_PUSH(v, ...) (VEC_RESERVE(v, 1) ? -ENOMEM : ((v)->at[(v)->count++] = (__VA_ARGS__), 0))

/* qsort() takes no NULL, which an empty one may be. */
#define VEC_SORT(v, compare) ((v)->count ? qsort((v)->at, (v)->count, sizeof(*(v)->at), (compare)) : (void)0)

#endif
