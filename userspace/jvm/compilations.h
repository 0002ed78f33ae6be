// SPDX-License-Identifier: Apache-2.0
/*
 * Compilations of a JVM: a probe tells of each how long it took and whether it failed, the agent's CODE_LOAD which
 * method it was and what came of it. Each has an event, with what is known of it; where there is no probe, or no
 * compiler thread at work (wrappers of native methods), the CODE_LOAD's.
 */
#ifndef BRAID_JVM_COMPILATIONS_H
#define BRAID_JVM_COMPILATIONS_H

#include "jvm.h"

#include <braid/probe.h>

struct compilations;

void compilations_free(struct compilations *c);

/* A probe's: `to` has all but its size, and its name perhaps; the Method is, or was, at an address. */
void compilations_on_probe(struct jvm *j, uint64_t method, struct trace_jvm_event *to);
/* `again`: the replay has told of the same. */
void compilations_on_load(struct jvm *j, const struct braid_rec_code_load *r, bool again);
/* Tells of those that nothing more comes for; `final`: of all. */
void compilations_tick(struct jvm *j, uint64_t time_ns, bool final);

#endif
