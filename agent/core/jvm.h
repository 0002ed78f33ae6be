// SPDX-License-Identifier: Apache-2.0
/* Includes jvmti.h without a warning: the JDK's header declares one function type without a prototype. */
#ifndef BRAID_AGENT_JVM_H
#define BRAID_AGENT_JVM_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <jvmti.h>
#pragma GCC diagnostic pop

#endif
