// SPDX-License-Identifier: Apache-2.0
/* The names of the kinds of JVM events, as outputs print them. */
#include "record.h"

#include <string.h>

#include <braid/jvm_event.h>

static const char *const names[BRAID_JVM_EVENTS] = {
	[BRAID_JVM_ALLOC] = "alloc",
	[BRAID_JVM_LIVE] = "live",
	[BRAID_JVM_LOCK] = "lock",
	[BRAID_JVM_WAIT] = "wait",
	[BRAID_JVM_OFFCPU] = "offcpu",
	[BRAID_JVM_GC_PAUSE] = "gc_pause",
	[BRAID_JVM_GC_CYCLE] = "gc_cycle",
	[BRAID_JVM_GC_PHASE] = "gc_phase",
	[BRAID_JVM_SAFEPOINT] = "safepoint",
	[BRAID_JVM_SAFEPOINT_STOP] = "safepoint_stop",
	[BRAID_JVM_THREAD_START] = "thread_start",
	[BRAID_JVM_THREAD_END] = "thread_end",
	[BRAID_JVM_VTHREAD_START] = "vthread_start",
	[BRAID_JVM_VTHREAD_END] = "vthread_end",
	[BRAID_JVM_CLASS_LOAD] = "class_load",
	[BRAID_JVM_CLASS_PREPARE] = "class_prepare",
	[BRAID_JVM_CLASS_UNLOAD] = "class_unload",
	[BRAID_JVM_COMPILE] = "compile",
	[BRAID_JVM_DEOPT] = "deopt",
	[BRAID_JVM_EXCEPTION] = "exception",
	[BRAID_JVM_NATIVE_BIND] = "native_bind",
	[BRAID_JVM_RESOURCE] = "resource",
	[BRAID_JVM_CODE_CACHE] = "code_cache",
	[BRAID_JVM_COUNTED] = "counted",
	[BRAID_JVM_THREAD_RENAME] = "thread_rename",
	[BRAID_JVM_PHASE] = "phase",
	[BRAID_JVM_CONFIG] = "config",
	[BRAID_JVM_THREAD_CPU] = "thread_cpu",
	[BRAID_JVM_UNCOLLECTED] = "uncollected",
	[BRAID_JVM_THREAD_TIME] = "thread_time",
	[BRAID_JVM_SYSCALL] = "syscall",
	[BRAID_JVM_FAULT] = "fault",
	[BRAID_JVM_BLOCK] = "block",
	[BRAID_JVM_TCP] = "tcp",
	[BRAID_JVM_HEAP] = "heap",
	[BRAID_JVM_HEAP_CLASS] = "heap_class",
	[BRAID_JVM_HEAP_ESTIMATE] = "heap_estimate",
	[BRAID_JVM_METHOD] = "method",
	[BRAID_JVM_METHOD_CALLS] = "method_calls",
	[BRAID_JVM_FIELD] = "field",
	[BRAID_JVM_FIELD_WRITES] = "field_writes",
	[BRAID_JVM_DUMP] = "dump",
	[BRAID_JVM_MALLOC] = "malloc",
	[BRAID_JVM_UNFREED] = "unfreed",
	[BRAID_JVM_DUMP_VTHREAD] = "dump_vthread",
	[BRAID_JVM_JNI_STACK] = "jni_stack",
	[BRAID_JVM_JNI_REF] = "jni_ref",
	[BRAID_JVM_JNI_REFS] = "jni_refs",
	[BRAID_JVM_JNI_CRITICAL] = "jni_critical",
	[BRAID_JVM_HEAP_COPY] = "heap_copy",
	[BRAID_JVM_DIED] = "died",
	[BRAID_JVM_CPU_LOAD] = "cpu_load",
};

const char *jvm_event_name(uint32_t kind)
{
	return kind < BRAID_JVM_EVENTS ? names[kind] : NULL;
}

/*
 * Locks with an owner. A waiter is mostly woken just after the owner has released the lock, so its owner is not seen.
 * Other synchronizers of the same family (Semaphore, CountDownLatch) have no owner, and conditions and queues are no
 * synchronizers: waiting for them is no contention.
 */
static const char *const locks[] = {
	"java.util.concurrent.locks.ReentrantLock$",
	"java.util.concurrent.locks.ReentrantReadWriteLock$",
	"java.util.concurrent.locks.StampedLock",
};

bool jvm_class_is_lock(const char *class_name)
{
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		if (strncmp(class_name, locks[i], strlen(locks[i])) == 0)
			return true;
	return false;
}
