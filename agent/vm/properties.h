// SPDX-License-Identifier: Apache-2.0
/* The system properties of the JVM, for settings.c. */
#ifndef BRAID_AGENT_PROPERTIES_H
#define BRAID_AGENT_PROPERTIES_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

#define PROPERTIES_MAX 1024U /* that are read at a time */

/* `cut`: the value, or the name, is only the beginning of it. */
typedef void property_fn(const char *name, const char *value, bool cut);

/*
 * Calls `each` for the system properties as they are now, which `jcmd VM.system_properties` prints, or if Java does not
 * answer, for those that the VM began with. Returns how many were left out. It runs Java code, so only the helper may
 * call it, in the live phase.
 */
uint32_t properties_each(JNIEnv *jni, property_fn *each);

#endif
