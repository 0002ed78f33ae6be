// SPDX-License-Identifier: Apache-2.0
/*
 * When a thread that is off the CPU is idle, which means that it waits for work and that nothing holds it up. The rules
 * are one table of frames and one of threads in idle.c; a user's own frames extend them. places.c and events.c ask.
 */
#ifndef BRAID_ANALYZE_IDLE_H
#define BRAID_ANALYZE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "filter.h"

/* What a frame says about the thread that is below it. */
enum idle_rule {
	IDLE_NONE,
	IDLE_WAITS,  /* it waits for work, whatever frames follow */
	IDLE_OWN,    /* it waits for work as long as only frames of the JDK follow: others are the work */
	IDLE_LOOP,   /* the loop of a framework's thread, which waits for work when an IDLE_SELECT follows */
	IDLE_SELECT, /* waits for I/O: idle in an IDLE_LOOP only */
	IDLE_WORK,   /* is the work of the IDLE_OWN or IDLE_LOOP that it is in */
};

/* Of a frame with this name. The frames of f->idle are IDLE_WAITS. */
enum idle_rule idle_frame(const struct filter *f, const char *name);

/* The state of a stack: zeroed at the root, and then each frame is added to its caller's. */
struct idle_state {
	bool waits, own, loop, selects;
};
/* `foreign`: a Java frame outside of the JDK. */
void idle_add(struct idle_state *s, enum idle_rule rule, bool foreign);
bool idle_is(const struct idle_state *s);

/*
 * Whether a thread of this name is idle where its stack is not known, since its wait did not end: then other threads of
 * a JVM count, too. `first`: it is the process's first thread, which only waits for the JVM's end.
 */
bool idle_thread_without_stack(const char *name, bool java, bool first);

/* Whether a thread of this name is a JVM's own, which does nothing but work that others give it. */
bool idle_thread(const char *name, bool java);

#endif
