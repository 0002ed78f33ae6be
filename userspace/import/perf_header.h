// SPDX-License-Identifier: Apache-2.0
/* The first line of an event as `perf script` prints it, with any choice of fields. */
#ifndef BRAID_IMPORT_PERF_HEADER_H
#define BRAID_IMPORT_PERF_HEADER_H

#include <trace/record.h>

struct perf_header {
	struct trace_str comm;
	uint32_t pid, tid; /* pid is 0 if there is none */
	bool has_cpu, has_time, has_period;
	uint32_t cpu;
	uint64_t time_ns, period;
	struct trace_str event; /* "cycles:u", "sched:sched_switch"; may be empty */
	struct trace_str rest;	/* what is behind: values, or the frame of an event without a stack */
};

/* False: the line is none. */
bool perf_header_take(struct perf_header *h, struct trace_str line);

/* An indented line with an address and a name: "7f12 main+0x1c (/bin/x)". */
struct perf_frame {
	uint64_t address;
	struct trace_str text; /* without the address */
	struct trace_str name; /* without its offset */
	struct trace_str module;
};

bool perf_frame_take(struct perf_frame *f, struct trace_str line);

/* Whether the event counts time or work of a CPU, so that its samples say where time went. */
bool perf_event_is_clock(struct trace_str event);

#endif
