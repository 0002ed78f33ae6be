// SPDX-License-Identifier: Apache-2.0
/* The layout of the Java objects from which the kernel side learns which thread runs and what it waits for: finds and
 * publishes struct braid_objects. agent.c, loop.c and threads.c call it. */
#ifndef BRAID_AGENT_OBJECTS_H
#define BRAID_AGENT_OBJECTS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Once per process; `libjvm` as for dlsym(). */
void objects_open(void *libjvm);

/* Finds and publishes what is still unknown. Live phase only, on any Java thread that has a name. */
void objects_resolve(JNIEnv *jni);

/*
 * True if `thread` is a carrier. The first one resolves the remaining class, which is loaded before any carrier runs.
 */
bool objects_on_thread(JNIEnv *jni, jthread thread);

/* The helper calls it when it has time, for classes that are not loaded yet. True: call again soon. */
bool objects_retry(JNIEnv *jni);

#endif
