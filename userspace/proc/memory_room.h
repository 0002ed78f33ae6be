// SPDX-License-Identifier: Apache-2.0
/* How much memory a process can still get. */
#ifndef BRAID_PROC_MEMORY_ROOM_H
#define BRAID_PROC_MEMORY_ROOM_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes that the machine has available and that the limits of the process's control groups leave, with what the kernel
 * can take back from files. UINT64_MAX: not known.
 */
uint64_t memory_room(pid_t pid);

/* The bytes that a process has in memory of its own, which a copy of it shares at first. 0: not known. */
uint64_t memory_private(pid_t pid);

#endif
