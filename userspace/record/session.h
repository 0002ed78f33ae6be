// SPDX-License-Identifier: Apache-2.0
/*
 * A recording in progress: what the parts of the collector share. One thread, one epoll loop; the kernel side, the
 * agents' sockets and the side-band of perf events are its sources, the trace is its sink.
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
struct perf_maps;
struct names;
struct control;
struct probes;
struct jvm;
struct process;
struct thread;

struct session {
	const struct record_options *options;
	struct sink sink;
	struct pools pools;
	struct sources sources;
	bool finished;	  /* the loop is to end */
	bool interrupted; /* by its user: the command is to end, too */
	struct kernel_side *kernel;
	struct modules *modules;
	struct processes *processes;
	struct threads *threads;
	struct stacks *stacks;
	struct sideband *sideband;
	struct agents *agents;
	struct vthreads *vthreads;
	struct perf_maps *perf_maps;
	struct names *names;
	struct jvms jvms;
	struct control *control; /* NULL: nobody can change the recording */
	uint64_t sideband_ns;	 /* all that happened before was read */
	uint64_t samples;
	uint64_t deferred; /* of them: walked late */
	uint64_t complete;
};

/* Reads the samples that wait, and what the side-band tells of their processes. */
void session_read_samples(struct session *s);

/* Ends the recording as Ctrl-C does. */
void session_interrupt(struct session *s);

/* Records as told; *status is the command's exit status, if one was run. 0 or a negative errno that was already
 * explained. */
int session_record(const struct record_options *o, int *status);

#endif
