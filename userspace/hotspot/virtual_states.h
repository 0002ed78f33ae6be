// SPDX-License-Identifier: Apache-2.0
/* The states of java.lang.VirtualThread, by the names of its constants; versions of the JDK have a part of them. */
#ifndef BRAID_HOTSPOT_VIRTUAL_STATES_H
#define BRAID_HOTSPOT_VIRTUAL_STATES_H

#include <stdbool.h>

#include <braid/jvm_event.h>

/* What each means for a reader from outside. */
static const struct {
	const char *name;
	enum braid_vthread_state state;
	bool timed;
} virtual_states[] = {
	{"NEW", BRAID_VTHREAD_NEW, false},
	{"STARTED", BRAID_VTHREAD_QUEUED, false},
	{"RUNNING", BRAID_VTHREAD_MOUNTED, false},
	{"PARKING", BRAID_VTHREAD_MOUNTED, false},
	{"PARKED", BRAID_VTHREAD_PARKED, false},
	{"PINNED", BRAID_VTHREAD_PINNED, false},
	{"TIMED_PARKING", BRAID_VTHREAD_MOUNTED, false},
	{"TIMED_PARKED", BRAID_VTHREAD_PARKED, true},
	{"TIMED_PINNED", BRAID_VTHREAD_PINNED, true},
	{"UNPARKED", BRAID_VTHREAD_QUEUED, false},
	{"YIELDING", BRAID_VTHREAD_MOUNTED, false},
	{"YIELDED", BRAID_VTHREAD_QUEUED, false},
	{"BLOCKING", BRAID_VTHREAD_MOUNTED, false},
	{"BLOCKED", BRAID_VTHREAD_BLOCKED, false},
	{"UNBLOCKED", BRAID_VTHREAD_QUEUED, false},
	{"WAITING", BRAID_VTHREAD_MOUNTED, false},
	{"WAIT", BRAID_VTHREAD_WAITING, false},
	{"TIMED_WAITING", BRAID_VTHREAD_MOUNTED, false},
	{"TIMED_WAIT", BRAID_VTHREAD_WAITING, true},
	{"TERMINATED", BRAID_VTHREAD_ENDED, false},
};
#define VIRTUAL_STATES (sizeof(virtual_states) / sizeof(virtual_states[0]))

#endif
