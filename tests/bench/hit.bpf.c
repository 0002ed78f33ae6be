// SPDX-License-Identifier: Apache-2.0
/* The cheapest uprobe program whose runs can be counted. */
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
