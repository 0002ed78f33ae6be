// SPDX-License-Identifier: Apache-2.0
/* What fake_rules.c, fake_jvmti.c and fake_jni.c, the parts of the fake JVM, share. */
#ifndef TESTS_UNIT_AGENT_FAKE_PARTS_H
#define TESTS_UNIT_AGENT_FAKE_PARTS_H

#include "fake_jvmti.h"

#include <string.h>

/* Of the calling thread. */
extern __thread uintptr_t fake_pending; /* exception */
extern __thread int fake_allocated;	/* pieces of memory that are not deallocated */
extern __thread int fake_locals;	/* references */

/* Checks whether the function may be called. Returns the error that a test has set. */
jvmtiError fake_ti_called(size_t slot);
/* The same for JNI; false: the function fails, with an exception pending. */
bool fake_jni_called(size_t slot);
/* Waits, while `fake.held`, for `fake.go_on`. */
jvmtiError fake_hold(void);
/* Begins such a function, which returns `failed` if it fails. */
#define JNI(function, failed)                                                                                          \
	do {                                                                                                           \
		(void)jni;                                                                                             \
		if (!fake_jni_called(FAKE_JNI(function)))                                                              \
			return failed;                                                                                 \
	} while (0)
/* Makes one more local reference. */
void *fake_reference(uintptr_t object);
/* The text of the last string that the agent made. */
const char *fake_string(void);

/* The slot of a function that this JVM does not have; slot 0 of JNI has none. */
#define FAKE_JNI_OTHER 0
jvmtiError fake_ti_other(void);
jvmtiEnv *fake_kept_env(void); /* none of its functions may be called */

void fake_jni_start(void);
/* The table of functions, which agents may replace, and its size. */
const jniNativeInterface *fake_jni_table(void);
void fake_jni_set(const jniNativeInterface *table);
size_t fake_jni_bytes(void);

/* ---- fake_classes.c ---- */

jvmtiError JNICALL fake_allocate(jvmtiEnv *env, jlong size, unsigned char **to);
jvmtiError JNICALL fake_is_modifiable(jvmtiEnv *env, jclass class, jboolean *is);
jvmtiError JNICALL fake_retransform(jvmtiEnv *env, jint count, const jclass *classes);

/* ---- fake_heap.c ---- */

extern jvmtiEnv fake_other_env; /* what GetEnv returns while there is an environment */
/* Both return false if it is not their environment. */
bool fake_heap_add(jvmtiEnv *env, const uint64_t bits[2]);
bool fake_heap_dispose(jvmtiEnv *env);
jvmtiError JNICALL fake_heap_collect(jvmtiEnv *env);
jvmtiError JNICALL fake_heap_set_tag(jvmtiEnv *env, jobject object, jlong tag);
jvmtiError JNICALL fake_heap_iterate(jvmtiEnv *env, jint filter, jclass class, const jvmtiHeapCallbacks *callbacks,
				     const void *to);
jvmtiError JNICALL fake_heap_follow(jvmtiEnv *env, jint filter, jclass class, jobject initial,
				    const jvmtiHeapCallbacks *callbacks, const void *to);
/* A pause begins or ends, outside of handlers. */
void fake_pause(bool begins);

/* Fills the empty slots. */
static inline void fake_fill(void (**slots)(void), size_t count, void (*other)(void))
{
	for (size_t i = 0; i < count; i++)
		if (!slots[i])
			slots[i] = other;
}

#endif
