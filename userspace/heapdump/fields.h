// SPDX-License-Identifier: Apache-2.0
/* Reads the fields of a class from the VM's description of them. klasses.c calls it. */
#ifndef BRAID_HEAPDUMP_FIELDS_H
#define BRAID_HEAPDUMP_FIELDS_H

#include "klasses.h"

/* Offsets of fields that the VM adds to its own classes; 0: not found. */
struct fields_injected {
	uint64_t protection_domain, signers;
	uint32_t flags; /* of jdk.internal.vm.StackChunk */
};

/* Adds the class's own fields to c->fields, and sets its counts. k->super is set already. */
int fields_take(struct klasses *c, struct class *k, struct fields_injected *injected);

#endif
