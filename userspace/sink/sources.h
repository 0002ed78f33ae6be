// SPDX-License-Identifier: Apache-2.0
/* What the collector waits for: file descriptors, and what is called when they are ready. */
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
	struct epoll_event ready[SOURCES_READY]; /* whose turn has not come yet in this sources_dispatch() */
	int ready_count;
};

int sources_open(struct sources *s);
void sources_close(struct sources *s);

/* Calls what is ready, after at most timeout_ms; -1: whenever something is. */
int sources_dispatch(struct sources *s, int timeout_ms);

int source_watch(struct sources *s, struct source *src);
/*
 * For a descriptor of which another process holds a copy: that process can change whether a read blocks, so it is never
 * read. `ready` is called once for each time that something is written.
 */
int source_watch_edges(struct sources *s, struct source *src);

/* Before its descriptor is closed. The source is not called any more, even if it was ready already. */
void source_unwatch(struct sources *s, struct source *src);

#endif
