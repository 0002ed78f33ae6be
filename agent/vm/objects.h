// SPDX-License-Identifier: Apache-2.0
/* How this VM lays out the objects that say which thread runs and what it waits for: struct braid_objects. */
#ifndef BRAID_AGENT_OBJECTS_H
#define BRAID_AGENT_OBJECTS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Once per process; `libjvm` as for dlsym(). */
void objects_open(void *libjvm);

/* Finds and publishes what is not known yet: in the live phase, on any thread of the JVM that has a name. */
void objects_resolve(JNIEnv *jni);

/* Is this a carrier of virtual threads? Before the first one runs anything, the last of their classes is loaded. */
bool objects_on_thread(JNIEnv *jni, jthread thread);

/* On the helper thread, whenever it has time: what waits for classes to be loaded. True: to be called soon again. */
bool objects_retry(JNIEnv *jni);

#endif
