// SPDX-License-Identifier: Apache-2.0
/*
 * The slots by which loaded objects call functions of other objects (global offset tables): sets those of chosen
 * functions to others, and back. Only slots that lead to the process's own function are changed, so an object with
 * another allocator, or with another tool's hooks, stays as it is.
 */
#ifndef BRAID_AGENT_GOT_H
#define BRAID_AGENT_GOT_H

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
	uint32_t later;	  /* objects that may be being loaded: they need another look */
	char name[128];	  /* of the first foreign or refused one */
};

enum got_way {
	GOT_HOOKS,     /* slots lead to the hooks; none of an object whose RELRO is not read-only yet */
	GOT_HOOKS_ALL, /* the same, and no object is being loaded */
	GOT_BACK,      /* slots that lead to the hooks lead to the process's functions */
};

/* `functions` ends with an entry without a name. */
struct got_result got_change(const struct got_function *functions, enum got_way way);
/* Counts loads and unloads of objects. */
uint64_t got_objects(void);

#endif
