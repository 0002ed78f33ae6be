// SPDX-License-Identifier: Apache-2.0
/*
 * Every virtual thread of a JVM, with its state, its name, what it is parked for, and a copy of its frames, which are
 * in the heap while no carrier runs it (jdk.internal.vm.StackChunk). Nothing is stopped and no agent is needed. A
 * thread is reported once; what is reported of it was read while no collector moved anything, and while the thread
 * itself did not run. record/ uses this.
 */
#ifndef BRAID_HOTSPOT_VIRTUAL_H
#define BRAID_HOTSPOT_VIRTUAL_H

#include "java_heap.h"

#include <braid/jvm_event.h>

#define VIRTUAL_CHUNKS 8 /* of one thread; a chunk is as large as what was frozen at once */
#define VIRTUAL_NAME_BYTES 128
#define VIRTUAL_LOCKED 8
#define VIRTUAL_THREADS_MAX (1U << 20)

/*
 * Frames of a chunk: `bytes` from address `at` on, where the first frame's saved frame pointer and its return address
 * are, and the chunk's own fields.
 */
struct virtual_chunk {
	uint64_t chunk, at;
	const uint8_t *fields, *frames;
	uint32_t bytes;
};

struct virtual_thread {
	uint64_t number; /* Thread.threadId() */
	enum braid_vthread_state state;
	bool timed;	       /* it waits with a time limit */
	bool moved;	       /* it ran while it was read: it has no frames */
	bool deep;	       /* its frames are too many to be copied */
	uint64_t carrier;      /* JavaThread; 0: none */
	uint64_t blocker;      /* the object that it is parked for, and its Klass; 0: none */
	uint64_t class;	       /* Klass */
	uint64_t lock_class;   /* the Klass of the lock that the blocker is a condition of; 0: it is none */
	uint64_t owner;	       /* JavaThread of the thread that owns it; 0: none, or a virtual one */
	uint64_t monitor;      /* ObjectMonitor that it is blocked by or waits for; 0: none */
	uint64_t owner_number; /* of the thread that owns it; 0: none */
	uint8_t name[VIRTUAL_NAME_BYTES];
	uint32_t name_bytes;
	uint8_t coder; /* of the name: 0 Latin-1, else UTF-16 */
	/* Objects that it has locked without a monitor; addresses are true for this count of collections only. */
	uint64_t collections, locked[VIRTUAL_LOCKED];
	uint32_t locked_count;
	uint32_t chunk_count;
	struct virtual_chunk chunks[VIRTUAL_CHUNKS]; /* the innermost first */
};

typedef void (*virtual_fn)(void *ctx, const struct virtual_thread *t);

struct virtuals;

/* 0; -ENOENT: the JVM has no virtual threads, or keeps them in an unknown form; -ENOMEM. */
int virtuals_new(struct virtuals **out, const struct java_heap *h);
void virtuals_free(struct virtuals *v);

/*
 * Reads threads until the time has come, or more. 1: there may be more; 0: that was all; -EAGAIN: a collector was at
 * work, so it is to be called again; -ENOMEM.
 */
int virtuals_next(struct virtuals *v, uint64_t until_ns, virtual_fn fn, void *ctx);

/* Of what was left out. */
struct virtuals_left_out {
	uint64_t
		unreadable; /* references that are not to be followed (ZGC), or objects that are not what they should be */
	bool untracked;	    /* the JVM does not keep threads that are started directly */
	bool too_many;	    /* there are more than VIRTUAL_THREADS_MAX */
};
struct virtuals_left_out virtuals_left_out(const struct virtuals *v);

#endif
