// SPDX-License-Identifier: Apache-2.0
/*
 * Measures what it costs a thread to publish a record, with 1, 2, 4 and 8 threads, beside a uprobe and an LTTng-UST
 * event; and how many records a second the kernel side passes to the collector without loss.
 *
 * A burst fits into the ring and is not drained meanwhile, so it measures only the producers. Bursts of the peers
 * alternate, and ratios are those of consecutive bursts, because machines change their speed within minutes. A record
 * is like the agent's: a header with thread and time, and a payload of 32 or 64 bytes.
 */
#include "../../agent/core/ring.h"

#include "lttng.h"

#include "hit.skel.h"
#include "kernel/kernel_side.h"

#include <argp.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BURST_RING_BYTES (1U << 26)
#define STEADY_RING_BYTES (1U << 20) /* the size that the collector grants */
#define BURST_RECORDS 400000U
#define THREADS_MAX 8
#define ROUNDS_MAX 101
#define PAYLOAD_MAX 64

enum { UPROBE, RING32, RING64, LTTNG32, LTTNG64, CLOCK, PEERS };

struct record {
	struct braid_rec hdr;
	uint32_t thread;
	uint32_t reserved;
	uint64_t number;
	uint8_t more[PAYLOAD_MAX - 16];
};

struct peer {
	const char *name;
	uint32_t payload; /* bytes, 0 when it carries none */
	uint32_t calls;	  /* of a burst, by all threads together */
	bool (*call)(struct ring *ring, struct record *r, uint32_t payload);
	bool present;
};

struct worker {
	pthread_t id;
	pthread_barrier_t *start;
	const struct peer *peer;
	struct ring *ring;
	struct record record;
	uint32_t calls; /* 0: until `stop` */
	_Atomic bool *stop;
	uint64_t done;
	uint64_t full; /* calls that found the ring full */
	uint64_t cpu_ns;
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct figure {
	double cpu_ns;	/* of the callers, per call */
	double wall_ns; /* elapsed, per call of all threads together */
};

/* What the collector's side received. */
struct seen {
	uint64_t records;
	uint64_t disordered;
	uint64_t next[THREADS_MAX];
};

/* For the targets. */
struct summary {
	double ns[THREADS_MAX + 1][PEERS]; /* CPU of a record, by number of threads */
	double cheaper;			   /* than a uprobe, at worst */
};

static struct {
	int rounds;
	double steady_s;
} set = {.rounds = 9, .steady_s = 2};

static struct kernel_side *kernel;
static struct hit_bpf *hit;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* ---- one call of each peer ---- */

static bool call_ring(struct ring *ring, struct record *r, uint32_t payload)
{
	struct iovec part = {.iov_base = r, .iov_len = sizeof(r->hdr) + payload};
	bool wake;

	r->hdr.size = (uint32_t)part.iov_len;
	r->hdr.time_ns = clock_ns(CLOCK_MONOTONIC);
	if (!ring_publish(ring, &part, 1, &wake))
		return false;
	r->number++;
	return true;
}

static bool call_lttng(struct ring *ring, struct record *r, uint32_t payload)
{
	(void)ring;
	lttng_event((const uint8_t *)&r->thread, payload);
	r->number++;
	return true;
}

/* The probed function: it must exist once, and be called. */
void bench_uprobe_target(const struct record *r);
__attribute__((noinline)) void bench_uprobe_target(const struct record *r)
{
	__asm__ volatile("" ::"r"(r));
}

static bool call_uprobe(struct ring *ring, struct record *r, uint32_t payload)
{
	(void)ring;
	(void)payload;
	bench_uprobe_target(r);
	return true;
}

static bool call_clock(struct ring *ring, struct record *r, uint32_t payload)
{
	(void)ring;
	(void)payload;
	r->hdr.time_ns = clock_ns(CLOCK_MONOTONIC);
	return true;
}

static struct peer peers[PEERS] = {
	[UPROBE] = {"uprobe, empty program", 0, 16000, call_uprobe, true},
	[RING32] = {"braid ring, 32 bytes", 32, BURST_RECORDS, call_ring, true},
	[RING64] = {"braid ring, 64 bytes", 64, BURST_RECORDS, call_ring, true},
	[LTTNG32] = {"LTTng-UST, 32 bytes", 32, BURST_RECORDS, call_lttng, false},
	[LTTNG64] = {"LTTng-UST, 64 bytes", 64, BURST_RECORDS, call_lttng, false},
	[CLOCK] = {"clock_gettime alone", 0, BURST_RECORDS, call_clock, true},
};

/* ---- threads ---- */

/* Like the agent's definitions, a record waits while the ring is full. */
static void call_until_stopped(struct worker *w)
{
	const struct timespec nap = {.tv_nsec = 100000};

	while (!atomic_load_explicit(w->stop, memory_order_relaxed)) {
		if (w->peer->call(w->ring, &w->record, w->peer->payload)) {
			w->done++;
		} else {
			w->full++;
			nanosleep(&nap, NULL);
		}
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t cpu;

	pthread_barrier_wait(w->start);
	w->begin_ns = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!w->calls)
		call_until_stopped(w);
	while (w->done < w->calls && w->peer->call(w->ring, &w->record, w->peer->payload))
		w->done++;
	w->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	w->end_ns = clock_ns(CLOCK_MONOTONIC);
	return NULL;
}

static int workers_start(struct worker *w, int threads, const struct worker *model, pthread_barrier_t *start)
{
	int err = -pthread_barrier_init(start, NULL, (unsigned)threads);

	for (int i = 0; i < threads && !err; i++) {
		w[i] = *model;
		w[i].start = start;
		w[i].record.thread = (uint32_t)i;
		w[i].record.hdr.kind = BRAID_REC_GC_START; /* a kind that the kernel side only passes on */
		w[i].record.hdr.tid = (uint32_t)gettid();
		err = -pthread_create(&w[i].id, NULL, work, &w[i]);
	}
	if (err) {
		fprintf(stderr, "ring: cannot start %d threads: %s\n", threads, strerror(-err));
		exit(1); /* some threads wait at the barrier for ever */
	}
	return err;
}

static void workers_join(struct worker *w, int threads)
{
	for (int i = 0; i < threads; i++)
		pthread_join(w[i].id, NULL);
	pthread_barrier_destroy(w[0].start);
}

/* ---- the collector's side ---- */

static void on_event(void *ctx, const struct braid_event *event)
{
	const struct braid_event_agent *e = (const void *)event;
	const struct record *r = (const void *)(e + 1);
	struct seen *seen = ctx;

	seen->records++;
	if (r->thread >= THREADS_MAX || r->number != seen->next[r->thread]) {
		seen->disordered++;
		return;
	}
	seen->next[r->thread]++;
}

/* Reads everything in the ring. Fails when the kernel side refused or lost anything. */
static int drain(int slot, struct seen *seen, uint64_t *records)
{
	struct braid_drain total = {0};
	int err = kernel_side_drain(kernel, (uint32_t)slot, on_event, seen, &total);

	*records = total.records;
	if (err)
		fprintf(stderr, "ring: draining failed: %s\n", strerror(-err));
	else if (total.bad || total.lost)
		fprintf(stderr, "ring: the kernel side refused %llu records and lost %llu\n",
			(unsigned long long)total.bad, (unsigned long long)total.lost);
	return err ?: total.bad || total.lost ? -EIO : 0;
}

/* A ring that the kernel side drains: its slot, or a negative errno. */
static int ring_make(struct ring *ring, uint32_t bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_USER_RINGBUF, "bench_ring", 0, 0, bytes, NULL);
	struct braid_event_config config = {0};
	uint32_t generation;
	int err, slot = -1;

	if (fd < 0) {
		err = -errno;
		goto out;
	}
	err = slot = kernel_side_add_jvm(kernel, &config, &generation);
	if (slot >= 0)
		err = kernel_side_add_ring(kernel, (uint32_t)slot, fd) ?: ring_open(ring, fd, bytes);
	close(fd);
out:
	if (err < 0)
		fprintf(stderr, "ring: cannot make a ring of %u bytes: %s\n", bytes, strerror(-err));
	return err < 0 ? err : slot;
}

/* ---- bursts ---- */

static int burst(struct ring *ring, int slot, int threads, const struct peer *peer, struct figure *out)
{
	struct worker w[THREADS_MAX], model = {.peer = peer, .ring = ring, .calls = peer->calls / (uint32_t)threads};
	uint64_t cpu = 0, begin = UINT64_MAX, end = 0, wanted = (uint64_t)model.calls * (uint64_t)threads, drained;
	uint64_t done = 0, hits = hit->bss->hits;
	struct seen seen = {0};
	pthread_barrier_t start;
	int err;

	err = workers_start(w, threads, &model, &start);
	if (err)
		return err;
	workers_join(w, threads);
	for (int i = 0; i < threads; i++) {
		done += w[i].done;
		cpu += w[i].cpu_ns;
		begin = w[i].begin_ns < begin ? w[i].begin_ns : begin;
		end = w[i].end_ns > end ? w[i].end_ns : end;
	}
	out->cpu_ns = (double)cpu / (double)wanted;
	out->wall_ns = (double)(end - begin) / (double)wanted;
	if (peer->call == call_uprobe)
		done = hit->bss->hits - hits;
	if (peer->call == call_ring) {
		err = drain(slot, &seen, &drained);
		done = seen.records - seen.disordered;
	}
	if (!err && done != wanted) {
		fprintf(stderr, "ring: %s: %llu calls, %llu arrived\n", peer->name, (unsigned long long)wanted,
			(unsigned long long)done);
		err = -EIO;
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void print_target(int threads, const char *name, double ns)
{
	double limit = threads == 1 ? 100 : 250;

	printf("target: %s, %d thread%s: under %.0f ns a record: %.1f, %s\n", name, threads, threads > 1 ? "s" : "",
	       limit, ns, ns < limit ? "met" : "MISSED");
}

static void print_peer(int threads, int p, struct figure figures[PEERS][ROUNDS_MAX], struct summary *sum)
{
	double cpu[ROUNDS_MAX], wall[ROUNDS_MAX], ratio[ROUNDS_MAX];
	double ns, times;
	char range[64];

	for (int r = 0; r < set.rounds; r++) {
		cpu[r] = figures[p][r].cpu_ns;
		wall[r] = figures[p][r].wall_ns;
		ratio[r] = figures[UPROBE][r].cpu_ns / figures[p][r].cpu_ns;
	}
	ns = median(cpu, set.rounds);
	times = median(ratio, set.rounds);
	snprintf(range, sizeof(range), "%.1f to %.1f", cpu[0], cpu[set.rounds - 1]);
	printf("%7d  %-21s %12.1f  %-20s %11.2f %13.1f\n", threads, peers[p].name, ns, range,
	       1e3 / median(wall, set.rounds), times);
	if (peers[p].call != call_ring)
		return;
	sum->ns[threads][p] = ns;
	if (!sum->cheaper || times < sum->cheaper)
		sum->cheaper = times;
}

static int bursts(void)
{
	static struct figure figures[PEERS][ROUNDS_MAX];
	struct summary sum = {0};
	struct figure warm;
	struct ring ring;
	int slot, err;

	slot = ring_make(&ring, BURST_RING_BYTES);
	if (slot < 0)
		return slot;
	/* Twice around the ring, so that its pages are present. */
	for (int i = 0; i < 4; i++) {
		err = burst(&ring, slot, 1, &peers[RING64], &warm);
		if (err)
			goto out;
	}
	printf("\nPublishing; median (range) of %d bursts, taken in turn\n", set.rounds);
	printf("threads  what                  CPU ns a call  range                M calls/s  times cheaper\n");
	for (int threads = 1; threads <= THREADS_MAX; threads *= 2) {
		for (int r = 0; r < set.rounds; r++)
			for (int p = 0; p < PEERS; p++) {
				if (!peers[p].present)
					continue;
				err = burst(&ring, slot, threads, &peers[p], &figures[p][r]);
				if (err)
					goto out;
			}
		for (int p = 0; p < PEERS; p++)
			if (peers[p].present)
				print_peer(threads, p, figures, &sum);
	}
	for (int threads = 1; threads <= THREADS_MAX; threads *= THREADS_MAX)
		for (int p = RING32; p <= RING64; p++)
			print_target(threads, peers[p].name, sum.ns[threads][p]);
	printf("target: braid ring, always: 50 times cheaper than a uprobe: %.0f, %s\n", sum.cheaper,
	       sum.cheaper >= 50 ? "met" : "MISSED");
out:
	ring_close(&ring);
	kernel_side_remove_ring(kernel, (uint32_t)slot);
	return err;
}

/* ---- through to the collector ---- */

static int steady(struct ring *ring, int slot, int threads, const struct peer *peer)
{
	_Atomic bool stop = false;
	struct worker w[THREADS_MAX], model = {.peer = peer, .ring = ring, .stop = &stop};
	uint64_t begin, cpu, busy = 0, done = 0, full = 0, records;
	struct seen seen = {0};
	pthread_barrier_t start;
	double elapsed;
	int err;

	err = workers_start(w, threads, &model, &start);
	if (err)
		return err;
	begin = clock_ns(CLOCK_MONOTONIC);
	while (!err && (double)(clock_ns(CLOCK_MONOTONIC) - begin) < set.steady_s * 1e9) {
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		err = drain(slot, &seen, &records);
		busy += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		if (!records)
			usleep(50);
	}
	atomic_store(&stop, true);
	workers_join(w, threads);
	if (!err)
		err = drain(slot, &seen, &records);
	elapsed = (double)(clock_ns(CLOCK_MONOTONIC) - begin);
	for (int i = 0; i < threads; i++) {
		done += w[i].done;
		full += w[i].full;
	}
	if (!err && (seen.records != done || seen.disordered))
		err = -EIO;
	printf("%7d  %-22s %9.2f  %12llu %12llu %10llu  %14.1f %12llu\n", threads, peer->name,
	       (double)seen.records * 1e3 / elapsed, (unsigned long long)done,
	       (unsigned long long)(done - seen.records), (unsigned long long)seen.disordered,
	       (double)busy / (double)(seen.records ? seen.records : 1), (unsigned long long)full);
	return err;
}

static int steady_all(void)
{
	struct ring ring;
	int slot, err = 0;

	printf("\nThrough the kernel to the collector, nothing dropped: records that find the ring (%u KiB) full wait; "
	       "%.1f s each\n",
	       STEADY_RING_BYTES / 1024, set.steady_s);
	printf("threads  what                   M records/s   published         lost disordered  drain ns/record   "
	       "found full\n");
	for (int threads = 1; threads <= THREADS_MAX && !err; threads *= 2)
		for (int p = RING32; p <= RING64 && !err; p++) {
			slot = ring_make(&ring, STEADY_RING_BYTES);
			if (slot < 0)
				return slot;
			err = steady(&ring, slot, threads, &peers[p]);
			ring_close(&ring);
			kernel_side_remove_ring(kernel, (uint32_t)slot);
		}
	return err;
}

/* ---- setting up ---- */

static int uprobe_attach(void)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = "bench_uprobe_target");
	struct bpf_link *link;

	hit = hit_bpf__open_and_load();
	if (!hit)
		return -errno;
	link = bpf_program__attach_uprobe_opts(hit->progs.on_hit, getpid(), "/proc/self/exe", 0, &opts);
	if (!link)
		return -errno;
	hit->links.on_hit = link;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'r':
		set.rounds = atoi(arg);
		if (set.rounds < 1 || set.rounds > ROUNDS_MAX)
			argp_error(state, "between 1 and %d rounds", ROUNDS_MAX);
		return 0;
	case 's':
		set.steady_s = atof(arg);
		if (!(set.steady_s > 0 && set.steady_s < 3600))
			argp_error(state, "not a number of seconds: %s", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"rounds", 'r', "N", 0, "Bursts of each kind (default 9)", 0},
		{"seconds", 's', "S", 0, "How long each drain is watched (default 2)", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.doc = "Cost of publishing a record into braid's ring, beside a uprobe and LTTng-UST.",
	};
	const struct record_options o = {.frequency_hz = 99, .event = "cpu-clock", .max_depth = BRAID_MAX_DEPTH};
	int err;

	if (argp_parse(&argp, argc, argv, 0, NULL, NULL))
		return 2;
	err = kernel_side_open(&kernel, &o);
	if (err)
		return 1;
	err = uprobe_attach();
	if (err) {
		fprintf(stderr, "ring: cannot attach a uprobe: %s\n", strerror(-err));
		goto out;
	}
	peers[LTTNG32].present = peers[LTTNG64].present = lttng_enabled();
	if (!lttng_enabled())
		printf("LTTng-UST: left out: no session daemon with these events\n");
	err = bursts();
	err = err ?: steady_all();
out:
	hit_bpf__destroy(hit);
	kernel_side_free(kernel);
	return err ? 1 : 0;
}
