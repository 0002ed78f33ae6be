// SPDX-License-Identifier: Apache-2.0
/* The shortest way from a root to an object. */
#ifndef BRAID_HPROF_PATH_H
#define BRAID_HPROF_PATH_H

#include "heap.h"

struct hprof_path {
	uint32_t *places; /* the root's object first, the object itself last; each refers to the next */
	size_t count;
};

struct hprof_paths {
	struct hprof *h;
	struct scratch is_root; /* a bit for each place */
	struct scratch next;	/* u32, by place: where the way to the object leads; 0: not seen */
	struct scratch queue;	/* u32: places */
};

/* 0 or a negative errno. */
int hprof_paths_init(struct hprof_paths *p, struct hprof *h);
void hprof_paths_free(struct hprof_paths *p);

/* To the object at this place, through weak references only if there is no other way. 0 or -ENOMEM. */
int hprof_path_find(struct hprof_paths *p, uint32_t place, struct hprof_path *path);
/* The step of a path to be printed after step i, if only the first and the last `shown` ones are. */
static inline size_t hprof_path_next(const struct hprof_path *path, size_t i, size_t shown)
{
	return i + 1 == shown && path->count > 2 * shown ? path->count - shown : i + 1;
}

void hprof_path_free(struct hprof_path *path);

#endif
