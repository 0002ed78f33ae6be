// SPDX-License-Identifier: Apache-2.0
/* Reads HotSpot's description of itself (vmStructs) from inside the VM, for the files in vm/ and for agent.c. */
#ifndef BRAID_AGENT_VMSTRUCTS_H
#define BRAID_AGENT_VMSTRUCTS_H

#include "core/jvm.h"

#include <braid/vm_tables.h>

/* A handle of the VM's library for dlsym. */
void *vmstructs_library(JavaVM *vm);

/* Fills in the fields and types that the tables have. 0, or an error of vm_tables_read(). */
int vmstructs_read(void *libjvm, struct vm_field *fields, size_t field_count, struct vm_type *types, size_t type_count);

#endif
