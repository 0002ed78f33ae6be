// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel's own symbols. Reading them takes as long as loading the programs, and the first kernel frame needs them, so
 * a thread reads them meanwhile. The event loop then has no pause at the start of a JVM, which waits for it.
 */
#ifndef BRAID_PROCESS_KERNEL_SYMBOLS_H
#define BRAID_PROCESS_KERNEL_SYMBOLS_H

struct kernel_symbols;
struct symbols;

/* Begins to read them. NULL without memory. */
struct kernel_symbols *kernel_symbols_begin(void);
/*
 * Waits for them, and hands them over, once. The caller frees them. Returns 0, or a negative errno: there are none. `k` can
 * be NULL.
 */
int kernel_symbols_take(struct kernel_symbols *k, struct symbols **out);
void kernel_symbols_free(struct kernel_symbols *k);

#endif
