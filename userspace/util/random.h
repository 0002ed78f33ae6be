/* SPDX-License-Identifier: Apache-2.0 */
/* Names and tokens that nobody can guess. */
#ifndef BRAID_UTIL_RANDOM_H
#define BRAID_UTIL_RANDOM_H

#define RANDOM_DIGITS 32 /* of 128 bits */

/* Writes hexadecimal digits in lower case. 0 or a negative errno. */
int random_digits(char to[RANDOM_DIGITS + 1]);

#endif
