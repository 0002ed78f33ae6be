// SPDX-License-Identifier: Apache-2.0
/* Whose a process is. */
#ifndef BRAID_PROCESS_PROCESS_USER_H
#define BRAID_PROCESS_PROCESS_USER_H

#include <sys/types.h>

#define PROCESS_NO_USER ((uid_t)-1) /* the process has ended */

/*
 * The user who is to answer for what a process takes: that of its user namespace's owner, since who makes one can have
 * many numbers in it; the process's own where the owner is root or the user who records, as of a container engine.
 */
uid_t process_user(pid_t pid);

#endif
