// SPDX-License-Identifier: Apache-2.0
/* Pages of memory. */
#ifndef BRAID_UTIL_PAGES_H
#define BRAID_UTIL_PAGES_H

/*
 * What lies from `from` to `to` in the program's own file, and is never written, will hardly be read again. Whole pages of it are no longer
 * resident; they come from the file when they are.
 */
void pages_release(const void *from, const void *to);

#endif
