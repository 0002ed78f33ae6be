// SPDX-License-Identifier: Apache-2.0
/*
 * Forks, execs, exits, names and executable mappings of all processes, from the kernel's own perf event stream: it
 * tells of mappings that are made while the recording runs, which no BPF hook does without kprobes.
 */
#ifndef BRAID_COLLECT_SIDEBAND_H
#define BRAID_COLLECT_SIDEBAND_H

#include "record/session.h"

/* Opens one ring per CPU and watches them in the session's loop; explains failures itself. */
int sideband_open(struct sideband **out, struct session *s);
/* Applies everything that waits, oldest first. */
void sideband_read(struct sideband *sb);
void sideband_free(struct sideband *sb);

#endif
