// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's event loop: file descriptors, and the functions to call when they are ready. record/ runs it; every
 * room adds its descriptors. It never reads a descriptor itself.
 */
#ifndef BRAID_SINK_SOURCES_H
#define BRAID_SINK_SOURCES_H

#include <sys/epoll.h>

struct source {
	int fd;
	void (*ready)(struct source *src); /* may unwatch and free any source, itself included */
	void *ctx;
};

#define SOURCES_READY 32

struct sources {
	int epoll_fd;
	struct epoll_event ready[SOURCES_READY]; /* not yet dispatched */
	int ready_count;
};

int sources_open(struct sources *s);
void sources_close(struct sources *s);

/* Waits for at most timeout_ms (-1: without a limit) and calls what is ready. */
int sources_dispatch(struct sources *s, int timeout_ms);

int source_watch(struct sources *s, struct source *src);
/*
 * For a descriptor that another process has a copy of. That process can change whether a read blocks, so the descriptor
 * is never read. `ready` is called once for each write.
 */
int source_watch_edges(struct sources *s, struct source *src);

/*
 * To be called before the descriptor is closed. `ready` is not called afterwards, even for an event already received.
 */
void source_unwatch(struct sources *s, struct source *src);

#endif
