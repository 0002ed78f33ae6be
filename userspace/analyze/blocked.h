// SPDX-License-Identifier: Apache-2.0
/* Why a thread was off the CPU, as its stack and the kernel know it. places.c, events.c and wall.c ask. */
#ifndef BRAID_ANALYZE_BLOCKED_H
#define BRAID_ANALYZE_BLOCKED_H

#include <stdint.h>

#include <braid/jvm_event.h>

#include "names.h"

/* The Java operation of a stack. */
enum blocked_why { BLOCKED_CALL, BLOCKED_PARKED, BLOCKED_SLEEPING, BLOCKED_WAITING, BLOCKED_MONITOR };

/* Adds a frame of this name to `why`, which its callers determined. */
enum blocked_why blocked_frame(enum blocked_why why, const char *name, enum stack_domain domain);

/* "futex"; "unknown" for numbers out of range. */
const char *blocked_class_name(unsigned class);

/* The Java operation that explains an OFFCPU with these flags, BLOCKED_CALL if the kernel knows better. */
enum blocked_why blocked_why_of(enum blocked_why why, uint32_t flags);

/* For people; *id distinguishes the names. */
const char *blocked_reason(enum blocked_why why, uint32_t flags, uint32_t *id);

#endif
