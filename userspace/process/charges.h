// SPDX-License-Identifier: Apache-2.0
/*
 * Charges a process's mappings, here and on the kernel side, to the budgets of its account. Only processes.c calls
 * this; record/ opens the pools.
 */
#ifndef BRAID_PROCESS_CHARGES_H
#define BRAID_PROCESS_CHARGES_H

#include "processes.h"

/* Opens the pools, by what the machine and the kernel side have room for. */
void charges_open_pools(struct pools *pools, const struct kernel_side *kernel);

/* Opens the account, in the share of the process's user or of its parent. */
void charges_open(struct process *process, struct sink *sink, const struct process *parent);
/*
 * A child of root's, or of the recording user's, may have become another user's without an exec: then that one pays. To
 * be called when it maps code.
 */
void charges_follow_user(struct process *process, struct sink *sink);
/* After an exec: `to` takes over what the kernel side has for `from`, and is charged for it. */
void charges_move(struct process *to, struct process *from);

/*
 * charges_may_map(): whether one more mapping fits. charges_mapped() charges what the process has after it was added.
 */
bool charges_may_map(struct process *process, struct sink *sink);
void charges_mapped(struct process *process);
/* Copies all mappings of `from` and charges them, or none. */
void charges_inherit(struct process *process, struct sink *sink, const struct process *from);

/* Puts the mappings where the kernel side finds them. Without room there are none, and it returns a negative errno. */
int charges_place(struct process *process, struct sink *sink, struct kernel_side *kernel, struct mapping_extent *out);
void charges_drop(struct process *process, struct kernel_side *kernel);

#endif
