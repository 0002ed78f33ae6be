// SPDX-License-Identifier: Apache-2.0
/* When does this JDK mount a virtual thread: around its continuation, or inside? */
#ifndef BRAID_AGENT_MOUNTS_H
#define BRAID_AGENT_MOUNTS_H

#include "core/jvm.h"

#include <stdbool.h>

/*
 * Does VirtualThread.runContinuation itself mount the thread? Then all that runs in a continuation runs in a thread
 * that was mounted before. The first JDKs 21 mount in VirtualThread.run and behind Continuation.yield. In the live
 * phase; false when it cannot be told.
 */
bool mounts_around(jclass virtual_thread);

#endif
