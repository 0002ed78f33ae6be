// SPDX-License-Identifier: Apache-2.0
/* Bounded reads of a JVM's memory for hotspot.c and hotspot_scopes.c. No other file includes this. */
#ifndef BRAID_HOTSPOT_HOTSPOT_MEMORY_H
#define BRAID_HOTSPOT_HOTSPOT_MEMORY_H

#include "hotspot.h"

#include <errno.h>

/* End of x86-64 user space. It also keeps address + offset from wrapping. */
#define ADDRESS_END (1ULL << 47)

struct memory {
	hotspot_read_fn read;
	void *ctx;
};

static inline int memory_read(const struct memory *m, uint64_t address, void *to, size_t size)
{
	if (address < 4096 || address >= ADDRESS_END || size > ADDRESS_END - address)
		return -EFAULT;
	return m->read(m->ctx, address, to, size);
}

static inline int memory_word(const struct memory *m, uint64_t address, uint64_t *to)
{
	return memory_read(m, address, to, sizeof(*to));
}

static inline int memory_int(const struct memory *m, uint64_t address, int32_t *to)
{
	return memory_read(m, address, to, sizeof(*to));
}

static inline int memory_u16(const struct memory *m, uint64_t address, uint16_t *to)
{
	return memory_read(m, address, to, sizeof(*to));
}

#endif
