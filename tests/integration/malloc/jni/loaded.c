/* SPDX-License-Identifier: Apache-2.0 */
/* A library that Hammer loads and unloads. */
#include <stdlib.h>

void *loaded_allocate(unsigned long size);

void *loaded_allocate(unsigned long size)
{
	free(malloc(size * 2));
	return malloc(size);
}
