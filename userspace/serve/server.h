// SPDX-License-Identifier: Apache-2.0
/* Answers requests of HTTP with what parts.h has. It has no thread of its own. */
#ifndef BRAID_SERVE_SERVER_H
#define BRAID_SERVE_SERVER_H

#include "parts.h"

struct server;

/* At a listening socket, which it takes over. `parts` must outlive it. 0 or a negative errno. */
int server_open(struct server **out, int listen_fd, const char token[TOKEN_DIGITS + 1], struct parts *parts);
/* Ends all connections. */
void server_close(struct server *s);

/* Waits until there is something to do, or `other_fd` is readable, at most so long, and does what there is to do. */
void server_wait(struct server *s, int other_fd, int most_ms);

/* A socket that listens on 127.0.0.1 only; *port 0: at any port, which is set. A descriptor or a negative errno. */
int server_listen(uint16_t *port);

#endif
