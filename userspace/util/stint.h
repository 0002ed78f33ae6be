// SPDX-License-Identifier: Apache-2.0
/*
 * How long a thread may go on with a stranger's file, whose loops are as long as the file says: they ask, and give up
 * with -ETIME. Without a stint there is no end.
 */
#ifndef BRAID_UTIL_STINT_H
#define BRAID_UTIL_STINT_H

#include <stdbool.h>
#include <stdint.h>

void stint_begin(uint64_t cpu_ns);
void stint_end(void);
/* To be asked in each turn of a loop. */
bool stint_over(void);

#endif
