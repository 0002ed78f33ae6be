// SPDX-License-Identifier: Apache-2.0
/* BraidFields: what it calls, and what it has counted. */
#ifndef BRAID_AGENT_JAVA_FIELDS_H
#define BRAID_AGENT_JAVA_FIELDS_H

#include "java_side.h"

/* A write to a field, that has not happened yet. */
struct java_write {
	uint32_t id;
	uint32_t values; /* that are known: 1: the new one, 2: the one before, too */
	jobject now, before;
	jlong now_number, before_number; /* those with a point as bits of a double */
};

/* What BraidFields calls, as in java_methods.h. */
struct java_fields_natives {
	uint64_t (*limit)(uint32_t id);
	void (*wrote)(JNIEnv *jni, const struct java_write *write);
	void (*unmeasured)(void);
};

JNIEXPORT jlong JNICALL Java_java_lang_BraidFields_limit(JNIEnv *jni, jclass class, jlong owner, jint id);
JNIEXPORT void JNICALL Java_java_lang_BraidFields_reported(JNIEnv *jni, jclass class, jlong owner, jint id, jint values,
							   jobject now, jobject before, jlong now_number,
							   jlong before_number);
JNIEXPORT void JNICALL Java_java_lang_BraidFields_unmeasured(JNIEnv *jni, jclass class, jlong owner);

extern struct java_side java_fields;

/* Goes through what java_side_take() has read: how many writes there were since the last reading. */
void java_fields_read(const jlong numbers[JAVA_SIDE_NUMBERS], void (*read)(uint32_t id, uint64_t writes));

#endif
