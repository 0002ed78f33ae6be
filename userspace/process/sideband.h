// SPDX-License-Identifier: Apache-2.0
/*
 * Forks, execs, exits, names and executable mappings of all processes, from perf's side-band records. They report
 * mappings that are made during the recording, which BPF cannot without kprobes. The records go to processes.c;
 * record/, agents/ and threads.c call this.
 */
#ifndef BRAID_PROCESS_SIDEBAND_H
#define BRAID_PROCESS_SIDEBAND_H

#include "sink/sink.h"
#include "sink/sources.h"

struct processes;
struct sideband;

/* Opens one ring for each CPU and adds them to the event loop. It reports failures itself. */
int sideband_open(struct sideband **out, struct sink *sink, struct sources *sources, struct processes *processes);
/* Applies all waiting records, oldest first. */
void sideband_read(struct sideband *sb);
/* The same for the last time. A ring reports a loss with its next record only, so the kernel is asked for the rest. */
void sideband_end(struct sideband *sb);
void sideband_free(struct sideband *sb);

#endif
