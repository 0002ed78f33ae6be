// SPDX-License-Identifier: Apache-2.0
/* Classes of the fake JVM that an agent rewrites: all have the same class file. */
#include "fake_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define CAP_RETRANSFORM 37

jvmtiError JNICALL fake_allocate(jvmtiEnv *env, jlong size, unsigned char **to)
{
	jvmtiError err = fake_ti_called(FAKE_TI(Allocate));

	(void)env;
	if (err)
		return err;
	*to = malloc((size_t)size);
	ck_assert_ptr_nonnull(*to);
	fake_allocated++;
	atomic_fetch_add(&fake.allocated, 1);
	return JVMTI_ERROR_NONE;
}

jvmtiError JNICALL fake_is_modifiable(jvmtiEnv *env, jclass class, jboolean *is)
{
	(void)env;
	(void)class;
	*is = JNI_TRUE;
	return fake_ti_called(FAKE_TI(IsModifiableClass));
}

bool fake_hook(jclass redefined, const char *name)
{
	unsigned char *bytes = NULL;
	jint size = 0;

	if (!fake_is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK))
		return false;
	fake.callbacks.ClassFileLoadHook(&fake_env, &fake_jni, redefined, NULL, name, NULL, fake.class_file.size,
					 fake.class_file.bytes, &size, &bytes);
	if (!bytes)
		return false;
	ck_assert_int_gt(size, fake.class_file.size);
	fake_allocated--;
	atomic_fetch_sub(&fake.allocated, 1);
	free(bytes);
	return true;
}

/* Changes all of them or none. */
jvmtiError JNICALL fake_retransform(jvmtiEnv *env, jint count, const jclass *classes)
{
	jvmtiError err = fake_ti_called(FAKE_TI(RetransformClasses));
	uint64_t rewritten = fake.rewritten;

	(void)env;
	if (err)
		return err;
	if (!fake_bit(fake.capabilities, CAP_RETRANSFORM))
		return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
	for (jint i = 0; i < count; i++) {
		uintptr_t class = (uintptr_t)classes[i];
		char name[32];
		bool other;

		snprintf(name, sizeof(name), fake.one_name ? "C" : "C%u", (unsigned)class);
		other = fake_hook(classes[i], name);
		if (fake.fixed >> class & 1 || (other && fake.refused >> class & 1))
			return JVMTI_ERROR_FAILS_VERIFICATION;
		rewritten = (rewritten & ~(1ULL << class)) | (uint64_t)other << class;
	}
	fake.rewritten = rewritten;
	return JVMTI_ERROR_NONE;
}
