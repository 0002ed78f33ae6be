// SPDX-License-Identifier: Apache-2.0
/* The rules of the fake JVM: which function may be called when, and what a handler must leave behind. */
#include "fake_parts.h"

#include <pthread.h>
#include <stdlib.h>

#define LOCALS_MAX 16 /* local references for which every handler has room */

__thread uintptr_t fake_pending;
__thread int fake_allocated;
__thread int fake_locals;
static __thread enum fake_rules rules;
static __thread bool handles; /* the VM has called handlers on this thread */
static __thread uintptr_t pending_before;

/* ---- the rules ---- */

#define ONLOAD (1U << JVMTI_PHASE_ONLOAD)
#define PRIMORDIAL (1U << JVMTI_PHASE_PRIMORDIAL)
#define START (1U << JVMTI_PHASE_START)
#define LIVE (1U << JVMTI_PHASE_LIVE)
#define DEAD (1U << JVMTI_PHASE_DEAD)
#define ANY (ONLOAD | PRIMORDIAL | START | LIVE | DEAD)

/*
 * Phases in which a function may be called, and whether inside a pause. All others: in the live phase, outside of
 * pauses.
 */
static const struct {
	size_t slot;
	uint32_t phases;
	bool in_pause;
} allowed[] = {
	{FAKE_TI(Allocate), ANY, true},
	{FAKE_TI(Deallocate), ANY, true},
	{FAKE_TI(RawMonitorEnter), ANY, true},
	{FAKE_TI(RawMonitorExit), ANY, true},
	{FAKE_TI(RawMonitorWait), ANY, true},
	{FAKE_TI(RawMonitorNotify), ANY, true},
	{FAKE_TI(RawMonitorNotifyAll), ANY, true},
	{FAKE_TI(GetTimerInfo), ANY, true},
	{FAKE_TI(GetTime), ANY, true},
	{FAKE_TI(SetEnvironmentLocalStorage), ANY, true},
	{FAKE_TI(GetEnvironmentLocalStorage), ANY, true},
	{FAKE_TI(CreateRawMonitor), ONLOAD | LIVE, true},
	{FAKE_TI(DestroyRawMonitor), ONLOAD | LIVE, true},
	{FAKE_TI(GetCurrentThreadCpuTimerInfo), START | LIVE, true},
	{FAKE_TI(GetCurrentThreadCpuTime), START | LIVE, true},
	{FAKE_TI(GetCapabilities), ANY, false},
	{FAKE_TI(GetAvailableProcessors), ANY, false},
	{FAKE_TI(GetPhase), ANY, false},
	{FAKE_TI(DisposeEnvironment), ANY, false},
	{FAKE_TI(GetVersionNumber), ANY, false},
	{FAKE_TI(GetErrorName), ANY, false},
	{FAKE_TI(GetJLocationFormat), ANY, false},
	{FAKE_TI(SetEventCallbacks), ONLOAD | LIVE, false},
	{FAKE_TI(SetEventNotificationMode), ONLOAD | LIVE, false},
	{FAKE_TI(GetExtensionFunctions), ONLOAD | LIVE, false},
	{FAKE_TI(GetExtensionEvents), ONLOAD | LIVE, false},
	{FAKE_TI(SetExtensionEventCallback), ONLOAD | LIVE, false},
	{FAKE_TI(GetPotentialCapabilities), ONLOAD | LIVE, false},
	{FAKE_TI(AddCapabilities), ONLOAD | LIVE, false},
	{FAKE_TI(RelinquishCapabilities), ONLOAD | LIVE, false},
	{FAKE_TI(GetSystemProperty), ONLOAD | LIVE, false},
	{FAKE_TI(GetSystemProperties), ONLOAD | LIVE, false},
	{FAKE_TI(SetHeapSamplingInterval), ONLOAD | LIVE, false},
	{FAKE_TI(GetCurrentThread), START | LIVE, false},
	{FAKE_TI(GetJNIFunctionTable), START | LIVE, false},
	{FAKE_TI(SetJNIFunctionTable), START | LIVE, false},
	{FAKE_TI(SetThreadLocalStorage), START | LIVE, false},
	{FAKE_TI(GetThreadLocalStorage), START | LIVE, false},
	{FAKE_TI(GetClassSignature), START | LIVE, false},
	{FAKE_TI(GetSourceFileName), START | LIVE, false},
	{FAKE_TI(GetClassModifiers), START | LIVE, false},
	{FAKE_TI(GetClassFields), START | LIVE, false},
	{FAKE_TI(GetClassLoader), START | LIVE, false},
	{FAKE_TI(GetObjectHashCode), START | LIVE, false},
	{FAKE_TI(GetFieldName), START | LIVE, false},
	{FAKE_TI(GetMethodName), START | LIVE, false},
	{FAKE_TI(GetMethodDeclaringClass), START | LIVE, false},
	{FAKE_TI(GetMethodModifiers), START | LIVE, false},
	{FAKE_TI(GetClassMethods), START | LIVE, false},
	{FAKE_TI(GetBytecodes), START | LIVE, false},
	{FAKE_TI(GetConstantPool), START | LIVE, false},
	{FAKE_TI(GetLineNumberTable), START | LIVE, false},
};

/* What JNI allows with a pending exception; all else is undefined then. */
static const size_t allowed_pending[] = {
	FAKE_JNI(ExceptionOccurred),	 FAKE_JNI(ExceptionDescribe), FAKE_JNI(ExceptionClear),
	FAKE_JNI(ExceptionCheck),	 FAKE_JNI(DeleteLocalRef),    FAKE_JNI(DeleteGlobalRef),
	FAKE_JNI(DeleteWeakGlobalRef),	 FAKE_JNI(PushLocalFrame),    FAKE_JNI(PopLocalFrame),
	FAKE_JNI(ReleaseStringUTFChars), FAKE_JNI(MonitorExit),	      FAKE_JNI(ReleasePrimitiveArrayCritical),
	FAKE_JNI(ReleaseStringCritical),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Not one of Check's own assertions, which write to a pipe even when they hold. Reporting a failure allocates. */
#define RULE(condition, ...)                                                                                           \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			rules = FAKE_ANYTHING;                                                                         \
			ck_abort_msg(__VA_ARGS__);                                                                     \
		}                                                                                                      \
	} while (0)

/* The specification counts the functions from 1. */
jvmtiError fake_ti_called(size_t slot)
{
	uint32_t phases = LIVE, phase = atomic_load(&fake.phase);
	bool in_pause = false;

	for (size_t i = 0; i < COUNT(allowed); i++)
		if (allowed[i].slot == slot) {
			phases = allowed[i].phases;
			in_pause = allowed[i].in_pause;
		}
	atomic_fetch_add(&fake.ti_calls[slot], 1);
	RULE(atomic_load(&fake.environments) > 0, "JVM TI function %zu in no environment", slot + 1);
	/* A thread of the agent cannot know at once that the VM has ended. */
	if (!handles && phase == JVMTI_PHASE_DEAD && !(phases & DEAD))
		return JVMTI_ERROR_WRONG_PHASE;
	RULE(phases >> phase & 1, "JVM TI function %zu in phase %u", slot + 1, phase);
	RULE(in_pause || rules != FAKE_IN_PAUSE, "JVM TI function %zu inside a pause", slot + 1);
	return fake.errors[slot];
}

jvmtiError fake_ti_other(void)
{
	RULE(rules != FAKE_IN_PAUSE, "a JVM TI function inside a pause");
	return JVMTI_ERROR_NOT_AVAILABLE;
}

static jvmtiError kept_called(void)
{
	RULE(false, "the environment that is kept is used");
	return JVMTI_ERROR_INTERNAL;
}

jvmtiEnv *fake_kept_env(void)
{
	static void (*slots[FAKE_TI_SLOTS])(void);
	static jvmtiEnv env = (jvmtiEnv)(const void *)slots;

	fake_fill(slots, FAKE_TI_SLOTS, (void (*)(void))kept_called);
	return &env;
}

bool fake_jni_called(size_t slot)
{
	uint32_t phase = atomic_load(&fake.phase);
	bool ok = !fake_pending;

	for (size_t i = 0; !ok && i < COUNT(allowed_pending); i++)
		ok = allowed_pending[i] == slot;
	atomic_fetch_add(&fake.jni_calls[slot], 1);
	/* As with JVM TI: in a real JVM, such a thread stands still in the call. */
	RULE(phase == JVMTI_PHASE_START || phase == JVMTI_PHASE_LIVE || (!handles && phase == JVMTI_PHASE_DEAD),
	     "JNI function %zu in phase %u", slot, phase);
	RULE(rules == FAKE_ANYTHING, "JNI function %zu in a handler without JNI", slot);
	RULE(ok, "JNI function %zu with an exception pending", slot);
	if (fake.throws[slot])
		fake_pending = FAKE_OUT_OF_MEMORY;
	return !fake.throws[slot];
}

static void not_in_a_pause(const char *what)
{
	RULE(rules != FAKE_IN_PAUSE, "%s inside a pause", what);
}

/* The linker redirects the calls of the agent and of the tests to here (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

void *__wrap_malloc(size_t size)
{
	not_in_a_pause("malloc");
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	not_in_a_pause("calloc");
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	not_in_a_pause("realloc");
	return __real_realloc(p, size);
}

void __wrap_free(void *p)
{
	not_in_a_pause("free");
	__real_free(p);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	not_in_a_pause("a lock");
	return __real_pthread_mutex_lock(mutex);
}

void fake_pause(bool begins)
{
	rules = begins ? FAKE_IN_PAUSE : FAKE_ANYTHING;
}

void fake_enter(enum fake_rules now, uintptr_t exception)
{
	fake_pending = pending_before = exception;
	fake_locals = 0;
	fake_allocated = 0;
	rules = now;
	handles = true;
}

void fake_leave(void)
{
	rules = FAKE_ANYTHING;
	ck_assert_msg(fake_pending == pending_before, "exception %zu is pending, and was %zu", (size_t)fake_pending,
		      (size_t)pending_before);
	ck_assert_int_le(fake_locals, LOCALS_MAX);
	ck_assert_int_eq(fake_allocated, 0);
	fake_pending = 0;
}
