// SPDX-License-Identifier: Apache-2.0
#include "random.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

int random_digits(char to[RANDOM_DIGITS + 1])
{
	unsigned char random[RANDOM_DIGITS / 2];
	ssize_t n = getrandom(random, sizeof(random), 0);

	if (n != (ssize_t)sizeof(random))
		return n < 0 ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(to + 2 * i, 3, "%02x", random[i]);
	return 0;
}
