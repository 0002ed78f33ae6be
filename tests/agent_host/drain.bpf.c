// SPDX-License-Identifier: Apache-2.0
/* Hands every record of the agent's ring to the test collector, as it is. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include <braid/ring.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_USER_RINGBUF);
	__uint(max_entries, 1 << 20);
} agent_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8[BRAID_REC_MAX]);
} scratch SEC(".maps");

/* One variable, so that the order is the one that the collector knows. */
struct {
	__u64 drained;
	__u64 malformed;
	__u64 overflowed;
	__s64 drain_error;
} result;

/*
 * Linux forgets what a dynptr is when its register is spilled, so this one keeps few values alive: the header is read
 * into the scratch buffer, and what went wrong is counted outside.
 */
static __always_inline long record_copy(struct bpf_dynptr *record, __u8 *copy)
{
	__u64 size; /* 64 bits wide: the verifier loses the bound of a 32-bit one when clang widens it */

	if (bpf_dynptr_read(copy, sizeof(struct braid_rec), record, 0, 0))
		return -1;
	size = ((struct braid_rec *)copy)->size;
	if (size < sizeof(struct braid_rec))
		return -1;
	barrier_var(size); /* two comparisons, not one of a shifted copy */
	if (size > BRAID_REC_MAX || bpf_dynptr_read(copy, size, record, 0, 0))
		return -1;
	return bpf_ringbuf_output(&records, copy, size, 0) ? 1 : 0;
}

static long on_record(struct bpf_dynptr *record, void *ctx)
{
	__u32 zero = 0;
	__u8 *copy = bpf_map_lookup_elem(&scratch, &zero);
	long outcome;

	(void)ctx;
	if (!copy)
		return 1;
	outcome = record_copy(record, copy);
	if (outcome < 0)
		result.malformed++;
	else if (outcome)
		result.overflowed++;
	else
		result.drained++;
	return 0;
}

SEC("syscall")
int drain(void *ctx)
{
	long n = bpf_user_ringbuf_drain(&agent_ring, on_record, NULL, BPF_RB_NO_WAKEUP);

	(void)ctx;
	if (n < 0)
		result.drain_error = n;
	return n > 0;
}
