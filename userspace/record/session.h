// SPDX-License-Identifier: Apache-2.0
/*
 * A recording in progress: what the parts of the collector share. It has one thread and one event loop. Its sources are
 * the kernel side, the agents' sockets and perf's side-band; its sink is the trace. The command line calls
 * session_record(); otherwise only record/ includes this.
 */
#ifndef BRAID_RECORD_SESSION_H
#define BRAID_RECORD_SESSION_H

#include "config/options.h"
#include "jvm/jvms.h"
#include "sink/pools.h"
#include "sink/sink.h"
#include "sink/sources.h"

#include <braid/event.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel_side;
struct modules;
struct processes;
struct threads;
struct stacks;
struct sideband;
struct agents;
struct vthreads;
struct resources;
struct spans;
struct perf_maps;
struct names;
struct control;
struct before;
struct dump;
struct hit_values;
struct deferred_wait;
struct probes;
struct jvm;
struct process;
struct thread;

struct session {
	const struct record_options *options;
	struct sink sink;
	struct pools pools;
	struct sources sources;
	struct source *signals; /* that ask for the recording's end, and of the command's */
	bool jvm_seen;
	bool finished;	  /* the event loop is to end */
	bool interrupted; /* by its user, so the command is to end, too */
	struct kernel_side *kernel;
	struct modules *modules;
	struct processes *processes;
	struct threads *threads;
	struct stacks *stacks;
	struct sideband *sideband;
	struct agents *agents;
	struct vthreads *vthreads;
	struct resources *resources;
	struct spans *spans;
	struct perf_maps *perf_maps;
	struct names *names;
	struct jvms jvms;
	struct hit_values *hit_values;
	struct dump *dump;
	struct before *before;
	struct deferred_wait *deferred_wait; /* NULL: none has waited */
	struct control *control;	     /* NULL: the recording cannot be changed */
	uint64_t sideband_ns;		     /* the side-band was read up to this time */
	uint64_t samples_ns;		     /* when samples were read last */
	bool native_ended;		     /* programs have ended since the last tick for native blocks */
	uint64_t samples;
	uint64_t deferred; /* samples from deferred unwinds */
	uint64_t complete;
	uint64_t added_up;		 /* times off the CPU that are in sums */
	uint64_t event_lost[BRAID_HITS]; /* samples of each hit event, as emitted */
};

/* Reads waiting samples and events, and the side-band before them. */
void session_read_samples(struct session *s);
/* The same at a tick, unless they can wait. */
void session_tick_samples(struct session *s);

/* Adds an event of the kernel side that did not come through its ring. */
void session_add_event(struct session *s, const struct braid_event_jvm_event *e);

/* Ends the recording as Ctrl-C does. */
void session_interrupt(struct session *s);

/*
 * Records as the options say. *status is the command's exit status, if there is one. Returns 0, or a negative errno
 * after reporting the failure.
 */
int session_record(const struct record_options *o, int *status);

#endif
