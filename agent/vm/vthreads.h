// SPDX-License-Identifier: Apache-2.0
/* Where this VM keeps what walking and naming virtual threads needs: struct braid_vthreads. */
#ifndef BRAID_AGENT_VTHREADS_H
#define BRAID_AGENT_VTHREADS_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Once per process, after layout_open(); `libjvm` as for dlsym(). */
void vthreads_open(void *libjvm);

/* Is this one of the stubs that thaw frames? As announced, in any order. */
void vthreads_on_stub(const char *name, uint64_t address, uint32_t size);

/* Is this the code of Continuation.enterSpecial, or of doYield? */
void vthreads_on_code(jmethodID method, uint64_t address, uint32_t size);

/* Is this a carrier? Then virtual threads are about to run. */
void vthreads_on_thread(JNIEnv *jni, jthread thread);

/* On the helper thread, whenever it has time: finds the fields of the classes, once they are in use. True: to be called
 * soon again. */
bool vthreads_resolve(JNIEnv *jni);

#endif
