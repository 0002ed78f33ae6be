// SPDX-License-Identifier: Apache-2.0
/*
 * The heap of the fake JVM. Objects of class N, of 16 * N bytes each, are there `fake.objects[N]` times. Class 0 was
 * loaded while somebody goes through the heap, so it has no tag.
 */
#include "fake_parts.h"

#define CAP_TAGS 0

jvmtiEnv fake_other_env;

static struct {
	bool can_tag;
	jlong tags[FAKE_CLASSES];
} other;

static bool may_tag(jvmtiEnv *env)
{
	return env == &fake_other_env ? other.can_tag : fake_bit(fake.capabilities, CAP_TAGS);
}

bool fake_heap_add(jvmtiEnv *env, const uint64_t bits[2])
{
	if (env != &fake_other_env)
		return false;
	ck_assert_msg(bits[0] == 1 && !bits[1], "capabilities of the second environment");
	other.can_tag = true;
	return true;
}

bool fake_heap_dispose(jvmtiEnv *env)
{
	if (env != &fake_other_env)
		return false;
	memset(&other, 0, sizeof(other));
	return true;
}

jvmtiError JNICALL fake_heap_collect(jvmtiEnv *env)
{
	(void)env;
	return fake_ti_called(FAKE_TI(ForceGarbageCollection)) ?: fake_hold();
}

jvmtiError JNICALL fake_heap_set_tag(jvmtiEnv *env, jobject object, jlong tag)
{
	jvmtiError err = fake_ti_called(FAKE_TI(SetTag));

	if (err || !may_tag(env))
		return err ? err : JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	ck_assert_msg(env == &fake_other_env, "collections walk the tags of an environment that stays");
	ck_assert_uint_lt((uintptr_t)object, FAKE_CLASSES);
	other.tags[(uintptr_t)object] = tag;
	return JVMTI_ERROR_NONE;
}

/* The JVM stands still meanwhile. */
jvmtiError JNICALL fake_heap_iterate(jvmtiEnv *env, jint filter, jclass class, const jvmtiHeapCallbacks *callbacks,
				     const void *to)
{
	jvmtiError err = fake_ti_called(FAKE_TI(IterateThroughHeap));
	bool aborted = false;

	if (err || !may_tag(env))
		return err ? err : JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	ck_assert(!filter && !class);
	fake_pause(true);
	for (size_t c = 0; c < FAKE_CLASSES; c++)
		for (uint32_t i = 0; i < fake.objects[c] && !aborted; i++) {
			jlong tag = 0;
			jint next = callbacks->heap_iteration_callback(c ? other.tags[c] : 0, 16 * (jlong)(c ? c : 1),
								       &tag, -1, (void *)(uintptr_t)to);

			aborted = next & JVMTI_VISIT_ABORT;
		}
	fake_pause(false);
	return JVMTI_ERROR_NONE;
}

/* HotSpot's record of the object of a callback (CallbackWrapper): the callback gets the address of its tag. */
struct wrapper {
	uint64_t object;
	jlong size, tag;
};

static jint follow(const jvmtiHeapCallbacks *callbacks, void *to, jvmtiHeapReferenceKind kind, uint64_t object)
{
	struct wrapper w = {.object = object, .size = 16 * (jlong)object};
	jvmtiHeapReferenceInfo info;

	memset(&info, 0, sizeof(info));
	if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
		info.stack_local.thread_id = 77;
		info.stack_local.depth = 3;
	}
	return callbacks->heap_reference_callback(kind, &info, 0, 0, w.size, &w.tag, NULL, -1, to);
}

/* Objects 1 to 4 are roots; what is followed refers to its class. */
jvmtiError JNICALL fake_heap_follow(jvmtiEnv *env, jint filter, jclass class, jobject initial,
				    const jvmtiHeapCallbacks *callbacks, const void *to)
{
	static const jvmtiHeapReferenceKind kinds[] = {JVMTI_HEAP_REFERENCE_JNI_GLOBAL,
						       JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, JVMTI_HEAP_REFERENCE_THREAD,
						       JVMTI_HEAP_REFERENCE_STACK_LOCAL};
	jvmtiError err = fake_ti_called(FAKE_TI(FollowReferences));
	jint next = 0, followed = 0;

	if (err || !may_tag(env))
		return err ? err : JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	ck_assert(!filter && !class && !initial);
	fake_pause(true);
	for (uint64_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !(next & JVMTI_VISIT_ABORT); i++) {
		next = follow(callbacks, (void *)(uintptr_t)to, kinds[i], i + 1);
		followed |= next & JVMTI_VISIT_OBJECTS;
	}
	if (followed && !(next & JVMTI_VISIT_ABORT))
		follow(callbacks, (void *)(uintptr_t)to, JVMTI_HEAP_REFERENCE_CLASS, 5);
	fake_pause(false);
	return JVMTI_ERROR_NONE;
}
