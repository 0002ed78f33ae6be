// SPDX-License-Identifier: Apache-2.0
/* Finds out whether this JDK mounts a virtual thread around its continuation or inside it. objects.c calls it once. */
#ifndef BRAID_AGENT_MOUNTS_H
#define BRAID_AGENT_MOUNTS_H

#include "core/jvm.h"

#include <stdbool.h>

/*
 * True if VirtualThread.runContinuation itself mounts the thread: then all code in a continuation runs mounted. The
 * first JDKs 21 mount in VirtualThread.run and after Continuation.yield. Live phase only; false when it cannot be
 * determined.
 */
bool mounts_around(jclass virtual_thread);

#endif
