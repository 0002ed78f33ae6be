// SPDX-License-Identifier: Apache-2.0
/*
 * The stacks of threads that are off the CPU when the recording ends, and perhaps were all the time: they cannot walk
 * their own stacks. Their registers and a copy of their stacks are unwound here. session.c calls this; dump.c and
 * before.c use the unwinding for threads that are off the CPU meanwhile.
 */
#ifndef BRAID_RECORD_ASLEEP_H
#define BRAID_RECORD_ASLEEP_H

#include "jvm/offcpu_events.h"
#include "session.h"

struct asleep_walk; /* the memory of one walk after the other */

struct asleep_thread {
	const struct braid_asleep *regs;
	const __u64 *kernel; /* its frames in the kernel, BRAID_MAX_KERNEL_DEPTH at most */
	uint32_t kernel_count;
	uint64_t time_ns;
	bool wants_span;
};

/* Without a node, the thread has run since its registers were read, or its stack cannot be read. */
struct asleep_stack {
	struct asleep_known known;
	bool is_virtual; /* its frames are a virtual thread's, or may be: then the span is not known */
};

/* 0 or -ENOMEM. free() frees it. */
int asleep_walk_new(struct asleep_walk **out);
struct asleep_stack asleep_walk(struct session *s, struct asleep_walk *w, struct process *process,
				const struct asleep_thread *t);
/* Names the file or the peer that its call waits for. */
void asleep_name(struct session *s, struct process *process, const struct braid_asleep_call *call,
		 struct asleep_known *known);
/* Whether it has run since its registers were read, or has ended. */
bool asleep_has_run(const struct braid_asleep *thread);

/* Reports what threads are in at the end, with these stacks. To be called when the kernel side has stopped. */
void asleep_finish(struct session *s);

#endif
