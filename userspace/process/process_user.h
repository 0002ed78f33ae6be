// SPDX-License-Identifier: Apache-2.0
/* Finds the user that a process's cost is charged to. charges.c calls this. */
#ifndef BRAID_PROCESS_PROCESS_USER_H
#define BRAID_PROCESS_PROCESS_USER_H

#include <sys/types.h>

#define PROCESS_NO_USER ((uid_t)-1) /* the process has ended */

/*
 * The owner of the process's user namespace, since the owner of a namespace can have many user ids in it. When the
 * owner is root or the recording user, as with a container engine, it is the process's own user.
 */
uid_t process_user(pid_t pid);

#endif
