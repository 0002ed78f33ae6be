// SPDX-License-Identifier: Apache-2.0
/* A recording has a descriptor for each file that is mapped and whose symbols may be wanted: their limit. */
#ifndef BRAID_UTIL_DESCRIPTORS_H
#define BRAID_UTIL_DESCRIPTORS_H

#include <stdbool.h>

/* Raises the limit as far as this process may. */
void descriptors_raise(void);
/* In a child that becomes another program: the limit that this one was started with. */
void descriptors_restore(void);
/* Is so high a descriptor a sign that half of them are used? */
bool descriptors_scarce(int fd);

#endif
