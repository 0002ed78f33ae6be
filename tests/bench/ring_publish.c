// SPDX-License-Identifier: Apache-2.0
/*
 * What publishing a record costs the thread that does it, with 1, 2, 4 and 8 threads, and how fast the kernel drains.
 * First bursts that fit into the ring with nobody draining, so that only the producers are measured; then all of them
 * for a while beside a drain. A record carries its own time stamp, as the agent's do. Needs the right to load BPF
 * programs.
 */
#include "../../agent/ring.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES (1U << 26)
#define THREADS_MAX 8
#define BURSTS 7
#define BURST_RECORDS 400000U
#define STEADY_NS 2000000000ULL

struct record {
	struct braid_rec hdr;
	uint64_t thread;
	uint64_t number;
	uint8_t more[24];
};

struct result {
	uint64_t drained;
	uint64_t malformed;
	uint64_t disordered;
	uint64_t next[64];
};

struct bench {
	struct ring ring;
	struct bpf_object *object;
	int drain_fd;
	int result_fd;
	pthread_barrier_t start;
	_Atomic bool stop;
};

struct worker {
	struct bench *b;
	pthread_t id;
	uint64_t thread;
	uint64_t number;
	uint32_t bytes;	  /* of a record */
	uint64_t records; /* to publish, 0: until told to stop */
	uint64_t published;
	uint64_t full;
	uint64_t cpu_ns;
	uint64_t begin_ns; /* on the wall, not counting the wait for the others */
	uint64_t end_ns;
};

static uint64_t clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static bool publish_one(struct worker *w)
{
	struct record r = {
		.hdr = {.size = w->bytes,
			.kind = BRAID_REC_STUB,
			.tid = (uint32_t)w->thread,
			.time_ns = clock_of(CLOCK_MONOTONIC)},
		.thread = w->thread,
		.number = w->number,
	};
	struct iovec part = {.iov_base = &r, .iov_len = w->bytes};
	bool wake;

	if (!ring_publish(&w->b->ring, &part, 1, &wake))
		return false;
	w->number++;
	return true;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t cpu;

	pthread_barrier_wait(&w->b->start);
	w->begin_ns = clock_of(CLOCK_MONOTONIC);
	cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
	while (w->records ? w->published < w->records : !atomic_load_explicit(&w->b->stop, memory_order_relaxed)) {
		if (publish_one(w)) {
			w->published++;
		} else {
			w->full++;
			if (w->records)
				break;
			usleep(100);
		}
	}
	w->cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
	w->end_ns = clock_of(CLOCK_MONOTONIC);
	return NULL;
}

/* Everything that is in the ring; the drain takes at most 128 Ki records at a time. */
static void drain(struct bench *b)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	do {
		opts.retval = 0;
		if (bpf_prog_test_run_opts(b->drain_fd, &opts))
			break;
	} while (opts.retval == 1);
}

static struct result result_read(struct bench *b)
{
	struct result r = {0};
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(b->result_fd, &zero, &r))
		perror("ring_publish: reading the result");
	return r;
}

static int start(struct bench *b, struct worker *w, unsigned threads)
{
	pthread_barrier_init(&b->start, NULL, threads);
	atomic_store(&b->stop, false);
	for (unsigned i = 0; i < threads; i++) {
		w[i].b = b;
		w[i].published = w[i].full = 0;
		if (pthread_create(&w[i].id, NULL, work, &w[i]))
			return -EAGAIN;
	}
	return 0;
}

static void join(struct bench *b, struct worker *w, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++)
		pthread_join(w[i].id, NULL);
	pthread_barrier_destroy(&b->start);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* CPU time per record, and records per second of all threads together; medians of the bursts. */
static int bursts(struct bench *b, struct worker *w, unsigned threads, uint32_t bytes)
{
	double ns[BURSTS], rate[BURSTS];

	for (int burst = 0; burst < BURSTS; burst++) {
		uint64_t cpu = 0, published = 0, begin = UINT64_MAX, end = 0;

		for (unsigned i = 0; i < threads; i++) {
			w[i].bytes = bytes;
			w[i].records = BURST_RECORDS / threads;
		}
		if (start(b, w, threads))
			return -EAGAIN;
		join(b, w, threads);
		for (unsigned i = 0; i < threads; i++) {
			cpu += w[i].cpu_ns;
			published += w[i].published;
			begin = w[i].begin_ns < begin ? w[i].begin_ns : begin;
			end = w[i].end_ns > end ? w[i].end_ns : end;
		}
		drain(b);
		ns[burst] = (double)cpu / (double)published;
		rate[burst] = (double)published * 1e3 / (double)(end - begin);
	}
	qsort(ns, BURSTS, sizeof(ns[0]), compare);
	qsort(rate, BURSTS, sizeof(rate[0]), compare);
	printf("publish  %u threads  %2u bytes  %6.1f ns/record (%.1f to %.1f)  %5.1f M/s\n", threads, bytes,
	       ns[BURSTS / 2], ns[0], ns[BURSTS - 1], rate[BURSTS / 2]);
	return 0;
}

static int steady(struct bench *b, struct worker *w, unsigned threads, uint32_t bytes)
{
	struct result before = result_read(b), after;
	uint64_t begin = clock_of(CLOCK_MONOTONIC), published = 0, full = 0, elapsed, busy = 0;

	for (unsigned i = 0; i < threads; i++) {
		w[i].bytes = bytes;
		w[i].records = 0;
	}
	if (start(b, w, threads))
		return -EAGAIN;
	while ((elapsed = clock_of(CLOCK_MONOTONIC) - begin) < STEADY_NS) {
		uint64_t t = clock_of(CLOCK_THREAD_CPUTIME_ID);

		drain(b);
		busy += clock_of(CLOCK_THREAD_CPUTIME_ID) - t;
		usleep(1000);
	}
	atomic_store(&b->stop, true);
	join(b, w, threads);
	drain(b);
	after = result_read(b);
	for (unsigned i = 0; i < threads; i++) {
		published += w[i].published;
		full += w[i].full;
	}
	printf("drained  %u threads  %2u bytes  %6.1f M/s, %.1f ns/record of drain CPU; ring found full %llu times%s\n",
	       threads, bytes, (double)(after.drained - before.drained) * 1e3 / (double)elapsed,
	       (double)busy / (double)(after.drained - before.drained + 1), (unsigned long long)full,
	       after.drained - before.drained == published ? "" : "; NOT ALL THAT WAS PUBLISHED WAS DRAINED");
	return after.drained - before.drained == published ? 0 : -EIO;
}

static int bench_open(struct bench *b, const char *path)
{
	struct bpf_map *map;

	b->object = bpf_object__open_file(path, NULL);
	if (!b->object)
		return -errno;
	map = bpf_object__find_map_by_name(b->object, "bench_ring");
	if (!map || bpf_map__set_max_entries(map, RING_BYTES) || bpf_object__load(b->object))
		return -errno;
	b->drain_fd = bpf_program__fd(bpf_object__find_program_by_name(b->object, "drain"));
	map = bpf_object__next_map(b->object, NULL);
	while (map && !strstr(bpf_map__name(map), ".bss"))
		map = bpf_object__next_map(b->object, map);
	b->result_fd = map ? bpf_map__fd(map) : -1;
	return ring_open(&b->ring, bpf_object__find_map_fd_by_name(b->object, "bench_ring"), RING_BYTES);
}

int main(int argc, char **argv)
{
	static struct bench b;
	static struct worker w[THREADS_MAX];
	struct result r;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: ring_publish ring_bench.bpf.o\n");
		return 2;
	}
	err = bench_open(&b, argv[1]);
	if (err) {
		fprintf(stderr, "ring_publish: %s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	for (unsigned i = 0; i < THREADS_MAX; i++)
		w[i].thread = i;
	for (unsigned threads = 1; threads <= THREADS_MAX && !err; threads *= 2) {
		err = bursts(&b, w, threads, 40);
		if (!err)
			err = bursts(&b, w, threads, 64);
	}
	for (unsigned threads = 1; threads <= THREADS_MAX && !err; threads *= 8)
		err = steady(&b, w, threads, 40);
	r = result_read(&b);
	printf("drained %llu records altogether, %llu malformed, %llu out of a thread's order\n",
	       (unsigned long long)r.drained, (unsigned long long)r.malformed, (unsigned long long)r.disordered);
	ring_close(&b.ring);
	bpf_object__close(b.object);
	return err || r.malformed || r.disordered;
}
