// SPDX-License-Identifier: Apache-2.0
/*
 * Work that has to be brought to its end even if this program is killed meanwhile. The kernel leaves a uprobe where it
 * was when who sets it or gives it up is killed in the middle of that ("failed to unregister, leaking uprobe").
 */
#ifndef BRAID_UTIL_APART_H
#define BRAID_UTIL_APART_H

#include <stdbool.h>

/*
 * Calls fn in a process of its own that shares this one's memory and descriptors, and returns when it has ended. The
 * calling thread stands still meanwhile, as its thread-local data are used. Without such a process it calls fn itself.
 */
void apart_run(void (*fn)(void *ctx), void *ctx);

/* In fn: is it there alone? Then it is to return soon: what is left is closed when it does. */
bool apart_orphaned(void);

#endif
