// SPDX-License-Identifier: Apache-2.0
/*
 * What processes without a slot have lost, as the map `strays` counts it. Programs add to an entry while it is read, so
 * one is only removed when nothing was added for a while. Only kernel_side.c calls this.
 */
#ifndef BRAID_KERNEL_STRAYS_H
#define BRAID_KERNEL_STRAYS_H

#include "kernel_side.h"

struct strays {
	uint32_t count;
	struct stray {
		uint32_t pid;
		struct braid_lost lost; /* as reported so far */
	} at[BRAID_STRAYS];
};

/* Calls back with what each process has lost since the last call. */
void strays_read(struct strays *s, int map, kernel_lost_fn fn, void *ctx);

#endif
