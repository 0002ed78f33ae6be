// SPDX-License-Identifier: Apache-2.0
/* The VM's tables about itself, read from inside. */
#ifndef BRAID_AGENT_VMSTRUCTS_H
#define BRAID_AGENT_VMSTRUCTS_H

#include "core/jvm.h"

#include <braid/vm_tables.h>

/* The VM's library, for dlsym. */
void *vmstructs_library(JavaVM *vm);

/* Fills in what is found. 0, or what vm_tables_read() says. */
int vmstructs_read(void *libjvm, struct vm_field *fields, size_t field_count, struct vm_type *types, size_t type_count);

#endif
