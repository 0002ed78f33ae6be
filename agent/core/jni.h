// SPDX-License-Identifier: Apache-2.0
/* For handlers that may use JNI: fields of Java objects, read without running any Java code. */
#ifndef BRAID_AGENT_JNI_H
#define BRAID_AGENT_JNI_H

#include "jvm.h"

#include <stdatomic.h>
#include <stddef.h>

/* A field of the class below Object that the object's class comes from; *known remembers it. NULL when there is none.
 */
jfieldID jni_root_field(JNIEnv *jni, jobject object, const char *name, const char *type, _Atomic(jfieldID) *known);
/* A field's string as modified UTF-8, cut to `size`; "" for null. */
void jni_string(JNIEnv *jni, jobject object, jfieldID field, char *to, size_t size);
/* Around other calls: an exception of the application, which they must not meet. */
jthrowable jni_save(JNIEnv *jni);
void jni_restore(JNIEnv *jni, jthrowable pending);
/* JVM TI has given `count` local references: they are there, but -Xcheck:jni expects a call for their room. */
void jni_expect(JNIEnv *jni, jint count);

#endif
