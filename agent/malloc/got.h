// SPDX-License-Identifier: Apache-2.0
/*
 * The slots by which loaded objects call functions of other objects (global offset tables): sets those of chosen
 * functions to others, and back. Only slots that lead to the process's own function are changed, so an object with
 * another allocator, or with another tool's hooks, stays as it is.
 */
#ifndef BRAID_AGENT_GOT_H
#define BRAID_AGENT_GOT_H

#include <stdbool.h>
#include <stdint.h>

struct got_function {
	const char *name;
	uintptr_t own;	/* the process's function; 0: it has none */
	uintptr_t hook; /* replaces it */
};

struct got_result {
	uint32_t changed; /* slots */
	uint32_t foreign; /* objects with slots that lead elsewhere; none of theirs is changed */
	uint32_t refused; /* objects whose slots the kernel does not let be written */
	uint32_t later;	  /* objects that are being loaded: they need another look */
	char name[128];	  /* of the first foreign or refused one */
};

/* Sets slots to hooks, or back. `functions` ends with an entry without a name. */
struct got_result got_change(const struct got_function *functions, bool back);
/* Counts loads and unloads of objects. */
uint64_t got_objects(void);

#endif
