// SPDX-License-Identifier: Apache-2.0
/* What a process's account pays for: its mappings, here and on the kernel side. */
#ifndef BRAID_PROCESS_CHARGES_H
#define BRAID_PROCESS_CHARGES_H

#include "processes.h"

/* Opens its account: in its user's share, or in its parent's. */
void charges_open(struct process *process, struct sink *sink, const struct process *parent);
/* The kernel side has what `from` had, which is charged to `to` now. */
void charges_move(struct process *to, struct process *from);

/* May it have one more mapping? And what it has after that is counted. */
bool charges_may_map(struct process *process, struct sink *sink);
void charges_mapped(struct process *process);
/* What it has inherited, or nothing of it. */
void charges_inherit(struct process *process, struct sink *sink, const struct process *from);

/* Puts its mappings where the kernel side can see them; without room there are none, and a negative errno. */
int charges_place(struct process *process, struct sink *sink, struct kernel_side *kernel,
		  const struct braid_mapping *mappings, struct mapping_extent *out);
void charges_drop(struct process *process, struct kernel_side *kernel);

#endif
