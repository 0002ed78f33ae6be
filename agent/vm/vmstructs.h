// SPDX-License-Identifier: Apache-2.0
/* The tables with which HotSpot describes itself to the serviceability agent (src/hotspot/share/runtime/vmStructs.hpp).
 */
#ifndef BRAID_AGENT_VMSTRUCTS_H
#define BRAID_AGENT_VMSTRUCTS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_field {
	const char *type; /* to look for */
	const char *name;

	bool found;
	uint64_t offset;	 /* of an instance's field */
	uint64_t address;	 /* of a static field */
	const char *type_string; /* as the VM's source declares it; may be NULL */
};

struct vm_type {
	const char *name; /* to look for */

	bool found;
	uint64_t size;
};

/* The VM's library, for dlsym. */
void *vmstructs_library(JavaVM *vm);

/* Fills in what is found. -ENOENT when the library has no such tables. */
int vmstructs_read(void *libjvm, struct vm_field *fields, size_t field_count, struct vm_type *types, size_t type_count);

#endif
