// SPDX-License-Identifier: Apache-2.0
#include "client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096U
#define FULL_FOR_NS 1000000000ULL

static struct sockaddr_un collector = {.sun_family = AF_UNIX};

void die(const char *what)
{
	perror(what);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- the connection ---- */

void find_socket(const char *options)
{
	const char *at = options ? strstr(options, "sock=") : NULL;

	if (!at)
		die("no socket in the options");
	at += strlen("sock=");
	snprintf(collector.sun_path, sizeof(collector.sun_path), "%.*s", (int)strcspn(at, ", "), at);
}

int dial(void)
{
	struct braid_msg join = {.magic = BRAID_SOCK_MAGIC,
				 .version = BRAID_RING_VERSION,
				 .kind = BRAID_MSG_JOIN,
				 .value = (uint64_t)getpid()};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (sock < 0 || connect(sock, (struct sockaddr *)&collector, sizeof(collector)))
		die("connect");
	(void)!send(sock, &join, sizeof(join), MSG_NOSIGNAL); /* a refused client notices later */
	return sock;
}

struct grip receive(int sock)
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

	if (recvmsg(sock, &h, MSG_CMSG_CLOEXEC) != sizeof(grant) || !(c = CMSG_FIRSTHDR(&h)))
		die("no grant");
	bytes = c->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(c), bytes < sizeof(fds) ? bytes : sizeof(fds));
	return (struct grip){.sock = sock, .ring = fds[0], .wake = fds[1], .program = fds[2], .bytes = grant.msg.value};
}

void grip_map(struct grip *g)
{
	uint8_t *producer = mmap(NULL, PAGE + 2 * g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, g->ring, PAGE);

	g->consumer = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, g->ring, 0);
	if ((void *)g->consumer == MAP_FAILED || producer == MAP_FAILED)
		die("mmap");
	g->producer = (void *)producer;
	g->data = producer + PAGE;
}

void grip_close(struct grip *g)
{
	close(g->ring);
	close(g->wake);
	if (g->program >= 0)
		close(g->program);
	close(g->sock);
}

void wake(const struct grip *g)
{
	const uint64_t one = 1;

	if (write(g->wake, &one, sizeof(one)) < 0 && errno != EAGAIN)
		die("wake");
}

/* ---- records ---- */

struct braid_rec head(uint16_t kind, size_t size)
{
	return (struct braid_rec){
		.size = (uint32_t)size, .kind = kind, .tid = (uint32_t)syscall(SYS_gettid), .time_ns = now_ns()};
}

static void saturated(const struct grip *g)
{
	if (g->saturated)
		g->saturated();
}

static void wait_for_room(const struct grip *g, uint64_t bytes)
{
	uint64_t since = now_ns();

	while (*g->producer + bytes - __atomic_load_n(g->consumer, __ATOMIC_ACQUIRE) > g->bytes) {
		wake(g);
		usleep(200);
		if (now_ns() - since > FULL_FOR_NS)
			saturated(g);
	}
}

void put(struct grip *g, const void *record, size_t size)
{
	uint64_t bytes = (8 + size + 7) & ~7ULL, at;
	const uint32_t header[2] = {(uint32_t)size};

	if (!g->data)
		grip_map(g);
	wait_for_room(g, bytes);
	at = *g->producer & (g->bytes - 1);
	memcpy(g->data + at, header, sizeof(header));
	memcpy(g->data + at + 8, record, size);
	__atomic_store_n(g->producer, *g->producer + bytes, __ATOMIC_RELEASE);
	g->written += bytes;
	if (*g->producer - *g->consumer > g->bytes / 4)
		wake(g);
	if (g->written > 2 * g->bytes)
		saturated(g);
}
