/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes that the kernel side and the collector compute alike. */
#ifndef BRAID_MIX_H
#define BRAID_MIX_H

#include <linux/types.h>

static inline __u64 braid_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio */
	return hash ^ hash >> 29;
}

#endif
