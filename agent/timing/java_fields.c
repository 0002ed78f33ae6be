// SPDX-License-Identifier: Apache-2.0
#include "java_fields.h"

#include "rewrite/rewrite.h"

#define RECORD 2 /* see BraidFields.take */

extern const uint8_t fields_class_blob_start[], fields_class_blob_end[];

struct java_side java_fields = {
	.name = REWRITE_FIELD_HELPER, .start = fields_class_blob_start, .end = fields_class_blob_end};

/* Those of the copy that watches fields; NULL: none. No copy is ever unmapped. */
static const struct java_fields_natives *natives_of(jlong owner)
{
	return (const struct java_fields_natives *)(uintptr_t)owner;
}

jlong JNICALL Java_java_lang_BraidFields_limit(JNIEnv *jni, jclass class, jlong owner, jint id)
{
	(void)jni;
	(void)class;
	return owner ? (jlong)natives_of(owner)->limit((uint32_t)id) : 0;
}

void JNICALL Java_java_lang_BraidFields_reported(JNIEnv *jni, jclass class, jlong owner, jint id, jint values,
						 jobject now, jobject before, jlong now_number, jlong before_number)
{
	const struct java_write write = {.id = (uint32_t)id,
					 .values = (uint32_t)values,
					 .now = now,
					 .before = before,
					 .now_number = now_number,
					 .before_number = before_number};

	(void)class;
	if (owner)
		natives_of(owner)->wrote(jni, &write);
}

void JNICALL Java_java_lang_BraidFields_unmeasured(JNIEnv *jni, jclass class, jlong owner)
{
	(void)jni;
	(void)class;
	if (owner)
		natives_of(owner)->unmeasured();
}

void java_fields_read(const jlong numbers[JAVA_SIDE_NUMBERS], void (*read)(uint32_t id, uint64_t writes))
{
	for (size_t i = 0; i + RECORD <= JAVA_SIDE_NUMBERS && numbers[i + 1]; i += RECORD)
		read((uint32_t)numbers[i], (uint64_t)numbers[i + 1]);
}
