// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* A BPF program that does nothing, for tick.c. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("perf_event")
int on_tick(void *ctx)
{
	(void)ctx;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
