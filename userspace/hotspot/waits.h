// SPDX-License-Identifier: Apache-2.0
/*
 * Which object a Java thread waits for, and which thread owns it, as the VM's memory has it. The VM is not stopped, so
 * what is read is true only if the threads have not run meanwhile, which is the caller's part. record/ calls this.
 */
#ifndef BRAID_HOTSPOT_WAITS_H
#define BRAID_HOTSPOT_WAITS_H

#include <braid/layout.h>
#include <braid/vm_tables.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum wait_for { WAIT_FOR_NOTHING, WAIT_FOR_MONITOR, WAIT_FOR_NOTIFY, WAIT_FOR_BLOCKER };

#define WAITS_LOCKS 8 /* objects that a thread can have locked without a monitor of the VM's */
#define WAITS_CLASS_MAX 256

/* Offsets in the VM's objects; 0: the VM has no such field. */
struct waits_offsets {
	uint16_t state, waiting, stack_base, stack_size, owner_id, locks_top, locks_base; /* JavaThread */
	uint16_t monitor_object, monitor_owner;
};

/* One JavaThread, as far as owners of monitors are recognised by it. */
struct waits_thread {
	uint64_t address;
	uint64_t stack_low, stack_high; /* a lock on its stack is its own */
	uint64_t owner_id;		/* by which it, or the virtual thread that it has mounted, owns monitors */
	uint64_t own_id;		/* Thread.threadId() */
	uint32_t number;		/* the caller's */
};

/* Who owns an object: a JavaThread's thread, or a virtual thread by its number. NULL and 0: nobody, or not known. */
struct waits_owner {
	const struct waits_thread *thread;
	uint64_t virtual_number;
};

struct waits {
	pid_t pid;
	const struct braid_layout *layout;
	struct waits_offsets offsets;
	struct waits_thread *threads; /* the caller's, sorted by address */
	size_t count;
	uint64_t work;	 /* spent on searches of owners */
	uint64_t missed; /* owners that were not searched: it is bounded */
	uint64_t last_monitor;
	struct waits_owner last_owner;
	bool last_anonymous;
};

struct wait_object {
	enum wait_for how;
	uint64_t id; /* of the object, while it does not move */
	struct waits_owner owner;
	uint64_t object; /* its address, if the owner of the monitor has no name yet and is none of the JavaThreads */
	char class[WAITS_CLASS_MAX];
};

/* Reads the offsets from the library's tables in a process. 0, or as vm_process_read(). */
int waits_open(struct waits *w, pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS]);

/* Fills in all but the address and the number of w->threads, and sorts them. */
void waits_read_threads(struct waits *w);

/* To be called before threads are looked at again: their locks may have changed. */
static inline void waits_again(struct waits *w)
{
	w->last_monitor = 0;
}

/* What the VM says that the thread does: "in_java", "in_vm", "in_native", "blocked", "new", or "": it does not. */
const char *waits_state(struct waits *w, uint64_t java_thread);

/* What the thread of that JavaThread waits for. False: the layout does not say where a JVM keeps that. */
bool waits_read(struct waits *w, uint64_t java_thread, struct wait_object *to);

/* The object of a monitor that a virtual thread waits for, and its owner; `how` is not set. False: it is no monitor. */
bool waits_monitor(struct waits *w, uint64_t monitor, struct wait_object *to);

#endif
