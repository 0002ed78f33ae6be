// SPDX-License-Identifier: Apache-2.0
/* Reads this process's own memory through pointers that may be wrong. The files of vm/ and gc.c use it. */
#ifndef BRAID_AGENT_MEM_H
#define BRAID_AGENT_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_READ_MAX 4096U

/* Copies `size` bytes (at most MEM_READ_MAX) from `address`. False when not all of them are readable; it never
 * faults. */
bool mem_read(void *to, uint64_t address, size_t size);

/* Copies the string at `address`, cut to size - 1 bytes. False when it is not readable. */
bool mem_read_string(char *to, size_t size, uint64_t address);

/* Closes the descriptors; the next read opens new ones. */
void mem_close(void);

#endif
