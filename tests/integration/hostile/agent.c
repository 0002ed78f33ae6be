/*
 * agent MODE: takes a ring as the agent of a JVM does that `braid record --` started, and then does what no agent does:
 *
 * again: connects over and over, while its earlier connection has something to say
 *
 * shared: makes its eventfd one on which a read waits; all that it has written must still be there at the end
 *
 * ahead: claims to have written more than there is room for
 *
 * full: has written as much as there is room for, whenever that is looked at
 *
 * Ends when its standard input does.
 */
#include "ring_client.h"

#include <pthread.h>

#define SLOT 1024U /* of the ring: each holds one record */
#define SHARED_RECORDS 10

static void again(struct grip g)
{
	const struct braid_msg chosen = {
		.magic = BRAID_SOCK_MAGIC, .version = BRAID_RING_VERSION, .kind = BRAID_MSG_CHOSEN};

	for (int i = 0; i < 15; i++) {
		int sock = dial(); /* and now all three are ready */

		wake(&g);
		send(g.sock, &chosen, sizeof(chosen), MSG_DONTWAIT);
		close(g.ring);
		close(g.wake);
		close(g.sock);
		g = receive(sock);
	}
}

static void *fill_always(void *ctx)
{
	const struct positions *f = ctx;

	for (;;)
		__atomic_store_n(f->producer, *f->consumer + f->bytes, __ATOMIC_RELEASE);
	return NULL;
}

/* Whole records everywhere, of a kind that means nothing. */
static struct positions fill(const struct grip *g)
{
	struct positions p = map_ring(g);
	struct braid_rec rec = {.size = SLOT - 8, .kind = UINT16_MAX, .time_ns = monotonic_ns()};

	for (uint64_t at = 0; at < p.bytes; at += SLOT) {
		memcpy(p.data + at, &(uint32_t[2]){rec.size}, 8);
		memcpy(p.data + at + 8, &rec, sizeof(rec));
	}
	return p;
}

/* The first of the records that fill the ring, one at a time. */
static void shared(const struct grip *g, const struct positions *f)
{
	uint64_t count = 0;

	if (fcntl(g->wake, F_SETFL, 0))
		die("fcntl");
	for (int i = 0; i < SHARED_RECORDS; i++) {
		__atomic_store_n(f->producer, *f->producer + SLOT, __ATOMIC_RELEASE);
		wake(g);
		while (*f->consumer != *f->producer)
			usleep(1000);
	}
	fcntl(g->wake, F_SETFL, O_NONBLOCK);
	if (read(g->wake, &count, sizeof(count)) < 0 || count != SHARED_RECORDS)
		die("somebody has read the eventfd");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	static struct grip g;
	static struct positions f;
	pthread_t thread;
	char byte;

	find_socket();
	g = receive(dial());
	if (!strcmp(mode, "again")) {
		again(g);
	} else if (!strcmp(mode, "shared")) {
		f = fill(&g);
		shared(&g, &f);
	} else if (!strcmp(mode, "ahead")) {
		f = fill(&g);
		__atomic_store_n(f.producer, *f.consumer + (1ULL << 62), __ATOMIC_RELEASE);
		wake(&g);
	} else if (!strcmp(mode, "full")) {
		f = fill(&g);
		pthread_create(&thread, NULL, fill_always, &f);
		wake(&g);
	} else {
		return 2;
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
