// SPDX-License-Identifier: Apache-2.0
/*
 * A JVM as an agent sees it: JVM TI and JNI with the specification's rules. A call that no phase, handler or pending
 * exception allows fails the test; so do an allocation and a lock inside a garbage collection. What this JVM does not
 * have is refused, as JVM TI permits.
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

#define FAKE_CLASS_UNLOAD 49   /* index of the extension event */
#define FAKE_OUT_OF_MEMORY 999 /* the exception that a JNI function throws when it fails */

struct fake_bytes {
	const unsigned char *bytes;
	jint size;
};

extern struct fake_jvm {
	/* How this JVM is; a test changes it as it likes. */
	jint version;
	_Atomic jvmtiPhase phase;
	uint64_t potential[2];		  /* capabilities that it has */
	uint64_t elsewhere[2];		  /* of them, those that another environment holds alone */
	uint64_t vanishing[2];		  /* of them, those that are there when asked for and gone when taken */
	jvmtiError errors[FAKE_TI_SLOTS]; /* what a function answers */
	bool throws[FAKE_JNI_SLOTS];	  /* a function fails, with FAKE_OUT_OF_MEMORY pending */
	bool virtual_threads;		  /* every thread is one */
	bool no_environment;
	bool no_threads;			    /* RunAgentThread fails */
	bool held;				    /* GenerateEvents waits for `go_on` */
	const char *method_name, *method_signature; /* of every method; NULL: "mN", "()V" */
	jint line;				    /* of every method's first instruction; 0: methods have no lines */
	struct fake_bytes code, pool;		    /* every method's byte codes, every class's constants */
	jint pool_count;			    /* with the one that has no entry */
	jint thread_count;			    /* that GetAllThreads lists, with the numbers from 1 on */
	jint class_count;			    /* that GetLoadedClasses lists */
	uint64_t gone;				    /* bit N: object N was collected */
	sem_t generating, go_on;

	/* What was made of it. */
	jvmtiEventCallbacks callbacks;
	void (*more_callbacks[2])(void); /* of JDK 21: VirtualThreadStart, VirtualThreadEnd */
	jvmtiExtensionEvent on_class_unload;
	uint64_t capabilities[2]; /* held */
	_Atomic uint64_t events;  /* bit EVENT - JVMTI_MIN_EVENT_TYPE_VAL: enabled */
	_Atomic int environments; /* given out, and not disposed of */
	_Atomic int allocated;	  /* by JVM TI, and not given back */
	_Atomic int weak;	  /* references */
	jint interval;		  /* between sampled allocations */
	_Atomic uint32_t ti_calls[FAKE_TI_SLOTS];
	_Atomic uint32_t jni_calls[FAKE_JNI_SLOTS];
} fake;

extern JavaVM fake_vm;
extern jvmtiEnv fake_env;
extern JNIEnv fake_jni;

/* A JVM of the latest version in its OnLoad phase, with all capabilities. */
void fake_jvm_start(void);

bool fake_is_enabled(jvmtiEvent event);

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
	FAKE_ANYTHING, /* all that the phase allows */
	FAKE_NO_JNI,   /* its event has no JNIEnv */
	FAKE_IN_PAUSE, /* the world stands still: fifteen functions of JVM TI, and neither memory nor locks */
};

/*
 * Around the call of a handler. `pending` is the application's exception, 0: none. Behind the handler it is still
 * that one, what JVM TI has allocated was given back, and at most 16 local references are left.
 */
void fake_enter(enum fake_rules rules, uintptr_t pending);
void fake_leave(void);

/* ---- events ---- */

/* All that an agent like this one handles but VMInit and VMDeath, which come once and between which the others do. */
struct fake_event {
	const char *name;
	jvmtiEvent event; /* 0: an extension */
	uint32_t phases;  /* bits of jvmtiPhase: those in which JVMs send it */
	enum fake_rules rules;
	void (*send)(void);
};

extern const struct fake_event fake_events[];
extern const size_t fake_event_count;
extern uint8_t fake_code[64]; /* that events mention */

/* The JVM sends an event, which has to be enabled, between fake_enter() and fake_leave(). */
void fake_send(const struct fake_event *e, uintptr_t pending);
void fake_send_named(const char *name);

#endif
