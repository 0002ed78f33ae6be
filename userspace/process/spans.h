// SPDX-License-Identifier: Apache-2.0
/*
 * Spans, the requests that samples and events were in: defines them in the trace by the ids that the kernel side read,
 * with their attributes. record/ and jvm_events.c call this.
 */
#ifndef BRAID_PROCESS_SPANS_H
#define BRAID_PROCESS_SPANS_H

#include "processes.h"
#include "resources.h"

#include <braid/event.h>

struct spans;

int spans_new(struct spans **out, struct sink *sink, struct kernel_side *kernel, struct names *names,
	      struct resources *resources);
void spans_free(struct spans *s);

/*
 * No later span is of the process: counts its attributes whose keys it has not published, or that could not be read. A
 * process publishes its keys before it uses them, but its context may be found later.
 */
void spans_forget(struct spans *s, struct process *process);

/* Returns the trace's id of the span, or 0, as spans_id(). */
uint32_t spans_seen(struct spans *s, struct process *process, const struct braid_event_span *e);

/*
 * The trace's id of the span that a thread serves, which does not run meanwhile and carries no virtual thread. 0: none,
 * or it is beyond the budget, which is counted.
 */
uint32_t spans_of_thread(struct spans *s, struct process *process, uint64_t thread_pointer);

/*
 * The trace's id of the process's span with this key. 0 for key 0. 0 for one whose ids were not received, or that is
 * beyond the budget, which is counted.
 */
uint32_t spans_id(struct spans *s, const struct process *process, uint64_t key);

#endif
