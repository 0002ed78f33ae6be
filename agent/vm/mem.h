// SPDX-License-Identifier: Apache-2.0
/* Reading this process's own memory through pointers that may be wrong. */
#ifndef BRAID_AGENT_MEM_H
#define BRAID_AGENT_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_READ_MAX 4096U

/* Copies `size` bytes (at most MEM_READ_MAX) from `address`. False when not all of them could be read: never a fault.
 */
bool mem_read(void *to, uint64_t address, size_t size);

/* The string at `address`, cut at size - 1 bytes. */
bool mem_read_string(char *to, size_t size, uint64_t address);

/* Lets go of the descriptors that reading needs; the next read makes new ones. */
void mem_close(void);

#endif
