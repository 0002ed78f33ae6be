// SPDX-License-Identifier: Apache-2.0
/*
 * A limit on the CPU time that a thread spends on an untrusted file. The file determines the length of the loops over
 * it, so they call stint_over() and fail with -ETIME. Without stint_begin() there is no limit.
 */
#ifndef BRAID_UTIL_STINT_H
#define BRAID_UTIL_STINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* `stop`: the work is also over when this is set; or NULL. */
void stint_begin(uint64_t cpu_ns, const atomic_bool *stop);
void stint_end(void);
/* Whether the limit is exceeded; loops call it in each iteration. */
bool stint_over(void);

#endif
