// SPDX-License-Identifier: Apache-2.0
/* The event kinds method and field. */
#ifndef BRAID_AGENT_TIMING_H
#define BRAID_AGENT_TIMING_H

#include "core/kind.h"

extern const struct kind timing_kind;

#endif
