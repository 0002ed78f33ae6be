// SPDX-License-Identifier: Apache-2.0
/* Probes in the code of HotSpot itself: safepoints, compilations, deoptimisations. */
#ifndef BRAID_JVM_PROBES_H
#define BRAID_JVM_PROBES_H

#include "jvms.h"
#include "process/processes.h"

int probes_new(struct probes **out, struct jvms *jvms);
void probes_free(struct probes *p);

/* A JVM is to come: what its probes run is loaded meanwhile. */
void probes_prepare(struct probes *p);
/* Has the probes that were chosen set in a JVM: nothing happens when it is no JVM, or has its probes. */
void probes_attach(struct probes *p, struct process *process);
/* The same for every process, and gives up those that have ended. */
void probes_discover(struct probes *p);
/* The process has ended, and nothing of it comes any more. */
void probes_forget(struct probes *p, const struct process *process);
/* What was set since is known from here on. */
void probes_tick(struct probes *p);
/* Until all that were asked for are set, or for that long. */
void probes_wait(struct probes *p, uint64_t limit_ns);
/* No more hits; what was counted and not told is told. */
void probes_stop(struct probes *p);

/* What is known of a process's VM; NULL: it is none, or not looked at (yet). */
struct libjvm_copy;
const struct libjvm_copy *probes_library(const struct probes *p, const struct process *process);

/* Does a COMPILE come for each compilation of this JVM, beside the CODE_LOAD records? */
bool probes_compilations(const struct probes *p, const struct process *process);

/* ---- probe_events.c ---- */

/* Of what the JVM's agent defines, is all known that the event refers to? */
bool probes_ready(const struct process *process, const struct braid_event_jvm_event *e);
/* Fills in what the numbers of a probe's event mean. False: it is told later, with what else is known of it. */
bool probes_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
		    struct trace_jvm_event *to);

#endif
