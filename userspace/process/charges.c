// SPDX-License-Identifier: Apache-2.0
/* Accounting of a process's mappings against its budgets. */
#include "charges.h"

#include "process_user.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define SPLIT 2 /* what one new mapping may add: it splits another one, which is remembered as well */

void charges_open_pools(struct pools *pools, const struct kernel_side *kernel)
{
	struct kernel_room room = kernel_side_room(kernel);

	pools_open(pools, &(struct pool_room){
				  .memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
				  .mappings = room.mappings,
				  .jvms = BRAID_MAX_JVMS,
				  .tables = room.tables,
				  .rows = room.rows,
				  .pages = room.pages,
			  });
}

void charges_open(struct process *process, struct sink *sink, const struct process *parent)
{
	process->account.process = process->id;
	process->forked = parent;
	if (!sink->pools)
		return;
	process->account.share = parent ? parent->account.share : NULL;
	if (!process->account.share)
		process->account.share = pools_share(sink->pools, process_user(process->pid));
}

void charges_follow_user(struct process *process, struct sink *sink)
{
	struct account *a = &process->account;
	struct share *share;
	uid_t user;

	if (!process->forked || !a->share || !share_known(a->share))
		return;
	user = process_user(process->pid);
	share = user == PROCESS_NO_USER ? NULL : pools_share(sink->pools, user);
	if (share && share != a->share)
		account_move(a, share);
}

void charges_move(struct process *to, struct process *from)
{
	to->extent = from->extent;
	from->extent = (struct mapping_extent){0};
	account_release(&from->account, BUDGET_SHOWN, to->extent.count);
	account_spend(&to->account, BUDGET_SHOWN, to->extent.count);
}

bool charges_may_map(struct process *process, struct sink *sink)
{
	if (!account_reserve(&process->account, sink, BUDGET_MAPPINGS, SPLIT + 1))
		return false;
	account_release(&process->account, BUDGET_MAPPINGS, SPLIT + 1);
	return true;
}

void charges_mapped(struct process *process)
{
	int64_t has = (int64_t)(process->mappings.count + process->past.count);

	if (has < process->account.used[BUDGET_MAPPINGS])
		account_release(&process->account, BUDGET_MAPPINGS,
				(uint64_t)(process->account.used[BUDGET_MAPPINGS] - has));
	else
		account_spend(&process->account, BUDGET_MAPPINGS,
			      (uint64_t)(has - process->account.used[BUDGET_MAPPINGS]));
}

void charges_inherit(struct process *process, struct sink *sink, const struct process *from)
{
	if (!account_reserve(&process->account, sink, BUDGET_MAPPINGS, from->mappings.count))
		return;
	if (process_map_as(process, from))
		account_release(&process->account, BUDGET_MAPPINGS, from->mappings.count);
}

static struct braid_mapping *mappings_of(const struct process *process)
{
	struct braid_mapping *m = calloc(process->mappings.count + 1, sizeof(*m));

	for (uint32_t i = 0; m && i < process->mappings.count; i++)
		m[i] = (struct braid_mapping){.start = process->mappings.at[i].fact.start,
					      .end = process->mappings.at[i].fact.end,
					      .bias = process->mappings.at[i].bias,
					      .table = process->mappings.at[i].module->table};
	return m;
}

int charges_place(struct process *process, struct sink *sink, struct kernel_side *kernel, struct mapping_extent *out)
{
	struct braid_mapping *mappings = mappings_of(process);
	struct account *a = &process->account;
	int err;

	if (!mappings)
		return -ENOMEM;
	*out = (struct mapping_extent){0};
	account_release(a, BUDGET_SHOWN, process->extent.count);
	if (!account_reserve(a, sink, BUDGET_SHOWN, (uint32_t)process->mappings.count)) {
		err = -ENOSPC;
	} else {
		err = kernel_side_add_mappings(kernel, mappings, (uint32_t)process->mappings.count, out);
		if (err)
			account_release(a, BUDGET_SHOWN, (uint32_t)process->mappings.count);
	}
	free(mappings);
	kernel_side_drop_mappings(kernel, process->extent); /* the kernel side does not reuse it before the next tick */
	process->extent = *out;
	return err;
}

void charges_drop(struct process *process, struct kernel_side *kernel)
{
	account_release(&process->account, BUDGET_SHOWN, process->extent.count);
	kernel_side_drop_mappings(kernel, process->extent);
	process->extent = (struct mapping_extent){0};
}
