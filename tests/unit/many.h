// SPDX-License-Identifier: Apache-2.0
/*
 * How often a test repeats what shows that time or memory stays in bounds: a tenth where a sanitizer checks every
 * access.
 */
#ifndef BRAID_TESTS_MANY_H
#define BRAID_TESTS_MANY_H

#ifdef BRAID_SANITIZED
#define MANY(n) ((n) / 10)
#else
#define MANY(n) (n)
#endif

#endif
