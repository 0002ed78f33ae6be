// SPDX-License-Identifier: Apache-2.0
/*
 * A fake JVM for tests of the agent: JVM TI and JNI with the specification's rules. A call that the phase, the handler
 * or a pending exception forbids fails the test, and so do an allocation and a lock inside a garbage collection.
 * Capabilities and events that this JVM does not have are refused, as JVM TI permits.
 *
 * Methods, classes, objects and references are numbers: object N is of class N, which has method N.
 */
#ifndef TESTS_UNIT_AGENT_FAKE_JVMTI_H
#define TESTS_UNIT_AGENT_FAKE_JVMTI_H

#include "core/jvm.h"

#include <check.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_TI(function) (offsetof(struct jvmtiInterface_1_, function) / sizeof(void *))
#define FAKE_TI_SLOTS 160
#define FAKE_JNI(function) (offsetof(struct JNINativeInterface_, function) / sizeof(void *))
#define FAKE_JNI_SLOTS 240
#define FAKE_JNI_IS_VIRTUAL_THREAD 234 /* JNI 21 */
#define FAKE_EVENTS 64
#define FAKE_CLASSES 2048

#define FAKE_CLASS_UNLOAD 49   /* index of the extension event */
#define FAKE_OUT_OF_MEMORY 999 /* the exception that a JNI function throws when it fails */

struct fake_bytes {
	const unsigned char *bytes;
	jint size;
};

extern struct fake_jvm {
	/* What this JVM is like; tests change it. */
	jint version;
	_Atomic jvmtiPhase phase;
	uint64_t potential[2];		  /* capabilities that it has */
	uint64_t elsewhere[2];		  /* of them, those that another environment holds as solo capabilities */
	uint64_t vanishing[2];		  /* of them, those that are offered and then refused */
	jvmtiError errors[FAKE_TI_SLOTS]; /* what a function returns */
	bool throws[FAKE_JNI_SLOTS];	  /* a function fails, with FAKE_OUT_OF_MEMORY pending */
	bool virtual_threads;		  /* every thread is virtual */
	bool no_environment;
	bool no_threads;			    /* RunAgentThread fails */
	bool held;				    /* GenerateEvents and ForceGarbageCollection wait for `go_on` */
	const char *method_name, *method_signature; /* of every method; NULL: "mN", "()V" */
	jint line;				    /* of every method's first instruction; 0: methods have no lines */
	struct fake_bytes code, pool;		    /* every method's byte codes, every class's constants */
	jint pool_count;			    /* counts the entry 0, which does not exist */
	jint thread_count;			    /* threads that GetAllThreads lists, numbered from 1 */
	jint class_count;			    /* classes that GetLoadedClasses lists */
	jint listed_later;			    /* more of them, from its second call on */
	struct fake_bytes class_file;		    /* of every class */
	bool one_name;				    /* all classes are "C", of different loaders */
	uint64_t refused;			    /* bit N: class N has to stay as its file is */
	uint64_t fixed;				    /* bit N: class N has to stay as it is */
	uint64_t in_java_lang;			    /* bit N: class N is java.lang.CN */
	uintptr_t invalid;			    /* a reference that was deleted */
	uint64_t gone;				    /* bit N: object N was collected */
	uint32_t objects[FAKE_CLASSES];		    /* in the heap, by class: see fake_heap.c */
	jlong total_memory, free_memory;	    /* what Runtime says */
	sem_t holding, go_on;

	/* What the agent did with it. */
	jvmtiEventCallbacks callbacks;
	void (*more_callbacks[2])(void); /* events of JDK 21: VirtualThreadStart, VirtualThreadEnd */
	jvmtiExtensionEvent on_class_unload;
	uint64_t capabilities[2]; /* that the agent holds */
	_Atomic uint64_t events;  /* bit EVENT - JVMTI_MIN_EVENT_TYPE_VAL: enabled */
	_Atomic bool kept; /* the first environment, without which HotSpot forgets to free what it knows of threads */
	_Atomic int environments; /* others that were created and not disposed of */
	_Atomic int allocated;	  /* by JVM TI, and not deallocated */
	_Atomic int weak;	  /* weak references */
	_Atomic int global;	  /* global ones */
	jint interval;		  /* between sampled allocations */
	uint64_t rewritten;	  /* bit N: class N is not as its file is */
	_Atomic uint32_t ti_calls[FAKE_TI_SLOTS];
	_Atomic uint32_t jni_calls[FAKE_JNI_SLOTS];
} fake;

extern JavaVM fake_vm;
extern jvmtiEnv fake_env;
extern JNIEnv fake_jni;

/* A JVM of the latest version in its OnLoad phase, with all capabilities. */
void fake_jvm_start(void);

bool fake_is_enabled(jvmtiEvent event);
/* The JVM loads a class file, or loads it again. True: the agent has rewritten it. */
bool fake_hook(jclass redefined, const char *name);

static inline bool fake_bit(const uint64_t bits[2], unsigned bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static inline void fake_bit_set(uint64_t bits[2], unsigned bit, bool to)
{
	bits[bit / 64] = (bits[bit / 64] & ~(1ULL << bit % 64)) | (uint64_t)to << bit % 64;
}

/* What a handler may do. */
enum fake_rules {
	FAKE_ANYTHING, /* everything that the phase allows */
	FAKE_NO_JNI,   /* its event has no JNIEnv */
	FAKE_IN_PAUSE, /* stop-the-world pause: only fifteen functions of JVM TI, no memory and no locks */
};

/*
 * The calls before and after a handler. `pending` is the application's exception, 0: none. After the handler it must
 * still be pending, JVM TI's memory must be deallocated, and at most 16 local references may be left.
 */
void fake_enter(enum fake_rules rules, uintptr_t pending);
void fake_leave(void);

/* ---- events ---- */

/*
 * Every event that the agent handles except VMInit and VMDeath, which the JVM sends once, before and after the others.
 */
struct fake_event {
	const char *name;
	jvmtiEvent event; /* 0: an extension event */
	uint32_t phases;  /* bits of jvmtiPhase: the phases in which JVMs send it */
	enum fake_rules rules;
	void (*send)(void);
};

extern const struct fake_event fake_events[];
extern const size_t fake_event_count;
extern uint8_t fake_code[64]; /* the code that events refer to */

/* The JVM sends an event, which must be enabled, between fake_enter() and fake_leave(). */
void fake_send(const struct fake_event *e, uintptr_t pending);
void fake_send_named(const char *name);

#endif
