// SPDX-License-Identifier: Apache-2.0
/* See jni.h. No call here leaves an exception of its own pending. */
#include "jni.h"

#include <stdint.h>
#include <string.h>

#define UNIT_BYTES 3 /* what a unit of UTF-16 takes at most */

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

/* Class.forName(name, false, null) of java.lang.Class, which is the class of any class. */
static jclass for_name(JNIEnv *jni, jclass any, jstring name)
{
	jclass class = (*jni)->GetObjectClass(jni, any);
	jmethodID method = (*jni)->GetStaticMethodID(jni, class, "forName",
						     "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
	jclass found = NULL;

	if (method)
		found = (*jni)->CallStaticObjectMethod(jni, class, method, name, JNI_FALSE, (jobject)NULL);
	(*jni)->DeleteLocalRef(jni, class);
	return found;
}

#define BOOT_NAME 64 /* bytes of a boot class's name, and its end */

jclass jni_boot_class(JNIEnv *jni, const char *name)
{
	char dotted[BOOT_NAME] = "";
	jclass of_name, found;
	jstring text;

	for (size_t i = 0; name[i] && i + 1 < sizeof(dotted); i++)
		dotted[i] = name[i] == '/' ? '.' : name[i];
	text = (*jni)->NewStringUTF(jni, dotted);
	if (jni_failed(jni) || !text)
		return NULL;
	of_name = (*jni)->GetObjectClass(jni, text);
	found = for_name(jni, of_name, text);
	if (jni_failed(jni))
		found = NULL;
	(*jni)->DeleteLocalRef(jni, of_name);
	(*jni)->DeleteLocalRef(jni, text);
	return found;
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

bool jni_text(JNIEnv *jni, jstring string, char *to, size_t size)
{
	jsize length = (*jni)->GetStringLength(jni, string), done = 0, part;
	size_t room = size - 1;

	memset(to, 0, size); /* not every VM terminates the string */
	for (; done < length && room >= UNIT_BYTES; done += part) {
		part = (size_t)(length - done) <= room / UNIT_BYTES ? length - done : (jsize)(room / UNIT_BYTES);
		(*jni)->GetStringUTFRegion(jni, string, done, part, to);
		room -= strlen(to);
		to += strlen(to);
	}
	return done == length;
}

void jni_string(JNIEnv *jni, jobject object, jfieldID field, char *to, size_t size)
{
	jstring string = field ? (*jni)->GetObjectField(jni, object, field) : NULL;

	to[0] = '\0';
	if (!string)
		return;
	(void)jni_text(jni, string, to, size);
	(*jni)->DeleteLocalRef(jni, string);
}
