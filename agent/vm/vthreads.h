// SPDX-License-Identifier: Apache-2.0
/* Finds the code that walks of virtual threads need (struct braid_vthreads). code.c passes in announced code, objects.c
 * the fields. */
#ifndef BRAID_AGENT_VTHREADS_H
#define BRAID_AGENT_VTHREADS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Notes a stub that thaws frames. Stubs may come in any order. */
void vthreads_on_stub(const char *name, uint64_t address, uint32_t size);

/* Notes the code of Continuation.enterSpecial or doYield. */
void vthreads_on_code(jmethodID method, uint64_t address, uint32_t size);

struct braid_vthreads;
/* Sets the offsets of fields. */
void vthreads_fields_set(const struct braid_vthreads *fields);

#endif
