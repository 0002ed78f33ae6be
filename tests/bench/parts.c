// SPDX-License-Identifier: Apache-2.0
/*
 * Measures single operations of BPF programs on this machine, with everything in the caches: those that the sampling
 * program (bpf/stack/sample.bpf.h) consists of.
 */
#include "parts.skel.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 15
#define TIMES 10000U
#define TIMES_OUTPUT 1000U /* as many as fit in each round */

struct parts_args {
	__u64 memory;
	__u32 part;
	__u32 times;
	__u64 ns;
	__u64 sum;
};

static const struct {
	const char *event;
	__u32 times;
} parts[] = {
	{"a round of bpf_loop", TIMES},
	{"call of a function of the program", TIMES},
	{"bpf_ktime_get_ns", TIMES},
	{"mixing a frame into the hash", TIMES},
	{"look-up in an array", TIMES},
	{"look-up in a hash table", TIMES},
	{"reading user memory, 8 bytes", TIMES},
	{"reading user memory, 80 bytes", TIMES},
	{"reading user memory, 1 KiB", TIMES},
	{"reading user memory, 4 KiB", TIMES},
	{"output of a known stack (48 bytes)", TIMES_OUTPUT},
	{"output of 60 frames (528 bytes)", TIMES_OUTPUT},
};

static int drop(void *ctx, void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return 0;
}

/* The fastest round, because others were interrupted. Nanoseconds for one, or negative. */
static double measure(struct parts_bpf *skel, struct ring_buffer *ring, __u32 part, __u32 times, void *memory)
{
	double best = -1;

	for (int i = 0; i < ROUNDS; i++) {
		struct parts_args args = {.memory = (__u64)memory, .part = part, .times = times};
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &args, .ctx_size_in = sizeof(args));

		if (bpf_prog_test_run_opts(bpf_program__fd(skel->progs.parts), &opts))
			return -1;
		ring_buffer__consume(ring);
		if (best < 0 || (double)args.ns / times < best)
			best = (double)args.ns / times;
	}
	return best;
}

int main(void)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct parts_bpf *skel = parts_bpf__open_and_load();
	struct ring_buffer *ring;
	__u64 value[3] = {1};
	__u32 key = 1;
	double loop = 0;

	if (!skel)
		return EXIT_FAILURE;
	memset(page, 1, sizeof(page));
	ring = ring_buffer__new(bpf_map__fd(skel->maps.ring), drop, NULL, NULL);
	if (!ring || bpf_map_update_elem(bpf_map__fd(skel->maps.hash), &key, value, BPF_ANY))
		return EXIT_FAILURE;
	for (__u32 i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double ns = measure(skel, ring, i, parts[i].times, page);

		if (ns < 0) {
			perror("parts: bpf_prog_test_run");
			return EXIT_FAILURE;
		}
		printf("%-40s %8.1f\n", parts[i].event, ns - loop);
		if (i == 0)
			loop = ns;
	}
	ring_buffer__free(ring);
	parts_bpf__destroy(skel);
	return EXIT_SUCCESS;
}
