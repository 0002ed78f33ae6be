// SPDX-License-Identifier: Apache-2.0
#include "identity.h"

#include "processes.h"
#include "proc/procfs.h"
#include "sink/records.h"

#include <string.h>

/* Without memory it stays unknown. */
void identity_read_exe(struct process *process)
{
	char exe[1024];

	procfs_exe(process->pid, exe, sizeof(exe));
	process->exe = *exe ? strdup(exe) : NULL;
}

/* When the fork is noticed, /proc may have the file of the next program. */
void identity_inherit_exe(struct process *process, const struct process *from)
{
	process->exe = from->exe ? strdup(from->exe) : NULL;
}

void identity_emit(struct sink *sink, const struct process *process, const struct process *parent)
{
	char cgroup[1024];

	procfs_cgroup(process->pid, cgroup, sizeof(cgroup));
	if (!*cgroup && parent) /* it has ended already */
		procfs_cgroup(parent->pid, cgroup, sizeof(cgroup));
	sink_process(sink, &(struct trace_process){.process = process->id,
						   .pid = (uint32_t)process->pid,
						   .parent = parent ? parent->id : 0,
						   .start_ns = process->since_ns ?: procfs_start_ns(process->pid),
						   .comm = trace_str_of(process->comm),
						   .exe = trace_str_of(process->exe ?: ""),
						   .cgroup = trace_str_of(cgroup)});
}
