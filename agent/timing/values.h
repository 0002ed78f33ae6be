// SPDX-License-Identifier: Apache-2.0
/*
 * Values of arguments and fields, and exceptions, of a call or a write that is reported, as text. No method of the
 * program is called: of strings, arrays and boxed values it reads what is in them, of all other objects their class and
 * identity.
 */
#ifndef BRAID_AGENT_VALUES_H
#define BRAID_AGENT_VALUES_H

#include "java_fields.h"
#include "java_methods.h"

/*
 * Publishes what is known of a call besides its times, as a record. Returns the number of the record; 0: there is
 * nothing, or no room.
 */
uint64_t values_publish(JNIEnv *jni, const struct java_call *call);
/* The same with the values of a write to a field. */
uint64_t values_publish_write(JNIEnv *jni, const struct java_write *write);

#endif
