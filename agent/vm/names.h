// SPDX-License-Identifier: Apache-2.0
/* Where this VM keeps names: struct braid_names. */
#ifndef BRAID_AGENT_NAMES_H
#define BRAID_AGENT_NAMES_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Once per process. */
void names_open(void *libjvm, jint jvmti_version);
/* Where this VM keeps names: at the start of a connection, and again when the VM is up. */
void names_publish(void);
/* A class was redefined: its methods' addresses may mean other versions. */
void names_redefined(void);
/* May calls still go to this nmethod? */
bool names_in_use(uint64_t nmethod);

#endif
