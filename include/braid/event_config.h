// SPDX-License-Identifier: Apache-2.0
/*
 * The event configuration: which events of a JVM are recorded, beyond what every stack needs. `record -e` sets it, the
 * agent receives it with its ring, and `braid ctl` changes it while a recording runs.
 */
#ifndef BRAID_EVENT_CONFIG_H
#define BRAID_EVENT_CONFIG_H

#include <braid/types.h>

/* Bit numbers of braid_event_config.enabled, in the order of `record --help`. */
enum braid_event_type {
	BRAID_EVENT_TYPE_CPU,	/* samples of a clock; collector */
	BRAID_EVENT_TYPE_ALLOC, /* sampled allocations; agent */
	BRAID_EVENT_TYPE_LIVE,	/* which of them are still alive at the end; agent */
	BRAID_EVENT_TYPE_LOCK,	/* contended monitors; agent */
	BRAID_EVENT_TYPE_WAIT,	/* Object.wait by the agent; parked, sleeping and blocked threads by the kernel side */
	BRAID_EVENT_TYPE_GC,	/* pauses, cycles and phases */
	BRAID_EVENT_TYPE_SAFEPOINT,   /* operations, time to safepoint, threads that stopped late */
	BRAID_EVENT_TYPE_THREAD,      /* starts, ends, names, CPU time */
	BRAID_EVENT_TYPE_VTHREAD,     /* starts and ends of virtual threads */
	BRAID_EVENT_TYPE_CLASS,	      /* loads and unloads */
	BRAID_EVENT_TYPE_JIT,	      /* compilations, deoptimisations */
	BRAID_EVENT_TYPE_EXCEPTION,   /* thrown exceptions; agent, from the JVM's start only */
	BRAID_EVENT_TYPE_NATIVE_BIND, /* native methods and the functions that they are bound to; agent */
	BRAID_EVENT_TYPE_RESOURCE,    /* exhausted heap, threads */
	BRAID_EVENT_TYPE_OFFCPU, /* all times of all threads off the CPU, in JVMs and other processes; kernel side */
	BRAID_EVENT_TYPE_HEAP,	 /* histograms of the heap; agent */
	BRAID_EVENT_TYPE_METHOD, /* calls of chosen methods; agent, by rewriting their classes */
	BRAID_EVENT_TYPE_MALLOC, /* sampled native allocations, and which were not freed; agent, by hooks */
	BRAID_EVENT_TYPE_JNI,	 /* global and weak JNI references that are there; agent, by hooking JNI functions */
	BRAID_EVENT_TYPE_JNI_CRITICAL, /* critical sections of JNI, which hold up collections; agent, as above */
	BRAID_EVENT_TYPE_DUMP,	       /* thread dumps; collector */
	BRAID_EVENT_TYPE_FIELD,	       /* writes to chosen fields; agent, by rewriting the classes that write them */
	BRAID_EVENT_TYPES,
};

#define BRAID_EVENT_TYPE(name) (1U << BRAID_EVENT_TYPE_##name)
/* The types for which classes are rewritten. */
#define BRAID_EVENT_TYPES_REWRITTEN (BRAID_EVENT_TYPE(METHOD) | BRAID_EVENT_TYPE(FIELD))
/* The types whose functions are in front of the JVM's JNI functions. */
#define BRAID_EVENT_TYPES_JNI (BRAID_EVENT_TYPE(JNI) | BRAID_EVENT_TYPE(JNI_CRITICAL))

/* The types of which an agent in the JVM reports all, or what the others are about. */
#define BRAID_EVENT_TYPES_AGENT                                                                                        \
	(BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE) | BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(GC) |            \
	 BRAID_EVENT_TYPE(VTHREAD) | BRAID_EVENT_TYPE(CLASS) | BRAID_EVENT_TYPE(EXCEPTION) |                           \
	 BRAID_EVENT_TYPE(NATIVE_BIND) | BRAID_EVENT_TYPE(RESOURCE) | BRAID_EVENT_TYPE(HEAP) |                         \
	 BRAID_EVENT_TYPES_REWRITTEN | BRAID_EVENT_TYPE(MALLOC) | BRAID_EVENT_TYPES_JNI)
/* The types that no other process than a JVM has. */
#define BRAID_EVENT_TYPES_JVM (BRAID_EVENT_TYPES_AGENT | BRAID_EVENT_TYPE(SAFEPOINT) | BRAID_EVENT_TYPE(JIT))
/* Those of them that are recorded when nothing is chosen: that they are missing is no surprise. */
#define BRAID_EVENT_TYPES_UNASKED (BRAID_EVENT_TYPE(GC) | BRAID_EVENT_TYPE(JIT))

/* "all": without what stops the JVM for a time that depends on its heap, what needs more than a word, what changes the
 * calls of the process's libraries, and what has events for every thread that exists. */
#define BRAID_EVENT_TYPES_ALL                                                                                          \
	(((1U << BRAID_EVENT_TYPES) - 1) &                                                                             \
	 ~(BRAID_EVENT_TYPE(HEAP) | BRAID_EVENT_TYPES_REWRITTEN | BRAID_EVENT_TYPE(MALLOC) | BRAID_EVENT_TYPES_JNI |   \
	   BRAID_EVENT_TYPE(DUMP)))

/* The types that can be enabled for single threads: platform threads, as JVM TI has them. */
#define BRAID_PER_THREAD                                                                                               \
	(BRAID_EVENT_TYPE(ALLOC) | BRAID_EVENT_TYPE(LIVE) | BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(EXCEPTION))
#define BRAID_CONFIG_THREADS 16

struct braid_thread_config {
	__u32 tid; /* for the agent: in the JVM's own PID namespace; 0: none */
	__u32 enabled;
};

/*
 * Methods that are timed: CLASS.METHOD, CLASS.METHOD(DESCRIPTOR) or @ANNOTATION, with `*` and `?`, and dots in names of
 * classes; or regular expressions (POSIX, extended) between slashes: CLASS#METHOD, of which the latter is looked for in
 * the method's name and descriptor, or @ANNOTATION.
 */
#define BRAID_METHOD_PATTERNS 8
/* Folders of classes that what measures calls uses, so none of their methods is timed. */
#define BRAID_NEVER_TIMED                                                                                              \
	{                                                                                                              \
		"java/lang/", "java/util/concurrent/atomic/", "jdk/internal/", "sun/misc/"                             \
	}
#define BRAID_METHOD_TEXT 248  /* bytes, without a zero at the end if all are used */
#define BRAID_METHOD_VALUES 4  /* of a call */
#define BRAID_METHOD_WORDS 124 /* bytes, as above */

struct braid_method_pattern {
	__u64 min_ns;			 /* shorter calls are only added up */
	__u32 rate;			 /* maximum of calls emitted per second, the rest is counted only; 0: all */
	char values[BRAID_METHOD_WORDS]; /* what is reported of each emitted call: "arg1,arg2.length(),this.name" */
	char text[BRAID_METHOD_TEXT];
};

/*
 * Fields whose writes are reported: CLASS.FIELD, with `*` and `?`, and dots in names of classes. min_ns is not used;
 * `values`: "new", "old", or both.
 */
#define BRAID_FIELD_PATTERNS 4

/* Whether the process is copied, for the collector to read its heap, and what is asked of the JVM then. */
enum braid_heap_copy {
	BRAID_HEAP_COPY_NONE,
	BRAID_HEAP_COPY_DUMP,  /* no histogram is taken */
	BRAID_HEAP_COPY_COUNT, /* one is taken if the heap cannot be copied */
};

struct braid_event_config {
	__u32 enabled;	       /* bits of enum braid_event_type; unknown ones are ignored */
	__u32 vthread_rate;    /* maximum of virtual threads published per second, the rest is counted only; 0: all */
	__u64 alloc_interval;  /* mean bytes between sampled allocations of a thread */
	__u64 malloc_interval; /* mean bytes between sampled native allocations of a thread */
	__u64 lock_min_ns;     /* shorter blockings are only counted */
	__u64 wait_min_ns;
	__u64 offcpu_min_ns;
	__u64 heap_interval_ns;	 /* between two histograms; 0: one when the type is enabled, and no other */
	__u64 heap_max_pause_ns; /* no histogram is taken that is expected to stop the JVM for longer */
	__u32 exception_rate;	 /* maximum of exceptions emitted per second, the rest is counted only; 0: all */
	__u32 live_max;		 /* maximum of objects watched at a time */
	__u32 threaded;		 /* types of BRAID_PER_THREAD that are enabled for `threads` only */
	__u16 heap_live;	 /* 1: garbage is collected before each histogram */
	__u16 heap_copy;	 /* enum braid_heap_copy */
	__u32 jni_max;		 /* maximum of JNI references watched at a time */
	__u32 heap_watch_s;	 /* how long allocations are watched before the copy is made; 0: not at all */
	__u32 heap_page_ps;	 /* what this machine takes to copy a page of a process; 0: not known */
	__u32 no_settings;	 /* 1: flags and system properties are not published */
	__u64 critical_min_ns;	 /* shorter critical sections are only counted */
	__u64 dump_interval_ns;	 /* between two thread dumps; 0: the recording is one dump, and ends with it */
	struct braid_thread_config threads[BRAID_CONFIG_THREADS];
	struct braid_method_pattern methods[BRAID_METHOD_PATTERNS]; /* the first ones are used; empty: none */
	struct braid_method_pattern fields[BRAID_FIELD_PATTERNS];   /* as above */
};
_Static_assert(sizeof(struct braid_event_config) == 4848, "event config");

#endif
