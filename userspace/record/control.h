// SPDX-License-Identifier: Apache-2.0
/*
 * The door for `braid ctl`: changes a recording while it goes on. A socket in a directory that only the recorder's user
 * can enter; a client that is slow, or asks for nonsense, loses its connection and holds nobody up.
 */
#ifndef BRAID_RECORD_CONTROL_H
#define BRAID_RECORD_CONTROL_H

#include "session.h"

#include <braid/control.h>

#include <sys/un.h>

struct control;

/* Listens. Without a place to listen at, the recording goes on without it, and says so in the trace. */
int control_open(struct control **out, struct session *s);
void control_close(struct control *c);

/* Answers those that wait for agents; to be called now and then. */
void control_tick(struct control *c);

/* ---- control_place.c: for both sides ---- */

/* The directory of this user's recorders. -ENOENT: there is no place for one. */
int control_directory(char *path, size_t size);
/* Makes it, when it is not there. -EPERM: others could put something there. */
int control_directory_make(const char *path);
/* Removes the sockets of recorders that were killed. */
void control_directory_sweep(const char *path);
/* The address of the recorder `pid`. -ENAMETOOLONG. */
int control_address(struct sockaddr_un *a, const char *directory, pid_t pid);
/* May the process at the other end be spoken to? It is root or this process's user. `pid` is what it says it is. */
bool control_trusts(int fd, pid_t *pid);

#endif
