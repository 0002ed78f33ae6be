// SPDX-License-Identifier: Apache-2.0
/*
 * Has the JVM load classes again that are rewritten, or were: in batches, as each one stops the JVM. For the helper
 * thread.
 */
#ifndef BRAID_AGENT_SWITCH_H
#define BRAID_AGENT_SWITCH_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Loaded classes that match and have the name of a method that does, but are never rewritten. */
struct left_out {
	uint32_t classes;
	char one[128]; /* the name of the first one, cut */
};

/*
 * Begins with all loaded classes that match or are rewritten. `left`: gets those that are left out; NULL: nobody asks.
 */
void switch_begin(JNIEnv *jni, struct left_out *left);
/*
 * Does the next batch. False: there was none. `refused`: classes that the JVM refuses to change, so far. `tried` hears
 * of each try after which the JVM has changed all the classes that the calling thread has rewritten meanwhile, or none.
 */
bool switch_step(JNIEnv *jni, uint32_t *refused, void (*tried)(bool done));
/* Forgets what is left. */
void switch_end(JNIEnv *jni);

#endif
