// SPDX-License-Identifier: Apache-2.0
/* LTTng-UST tracepoints with payloads of the same size as the ring benchmark's. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER braid_bench

#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "lttng_events.h"

#if !defined(BRAID_BENCH_LTTNG_EVENTS_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define BRAID_BENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

TRACEPOINT_EVENT(braid_bench, event32, TP_ARGS(const uint8_t *, bytes),
		 TP_FIELDS(ctf_array(uint8_t, payload, bytes, 32)))

TRACEPOINT_EVENT(braid_bench, event64, TP_ARGS(const uint8_t *, bytes),
		 TP_FIELDS(ctf_array(uint8_t, payload, bytes, 64)))

#endif

#include <lttng/tracepoint-event.h>
