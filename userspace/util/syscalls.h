// SPDX-License-Identifier: Apache-2.0
/* The system calls of x86-64, by number and by name. */
#ifndef BRAID_UTIL_SYSCALLS_H
#define BRAID_UTIL_SYSCALLS_H

#include <stdint.h>

/* NULL: not known. `arguments` receives how many it takes. */
const char *syscall_name(uint64_t number, unsigned *arguments);

/* The number of a call; -1: not known. */
int syscall_number(const char *name);

#endif
