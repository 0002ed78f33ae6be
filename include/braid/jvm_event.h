// SPDX-License-Identifier: Apache-2.0
/*
 * The kinds of JVM events, as agents, the kernel side and traces number them, and what an agent asks the kernel side to
 * walk a stack for. Numbers are part of the trace format: none is used twice.
 *
 * Every event has the same fields (struct braid_jvm_event here, struct trace_jvm_event in a trace); what they mean is
 * said per kind below. Fields that are not mentioned are 0. `start` to `end` is the event's interval; both are the same
 * for what takes no time.
 */
#ifndef BRAID_JVM_EVENT_H
#define BRAID_JVM_EVENT_H

#include <braid/types.h>

enum braid_jvm_event_kind {
	BRAID_JVM_ALLOC = 1,	 /* name: class; value: the object's bytes; weight: bytes that it stands for; number:
				    of the object in this JVM while it is watched, 0: it is not */
	BRAID_JVM_LIVE = 2,	 /* an ALLOC's object was still there, and was in use when a collection last looked at
				    it; number: the object's; flags: collections that it has survived, at least */
	BRAID_JVM_LOCK = 3,	 /* blocked on a monitor or parked for a lock; name: its class; number: the monitor;
				    other: the owner, with the stack on which it let go; flags: BRAID_LOCK_* */
	BRAID_JVM_WAIT = 4,	 /* Object.wait; name: class; value: timeout in ms; flags: BRAID_WAIT_TIMED_OUT; other:
				    who woke it, with its stack */
	BRAID_JVM_BLOCKED = 5,	 /* off the CPU in the kernel; flags: BRAID_BLOCKED_*; other: who woke it, with its
				    stack */
	BRAID_JVM_GC_PAUSE = 6,	 /* the world stood for a collector; name: collector; detail: cause; text: what it did,
				    as the JVM's log calls it, or empty; value, weight: bytes of heap used before and
				    after, 0: not known; number: of the pause; flags: BRAID_GC_* */
	BRAID_JVM_GC_CYCLE = 7,	 /* a collection that is more than one pause, from start to end; name, detail, value,
				    weight, flags: as above; number: of the cycle */
	BRAID_JVM_GC_PHASE = 8,	 /* concurrent phase of a cycle; name: phase; number: of the cycle */
	BRAID_JVM_SAFEPOINT = 9, /* name: operation; value: ns until every thread stood; number: of the
				    safepoint, counted from 1 since the probes were set */
	BRAID_JVM_SAFEPOINT_STOP = 10, /* a thread came to a stop, on this stack; value: ns since it was asked to,
					  0: all stood already, and it came back from native code; number: of
					  the safepoint */
	BRAID_JVM_THREAD_START = 11,   /* name: thread; detail: group; value: priority; flags: BRAID_THREAD_* */
	BRAID_JVM_THREAD_END = 12, /* name: thread, as it was called then; value: ns of CPU time; weight: of them in the
				      kernel */
	BRAID_JVM_VTHREAD_START = 13, /* number: threadId; name: thread, may be empty; value: how many it stands for */
	BRAID_JVM_VTHREAD_END = 14,   /* the same */
	BRAID_JVM_CLASS_LOAD = 15,    /* name: class; detail: loader; value: modifiers; text: module and source file */
	BRAID_JVM_CLASS_PREPARE = 16, /* name: class */
	BRAID_JVM_CLASS_UNLOAD = 17,  /* name: the last of them; value: how many */
	BRAID_JVM_COMPILE = 18,	      /* name: method; value: bytes of code; flags: BRAID_COMPILE_*; number: compile id.
					 Without duration: a wrapper, or a JVM that has no probes */
	BRAID_JVM_DEOPT = 19, /* name: compiled method; detail: reason; number: its code's compile id; text: what the
				 VM did about it */
	BRAID_JVM_EXCEPTION = 20,   /* name: class; detail: method that catches it, empty: none; value: how many it
				       stands for */
	BRAID_JVM_NATIVE_BIND = 21, /* name: method; number: address; text: the symbol there */
	BRAID_JVM_RESOURCE = 22,    /* name: what is exhausted; flags: JVM TI's */
	BRAID_JVM_CODE_CACHE = 23,  /* name: code heap; value: bytes used; weight: bytes reserved */
	BRAID_JVM_COUNTED = 24,	    /* `value` events of kind `number` were counted and not told (too short, too many);
				       weight: their ns */
	BRAID_JVM_THREAD_RENAME = 25, /* name: new name */
	BRAID_JVM_PHASE = 26,	      /* of the JVM's life; name: "agent" (connected), "start" (runs byte code), "init",
					 "replayed" (all that is older than the agent was told), "death"; value: of
					 "replayed": classes that were loaded before and are not told */
	BRAID_JVM_CONFIG = 27,	      /* from now on other things are recorded of the process, or without one of all to
					 come; name: list as `record -e` takes it, then for each
					 thread that is told of alone " thread=TID:LIST"; value:
					 braid_event_config.enabled */
	BRAID_JVM_THREAD_CPU = 28,  /* of a thread that ended with its JVM, or is there at the recording's end, or is no
				       Java thread (those tell it in THREAD_END); value: ns of CPU time since its
				       start; weight: of them in the kernel */
	BRAID_JVM_UNCOLLECTED = 29, /* an ALLOC's object was still there, but no collection has looked at it that could
				       have taken it; number: the object's */
	BRAID_JVM_EVENTS,	    /* one more than the largest */
};
#define BRAID_JVM_KINDS_MAX 64 /* room for as many */
_Static_assert(BRAID_JVM_EVENTS <= BRAID_JVM_KINDS_MAX, "kinds");

#define BRAID_WAIT_TIMED_OUT 0x1U
#define BRAID_LOCK_PARKED 0x1U /* a lock of java.util.concurrent */

/* Of GC_PAUSE and GC_CYCLE: one end of it is not in the recording, and its duration is not known. */
#define BRAID_GC_BEGAN_BEFORE 0x1U
#define BRAID_GC_NOT_ENDED 0x2U
#define BRAID_GC_PARTIAL (BRAID_GC_BEGAN_BEFORE | BRAID_GC_NOT_ENDED)

/* braid_jvm_event.flags of BLOCKED: the system call's number in the low bits, all of them set: in none, as in a page
 * fault.
 */
#define BRAID_BLOCKED_SYSCALL 0xffffU
#define BRAID_BLOCKED_UNINTERRUPTIBLE 0x10000U /* by no signal: the disk, mostly, or a lock in the kernel */
#define BRAID_BLOCKED_OPEN 0x20000U	       /* it went on when the recording ended; no stack */

/* Of COMPILE: level in the low bits. */
#define BRAID_COMPILE_LEVEL 0x7U
#define BRAID_COMPILE_OSR 0x8U
#define BRAID_COMPILE_FAILED 0x10U

/* What an agent tells of an event: as untrusted as a ring record. */
struct braid_jvm_event {
	__u32 kind; /* enum braid_jvm_event_kind */
	__u32 name; /* id of a BRAID_REC_TYPE, 0: none */
	__u64 start_ns;
	__u64 end_ns;
	__u64 value;
	__u64 weight;
	__u64 number;
	__u32 flags;
	__u32 detail;	 /* id of a method, 0: none */
	__u32 other_tid; /* thread of this JVM, in its pid namespace; 0: none */
	__u32 reserved;
};
_Static_assert(sizeof(struct braid_jvm_event) == 64, "jvm event");

/*
 * The argument of the program `stack_request`, which an agent's thread runs (BPF_PROG_RUN) to have its stack walked and
 * an event told with it. An event that ends elsewhere than it began has the stack of its beginning: of kind 0, it is
 * only taken, and the fields behind `event` are set; an event that comes with them is told with that stack.
 */
struct braid_stack_request {
	struct braid_jvm_event event;
	__u64 stack; /* 0: take one */
	__u64 vthread;
	__u32 generation;
	__u32 reserved;
};
_Static_assert(sizeof(struct braid_stack_request) == 88, "stack request");

#endif
