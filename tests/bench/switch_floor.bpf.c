// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Programs that do nothing at the scheduler's tracepoints, for switch_floor.c. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("tp_btf/sched_switch")
int on_empty_switch(void *ctx)
{
	(void)ctx;
	return 0;
}

SEC("tp_btf/sched_waking")
int on_empty_waking(void *ctx)
{
	(void)ctx;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
