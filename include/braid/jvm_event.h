// SPDX-License-Identifier: Apache-2.0
/*
 * The kinds of JVM events, with the numbers that agents, the kernel side and traces use, and the argument of a stack
 * request. Numbers are part of the trace format: none is used twice.
 *
 * Every event has the same fields (struct braid_jvm_event here, struct trace_jvm_event in a trace). The comment of each
 * kind defines their meaning; fields that it does not mention are 0. `start` to `end` is the event's interval, in ns;
 * both are equal for an event without a duration. "Other" is a second thread, by other_tid, with other_stack.
 */
#ifndef BRAID_JVM_EVENT_H
#define BRAID_JVM_EVENT_H

#include <braid/types.h>

enum braid_jvm_event_kind {
	BRAID_JVM_ALLOC = 1,	 /* name: class; value: the object's bytes; weight: estimate of the bytes represented;
				    number: the object's in this JVM while it is watched, 0: it is not */
	BRAID_JVM_LIVE = 2,	 /* an ALLOC's object is still there, and was in use at the last collection that looked
				    at it; number: the object's; flags: at least this number of survived collections */
	BRAID_JVM_LOCK = 3,	 /* blocked on a monitor or parked for a lock; name: its class; number: the monitor's;
				    other: the owner, with the stack of its release; flags: BRAID_LOCK_* */
	BRAID_JVM_WAIT = 4,	 /* Object.wait; name: class; value: timeout in ms; flags: BRAID_WAIT_TIMED_OUT; other:
				    the waker, with its stack */
	BRAID_JVM_OFFCPU = 5,	 /* off the CPU, on this stack; flags: BRAID_OFFCPU_*; value: ns at the end in which it
				    could run and waited for a CPU; number: the futex's address, or the inode of what
				    it waited for; weight: the CPU that it left, and the one that it came back to in the
				    high 32 bits; name: what it waited for (a path, an address, the class of what it
				    was parked for); other: the waker, with its stack; text: the interrupt that woke
				    it, or a thread that is not recorded (name[tid]). With the type `offcpu`, a park for a lock is both this and a LOCK */
	BRAID_JVM_GC_PAUSE = 6,	 /* stop-the-world pause; name: collector; detail: cause; text: the pause's name in the
				    JVM's log, or empty; value, weight: bytes of heap used before and after,
				    0: not known; number: of the pause; flags: BRAID_GC_* */
	BRAID_JVM_GC_CYCLE = 7,	 /* a collection that is more than one pause; name, detail, value, weight, flags: as
				    above; number: of the cycle */
	BRAID_JVM_GC_PHASE = 8,	 /* concurrent phase of a cycle; name: phase; number: of the cycle */
	BRAID_JVM_SAFEPOINT = 9, /* name: operation; value: ns until the last thread stopped; number: of the safepoint,
				    counted from 1 since the probes were set */
	BRAID_JVM_SAFEPOINT_STOP = 10, /* a thread stopped, on this stack; value: ns since the request, 0: all others
					  had stopped, and it returned from native code; number: the safepoint's */
	BRAID_JVM_THREAD_START = 11,   /* name: thread; detail: group; value: priority; flags: BRAID_THREAD_* */
	BRAID_JVM_THREAD_END = 12,     /* name: the thread's at that time; value: ns of CPU time; weight: those in
				      the kernel */
	BRAID_JVM_VTHREAD_START = 13,  /* number: threadId; name: thread or empty; value: threads that it represents */
	BRAID_JVM_VTHREAD_END = 14,    /* the same */
	BRAID_JVM_CLASS_LOAD = 15,     /* name: class; detail: loader; value: modifiers; text: module and source file */
	BRAID_JVM_CLASS_PREPARE = 16,  /* name: class */
	BRAID_JVM_CLASS_UNLOAD = 17,   /* name: the last one; value: number of classes */
	BRAID_JVM_COMPILE = 18,	  /* name: method; value: bytes of code; flags: BRAID_COMPILE_*; number: compile id.
					 Without duration: a native wrapper, or a JVM without probes */
	BRAID_JVM_DEOPT = 19,	  /* name: compiled method; detail: reason; number: its compile id; text: the action */
	BRAID_JVM_EXCEPTION = 20, /* name: class; detail: the catching method, empty: none; value: exceptions that it
				       represents */
	BRAID_JVM_NATIVE_BIND = 21, /* name: method; number: address; text: the symbol there */
	BRAID_JVM_RESOURCE = 22,    /* name: the exhausted resource; flags: JVM TI's */
	BRAID_JVM_CODE_CACHE = 23,  /* name: code heap; value: bytes used; weight: bytes reserved */
	BRAID_JVM_COUNTED = 24,	    /* `value` events of kind `number` were only counted: too short, or above the rate;
				       weight: the sum of their ns; flags: of OFFCPU: enum braid_offcpu_class. The part
				       of OFFCPU in which a blocked thread could run again counts as RUNNABLE's ns */
	BRAID_JVM_THREAD_RENAME = 25, /* name: new name */
	BRAID_JVM_PHASE = 26,	      /* of the JVM's life; name: "agent" (connected), "start" (runs byte code), "init",
					 "replayed" (all that is older than the agent is published), "death"; value of
					 "replayed": number of classes loaded before, which have no event */
	BRAID_JVM_CONFIG = 27,	      /* the event configuration of the process changes; without a process: that of all
					 to come; name: list as `record -e` takes it, then " thread=TID:LIST" for each
					 thread with an own list; value: braid_event_config.enabled */
	BRAID_JVM_THREAD_CPU = 28,    /* of a thread that has no THREAD_END: it ended with its JVM, still runs at the
				       recording's end, or is no Java thread; value: ns of CPU time since its start;
				       weight: those in the kernel */
	BRAID_JVM_UNCOLLECTED = 29, /* an ALLOC's object is still there, but no collection that could have freed it has
				       run since; number: the object's */
	BRAID_JVM_THREAD_TIME = 30, /* of a thread, while it was observed: from its start, or the recording's, until its
				       end, or the recording's; value: ns on a CPU; weight: ns in which it waited for a
				       CPU. OFFCPU and its COUNTED are the rest of the interval. An OS thread that was
				       several Java threads in turn has one, as the last of them. That of a virtual
				       thread has no OS thread; its times on a CPU and waiting for one are those of its
				       carriers while it was mounted */
	BRAID_JVM_SYSCALL = 31,	    /* a system call, with the stack at its end; name: the file or socket, or the path
				       that the program gave; detail: the call; value: bytes read or written; flags:
				       the error number, 0: none; text: arguments and result */
	BRAID_JVM_FAULT = 32,	    /* a page fault of a thread, in its own code or in the kernel for it; name: the file
				       of the mapping, or [heap], [stack], [anonymous]; detail: minor or major; number:
				       the address */
	BRAID_JVM_BLOCK = 33, /* a block I/O request, from its issue to its completion, with the stack that queued or
				       issued it; name: device; detail: operation; value: bytes; weight: ns in the queue
				       before; number: the first sector; flags: not 0 if it failed */
	BRAID_JVM_TCP = 34,   /* a TCP connection was made, or failed, on the stack that asked for it, or sent
				       something again: then without duration, on the stack that connected or
				       accepted it; name: the peer; detail: connect, failed connect or retransmit;
				       flags: the error number, 0: none */
	BRAID_JVM_HEAP = 35,  /* a histogram of the heap; the interval is the time for which the JVM stood still, with
				 the collection before it if there was one; value: bytes; weight: objects; number: of
				 the histogram; flags: BRAID_HEAP_* */
	BRAID_JVM_HEAP_CLASS = 36,    /* a row of it; name: class; detail: loader; value: bytes of its objects, without
				      those that they refer to; weight: objects; number: the histogram's; flags: 0, or
				      the number of classes that have no row of their own and are summed up here,
				      with a name that says so */
	BRAID_JVM_HEAP_ESTIMATE = 37, /* a histogram is to be taken; value: bytes of heap in use; weight: ns for which
					 the JVM is expected to stand still; number: the histogram's; flags:
					 BRAID_HEAP_REFUSED, BRAID_HEAP_AT_MOST */
	BRAID_JVM_METHOD = 38, /* a call of a method that is timed, with the stack at its end; name: method; detail:
				  class of the exception that ended it; text: values of arguments and fields that
				  were asked for; flags: BRAID_METHOD_*; number, from an agent only: of the record
				  CALL that has detail and text, 0: none */
	BRAID_JVM_METHOD_CALLS = 39, /* calls of a timed method since the last report of them, METHOD or not;
					name: method; value: calls; weight: their ns; number: they lasted 2 to the power
					of it ns or more, the lowest number with all shorter ones, the highest with all
					longer ones; the interval is as long as the method's longest call, and ends with
					the report */
	BRAID_JVM_DUMP = 40,   /* a thread of a thread dump, on this stack. All of one dump have the same time; flags:
				BRAID_DUMP_* and, unless it runs, those of OFFCPU; detail: what the VM says
				that it does, as waits_state() has it; value: ns of CPU time since its
				start; weight: those in the kernel; name: class of the object that it waits for;
				number: identifies the object among those of the dump; other, other_vthread: the thread that
				owns it */
	BRAID_JVM_MALLOC = 41, /* a sampled native allocation; name: the function; value: bytes; weight: estimate of the
				  bytes represented; number: the allocation's in this JVM */
	BRAID_JVM_UNFREED = 42,	     /* a MALLOC was not freed until the interval's end; number: the allocation's */
	BRAID_JVM_DUMP_VTHREAD = 43, /* a virtual thread of a thread dump, on this stack, or several alike; thread: the
					carrier that has mounted it, whose stack it is; flags: a braid_vthread_state,
					BRAID_DUMP_*; value: the number of threads, whose vthread is 0 if there are more
					than can be named; weight, detail: unused; the others as in DUMP */
	BRAID_JVM_JNI_STACK = 44,    /* the first JNI reference that is created on this stack; number: of the stack in
					this JVM. Counted: references above the rate, whose stacks were not taken */
	BRAID_JVM_JNI_REF = 45,	     /* JNI references are there that were created while they were watched. All of one
					report have the same end; start: when the oldest one was created; name: class of
					the objects; detail: global or weak global; value: references; number: of the
					JNI_STACK on which all were created, 0: it is not known; flags: BRAID_JNI_* */
	BRAID_JVM_JNI_REFS = 46,     /* the report's sums, with the same end; value: references created since the start;
					weight: those of them that were deleted; number: created when there were too
					many to watch, so it is not known what became of them; flags: others that were
					deleted: older ones, or not watched */
	BRAID_JVM_JNI_CRITICAL = 47, /* a critical section of JNI, with the stack at its end; name: the function that
					ended it; weight: ns that this function took, with the collection that the
					section held up, if any */
	BRAID_JVM_HEAP_COPY = 48,    /* the process was copied for the collector to read its heap; the interval is the
				     time for which the JVM stood still; number: the copy's pid, in the JVM's pid
				     namespace; value: address of its struct braid_heap_roots; flags:
				     BRAID_HEAP_FAILED, BRAID_HEAP_VM */
	BRAID_JVM_DIED = 49,  /* a collection has freed an ALLOC's object: the interval ends when the agent noticed,
				     mostly less than a second after the collection; number: the object's; flags:
				     collections that it had survived, at least */
	BRAID_JVM_FIELD = 50, /* a write to a field that is watched, with its stack; name: field; detail: the method
				 that writes it; text: values that were asked for; from an agent, weight: id of a
				 BRAID_REC_TYPE that has detail as its text, and number: of the record CALL that has
				 text, 0: none */
	BRAID_JVM_FIELD_WRITES = 51, /* writes to a field that is watched, in one method, since the last report of them,
					FIELD or not; name, detail: as above; value: writes */
	BRAID_JVM_CPU_LOAD = 52, /* CPU time of a JVM, or without a process of the machine, in the interval of about a
				    second; value: ns in user mode; weight: ns in the kernel; number: ns that all CPUs
				    of the machine had in it, idle or not */
	BRAID_JVM_EVENTS,	 /* one more than the largest */
};
#define BRAID_JVM_KINDS_MAX 64 /* room for new kinds */
_Static_assert(BRAID_JVM_EVENTS <= BRAID_JVM_KINDS_MAX, "kinds");

#define BRAID_JNI_WEAK 0x1U	 /* weak global references; else global ones */
#define BRAID_JNI_CLEARED 0x2U	 /* whose objects are gone */
#define BRAID_METHOD_THROWN 0x1U /* ended by an exception */
#define BRAID_WAIT_TIMED_OUT 0x1U
#define BRAID_LOCK_PARKED 0x1U /* a lock of java.util.concurrent */
#define BRAID_LOCK_OPEN 0x2U   /* the thread was still blocked when the recording ended; other: the owner then */

#define BRAID_HEAP_LIVE 0x1U	/* garbage was collected before */
#define BRAID_HEAP_ABORTED 0x2U /* it took longer than allowed: value and weight are what was counted until then */
#define BRAID_HEAP_FAILED 0x4U	/* the JVM could not be asked; a notice says why */
#define BRAID_HEAP_REFUSED 0x8U /* not taken, because it would take longer than allowed */
#define BRAID_HEAP_VM                                                                                                  \
	0x20U /* only the JVM can dump the heap; value: bytes of it in use, weight: ns that takes; 0: not known */
#define BRAID_HEAP_AT_MOST                                                                                             \
	0x40U /* of an estimate: no histogram has been measured yet, so it is that of small objects */
#define BRAID_HEAP_COPIED                                                                                              \
	0x10U /* it comes from a copy of the process, which has what is reachable; value of an estimate: the memory    \
		 that the copy shares */
#define BRAID_HEAP_ROWS_MAX 1000U /* of a histogram that are one class */
#define BRAID_HEAP_COUNTED 1U /* number of the histogram that is made from a copy; estimates of other copies have 0 */

/* Flags of GC_PAUSE and GC_CYCLE: one of its ends is outside the recording, so its duration is not known. */
#define BRAID_GC_BEGAN_BEFORE 0x1U
#define BRAID_GC_NOT_ENDED 0x2U
#define BRAID_GC_PARTIAL (BRAID_GC_BEGAN_BEFORE | BRAID_GC_NOT_ENDED)

/* braid_jvm_event.flags of OFFCPU. The low bits are the system call's number; all bits set: none, as in a page
 * fault. */
#define BRAID_OFFCPU_SYSCALL 0xffffU
#define BRAID_OFFCPU_UNINTERRUPTIBLE 0x10000U /* signals do not end it: mostly disk I/O, or a lock in the kernel */
#define BRAID_OFFCPU_OPEN                                                                                              \
	0x20000U /* had not ended when the recording ended; other: not the waker, but the owner then */
#define BRAID_OFFCPU_BEFORE 0x40000U /* began before the recording */
#define BRAID_OFFCPU_SHORT 0x80000U  /* of COUNTED with a stack: these were too short for events */
#define BRAID_OFFCPU_CLASS_SHIFT 20
#define BRAID_OFFCPU_CLASS(flags) ((flags) >> BRAID_OFFCPU_CLASS_SHIFT & 0xfU)
#define BRAID_OFFCPU_IRQ 0x1000000U /* woken by an interrupt, or by a timer: `text` says which */
#define BRAID_OFFCPU_LOOKED                                                                                            \
	0x2000000U /* it was read what the thread was parked for, and who had that: without a name, nothing */

/* Flags of DUMP, beside those of OFFCPU. */
#define BRAID_DUMP_RUNS 0x2000000U    /* it is on a CPU; the stack is that of a sample taken a moment later */
#define BRAID_DUMP_TIMED 0x4000000U   /* the wait in a futex has a time limit */
#define BRAID_DUMP_MONITOR 0x8000000U /* it waits to enter a monitor */
#define BRAID_DUMP_WAIT 0x10000000U   /* it is in Object.wait */
#define BRAID_DUMP_PARK 0x20000000U   /* it is parked with a blocker */
#define BRAID_DUMP_OWNED 0x40000000U  /* the owner had it for certain while all threads with this flag were blocked */
#define BRAID_DUMP_UNREAD 0x80000000U /* of a JVM's thread: what it waits for could not be read */

/* Flags of DUMP_VTHREAD, beside BRAID_DUMP_TIMED and those after it. The low bits are a braid_vthread_state. */
#define BRAID_VTHREAD_STATE 0xffU
#define BRAID_VTHREAD_RAN 0x100U  /* it ran while it was read, so it has no stack */
#define BRAID_VTHREAD_DEEP 0x200U /* its stack is not whole: it is too large to be copied */

/* What java.lang.VirtualThread says of a thread, as far as it matters from outside. */
enum braid_vthread_state {
	BRAID_VTHREAD_UNKNOWN = 0, /* a state of a newer JDK */
	BRAID_VTHREAD_NEW = 1,
	BRAID_VTHREAD_QUEUED = 2, /* it could run, and waits for a carrier */
	BRAID_VTHREAD_MOUNTED = 3,
	BRAID_VTHREAD_PINNED = 4, /* parked on its carrier */
	BRAID_VTHREAD_PARKED = 5,
	BRAID_VTHREAD_BLOCKED = 6, /* by a monitor, 24 and later */
	BRAID_VTHREAD_WAITING = 7, /* in Object.wait, 24 and later */
	BRAID_VTHREAD_ENDED = 8,
};

/* Why a thread is off the CPU, as far as the kernel knows it. */
enum braid_offcpu_class {
	BRAID_OFFCPU_UNKNOWN = 0,
	BRAID_OFFCPU_RUNNABLE = 1, /* not blocked: preempted, or waits for a CPU since its start */
	BRAID_OFFCPU_FUTEX = 2,
	BRAID_OFFCPU_SLEEP = 3,
	BRAID_OFFCPU_POLL = 4, /* poll, select, epoll */
	BRAID_OFFCPU_SOCKET = 5,
	BRAID_OFFCPU_PIPE = 6,
	BRAID_OFFCPU_FILE = 7,	   /* a call on a file, not in block I/O */
	BRAID_OFFCPU_BLOCK = 8,	   /* block I/O */
	BRAID_OFFCPU_FAULT = 9,	   /* a page fault */
	BRAID_OFFCPU_STOPPED = 10, /* by a signal or a debugger */
	BRAID_OFFCPU_CHILD = 11,   /* wait4, waitid */
	BRAID_OFFCPU_CALL = 12,	   /* any other system call */
	/* a virtual thread was unmounted. The event has it as its virtual thread, and no OS thread */
	BRAID_OFFCPU_UNMOUNTED = 13, /* parked or blocked, and then waiting for a carrier: when it was unparked is not
					known */
	BRAID_OFFCPU_CARRIER = 14,   /* it yielded: waited for a carrier all the time */
	BRAID_OFFCPU_CLASSES,
};

/* Flags of COMPILE: level in the low bits. */
#define BRAID_COMPILE_LEVEL 0x7U
#define BRAID_COMPILE_OSR 0x8U
#define BRAID_COMPILE_FAILED 0x10U

/* A JVM event as an agent reports it; as untrusted as a ring record. */
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
 * What happens to a virtual thread on the agent's thread, in braid_jvm_event.flags of a stack request of kind OFFCPU.
 * number: its threadId; start_ns: since when all of this is requested, 0: not known yet. What the program emits, if
 * anything, is the time that has ended.
 */
enum braid_mount {
	BRAID_MOUNT_START = 1, /* it is mounted for the first time */
	BRAID_MOUNT_ON = 2,
	BRAID_MOUNT_OFF = 3,   /* it is about to be unmounted by its own code */
	BRAID_MOUNT_YIELD = 4, /* the same, and it could go on at once */
	BRAID_MOUNT_BLOCK = 5, /* by the VM: its frames cannot be walked when it is mounted again */
	BRAID_MOUNT_END = 6,
};

/*
 * The argument of the program `stack_request`, which an agent's thread runs (BPF_PROG_RUN): the program walks the
 * thread's stack and emits the event with it. An event that ends elsewhere than it began takes two requests: one of
 * kind 0 takes the stack and fills in the members after `event`; the second passes them back and emits the event with
 * that stack.
 */
struct braid_stack_request {
	struct braid_jvm_event event;
	__u64 stack; /* 0: take one */
	__u64 vthread;
	__u64 span; /* key, see struct braid_event_span */
	__u32 generation;
	__u32 reserved;
};
_Static_assert(sizeof(struct braid_stack_request) == 96, "stack request");

#endif
