// SPDX-License-Identifier: Apache-2.0
#include "sources.h"

#include <errno.h>
#include <unistd.h>

int sources_open(struct sources *s)
{
	*s = (struct sources){.epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
	return s->epoll_fd < 0 ? -errno : 0;
}

void sources_close(struct sources *s)
{
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	s->epoll_fd = -1;
}

static int watch(struct sources *s, struct source *src, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = src};

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, src->fd, &e) ? -errno : 0;
}

int source_watch(struct sources *s, struct source *src)
{
	return watch(s, src, EPOLLIN);
}

int source_watch_edges(struct sources *s, struct source *src)
{
	return watch(s, src, EPOLLIN | EPOLLET);
}

void source_unwatch(struct sources *s, struct source *src)
{
	epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, src->fd, NULL);
	for (int i = 0; i < s->ready_count; i++)
		if (s->ready[i].data.ptr == src)
			s->ready[i].data.ptr = NULL;
}

int sources_dispatch(struct sources *s, int timeout_ms)
{
	int n = epoll_wait(s->epoll_fd, s->ready, SOURCES_READY, timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	s->ready_count = n;
	for (int i = 0; i < n; i++) {
		struct source *src = s->ready[i].data.ptr;

		if (src)
			src->ready(src);
	}
	s->ready_count = 0;
	return 0;
}
