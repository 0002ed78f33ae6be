// SPDX-License-Identifier: Apache-2.0
/*
 * Probes in HotSpot's code: safepoints, compilations, deoptimisations and collections. It decides which JVMs get which
 * probes, sets them on a thread of its own and removes them. record/ and agents/ call this.
 */
#ifndef BRAID_JVM_PROBES_H
#define BRAID_JVM_PROBES_H

#include "jvms.h"
#include "process/processes.h"

int probes_new(struct probes **out, struct jvms *jvms);
void probes_free(struct probes *p);

/* To be called when a JVM is expected: loads the programs of probes meanwhile. */
void probes_prepare(struct probes *p);
/*
 * Requests the probes of the enabled event types for a process. Nothing happens when it is no JVM, or has its probes.
 */
void probes_attach(struct probes *p, struct process *process);
/* The same for every process, and gives up those that have ended. */
void probes_discover(struct probes *p);
/* To be called when the process has ended and nothing of it is read any more. */
void probes_forget(struct probes *p, const struct process *process);
/* Takes the results of the thread, and starts it for waiting JVMs. */
void probes_tick(struct probes *p);
/* Whether a JVM waits for probes. */
bool probes_pending(const struct probes *p);
/* Waits until all requested probes are set, or until that time. */
void probes_wait(struct probes *p, uint64_t until);
/* Removes the probes, and emits what was counted and not reported yet. */
void probes_stop(struct probes *p);

/* What is known of a process's VM. NULL: it is no JVM, or not read (yet). */
struct libjvm_copy;
const struct libjvm_copy *probes_library(const struct probes *p, const struct process *process);

/* Whether a probe reports each compilation of this JVM, in addition to CODE_LOAD records. */
bool probes_compilations(const struct probes *p, const struct process *process);

/* ---- probe_events.c ---- */

/* Whether everything that the event refers to has been defined by the JVM's agent. */
bool probes_ready(const struct process *process, const struct braid_event_jvm_event *e);
/* Fills in the names for a probe's event. False: it is emitted later, joined with other reports. */
bool probes_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
		    struct trace_jvm_event *to);

#endif
