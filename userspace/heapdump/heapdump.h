// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the heap of a copied JVM as an HPROF file: its threads with their stacks, its roots, classes and all objects
 * that can be reached. cli/ calls this, on a thread of its own. histogram.h has what else is made from a copy.
 */
#ifndef BRAID_HEAPDUMP_HEAPDUMP_H
#define BRAID_HEAPDUMP_HEAPDUMP_H

#include "allocated.h"
#include "output.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HEAPDUMP_WHY 256

struct heapdump {
	pid_t jvm;		 /* the process that was copied */
	pid_t copy;		 /* in the JVM's pid namespace */
	uint64_t roots;		 /* address of its struct braid_heap_roots */
	int libjvm_fd;		 /* the JVM's library; not needed if */
	const uint64_t *symbols; /* is what vm_symbols_find() finds there; or NULL */
	uint64_t wall_ms;	 /* when it was copied */
	struct output *output;
	atomic_bool stop; /* set from another thread */
	/* Asked once, if objects are watched: their stacks, which stay valid; NULL: no memory for them. May be NULL. */
	const struct heapdump_allocated *(*allocated_read)(void *ctx);
	void *ctx;

	/* what has been done */
	uint64_t objects, bytes, classes, roots_written, threads;
	uint64_t watched, allocated; /* sampled objects in the file; those with the stack that allocated them */
	uint64_t cleared;	     /* weak references, whose objects are not in the file */
	uint64_t doubtful;	     /* references and objects that could not be understood */
	uint64_t frames_lost;	     /* of methods that could not be understood, or too many */
	uint64_t cut;		     /* arrays that are too long for the format */
	char why[HEAPDUMP_WHY];	     /* after a failure: what and why */
};

/* 0, or a negative errno with the reason in d->why. */
int heapdump_write(struct heapdump *d);

/*
 * Has the thread end that writes or counts, and joins it. A process can keep those who read its memory waiting for ever
 * (userfaultfd): false, and the thread keeps what it uses.
 */
bool heapdump_end(struct heapdump *d, pthread_t thread);

#endif
