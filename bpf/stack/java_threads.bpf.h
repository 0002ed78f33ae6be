// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Finds the JavaThread of an OS thread. The drain fills the map; walks and off-CPU events read it. */
#ifndef BRAID_JAVA_THREADS_BPF_H
#define BRAID_JAVA_THREADS_BPF_H

#include "maps.bpf.h"

/* A Java thread by its ids in the JVM. */
struct java_tid {
	__u32 jvm; /* slot and generation */
	__u32 tid; /* in the innermost pid namespace */
};

/* JavaThreads by thread. The drain updates it when agents report threads' starts and ends. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, struct java_tid);
	__type(value, __u64);
} java_threads SEC(".maps");

static __always_inline __u32 java_thread_jvm(__u32 slot, __u32 generation)
{
	return generation * BRAID_MAX_JVMS + slot;
}

/*
 * Updates the map from an agent's record. The JVM writes the address, so it is only read through calls that may fail.
 */
static __always_inline void java_thread_drain(__u32 jvm, const struct braid_rec *r)
{
	const struct braid_rec_thread *t = (const struct braid_rec_thread *)r;
	struct java_tid key = {.jvm = jvm};

	if (r->kind == BRAID_REC_THREAD_END) {
		key.tid = r->tid;
		bpf_map_delete_elem(&java_threads, &key);
	} else if (r->kind == BRAID_REC_THREAD && r->size >= sizeof(*t) && t->java_thread && t->thread_tid) {
		key.tid = t->thread_tid;
		bpf_map_update_elem(&java_threads, &key, &t->java_thread, BPF_ANY);
	}
}

/* pid_nr_ns(): the current thread's id in its own pid namespace. */
static __always_inline __u32 java_thread_tid(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	return BPF_CORE_READ((struct upid *)((void *)numbers + level * bpf_core_type_size(struct upid)), nr);
}

/* The current thread's JavaThread in the JVM with this key; 0 when it is not known. */
static __noinline __u64 java_thread_own(__u32 jvm)
{
	struct java_tid key = {.jvm = jvm, .tid = java_thread_tid()};
	__u64 *thread = bpf_map_lookup_elem(&java_threads, &key);

	return thread ? *thread : 0;
}

#endif
