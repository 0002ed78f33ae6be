// SPDX-License-Identifier: Apache-2.0
/*
 * The limit of open files: a recording needs a descriptor for each mapped file whose symbols it may read. record/
 * raises the limit; a launched command gets the original one.
 */
#ifndef BRAID_UTIL_DESCRIPTORS_H
#define BRAID_UTIL_DESCRIPTORS_H

#include <stdbool.h>

/* Raises the limit as far as this process may. */
void descriptors_raise(void);
/* In a child before exec: restores the limit with which this program started. */
void descriptors_restore(void);
/* Whether a descriptor this high shows that half of them are in use. */
bool descriptors_scarce(int fd);

#endif
