// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Java objects and the OS threads of JavaThreads, with the readers of the walk. */
#ifndef BRAID_OBJECTS_BPF_H
#define BRAID_OBJECTS_BPF_H

#include "java_threads.bpf.h"

#include <braid/walk.h>
#include <braid/walk/objects.h>

/* The OS thread of a JavaThread, by its id in the pid namespace; 0: none. */
__noinline __u32 java_thread_os(struct braid_walk *w, const struct braid_layout *l, __u64 thread)
{
	__u64 os;
	__u32 tid;

	if (!w || !l || !thread || !l->thread_osthread || !l->osthread_tid ||
	    walk_read(w, &os, 8, thread + l->thread_osthread) || walk_read(w, &tid, 4, os + l->osthread_tid))
		return 0;
	return tid;
}

#endif
