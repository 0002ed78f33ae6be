// SPDX-License-Identifier: Apache-2.0
/* The life of a connection: what its files offer each other. */
#ifndef BRAID_AGENT_H
#define BRAID_AGENT_H

#include "core/kind.h"
#include "core/state.h"

/* agent.c */
/* The helper's last act: lets go of the ring. `stopped`: the collector asked for it and wants to hear that it is done.
 */
void agent_disconnect(bool stopped);
extern const struct kind life_kind;

/* events.c */
/* Those that are always wanted, and those of these choices. */
jvmtiError events_enable(uint32_t types);
/* From now on those of these choices, and of no others. */
jvmtiError events_configure(uint32_t types);
/* Of single threads, besides; of a Java thread that runs or waits for something. */
void events_configure_threads(JNIEnv *jni, const struct braid_event_config *c);
void events_disable(void);

/* caps.c */
struct caps {
	uint64_t got[2];
	uint64_t refused[2];
};

/* Asks for what is lacking for these choices (enum braid_event_type). */
void caps_acquire(struct caps *c, uint32_t types);
/* Gives back what these choices do not need, after their events have been disabled: what happens to events of a
 * capability that goes is not specified. */
void caps_keep(struct caps *c, uint32_t types);
/* Which of the choices can be had with what is held. */
uint32_t caps_can(uint32_t types);
void caps_relinquish(void);
void caps_report_refused(const struct caps *c);

/* hello.c */
void hello_publish(const struct caps *c);

/* kinds.c */
/* NULL behind the last. */
const struct kind *kind_at(size_t i);
/* With a new connection, before any of its events can come. */
void kinds_start(const struct braid_event_config *c);
/* When its events come, in the live phase. */
void kinds_on_enabled(JNIEnv *jni);
/* On the helper thread. */
void kinds_change(const struct braid_event_config *c);
void kinds_command(JNIEnv *jni, enum braid_command command);
void kinds_tick(JNIEnv *jni);
/* The last that can be said, while it can. */
void kinds_publish_final(JNIEnv *jni);
/* No handler will come any more, or if one does, it finds nothing to do. `jni` is NULL when the VM is dead. */
void kinds_end(JNIEnv *jni);

/* loop.c */
bool loop_start(JNIEnv *jni); /* the helper */
extern const struct kind dump_kind;

#endif
