// SPDX-License-Identifier: Apache-2.0
/*
 * Compilations of a JVM. A probe reports how long each took and whether it failed; the agent's CODE_LOAD reports the
 * method and the resulting code. This joins both into one event. Without a probe, or without a compiler thread
 * (wrappers of native methods), the CODE_LOAD alone makes the event. jvm_code.c and probe_events.c call this.
 */
#ifndef BRAID_JVM_COMPILATIONS_H
#define BRAID_JVM_COMPILATIONS_H

#include "jvm.h"

#include <braid/probe.h>

struct compilations;

void compilations_free(struct compilations *c);

/*
 * Takes a probe's report. `to` has everything except the size, and perhaps the name. The Method is, or was, at the
 * address `method`.
 */
void compilations_on_probe(struct jvm *j, uint64_t method, struct trace_jvm_event *to);
/* `again`: the replay has reported the same. */
void compilations_on_load(struct jvm *j, const struct braid_rec_code_load *r, bool again);
/* Emits those whose other half will not come; `final`: all. */
void compilations_tick(struct jvm *j, uint64_t time_ns, bool final);

#endif
