// SPDX-License-Identifier: Apache-2.0
/* Finds the VM's and the OS's thread of a Thread object. events/ and objects.c use it. */
#ifndef BRAID_AGENT_JAVA_THREADS_H
#define BRAID_AGENT_JAVA_THREADS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* The address of its JavaThread, 0 when it does not run. A pending exception stays pending. */
uint64_t java_thread_at(JNIEnv *jni, jthread thread);
/* The OS id of a thread that may end meanwhile; 0: it has ended or cannot be found. */
uint32_t java_thread_tid(JNIEnv *jni, jthread thread);

/* True if it is a carrier. No exception may be pending. */
bool java_thread_is_carrier(JNIEnv *jni, jthread thread);

#endif
