// SPDX-License-Identifier: Apache-2.0
#include "properties.h"

#include "core/jni.h"
#include "core/state.h"

#include <braid/ring.h>

/* What is called of java.util.Properties, and all its names that are strings. */
struct java_properties {
	jclass string;
	jobject properties;
	jmethodID get;
	jobjectArray names;
};

/* The result of a method without arguments, or NULL. No exception is left. */
static jobject call(JNIEnv *jni, jobject object, const char *name, const char *signature)
{
	jmethodID method = (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, object), name, signature);
	jobject result = method ? (*jni)->CallObjectMethod(jni, object, method) : NULL;

	return jni_failed(jni) ? NULL : result;
}

static jobject system_properties(JNIEnv *jni)
{
	jclass class = jni_boot_class(jni, "java/lang/System");
	jmethodID get =
		class ? (*jni)->GetStaticMethodID(jni, class, "getProperties", "()Ljava/util/Properties;") : NULL;
	jobject properties = get ? (*jni)->CallStaticObjectMethod(jni, class, get) : NULL;

	return jni_failed(jni) ? NULL : properties;
}

static bool open(JNIEnv *jni, struct java_properties *p)
{
	jobject set = NULL;

	p->properties = system_properties(jni);
	if (!p->properties)
		return false;
	p->string = jni_boot_class(jni, "java/lang/String");
	if (!p->string)
		return false;
	p->get = (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, p->properties), "getProperty",
				     "(Ljava/lang/String;)Ljava/lang/String;");
	if (!jni_failed(jni) && p->get)
		set = call(jni, p->properties, "stringPropertyNames", "()Ljava/util/Set;");
	p->names = set ? call(jni, set, "toArray", "()[Ljava/lang/Object;") : NULL;
	return p->names;
}

/*
 * A property that another thread has removed meanwhile has no value. The names may come from a class of the
 * application, which can put anything among them.
 */
static void each_of_java(JNIEnv *jni, const struct java_properties *p, jsize at, property_fn *each)
{
	char name[BRAID_STR_MAX + 1], value[BRAID_STR_MAX + 1];
	jstring key, text = NULL;
	bool whole;

	key = (*jni)->GetObjectArrayElement(jni, p->names, at);
	if (!jni_failed(jni) && key && (*jni)->IsInstanceOf(jni, key, p->string))
		text = (*jni)->CallObjectMethod(jni, p->properties, p->get, key);
	if (!jni_failed(jni) && text) {
		whole = jni_text(jni, key, name, sizeof(name));
		whole &= jni_text(jni, text, value, sizeof(value));
		each(name, value, !whole);
	}
	if (text)
		(*jni)->DeleteLocalRef(jni, text);
	if (key)
		(*jni)->DeleteLocalRef(jni, key);
}

static bool java_each(JNIEnv *jni, property_fn *each, uint32_t *left_out)
{
	struct java_properties p = {0};
	jsize count, taken;

	if (!open(jni, &p))
		return false;
	count = (*jni)->GetArrayLength(jni, p.names);
	taken = count < (jsize)PROPERTIES_MAX ? count : (jsize)PROPERTIES_MAX;
	for (jsize i = 0; i < taken; i++)
		each_of_java(jni, &p, i, each);
	*left_out = (uint32_t)(count - taken);
	return true;
}

static uint32_t vm_each(property_fn *each)
{
	char **names = NULL, *value;
	jint count = 0;

	if ((*agent.jvmti)->GetSystemProperties(agent.jvmti, &count, &names) != JVMTI_ERROR_NONE)
		return 0;
	for (jint i = 0; i < count; i++) {
		value = NULL;
		if (i < (jint)PROPERTIES_MAX &&
		    (*agent.jvmti)->GetSystemProperty(agent.jvmti, names[i], &value) == JVMTI_ERROR_NONE)
			each(names[i], value, false);
		agent_release(value);
		agent_release(names[i]);
	}
	agent_release(names);
	return count > (jint)PROPERTIES_MAX ? (uint32_t)count - PROPERTIES_MAX : 0;
}

uint32_t properties_each(JNIEnv *jni, property_fn *each)
{
	uint32_t left_out = 0;
	bool known = false;

	if ((*jni)->PushLocalFrame(jni, 16) == 0) {
		known = java_each(jni, each, &left_out);
		(*jni)->PopLocalFrame(jni, NULL);
	} else {
		(*jni)->ExceptionClear(jni);
	}
	return known ? left_out : vm_each(each);
}
