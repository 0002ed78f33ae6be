// SPDX-License-Identifier: Apache-2.0
/* braid serve: the page of a recording, which may still grow, for the browser of this machine's user. */
#ifndef BRAID_SERVE_SERVE_H
#define BRAID_SERVE_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct serve_options {
	const char *path, *title; /* of the trace */
	const char *source_link;  /* or NULL */
	uint64_t window_ns;	  /* at most this much of its end is shown; 0: see parts.h */
	uint16_t port;
	int listen_fd; /* see server_listen() */
	/* The trace does not exist yet: this is what had its name before; all 0: nothing. NULL: it exists. */
	const struct stat *former;
};

/*
 * Prints the address and serves until a signal ends it. It gives up all rights before it accepts a connection. Returns
 * 0, or a negative errno after printing the reason.
 */
int serve_run(const struct serve_options *o);

/* Blocks the signals that end it, and SIGCHLD. */
void serve_block_signals(sigset_t *set);

#endif
