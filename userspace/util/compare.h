// SPDX-License-Identifier: Apache-2.0
/* What comparison functions of sorts are made of. */
#ifndef BRAID_UTIL_COMPARE_H
#define BRAID_UTIL_COMPARE_H

#include <stdint.h>

/* Less than, equal to or greater than 0, as p is to q. */
static inline int compare_u64(uint64_t p, uint64_t q)
{
	return (p > q) - (p < q);
}

#endif
