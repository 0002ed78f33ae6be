// SPDX-License-Identifier: Apache-2.0
/* Cycles among threads each of which waits for at most one other. dump.c calls this. */
#ifndef BRAID_DUMP_CYCLES_H
#define BRAID_DUMP_CYCLES_H

#include <stddef.h>
#include <stdint.h>

#define CYCLE_NONE UINT32_MAX

/*
 * next[i] is what i waits for, or CYCLE_NONE or any other number beyond `count`. Sets cycle[i] to the number of the
 * cycle that i is in, counted from 1, or 0. Cycles are numbered by the first that lead to them. Returns their number,
 * or SIZE_MAX without memory.
 */
size_t cycles_find(const uint32_t *next, size_t count, uint32_t *cycle);

#endif
