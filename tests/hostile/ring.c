// SPDX-License-Identifier: Apache-2.0
/*
 * Modes of the hostile program that misuse the connection and the ring themselves, whatever the records contain. main.c
 * starts them.
 */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOT 1024U /* of the ring: each holds one record */
#define SHARED_RECORDS 10
#define RECONNECTS 15
#define MESSAGE_MAX 60000
#define MOUNTS 125000 /* three times as many are more than BRAID_VTHREAD_TIMES */

void ring_again(struct grip *g)
{
	const struct braid_msg configured = {
		.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_CONFIGURED};

	for (int i = 0; i < RECONNECTS; i++) {
		int sock = dial(); /* now all three are ready */

		wake(g);
		send(g->sock, &configured, sizeof(configured), MSG_DONTWAIT);
		grip_close(g);
		*g = receive(sock);
	}
}

/* Fills the ring with whole records of an unknown kind. */
static void fill(struct grip *g)
{
	const struct braid_rec rec = head(UINT16_MAX, SLOT - 8);

	grip_map(g);
	for (uint64_t at = 0; at < g->bytes; at += SLOT) {
		memcpy(g->data + at, (const uint32_t[2]){rec.size}, 8);
		memcpy(g->data + at + 8, &rec, sizeof(rec));
	}
}

/* Fills the ring one record at a time. The collector may not have read the eventfd meanwhile. */
void ring_shared(struct grip *g)
{
	uint64_t count = 0;

	fill(g);
	if (fcntl(g->wake, F_SETFL, 0))
		die("fcntl");
	for (int i = 0; i < SHARED_RECORDS; i++) {
		__atomic_store_n(g->producer, *g->producer + SLOT, __ATOMIC_RELEASE);
		wake(g);
		while (*g->consumer != *g->producer)
			usleep(1000);
	}
	fcntl(g->wake, F_SETFL, O_NONBLOCK);
	if (read(g->wake, &count, sizeof(count)) < 0 || count != SHARED_RECORDS)
		die("somebody has read the eventfd");
}

void ring_ahead(struct grip *g)
{
	fill(g);
	__atomic_store_n(g->producer, *g->consumer + (1ULL << 62), __ATOMIC_RELEASE);
	wake(g);
}

void ring_full(struct grip *g)
{
	fill(g);
	wake(g);
	under_way();
	for (;;)
		__atomic_store_n(g->producer, *g->consumer + g->bytes, __ATOMIC_RELEASE);
}

/* Half of the numbers are small, so that sizes, kinds and counts are often nearly valid. */
void ring_garbage(struct grip *g)
{
	union {
		struct braid_rec rec;
		uint32_t words[BRAID_REC_MAX / 4];
	} r;

	put_hello(g);
	for (;;) {
		size_t words = sizeof(r.rec) / 4 + random_number() % (random_number() % 20 ? 100 : 4000);

		for (size_t i = 0; i < words; i++)
			r.words[i] = random_number() % 2 ? random_number() : random_number() % 32;
		r.rec = head((uint16_t)(random_number() % (BRAID_REC_KINDS + 2)), words * 4);
		if (random_number() % 50 == 0)
			r.rec.size = random_number();
		put(g, &r, words * 4);
	}
}

void ring_messages(struct grip *g)
{
	static uint8_t message[MESSAGE_MAX];
	struct braid_msg *m = (void *)message;

	*m = (struct braid_msg){.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_CONFIGURED};
	for (int i = 0;; i++) {
		size_t size = i % 2 ? sizeof(*m) : random_number() % MESSAGE_MAX;

		m->value = random_number();
		if (send(g->sock, message, size, 0) < 0 && errno != EAGAIN && errno != ENOBUFS)
			return; /* the collector may have closed this connection, which is fine */
		if (i > 1000)
			under_way();
	}
}

/* False: the kernel does not let a JVM run the program. */
static bool run_program(const struct grip *g, struct braid_stack_request *request)
{
	union bpf_attr attr = {.test = {.prog_fd = (uint32_t)g->program,
					.ctx_in = (uint64_t)(uintptr_t)request,
					.ctx_size_in = sizeof(*request)}};

	return syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)) >= 0;
}

static void *request_always(void *ctx)
{
	struct braid_stack_request request = {.event.kind = BRAID_JVM_ALLOC};

	do {
		request.event.value++;
		request.event.start_ns = request.event.end_ns = now_ns();
	} while (run_program(ctx, &request));
	return NULL;
}

void ring_requests(struct grip *g)
{
	pthread_t other;

	put_hello(g);
	if (pthread_create(&other, NULL, request_always, g))
		die("pthread_create");
	under_way();
	request_always(g);
	pthread_join(other, NULL);
}

/* Says "all" when every one of them is followed. */
void ring_mounts(struct grip *g)
{
	struct braid_stack_request request = {.event = {.kind = BRAID_JVM_OFFCPU, .flags = BRAID_MOUNT_START}};
	uint32_t followed = 0;

	put_hello(g);
	while (followed < MOUNTS) {
		followed = 0;
		for (request.event.number = 1; request.event.number <= MOUNTS; request.event.number++) {
			if (!run_program(g, &request))
				return;
			followed += request.event.end_ns != 0; /* the program's answer */
		}
		under_way();
		usleep(100000);
	}
	puts("all");
	fflush(stdout);
}
