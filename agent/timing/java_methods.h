// SPDX-License-Identifier: Apache-2.0
/* BraidMethods: what it calls, and what it has counted. */
#ifndef BRAID_AGENT_JAVA_METHODS_H
#define BRAID_AGENT_JAVA_METHODS_H

#include "java_side.h"

#include "rewrite/rewrite.h"

/* A call that has lasted as long as its method's limit. */
struct java_call {
	uint64_t from_ns, to_ns;
	uint32_t id;
	jthrowable by;			 /* the exception that ended it; NULL: it returned */
	uint32_t kinds;			 /* of its values: enum rewrite_kind, each of REWRITE_KIND_BITS */
	jobject objects[REWRITE_VALUES]; /* the values, in their order */
	jlong numbers[REWRITE_VALUES];
};

/*
 * What BraidMethods calls, in one of the copies of this library in the JVM. A change of one changes the name of that
 * class, or of its native method.
 */
struct java_methods_natives {
	uint64_t (*limit)(uint32_t id);
	void (*ended)(JNIEnv *jni, const struct java_call *call);
	void (*unmeasured)(void);
};

/* The JVM finds these by their names, in the first copy of this library that it looks at. */
JNIEXPORT jlong JNICALL Java_java_lang_BraidMethods_limit(JNIEnv *jni, jclass class, jlong owner, jint id);
JNIEXPORT void JNICALL Java_java_lang_BraidMethods_ended(JNIEnv *jni, jclass class, jlong owner, jlong from, jlong to,
							 jint id, jthrowable by, jint kinds, jobject a, jobject b,
							 jobject c, jobject d, jlong e, jlong f, jlong g, jlong h);
JNIEXPORT void JNICALL Java_java_lang_BraidMethods_unmeasured(JNIEnv *jni, jclass class, jlong owner);

extern struct java_side java_methods;

#define JAVA_CALLS_BUCKETS 34

/* What was counted of a method since the last reading. */
struct java_calls {
	uint32_t id;
	uint64_t longest_ns;
	uint32_t buckets;
	struct java_calls_bucket {
		uint64_t exponent, calls, ns;
	} at[JAVA_CALLS_BUCKETS];
};

/* Goes through what java_side_take() has read. */
void java_methods_read(const jlong numbers[JAVA_SIDE_NUMBERS], void (*read)(const struct java_calls *calls));

#endif
