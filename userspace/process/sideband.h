// SPDX-License-Identifier: Apache-2.0
/*
 * Forks, execs, exits, names and executable mappings of all processes, from the kernel's own perf event stream: it
 * tells of mappings that are made while the recording runs, which no BPF hook does without kprobes.
 */
#ifndef BRAID_PROCESS_SIDEBAND_H
#define BRAID_PROCESS_SIDEBAND_H

#include "sink/sink.h"
#include "sink/sources.h"

struct processes;
struct sideband;

/* Opens one ring per CPU and watches them in the loop; explains failures itself. */
int sideband_open(struct sideband **out, struct sink *sink, struct sources *sources, struct processes *processes);
/* Applies everything that waits, oldest first. */
void sideband_read(struct sideband *sb);
void sideband_free(struct sideband *sb);

#endif
