// SPDX-License-Identifier: Apache-2.0
#include "weight.h"

#define LN_2 0.693147180559945309

/* 1 - exp(-x) for x >= 0: a series for small x, else from half of x by 1 - exp(-2y) = e (2 - e). */
static double taken_probability(double x)
{
	double e;

	if (x > 40)
		return 1;
	if (x > 0.01) {
		e = taken_probability(x / 2);
		return e * (2 - e);
	}
	return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
}

uint64_t sample_weight(uint64_t size, uint64_t interval)
{
	if (!interval || !size)
		return size;
	return (uint64_t)((double)size / taken_probability((double)size / (double)interval) + 0.5);
}

/* -ln(u) of u = random / 2^64, by the exponent of u and a series for the rest, which is right to 1e-7. */
static double minus_ln(uint64_t random)
{
	uint64_t bits = random | 1;
	int zeros = __builtin_clzll(bits);
	double m = (double)(bits << zeros) / 0x1p63, z = (m - 1) / (m + 1), q = z * z;

	return (zeros + 1) * LN_2 -
	       2 * z * (1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q / 11)))));
}

uint64_t sample_distance(uint64_t random, uint64_t interval)
{
	return interval ? (uint64_t)(minus_ln(random) * (double)interval) + 1 : 0;
}
