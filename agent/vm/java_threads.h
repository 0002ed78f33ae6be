// SPDX-License-Identifier: Apache-2.0
/* From a Thread object to the VM's and the OS's thread. */
#ifndef BRAID_AGENT_JAVA_THREADS_H
#define BRAID_AGENT_JAVA_THREADS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Its JavaThread, 0 when it does not run; an exception of the application stays what it was. */
uint64_t java_thread_at(JNIEnv *jni, jthread thread);
/* The OS's number of a thread that may end meanwhile; 0: it has ended, or cannot be found. */
uint32_t java_thread_tid(JNIEnv *jni, jthread thread);

/* Is it a carrier of virtual threads? With no exception pending. */
bool java_thread_is_carrier(JNIEnv *jni, jthread thread);

#endif
