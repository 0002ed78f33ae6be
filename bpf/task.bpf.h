// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Programs at fork and exec. They record a child of a recorded process from its first instruction: it starts with its
 * parent's mappings, and has none after an exec.
 */
#ifndef BRAID_TASK_BPF_H
#define BRAID_TASK_BPF_H

#include "maps.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	struct braid_process *p, copy;

	if (from == to) /* a thread */
		return 0;
	p = bpf_map_lookup_elem(&processes, &from);
	if (!p)
		return 0;
	copy = *p;
	copy.jvm = 0; /* a JVM's child is about to exec */
	copy.flags &= ~BRAID_PROCESS_LIBJVM;
	bpf_map_update_elem(&processes, &to, &copy, BPF_NOEXIST);
	return 0;
}

/* The mappings before the exec do not apply to the new program. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 pid = task->tgid;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &pid), none = {0};

	none.user = p ? p->user : 0;
	bpf_map_update_elem(&processes, &pid, &none, BPF_EXIST);
	return 0;
}

#endif
