// SPDX-License-Identifier: Apache-2.0
/* The capabilities that the agent uses, by their bit numbers in jvmtiCapabilities, and the test whether one is held. */
#ifndef BRAID_AGENT_HELD_H
#define BRAID_AGENT_HELD_H

#include "state.h"

#define CAP_TAG_OBJECTS 0U
#define CAP_SOURCE_FILE_NAME 11U
#define CAP_LINE_NUMBERS 12U
#define CAP_EXCEPTION_EVENTS 17U /* only when loaded at the JVM's start */
#define CAP_COMPILED_METHOD_LOAD 27U
#define CAP_MONITOR_EVENTS 28U
#define CAP_NATIVE_METHOD_BIND 30U
#define CAP_GARBAGE_COLLECTION 31U
#define CAP_RETRANSFORM 37U
#define CAP_RESOURCE_HEAP 39U
#define CAP_RESOURCE_THREADS 40U
#define CAP_VIRTUAL_THREADS 44U	     /* JDK 21 */
#define CAP_SAMPLED_OBJECT_ALLOC 43U /* JDK 11 */
#define CAP_EARLY_VM_START 41U	     /* JDK 9; only when loaded at the JVM's start */

static inline bool caps_has(unsigned bit)
{
	return agent.held[bit / 64] >> bit % 64 & 1;
}

#endif
