// SPDX-License-Identifier: Apache-2.0
/* Conditions of locks: all are of one class, so the lock's class says more. waits.c and virtual.c use it. */
#ifndef BRAID_HOTSPOT_CONDITIONS_H
#define BRAID_HOTSPOT_CONDITIONS_H

#include <braid/layout.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CONDITIONS_KNOWN 64

/* Most blockers are of few classes. */
struct conditions {
	struct {
		uint64_t klass;
		bool is_condition;
	} known[CONDITIONS_KNOWN];
};

/* Whether a class, as klass_name() has it, may be that of conditions. */
bool conditions_are(const char *class);
/* The Klass of the lock of which an object of that Klass is a condition; 0: it is none, or not readable. */
uint64_t conditions_lock(struct conditions *c, pid_t pid, const struct braid_layout *l, uint64_t object,
			 uint64_t klass);

#endif
