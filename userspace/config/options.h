// SPDX-License-Identifier: Apache-2.0
/* The options of a recording, as the command line sets them. Every room of the collector reads them. */
#ifndef BRAID_CONFIG_OPTIONS_H
#define BRAID_CONFIG_OPTIONS_H

#include "event_config.h"
#include "probe_spec.h"

#include "trace/trace.h"

#include <braid/event.h>
#include <braid/event_config.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct record_options {
	int frequency_hz;
	uint64_t duration_ns; /* 0: until interrupted, or until the command or the last target ends */
	const char *output;
	const char *event; /* what takes samples: a clock such as "cycles", or the only hit event; "": no such event */
	bool clock;	   /* it is a clock */
	const struct probe_spec *probes; /* hit events */
	uint32_t probe_count;
	const struct probe_spec *offcpu; /* the filter of times off the CPU; empty text: none */
	uint64_t period;		 /* hits of each hit event for each sample */
	const char *agent_options;
	bool system_wide;
	bool attach;
	bool properties; /* the flags and system properties of JVMs are recorded */
	bool quiet;
	bool kill;  /* the command is killed when the recording ends */
	bool lines; /* for native code */
	struct braid_event_config config;
	uint32_t max_depth;
	const pid_t *pids;
	int pid_count;
	char **command; /* NULL-terminated, or NULL */
	const atomic_bool
		*done;	   /* the recording ends when the tap has set it, or no agent is left; NULL: not for that */
	bool *interrupted; /* gets whether its user ended the recording; NULL: not wanted */
	/* Receives every record; may be NULL. */
	trace_tap_fn tap;
	/*
	 * Is called when everything is recorded, and when the recording is to end. A negative errno ends it. May be
	 * NULL.
	 */
	int (*edge)(void *ctx, bool begins);
	void *tap_ctx; /* of both */
};

/* The command line's defaults, which record nothing yet. */
static inline struct record_options options_default(const char *output)
{
	return (struct record_options){.frequency_hz = 99,
				       .output = output,
				       .event = "",
				       .period = 1,
				       .attach = true,
				       .max_depth = BRAID_MAX_DEPTH};
}

/* Records what is selected; the options point into the selection. */
static inline void options_select(struct record_options *o, const struct event_selection *s)
{
	o->config = s->config;
	o->event = s->event;
	o->clock = s->clock;
	o->probes = s->probes;
	o->probe_count = s->probe_count;
	o->offcpu = &s->offcpu;
}

/* Whether there are hit events whose probes are in the libjvm.so of each JVM. */
static inline bool options_probe_jvms(const struct record_options *o)
{
	for (uint32_t i = 0; i < o->probe_count; i++)
		if (o->probes[i].in_jvms)
			return true;
	return false;
}

static inline const char *output_name(const struct record_options *o)
{
	return o->output[0] == '-' && !o->output[1] ? "standard output" : o->output;
}

#endif
