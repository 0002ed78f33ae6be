// SPDX-License-Identifier: Apache-2.0
/* Drains the ring of the publish benchmark: reads each record's header, counts, and notices gaps in a thread's numbers.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include <braid/ring.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define THREADS_MAX 64

struct {
	__uint(type, BPF_MAP_TYPE_USER_RINGBUF);
	__uint(max_entries, 1 << 26);
} bench_ring SEC(".maps");

struct {
	__u64 drained;
	__u64 malformed;
	__u64 disordered;
	__u64 next[THREADS_MAX];
} result;

struct bench_record {
	struct braid_rec hdr;
	__u64 thread;
	__u64 number;
};

static long on_record(struct bpf_dynptr *record, void *ctx)
{
	struct bench_record r;
	__u64 thread;

	(void)ctx;
	if (bpf_dynptr_read(&r, sizeof(r), record, 0, 0) || r.hdr.size < sizeof(r) || r.thread >= THREADS_MAX) {
		result.malformed++;
		return 0;
	}
	thread = r.thread & (THREADS_MAX - 1);
	if (r.number < result.next[thread])
		result.disordered++;
	result.next[thread] = r.number + 1;
	result.drained++;
	return 0;
}

SEC("syscall")
int drain(void *ctx)
{
	(void)ctx;
	return bpf_user_ringbuf_drain(&bench_ring, on_record, 0, BPF_RB_NO_WAKEUP) > 0;
}
