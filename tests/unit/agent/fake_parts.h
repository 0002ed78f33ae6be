// SPDX-License-Identifier: Apache-2.0
/* What the parts of the fake JVM share: fake_rules.c, fake_jvmti.c, fake_jni.c. */
#ifndef TESTS_UNIT_AGENT_FAKE_PARTS_H
#define TESTS_UNIT_AGENT_FAKE_PARTS_H

#include "fake_jvmti.h"

/* Of the calling thread. */
extern __thread uintptr_t fake_pending; /* exception */
extern __thread int fake_allocated;	/* pieces of memory, less those given back */
extern __thread int fake_locals;	/* references */

/* May the function be called? What it answers, if a test has said. */
jvmtiError fake_ti_called(size_t slot);
/* The same; false: it fails, with an exception pending. */
bool fake_jni_called(size_t slot);
/* One more local reference. */
void *fake_reference(uintptr_t object);

/* A function that this JVM does not have; slot 0 of JNI is none. */
#define FAKE_JNI_OTHER 0
jvmtiError fake_ti_other(void);

void fake_jni_start(void);

/* In the slots that are empty. */
static inline void fake_fill(void (**slots)(void), size_t count, void (*other)(void))
{
	for (size_t i = 0; i < count; i++)
		if (!slots[i])
			slots[i] = other;
}

#endif
