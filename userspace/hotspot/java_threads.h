// SPDX-License-Identifier: Apache-2.0
/*
 * The Java threads of a JVM as its own list has them, from outside: the list changes meanwhile and is not stopped, so
 * each thread is asked for what it says of itself. jvm/ calls this.
 */
#ifndef BRAID_HOTSPOT_JAVA_THREADS_H
#define BRAID_HOTSPOT_JAVA_THREADS_H

#include "java_heap.h"

#define JAVA_THREADS_MAX 100000U
#define JAVA_THREAD_NAME_BYTES 256 /* longer names are cut */

struct java_thread {
	uint64_t address; /* of its JavaThread */
	uint32_t tid;	  /* in its pid namespace */
	/* Its name in modified UTF-8; 0 bytes: it is not known. */
	size_t name_length;
	char name[2 * JAVA_THREAD_NAME_BYTES];
};

/* Reads the addresses of the VM's JavaThreads, `room` at most. Returns their number. */
size_t java_threads_list(const struct java_heap *h, uint64_t *to, size_t room);

/*
 * Calls back with those among the first JAVA_THREADS_NAMED of the list whose tid is wanted. It waits for no collection:
 * then their names are not known.
 */
#define JAVA_THREADS_NAMED 10000U
void java_threads_some(const struct java_heap *h, bool (*wanted)(void *ctx, uint32_t tid),
		       void (*fn)(void *ctx, const struct java_thread *t), void *ctx);

/* Calls back with each thread that runs. Returns their number, or -ENOMEM, or -ENOENT when none can be read. */
int java_threads_each(const struct java_heap *h, void (*fn)(void *ctx, const struct java_thread *t), void *ctx);

#endif
