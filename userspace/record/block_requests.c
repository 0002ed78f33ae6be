// SPDX-License-Identifier: Apache-2.0
#include "block_requests.h"

#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "trace/record.h"

#include <braid/event.h>

#include <bpf/bpf.h>

void block_requests_end(struct session *s)
{
	int map = kernel_side_map(s->kernel, KERNEL_MAP_BLOCK_REQUESTS);
	struct braid_block_request r;
	uint64_t key = 0;

	for (int i = 0; i < BRAID_BLOCK_REQUESTS && !bpf_map_get_next_key(map, i ? &key : NULL, &key); i++) {
		const struct process *p;

		if (bpf_map_lookup_elem(map, &key, &r) || r.left_out)
			continue;
		p = processes_find(s->processes, (pid_t)r.pid, r.queued_ns);
		sink_loss(&s->sink, p ? p->id : 0, "bpf", jvm_event_name(BRAID_JVM_BLOCK), 1);
	}
}
