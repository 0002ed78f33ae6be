// SPDX-License-Identifier: Apache-2.0
/* What the files of the agent's top folder offer each other: connection, capabilities, events, kinds and the helper's
 * loop. Files in core/, events/ and vm/ do not include it. */
#ifndef BRAID_AGENT_H
#define BRAID_AGENT_H

#include "core/kind.h"
#include "core/state.h"

/* agent.c */
/* The helper calls it last: it releases the ring. `stopped`: the collector asked for the end and waits for the
 * answer. */
void agent_disconnect(bool stopped);
extern const struct kind life_kind;

/* events.c */
/* Enables the events that every recording needs and those of the event types in `types`. */
jvmtiError events_enable(uint32_t types);
/* Enables the events of `types` and disables all other events that belong to an event type. */
jvmtiError events_configure(uint32_t types);
/* Enables events for single threads in addition; only live Java threads can be configured. */
void events_configure_threads(JNIEnv *jni, const struct braid_event_config *c);
void events_disable(void);

/* caps.c */
struct caps {
	uint64_t got[2];
	uint64_t refused[2];
};

/* Requests the capabilities that `types` (bits of enum braid_event_type) need and the agent does not hold. */
void caps_acquire(struct caps *c, uint32_t types);
/* Relinquishes the capabilities that `types` do not need. The caller disables their events first: JVM TI does not
 * specify what happens to the events of a relinquished capability. */
void caps_keep(struct caps *c, uint32_t types);
/* Returns those of `types` that the held capabilities allow. */
uint32_t caps_can(uint32_t types);
void caps_relinquish(void);
void caps_report_refused(const struct caps *c);

/* hello.c */
void hello_publish(const struct caps *c);

/* settings.c */
/*
 * Publishes all flags and system properties. Helper thread, once in a connection; the kind publishes what changes
 * later.
 */
void settings_publish(JNIEnv *jni);
extern const struct kind settings_kind;

/* kinds.c */
/* NULL after the last kind. */
const struct kind *kind_at(size_t i);
/* Starts the enabled kinds of a new connection, before any of its events can arrive. */
void kinds_start(const struct braid_event_config *c);
/* Called in the live phase, once the events are enabled. */
void kinds_on_enabled(JNIEnv *jni);
/* From here to kinds_tick: on the helper thread. */
void kinds_on_replayed(JNIEnv *jni);
void kinds_change(const struct braid_event_config *c);
void kinds_command(JNIEnv *jni, enum braid_command command);
/* Goes on with what takes long. True: there is more to do. */
bool kinds_work(JNIEnv *jni);
void kinds_tick(JNIEnv *jni);
/* Publishes what a kind reports at the end. False: the helper has not ended what it does within a second,
 * or the collector has gone. */
bool kinds_publish_final(JNIEnv *jni);
/* Called when handlers publish nothing any more. `jni` is NULL when the VM is dead. */
void kinds_end(JNIEnv *jni);

/* loop.c */
bool loop_start(JNIEnv *jni); /* starts the helper thread */
extern const struct kind dump_kind;

#endif
