// SPDX-License-Identifier: Apache-2.0
/*
 * How many bytes a sampled allocation represents, and the distance to the next one. Without libm, which the agent does
 * not have.
 */
#ifndef BRAID_AGENT_WEIGHT_H
#define BRAID_AGENT_WEIGHT_H

#include <stdint.h>

/*
 * Where each byte is sampled with the probability 1 / interval, `size` bytes are sampled with 1 - exp(-size /
 * interval). Returns size divided by that: sums of it are unbiased estimates of all bytes (Horvitz and Thompson).
 */
uint64_t sample_weight(uint64_t size, uint64_t interval);

/* The bytes up to and with the next one that is sampled, from 64 random bits: exponentially distributed. 0 if each
 * allocation is sampled, because the interval is 0. */
uint64_t sample_distance(uint64_t random, uint64_t interval);

#endif
