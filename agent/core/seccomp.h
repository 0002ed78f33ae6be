// SPDX-License-Identifier: Apache-2.0
/*
 * Seccomp filters of the process's threads. What the agent does on a thread may be what a filter of that thread kills
 * it for. Filters cannot be removed, so a thread's number of them shows whether it has more than another one.
 */
#ifndef BRAID_AGENT_SECCOMP_H
#define BRAID_AGENT_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>

#define SECCOMP_STRICT 0x10000 /* instead of a number: only read, write and exit are allowed */

/* The number of the calling thread's filters; negative when it is not known. */
int seccomp_filters(void);
/* That of a thread whose status file (/proc) is open. */
int seccomp_filters_in(int fd);

/*
 * Whether a thread of the process has another number of filters. Looks at `most` threads, from the one on at which the
 * last call has stopped. For one thread at a time.
 */
bool seccomp_others(int filters, uint32_t most);

#endif
