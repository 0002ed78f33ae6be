// SPDX-License-Identifier: Apache-2.0
/* Probes in the code of HotSpot itself: safepoints, compilations, deoptimisations. */
#ifndef BRAID_COLLECT_PROBES_H
#define BRAID_COLLECT_PROBES_H

#include "process/processes.h"
#include "record/session.h"

int probes_new(struct probes **out, struct session *s);
void probes_free(struct probes *p);

/* Attaches what was chosen to a JVM: nothing happens when it is no JVM, or has its probes. */
void probes_attach(struct probes *p, struct process *process);
/* The same for every process, and gives up those that have ended. */
void probes_discover(struct probes *p);
/* No more hits; what was counted and not told is told. */
void probes_stop(struct probes *p);

/* What is known of a process's VM; NULL: it is none, or not looked at (yet). */
struct libjvm;
struct libjvm *probes_library(const struct probes *p, const struct process *process, uint64_t *bias);

/* Does a COMPILE come for each compilation of this JVM, beside the CODE_LOAD records? */
bool probes_compilations(const struct probes *p, const struct process *process);

/* ---- probe_events.c ---- */

/* Fills in what the numbers of a probe's event mean. False: it is told later, with what else is known of it. */
bool probes_explain(struct session *s, struct process *process, const struct braid_event_jvm *e,
		    struct trace_jvm_event *to);

#endif
