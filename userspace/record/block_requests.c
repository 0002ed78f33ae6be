// SPDX-License-Identifier: Apache-2.0
#include "block_requests.h"

#include "kernel/kernel_side.h"
#include "process/processes.h"
#include "trace/record.h"

#include <braid/event.h>

#include <bpf/bpf.h>

/* Whether a request that is not complete yet would have become an event. */
static bool is_long(const struct session *s, const struct braid_block_request *r)
{
	const struct record_options *o = s->options;
	uint64_t min_ns = 0;

	for (uint32_t i = 0; i < o->probe_count; i++)
		if (o->probes[i].type == PROBE_KERNEL && o->probes[i].event == BRAID_KERNEL_BLOCK)
			min_ns = o->probes[i].min_ns;
	return !min_ns || (r->issued_ns && s->jvms.stopped_ns - r->issued_ns >= min_ns);
}

void block_requests_end(struct session *s)
{
	int map = kernel_side_map(s->kernel, KERNEL_MAP_BLOCK_REQUESTS);
	struct braid_block_request r;
	uint64_t key = 0;

	for (int i = 0; i < BRAID_BLOCK_REQUESTS && !bpf_map_get_next_key(map, i ? &key : NULL, &key); i++) {
		const struct process *p;

		if (bpf_map_lookup_elem(map, &key, &r) || r.left_out || !is_long(s, &r))
			continue;
		p = processes_find(s->processes, (pid_t)r.pid, r.queued_ns);
		sink_loss(&s->sink, p ? p->id : 0, "bpf", jvm_event_name(BRAID_JVM_BLOCK), 1);
	}
}
