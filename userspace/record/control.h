// SPDX-License-Identifier: Apache-2.0
/*
 * The control socket for `braid ctl`, through which a running recording can be changed. It is in a directory that only
 * the recorder's user can enter. A client that is slow or sends nonsense is disconnected and delays nothing. session.c
 * calls this; control_place.c also serves the command line.
 */
#ifndef BRAID_RECORD_CONTROL_H
#define BRAID_RECORD_CONTROL_H

#include "session.h"

#include <braid/control.h>

#include <sys/un.h>

struct control;

/*
 * Listens; requests wait for control_serve(). Without a directory for the socket, the recording goes on without it, and
 * a notice is emitted.
 */
int control_open(struct control **out, struct session *s);
/* Answers requests from now on: the recording has begun. NULL is fine. 0 or a negative errno. */
int control_serve(struct control *c);
void control_close(struct control *c);

/* Answers clients that wait for agents. To be called at every tick. */
void control_tick(struct control *c);

/* ---- control_place.c: for recorder and `braid ctl` ---- */

/* The directory of this user's recorders. -ENOENT: there is none. */
int control_directory(char *path, size_t size);
/* Creates it when it is missing. -EPERM: other users could put files into it. */
int control_directory_make(const char *path);
/* Removes the sockets of recorders that were killed. */
void control_directory_sweep(const char *path);
/* The address of the recorder `pid`. -ENAMETOOLONG. */
int control_address(struct sockaddr_un *a, const char *directory, pid_t pid);
/* Whether the peer is root or this process's user. `pid` is the peer's. */
bool control_trusts(int fd, pid_t *pid);
/* Is a message of `size` bytes a request that can be read? */
bool control_request_good(const struct braid_control_request *r, size_t size);

#endif
