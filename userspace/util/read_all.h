// SPDX-License-Identifier: Apache-2.0
/* Reads of a known size. */
#ifndef BRAID_UTIL_READ_ALL_H
#define BRAID_UTIL_READ_ALL_H

#include <stddef.h>

/* Reads that many bytes, from where the file is. A negative errno; -EBADMSG: it ends before. */
int read_all(int fd, void *to, size_t size);

#endif
