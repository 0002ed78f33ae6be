// SPDX-License-Identifier: Apache-2.0
/* The least that a uprobe can do and still be seen to have run. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

__u64 hits;

SEC("uprobe")
int on_hit(void *ctx)
{
	(void)ctx;
	__sync_fetch_and_add(&hits, 1);
	return 0;
}
