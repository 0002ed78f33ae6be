// SPDX-License-Identifier: Apache-2.0
/* Pages of memory. */
#ifndef BRAID_UTIL_PAGES_H
#define BRAID_UTIL_PAGES_H

#include <stddef.h>

/*
 * What lies from `from` to `to` in the program's own file, and is never written, will hardly be read again. Whole pages of it are no longer
 * resident; they come from the file when they are.
 */
void pages_release(const void *from, const void *to);

/*
 * Memory of `size` bytes, all zero, which is soon written everywhere: of large pages where the kernel gives them, since in a virtual
 * machine each page that is written first can take tens of microseconds. NULL: there is none. pages_unmap() gives it back.
 */
void *pages_map(size_t size);
void pages_unmap(void *pages, size_t size);

#endif
