// SPDX-License-Identifier: Apache-2.0
/* Where this VM keeps what walking virtual threads needs: struct braid_vthreads. */
#ifndef BRAID_AGENT_VTHREADS_H
#define BRAID_AGENT_VTHREADS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Is this one of the stubs that thaw frames? As announced, in any order. */
void vthreads_on_stub(const char *name, uint64_t address, uint32_t size);

/* Is this the code of Continuation.enterSpecial, or of doYield? */
void vthreads_on_code(jmethodID method, uint64_t address, uint32_t size);

struct braid_vthreads;
/* What was found of the fields of their objects. */
void vthreads_fields_set(const struct braid_vthreads *fields);

#endif
