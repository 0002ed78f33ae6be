// SPDX-License-Identifier: Apache-2.0
#include "java_side.h"

#include "core/jni.h"
#include "core/jni_table.h"
#include "core/state.h"

static jclass class_find(JNIEnv *jni, const struct java_side *s)
{
	jclass class = jni_boot_class(jni, s->name);

	if (class)
		return class;
	class = (*jni)->DefineClass(jni, s->name, NULL, (const jbyte *)s->start, (jsize)(s->end - s->start));
	return jni_failed(jni) ? NULL : class;
}

static jmethodID method_find(JNIEnv *jni, const struct java_side *s, const char *name, const char *descriptor)
{
	jmethodID method = (*jni)->GetStaticMethodID(jni, s->class, name, descriptor);

	return jni_failed(jni) ? NULL : method;
}

static bool look_up(JNIEnv *jni, struct java_side *s)
{
	jclass class = class_find(jni, s);

	if (!class)
		return false;
	s->class = jni_global_new(jni, class);
	(*jni)->DeleteLocalRef(jni, class);
	if (!s->class)
		return false;
	s->claim = method_find(jni, s, "claim", "(JI)Z");
	s->release = method_find(jni, s, "release", "(J)V");
	s->reset = method_find(jni, s, "reset", "()V");
	s->take = method_find(jni, s, "take", "(I[J)I");
	return s->claim && s->release && s->reset && s->take;
}

enum claim java_side_claim(JNIEnv *jni, struct java_side *s, const void *natives, uint32_t max)
{
	bool claimed;

	if ((!s->class && !look_up(jni, s)) || !s->take)
		return CLAIM_REFUSED;
	claimed = (*jni)->CallStaticBooleanMethod(jni, s->class, s->claim, (jlong)(uintptr_t)natives, (jint)max);
	if (jni_failed(jni))
		return CLAIM_LATER;
	s->owner = natives;
	s->next = 0;
	return claimed ? CLAIM_OURS : CLAIM_OTHER;
}

void java_side_release(JNIEnv *jni, struct java_side *s)
{
	(*jni)->CallStaticVoidMethod(jni, s->class, s->release, (jlong)(uintptr_t)s->owner);
	(void)jni_failed(jni);
}

void java_side_reset(JNIEnv *jni, struct java_side *s)
{
	(*jni)->CallStaticVoidMethod(jni, s->class, s->reset);
	(void)jni_failed(jni);
}

bool java_side_take(JNIEnv *jni, struct java_side *s, void (*take)(const jlong numbers[JAVA_SIDE_NUMBERS]))
{
	jlong numbers[JAVA_SIDE_NUMBERS];
	jlongArray array = (*jni)->NewLongArray(jni, JAVA_SIDE_NUMBERS);

	if (jni_failed(jni) || !array)
		return false;
	s->next = (*jni)->CallStaticIntMethod(jni, s->class, s->take, s->next, array);
	if (jni_failed(jni))
		s->next = 0;
	(*jni)->GetLongArrayRegion(jni, array, 0, JAVA_SIDE_NUMBERS, numbers);
	(*jni)->DeleteLocalRef(jni, array);
	if (!jni_failed(jni))
		take(numbers);
	return s->next;
}
