// SPDX-License-Identifier: Apache-2.0
/*
 * BraidMethods, the Java class that rewritten methods call (agent/java): defines it, once in the life of a JVM, and
 * calls it.
 */
#ifndef BRAID_AGENT_JAVA_SIDE_H
#define BRAID_AGENT_JAVA_SIDE_H

#include "core/jvm.h"

#include "rewrite/rewrite.h"

#include <stdbool.h>
#include <stdint.h>

/* A call that has lasted as long as its method's limit. */
struct java_side_call {
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
struct java_side_natives {
	uint64_t (*limit)(uint32_t id);
	void (*ended)(JNIEnv *jni, const struct java_side_call *call);
	void (*unmeasured)(void);
};

/* The JVM finds these by their names, in the first copy of this library that it looks at. */
JNIEXPORT jlong JNICALL Java_java_lang_BraidMethods_limit(JNIEnv *jni, jclass class, jlong owner, jint id);
JNIEXPORT void JNICALL Java_java_lang_BraidMethods_ended(JNIEnv *jni, jclass class, jlong owner, jlong from, jlong to,
							 jint id, jthrowable by, jint kinds, jobject a, jobject b,
							 jobject c, jobject d, jlong e, jlong f, jlong g, jlong h);
JNIEXPORT void JNICALL Java_java_lang_BraidMethods_unmeasured(JNIEnv *jni, jclass class, jlong owner);

enum claim {
	CLAIM_OURS,
	CLAIM_LATER, /* the JVM does not find the functions above before Agent_OnAttach has returned; or has no memory */
	CLAIM_REFUSED, /* it refuses BraidMethods */
	CLAIM_OTHER,   /* another recorder times methods in this JVM */
};

/* Makes methods with ids below `max` count for this agent, and no other one. No exception may be pending. */
enum claim java_side_claim(JNIEnv *jni, const struct java_side_natives *natives, uint32_t max);
/* From here on methods count nothing. */
void java_side_release(JNIEnv *jni);
/* Limits have changed. */
void java_side_reset(JNIEnv *jni);

#define JAVA_SIDE_BUCKETS 34

/* What was counted of a method since the last reading. */
struct java_side_calls {
	uint32_t id;
	uint64_t longest_ns;
	uint32_t buckets;
	struct java_side_bucket {
		uint64_t exponent, calls, ns;
	} at[JAVA_SIDE_BUCKETS];
};

/* Reads counts of some methods, from the one at which the last call has stopped. False: these were the last ones. */
bool java_side_take(JNIEnv *jni, void (*take)(const struct java_side_calls *calls));

#endif
