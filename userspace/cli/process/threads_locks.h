// SPDX-License-Identifier: Apache-2.0
/* `braid threads --locks`: the monitors that threads own, which the JVM is asked for. */
#ifndef BRAID_CLI_THREADS_LOCKS_H
#define BRAID_CLI_THREADS_LOCKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "dump/owned.h"

/* On failure prints the reason and returns false: the dump is printed without them. */
bool threads_locks(pid_t pid, struct owned *to);

#endif
