// SPDX-License-Identifier: Apache-2.0
/* The event kind malloc; see malloc.c. */
#ifndef BRAID_AGENT_MALLOC_H
#define BRAID_AGENT_MALLOC_H

#include "core/kind.h"

extern const struct kind malloc_kind;

#endif
