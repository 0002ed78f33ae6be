// SPDX-License-Identifier: Apache-2.0
/* Names of threads as the kernel keeps them (comm), and whole names that were cut to them. */
#ifndef BRAID_UTIL_COMM_H
#define BRAID_UTIL_COMM_H

#include <stdbool.h>
#include <string.h>

#define COMM_BYTES 15 /* that the kernel keeps of a name */
#define COMM_HEAD 7   /* that HotSpot keeps around two dots */
#define COMM_TAIL 6

/* It may be the part of a longer name. */
static inline bool comm_is_full(const char *comm)
{
	return strlen(comm) == COMM_BYTES;
}

/*
 * Whether a longer name is cut to this: to its beginning, or, as HotSpot's os::set_native_thread_name() does from JDK
 * 26 on, to its beginning and its end, "C2 Comp..hread0".
 */
static inline bool comm_is_cut(const char *comm, const char *name, size_t length)
{
	if (!comm_is_full(comm) || length <= COMM_BYTES)
		return false;
	return memcmp(comm, name, COMM_BYTES) == 0 ||
	       (memcmp(comm, name, COMM_HEAD) == 0 && memcmp(comm + COMM_HEAD, "..", 2) == 0 &&
		memcmp(comm + COMM_BYTES - COMM_TAIL, name + length - COMM_TAIL, COMM_TAIL) == 0);
}

#endif
