// SPDX-License-Identifier: Apache-2.0
/*
 * The used part of a BPF array in the collector's memory. Mapping an array makes all of its pages resident at once, so
 * only what is in use is mapped, at addresses that do not change. Only kernel/ uses this.
 */
#ifndef BRAID_KERNEL_MAP_WINDOW_H
#define BRAID_KERNEL_MAP_WINDOW_H

#include <bpf/libbpf.h>
#include <stddef.h>

struct map_window {
	void *base; /* entry 0; NULL before map_window_open() */
	int fd;	    /* the map's descriptor, borrowed */
	size_t value_bytes;
	size_t bytes;  /* of the whole array, in whole pages */
	size_t mapped; /* bytes from base on */
};

/* Reserves addresses for an array map (BPF_F_MMAPABLE) that is loaded. */
int map_window_open(struct map_window *w, const struct bpf_map *map);
/* Makes entries [0, count) readable and writable. -ENOMEM; -ENOSPC beyond the map's end. */
int map_window_reach(struct map_window *w, size_t count);
void map_window_close(struct map_window *w);

/* Makes all entries of an array zero. */
void map_window_clear(const struct bpf_map *map);

#endif
