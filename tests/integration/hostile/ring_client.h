// SPDX-License-Identifier: Apache-2.0
/* What the agent of a JVM does to get a ring, for programs that misuse it. */
#ifndef BRAID_TESTS_RING_CLIENT_H
#define BRAID_TESTS_RING_CLIENT_H

#include <braid/ring.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096U

struct grip {
	int sock, ring, wake, demand; /* demand: -1: there is none */
	uint64_t bytes;
};

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Where braid listens: "-agentpath:LIBRARY=sock=PATH[,...]" */
static inline void find_socket(void)
{
	const char *option = getenv("JAVA_TOOL_OPTIONS"), *at = option ? strstr(option, "=sock=") : NULL;

	if (!at)
		die("JAVA_TOOL_OPTIONS");
	at += strlen("=sock=");
	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s", (int)strcspn(at, ", "), at);
}

static inline int dial(void)
{
	struct braid_msg join = {.magic = BRAID_SOCK_MAGIC,
				 .version = BRAID_RING_VERSION,
				 .kind = BRAID_MSG_JOIN,
				 .value = (uint64_t)getpid()};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (sock < 0 || connect(sock, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	(void)!send(sock, &join, sizeof(join), MSG_NOSIGNAL); /* one that is refused sees it later */
	return sock;
}

static inline struct grip receive(int sock)
{
	struct braid_grant grant;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control;
	struct iovec part = {.iov_base = &grant, .iov_len = sizeof(grant)};
	struct msghdr h = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c;
	int fds[3] = {-1, -1, -1};
	size_t bytes;

	if (recvmsg(sock, &h, MSG_CMSG_CLOEXEC) != sizeof(grant) || !CMSG_FIRSTHDR(&h))
		die("no grant");
	c = CMSG_FIRSTHDR(&h);
	bytes = c->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(c), bytes < sizeof(fds) ? bytes : sizeof(fds));
	return (struct grip){.sock = sock, .ring = fds[0], .wake = fds[1], .demand = fds[2], .bytes = grant.msg.value};
}

static inline void wake(const struct grip *g)
{
	const uint64_t one = 1;

	if (write(g->wake, &one, sizeof(one)) < 0 && errno != EAGAIN)
		die("wake");
}

struct positions {
	const volatile uint64_t *consumer;
	volatile uint64_t *producer;
	uint8_t *data; /* mapped twice in a row: no record is split */
	uint64_t bytes;
};

static inline struct positions map_ring(const struct grip *g)
{
	const volatile uint64_t *consumer = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, g->ring, 0);
	uint8_t *producer = mmap(NULL, PAGE + 2 * g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, g->ring, PAGE);

	if (consumer == MAP_FAILED || producer == MAP_FAILED)
		die("mmap");
	return (struct positions){
		.consumer = consumer, .producer = (void *)producer, .data = producer + PAGE, .bytes = g->bytes};
}

static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Waits for room. Fills in what every record has, but its kind and thread. */
static inline void put(const struct grip *g, const struct positions *p, struct braid_rec *rec, uint32_t size)
{
	uint64_t room = (size + 8 + 7) & ~7ULL, at = *p->producer;

	while (at + room - __atomic_load_n(p->consumer, __ATOMIC_ACQUIRE) > p->bytes) {
		wake(g);
		usleep(200);
	}
	rec->size = size;
	rec->time_ns = monotonic_ns();
	memcpy(p->data + (at & (p->bytes - 1)), &(uint32_t[2]){size}, 8);
	memcpy(p->data + (at & (p->bytes - 1)) + 8, rec, size);
	__atomic_store_n(p->producer, at + room, __ATOMIC_RELEASE);
}

#endif
