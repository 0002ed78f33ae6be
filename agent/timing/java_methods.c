// SPDX-License-Identifier: Apache-2.0
#include "java_methods.h"

#define RECORD 3 /* see BraidMethods.take */

extern const uint8_t methods_class_blob_start[], methods_class_blob_end[];

struct java_side java_methods = {
	.name = REWRITE_HELPER, .start = methods_class_blob_start, .end = methods_class_blob_end};

/* Those of the copy that times methods; NULL: none. No copy is ever unmapped. */
static const struct java_methods_natives *natives_of(jlong owner)
{
	return (const struct java_methods_natives *)(uintptr_t)owner;
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
	const struct java_call call = {.from_ns = (uint64_t)from,
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

/* The numbers come from BraidMethods, which only this agent's code can have filled. */
void java_methods_read(const jlong numbers[JAVA_SIDE_NUMBERS], void (*read)(const struct java_calls *calls))
{
	for (size_t i = 0; i + RECORD <= JAVA_SIDE_NUMBERS && numbers[i + 1];) {
		const jlong *at = &numbers[i];
		struct java_calls calls = {
			.id = (uint32_t)at[0], .longest_ns = (uint64_t)at[1], .buckets = (uint32_t)at[2]};

		i += RECORD;
		for (uint32_t b = 0; b < calls.buckets && b < JAVA_CALLS_BUCKETS && i + RECORD <= JAVA_SIDE_NUMBERS;
		     b++, i += RECORD) {
			at = &numbers[i];
			calls.at[b] = (struct java_calls_bucket){(uint64_t)at[0], (uint64_t)at[1], (uint64_t)at[2]};
		}
		read(&calls);
	}
}
