// SPDX-License-Identifier: Apache-2.0
/* How long this machine's kernel takes to copy the memory of a process, as fork() does. cli/ asks this. */
#ifndef BRAID_PROC_FORK_TIME_H
#define BRAID_PROC_FORK_TIME_H

#include <stdint.h>

/*
 * The time on a CPU for each page of 4 KiB, in picoseconds, measured by copying this process with and without some
 * memory. 0: not known. To be called while this process has one thread.
 */
uint32_t fork_page_ps(void);

#endif
