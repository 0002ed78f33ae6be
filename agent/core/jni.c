// SPDX-License-Identifier: Apache-2.0
/* See jni.h. No call here runs Java code or leaves an exception of its own pending. */
#include "jni.h"

#include <stdint.h>
#include <string.h>

/*
 * The last class before Object. A field id of a subclass is not valid for its siblings (jfieldIDWorkaround), and
 * FindClass could run one of the application's class loaders.
 */
static jclass root_class(JNIEnv *jni, jobject object)
{
	jclass class = (*jni)->GetObjectClass(jni, object);
	jclass super = (*jni)->GetSuperclass(jni, class);
	jclass above = super ? (*jni)->GetSuperclass(jni, super) : NULL;

	while (above) {
		(*jni)->DeleteLocalRef(jni, class);
		class = super;
		super = above;
		above = (*jni)->GetSuperclass(jni, super);
	}
	if (super)
		(*jni)->DeleteLocalRef(jni, super);
	return class;
}

jfieldID jni_root_field(JNIEnv *jni, jobject object, const char *name, const char *type, _Atomic(jfieldID) *known)
{
	jfieldID field = atomic_load(known);
	jclass class;

	if (field)
		return field;
	class = root_class(jni, object);
	field = (*jni)->GetFieldID(jni, class, name, type);
	if (jni_failed(jni))
		field = NULL;
	(*jni)->DeleteLocalRef(jni, class);
	atomic_store(known, field);
	return field;
}

bool jni_failed(JNIEnv *jni)
{
	bool pending = (*jni)->ExceptionCheck(jni);

	if (pending)
		(*jni)->ExceptionClear(jni);
	return pending;
}

jthrowable jni_save(JNIEnv *jni)
{
	jthrowable pending = (*jni)->ExceptionOccurred(jni);

	if (pending)
		(*jni)->ExceptionClear(jni);
	return pending;
}

void jni_expect(JNIEnv *jni, jint count)
{
	if ((*jni)->EnsureLocalCapacity(jni, count < INT32_MAX - 64 ? count + 64 : count))
		(*jni)->ExceptionClear(jni);
}

void jni_restore(JNIEnv *jni, jthrowable pending)
{
	if (!pending)
		return;
	(*jni)->Throw(jni, pending);
	(*jni)->DeleteLocalRef(jni, pending);
}

void jni_string(JNIEnv *jni, jobject object, jfieldID field, char *to, size_t size)
{
	jstring string = field ? (*jni)->GetObjectField(jni, object, field) : NULL;
	jsize length;

	to[0] = '\0';
	if (!string)
		return;
	length = (*jni)->GetStringLength(jni, string);
	if ((size_t)length > (size - 1) / 3) /* one UTF-16 unit takes at most three bytes */
		length = (jsize)((size - 1) / 3);
	memset(to, 0, size); /* not every VM terminates the string */
	(*jni)->GetStringUTFRegion(jni, string, 0, length, to);
	(*jni)->DeleteLocalRef(jni, string);
}
