// SPDX-License-Identifier: Apache-2.0
#include "block_requests.h"

#include "kernel/hits.h"
#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "trace/record.h"

#include <braid/event.h>

#include <bpf/bpf.h>

/* Whether a request that is not complete yet would have become an event. */
static bool is_long(const struct braid_block_request *r, uint64_t min_ns, uint64_t now)
{
	return !min_ns || (r->issued_ns && now - r->issued_ns >= min_ns);
}

void block_requests_end(struct session *s)
{
	const struct probe_spec *event = hits_kernel_event(s->options, BRAID_KERNEL_BLOCK);
	int map = kernel_side_map(s->kernel, KERNEL_MAP_BLOCK_REQUESTS);
	struct braid_block_request r;
	uint64_t key = 0;

	if (!event)
		return;
	for (int i = 0; i < BRAID_BLOCK_REQUESTS && !bpf_map_get_next_key(map, i ? &key : NULL, &key); i++) {
		const struct process *p;

		if (bpf_map_lookup_elem(map, &key, &r) || r.left_out || !is_long(&r, event->min_ns, s->jvms.stopped_ns))
			continue;
		p = processes_find(s->processes, (pid_t)r.pid, r.queued_ns);
		sink_loss(&s->sink, p ? p->id : 0, "bpf", jvm_event_name(BRAID_JVM_BLOCK), 1);
	}
}
