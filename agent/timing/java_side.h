// SPDX-License-Identifier: Apache-2.0
/*
 * The Java classes that rewritten methods call (agent/java): defines each, once in the life of a JVM, and calls it.
 * Both have the same methods for the agent.
 */
#ifndef BRAID_AGENT_JAVA_SIDE_H
#define BRAID_AGENT_JAVA_SIDE_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

struct java_side {
	const char *name;
	const uint8_t *start, *end; /* the class file, see the Makefile */
	jclass class;		    /* a global reference: the class stays in the JVM anyway */
	jmethodID claim, release, reset, take;
	const void *owner; /* functions of this copy of the library, when it has claimed the class */
	_Atomic jint next; /* id with which the next reading begins; at the VM's end, two threads may read */
};

enum claim {
	CLAIM_OURS,
	CLAIM_LATER, /* the JVM does not find its native functions before Agent_OnAttach has returned; or has no memory */
	CLAIM_REFUSED, /* it refuses the class */
	CLAIM_OTHER,   /* another recorder uses it in this JVM */
};

/*
 * Makes ids below `max` count for this agent, and no other one; the class passes `natives` on to its native functions.
 * No exception may be pending.
 */
enum claim java_side_claim(JNIEnv *jni, struct java_side *s, const void *natives, uint32_t max);
/* From here on nothing is counted. */
void java_side_release(JNIEnv *jni, struct java_side *s);
/* Limits have changed. */
void java_side_reset(JNIEnv *jni, struct java_side *s);

#define JAVA_SIDE_NUMBERS 4096 /* of one reading */

/* Reads counts of some ids, from the one at which the last call has stopped. False: these were the last ones. */
bool java_side_take(JNIEnv *jni, struct java_side *s, void (*take)(const jlong numbers[JAVA_SIDE_NUMBERS]));

#endif
