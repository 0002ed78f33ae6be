// SPDX-License-Identifier: Apache-2.0
/*
 * JNI for handlers that may use it: reads fields of Java objects without running Java code, but for jni_boot_class().
 */
#ifndef BRAID_AGENT_JNI_H
#define BRAID_AGENT_JNI_H

#include "jvm.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Finds a field of the ancestor of the object's class just below Object; *known caches it. NULL when there is none. */
jfieldID jni_root_field(JNIEnv *jni, jobject object, const char *name, const char *type, _Atomic(jfieldID) *known);
/*
 * A class of the boot loader, by its name as in class files; NULL when there is none. FindClass would ask the system
 * class loader, which can be the application's. This runs code of the JDK, and may not be called from handlers in which
 * no Java code may run. Leaves no exception, and one local reference.
 */
jclass jni_boot_class(JNIEnv *jni, const char *name);
/* Copies a string as modified UTF-8. False: only its beginning fits. */
bool jni_text(JNIEnv *jni, jstring string, char *to, size_t size);
/* Copies a string field as modified UTF-8, cut to `size`; "" for null. */
void jni_string(JNIEnv *jni, jobject object, jfieldID field, char *to, size_t size);
/* Whether the calls before have thrown an exception, which it clears. */
bool jni_failed(JNIEnv *jni);
/* Save and restore the application's pending exception around JNI calls, which forbid one. */
jthrowable jni_save(JNIEnv *jni);
void jni_restore(JNIEnv *jni, jthrowable pending);
/* Announces the `count` local references that JVM TI returned: -Xcheck:jni expects a call that makes room for them. */
void jni_expect(JNIEnv *jni, jint count);

#endif
