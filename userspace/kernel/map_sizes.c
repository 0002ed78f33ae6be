// SPDX-License-Identifier: Apache-2.0
#include "map_sizes.h"

#include "braid.skel.h"
#include "hits.h"

#include <bpf/libbpf.h>
#include <unistd.h>

/* Entries of the maps in a recording that names its targets. What exceeds them causes a warning. */
#define MAPPINGS (1U << 16)
#define UNWIND_PAGES (1U << 19)
#define UNWIND_ROWS (1U << 22)
#define JAVA_THREADS (1U << 14) /* those that have not run for the longest time make room */

/* The ring of samples and events, see event_ring_bytes(). */
#define SAMPLE_BYTES 512U    /* a stack of 60 frames that was not sent before */
#define DEFERRED_BYTES 8192U /* a stack that the collector walks, soon after its program began */
#define STARTING_CPUS 4	     /* that programs keep busy which are just starting */
#define EVENT_RING_MIN (2U << 20)
#define EVENT_RING_BURSTS (8U << 20)
#define EVENT_RING_MAX (64U << 20)

/* Event types whose stacks come in bursts through that ring. */
#define TYPES_BURSTS                                                                                                   \
	(BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE) | BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT) |          \
	 BRAID_EVENT_TYPE(VTHREAD) | BRAID_EVENT_TYPE(EXCEPTION) | BRAID_EVENT_TYPE(OFFCPU) |                          \
	 BRAID_EVENT_TYPES_REWRITTEN | BRAID_EVENT_TYPE(MALLOC) | BRAID_EVENT_TYPES_JNI)

/*
 * The ring holds half a second of samples of all CPUs, ten times what arrives between two reads. The collector reads it
 * when an eighth is full, so bursts rarely need more. Types enabled later, when the ring can no longer grow, share this
 * size. Types enabled at the start get a ring that also lasts while the collector waits for a CPU. Where programs are
 * expected to start, it also holds their stacks for a quarter of a second, which reading their files may take. Pages
 * count twice in the collector's resident set, since libbpf maps the data twice.
 */
uint32_t event_ring_bytes(const struct record_options *o)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN); /* CPUs that come online later are not sampled */
	uint64_t starting = o->command || o->system_wide ? cpus < STARTING_CPUS ? cpus : STARTING_CPUS : 0;
	uint64_t want = cpus * (uint64_t)o->frequency_hz * SAMPLE_BYTES / 2;
	uint64_t want_starting = starting * (uint64_t)o->frequency_hz * DEFERRED_BYTES / 4;
	uint32_t bytes = o->config.enabled & TYPES_BURSTS || o->probe_count ? EVENT_RING_BURSTS : EVENT_RING_MIN;

	if (want < want_starting)
		want = want_starting;
	while (bytes < want && bytes < EVENT_RING_MAX)
		bytes *= 2;
	return bytes;
}

int map_sizes_set(const struct braid_bpf *b, const struct record_options *o)
{
	uint32_t more = o->system_wide ? 2 : 1;
	int err;

	err = bpf_map__set_max_entries(b->maps.mappings, more * more * MAPPINGS);
	err = err ?: bpf_map__set_max_entries(b->maps.pages, more * UNWIND_PAGES);
	err = err ?: bpf_map__set_max_entries(b->maps.rows, more * UNWIND_ROWS);
	err = err ?: bpf_map__set_max_entries(b->maps.java_threads, more * more * JAVA_THREADS);
	/* Hash maps take their memory, and the time to link all of it, when they are made. */
	if (!hits_kernel_event(o, BRAID_KERNEL_BLOCK))
		err = err ?: bpf_map__set_max_entries(b->maps.block_requests, 1);
	if (!hits_kernel_event(o, BRAID_KERNEL_TCP))
		err = err ?: bpf_map__set_max_entries(b->maps.tcp_sockets, 1);
	if (hits_time_returns(o))
		err = err ?: bpf_map__set_max_entries(b->maps.timed_calls, BRAID_RETURN_CALLS);
	if (hits_have(o, PROBE_MALLOC)) {
		err = err ?: bpf_map__set_max_entries(b->maps.native_blocks, BRAID_NATIVE_BLOCKS);
		err = err ?: bpf_map__set_max_entries(b->maps.native_counts, BRAID_NATIVE_PROGRAMS);
	}
	return err ?: bpf_map__set_max_entries(b->maps.events, event_ring_bytes(o));
}
