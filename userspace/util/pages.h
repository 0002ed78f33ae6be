// SPDX-License-Identifier: Apache-2.0
/* Pages of memory. */
#ifndef BRAID_UTIL_PAGES_H
#define BRAID_UTIL_PAGES_H

#include <stddef.h>

/*
 * What lies from `from` to `to` in the program's own file, and is never written, will hardly be read again. Whole pages
 * of it are no longer resident; they come from the file when they are.
 */
void pages_release(const void *from, const void *to);

/*
 * As malloc(), for what is soon written everywhere: a megabyte or more is of large pages where the kernel gives them,
 * since in a virtual machine each page that is written first can take tens of microseconds. free() gives it back, and
 * may follow realloc() to a smaller size.
 */
void *pages_alloc(size_t size);

#endif
