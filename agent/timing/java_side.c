// SPDX-License-Identifier: Apache-2.0
#include "java_side.h"

#include "core/jni.h"
#include "core/jni_table.h"
#include "core/state.h"

#define NUMBERS 4096 /* of one reading */
#define RECORD 3     /* see BraidMethods.take */

/* The class file, see the Makefile. */
extern const uint8_t methods_class_blob_start[], methods_class_blob_end[];

static struct {
	jclass class; /* a global reference: the class stays in the JVM anyway */
	jmethodID claim, release, reset, take;
	const struct java_side_natives *owner; /* this copy, when it has claimed it */
} java;

static _Atomic jint next; /* method with which the next reading begins; at the VM's end, two threads may read */

static jclass class_find(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, REWRITE_HELPER);

	if (!jni_failed(jni) && class)
		return class;
	class = (*jni)->DefineClass(jni, REWRITE_HELPER, NULL, (const jbyte *)methods_class_blob_start,
				    (jsize)(methods_class_blob_end - methods_class_blob_start));
	return jni_failed(jni) ? NULL : class;
}

static jmethodID method_find(JNIEnv *jni, const char *name, const char *descriptor)
{
	jmethodID method = (*jni)->GetStaticMethodID(jni, java.class, name, descriptor);

	return jni_failed(jni) ? NULL : method;
}

static bool look_up(JNIEnv *jni)
{
	jclass class = class_find(jni);

	if (!class)
		return false;
	java.class = jni_global_new(jni, class);
	(*jni)->DeleteLocalRef(jni, class);
	if (!java.class)
		return false;
	java.claim = method_find(jni, "claim", "(JI)Z");
	java.release = method_find(jni, "release", "(J)V");
	java.reset = method_find(jni, "reset", "()V");
	java.take = method_find(jni, "take", "(I[J)I");
	return java.claim && java.release && java.reset && java.take;
}

/* `natives` of the copy that times methods; NULL: none. No copy is ever unmapped. */
static const struct java_side_natives *natives_of(jlong owner)
{
	return (const struct java_side_natives *)(uintptr_t)owner;
}

jlong JNICALL Java_java_lang_BraidMethods_limit(JNIEnv *jni, jclass class, jlong owner, jint id)
{
	(void)jni;
	(void)class;
	return owner ? (jlong)natives_of(owner)->limit((uint32_t)id) : INT64_MAX;
}

void JNICALL Java_java_lang_BraidMethods_ended(JNIEnv *jni, jclass class, jlong owner, jlong from, jlong to, jint id,
					       jthrowable by, jint kinds, jobject a, jobject b, jobject c, jobject d,
					       jlong e, jlong f, jlong g, jlong h)
{
	const struct java_side_call call = {.from_ns = (uint64_t)from,
					    .to_ns = (uint64_t)to,
					    .id = (uint32_t)id,
					    .by = by,
					    .kinds = (uint32_t)kinds,
					    .objects = {a, b, c, d},
					    .numbers = {e, f, g, h}};

	(void)class;
	if (owner)
		natives_of(owner)->ended(jni, &call);
}

void JNICALL Java_java_lang_BraidMethods_unmeasured(JNIEnv *jni, jclass class, jlong owner)
{
	(void)jni;
	(void)class;
	if (owner)
		natives_of(owner)->unmeasured();
}

enum claim java_side_claim(JNIEnv *jni, const struct java_side_natives *natives, uint32_t max)
{
	bool claimed;

	if ((!java.class && !look_up(jni)) || !java.take)
		return CLAIM_REFUSED;
	claimed = (*jni)->CallStaticBooleanMethod(jni, java.class, java.claim, (jlong)(uintptr_t)natives, (jint)max);
	if (jni_failed(jni))
		return CLAIM_LATER;
	java.owner = natives;
	next = 0;
	return claimed ? CLAIM_OURS : CLAIM_OTHER;
}

void java_side_release(JNIEnv *jni)
{
	(*jni)->CallStaticVoidMethod(jni, java.class, java.release, (jlong)(uintptr_t)java.owner);
	(void)jni_failed(jni);
}

void java_side_reset(JNIEnv *jni)
{
	(*jni)->CallStaticVoidMethod(jni, java.class, java.reset);
	(void)jni_failed(jni);
}

/* The numbers come from BraidMethods, which only this agent's code can have filled. */
static void numbers_take(const jlong *at, void (*take)(const struct java_side_calls *calls))
{
	for (size_t i = 0; i + RECORD <= NUMBERS && at[i + 1];) {
		struct java_side_calls calls = {
			.id = (uint32_t)at[i], .longest_ns = (uint64_t)at[i + 1], .buckets = (uint32_t)at[i + 2]};

		i += RECORD;
		for (uint32_t b = 0; b < calls.buckets && b < JAVA_SIDE_BUCKETS && i + RECORD <= NUMBERS;
		     b++, i += RECORD)
			calls.at[b] =
				(struct java_side_bucket){(uint64_t)at[i], (uint64_t)at[i + 1], (uint64_t)at[i + 2]};
		take(&calls);
	}
}

bool java_side_take(JNIEnv *jni, void (*take)(const struct java_side_calls *calls))
{
	jlong numbers[NUMBERS];
	jlongArray array = (*jni)->NewLongArray(jni, NUMBERS);

	if (jni_failed(jni) || !array)
		return false;
	next = (*jni)->CallStaticIntMethod(jni, java.class, java.take, next, array);
	if (jni_failed(jni))
		next = 0;
	(*jni)->GetLongArrayRegion(jni, array, 0, NUMBERS, numbers);
	(*jni)->DeleteLocalRef(jni, array);
	if (!jni_failed(jni))
		numbers_take(numbers, take);
	return next;
}
