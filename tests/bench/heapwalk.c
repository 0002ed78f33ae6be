// SPDX-License-Identifier: Apache-2.0
/*
 * What a heap dump by JVM TI would take: FollowReferences with a tag for each object. A callback gets no address and no
 * reference, so an object's tag is the only identity by which another callback can name it. The library of HeapFill. It
 * writes nothing.
 */
#include <jvmti.h>
#include <stdio.h>
#include <time.h>

static jvmtiEnv *ti;
static jlong tags, references;

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag,
				 jlong referrer_class_tag, jlong size, jlong *tag, jlong *referrer_tag, jint length,
				 void *data)
{
	(void)kind;
	(void)info;
	(void)class_tag;
	(void)referrer_class_tag;
	(void)size;
	(void)referrer_tag;
	(void)length;
	(void)data;
	references++;
	if (*tag)
		return 0;
	*tag = ++tags;
	return JVMTI_VISIT_OBJECTS;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

JNIEXPORT jstring JNICALL Java_HeapFill_follow(JNIEnv *env, jclass class)
{
	const jvmtiHeapCallbacks callbacks = {.heap_reference_callback = on_reference};
	double begin = now_ms();
	char text[128];
	jvmtiError err;

	(void)class;
	err = (*ti)->FollowReferences(ti, 0, NULL, NULL, &callbacks, NULL);
	snprintf(text, sizeof(text), "%.1f %ld %ld %d", now_ms() - begin, (long)tags, (long)references, (int)err);
	return (*env)->NewStringUTF(env, text);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	const jvmtiCapabilities tag = {.can_tag_objects = 1};

	(void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) || (*ti)->AddCapabilities(ti, &tag))
		return JNI_ERR;
	return JNI_VERSION_1_6;
}
