// SPDX-License-Identifier: Apache-2.0
#include "kernel_programs.h"

#include "braid.skel.h"

#include <string.h>

int kernel_programs(const struct braid_bpf *b, enum braid_kernel_event event,
		    struct bpf_program *programs[KERNEL_PROGRAMS])
{
	struct bpf_program *const all[BRAID_KERNEL_EVENTS][KERNEL_PROGRAMS] = {
		[BRAID_KERNEL_SYSCALL] = {b->progs.on_call, b->progs.on_call_end},
		[BRAID_KERNEL_FAULT] = {b->progs.on_fault_user, b->progs.on_fault_kernel, b->progs.on_fault},
		[BRAID_KERNEL_BLOCK] = {b->progs.on_block_queue, b->progs.on_block_issue, b->progs.on_block_merge,
					b->progs.on_block_requeue, b->progs.on_block_end},
		[BRAID_KERNEL_TCP] = {b->progs.on_tcp_state, b->progs.on_tcp_retransmit, b->progs.on_tcp_accept},
	};
	int count = 0;

	memcpy(programs, all[event], sizeof(all[event]));
	while (count < KERNEL_PROGRAMS && programs[count])
		count++;
	return count;
}

int kernel_programs_configure(const struct braid_bpf *b)
{
	struct bpf_program *programs[KERNEL_PROGRAMS];
	int err = 0;

	for (uint32_t event = 0; event < BRAID_KERNEL_EVENTS; event++)
		for (int i = kernel_programs(b, event, programs); i && !err; i--)
			err = bpf_program__set_autoload(programs[i - 1], b->rodata->kernel_events[event]);
	return err;
}
