// SPDX-License-Identifier: Apache-2.0
/* How large the maps of a recording are. kernel_side.c and programs.c call this. */
#ifndef BRAID_KERNEL_MAP_SIZES_H
#define BRAID_KERNEL_MAP_SIZES_H

#include "config/options.h"

struct braid_bpf;

/* The size of the ring for samples and events. */
uint32_t event_ring_bytes(const struct record_options *o);

/* To be called before the programs are loaded. */
int map_sizes_set(const struct braid_bpf *b, const struct record_options *o);

#endif
