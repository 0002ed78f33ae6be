// SPDX-License-Identifier: Apache-2.0
/*
 * Thread dumps: one event for every thread of the processes for which the event type is enabled, with its stack and
 * what it waits for. Nothing is stopped. The stack of a thread that is off the CPU is unwound here from a copy; one
 * that runs is sampled meanwhile. session.c and samples.c call this.
 */
#ifndef BRAID_RECORD_DUMP_H
#define BRAID_RECORD_DUMP_H

#include "session.h"

struct dump;

int dump_new(struct dump **out, struct session *s);
void dump_free(struct dump *d);

/* To be called at each tick. It ends the recording when that is one dump, and complete. */
void dump_tick(struct dump *d, uint64_t now);

/* Of a dump that has begun, what has been read is emitted. To be called while the kernel side still runs. */
void dump_end(struct dump *d);

/* No record may refer to the process any more. */
void dump_forget(struct dump *d, const struct process *process);

/* A sample of a thread was taken. */
void dump_sample(struct dump *d, const struct thread *thread, uint32_t node);

/* ---- for dump_virtual.c ---- */

struct wait_object;

/* What the dump has of a JavaThread: its thread in the trace and the node of its stack. 0: it has none. */
struct dump_java_thread {
	uint32_t thread, node;
};
struct dump_java_thread dump_java_thread(struct dump *d, struct process *process, uint64_t java_thread);

/* The class of the object of one of the VM's monitors, and its owner. False: it is no monitor. */
bool dump_monitor(struct dump *d, struct process *process, uint64_t monitor, struct wait_object *to);
/* To be called before monitors are looked at again. */
void dump_monitors_again(struct dump *d);

#endif
