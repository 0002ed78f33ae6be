// SPDX-License-Identifier: Apache-2.0
/*
 * What the eBPF programs and the collector share: the values of the BPF maps, and the events that come up through the
 * BPF ring buffer. Both sides are built together, so nothing here is versioned; sizes are asserted all the same,
 * because the BPF and the host compilers must agree.
 */
#ifndef BRAID_EVENT_H
#define BRAID_EVENT_H

#include <braid/jvm_event.h>
#include <braid/layout.h>

#define BRAID_MAX_JVMS 256
#define BRAID_MAX_DEPTH 16384	   /* user frames per stack */
#define BRAID_MAX_KERNEL_DEPTH 127 /* kernel frames per stack */
#define BRAID_RULE_MEMOS 4096	   /* unwind rules that are remembered where a stack is walked */
#define BRAID_MAX_FRAMES (BRAID_MAX_KERNEL_DEPTH + BRAID_MAX_DEPTH + 1)

/* One executable mapping of one process; a process's mappings are an extent of the map `mappings`, sorted by start. */
struct braid_mapping {
	__u64 start;
	__u64 end;
	__u64 bias;  /* address - bias = ELF virtual address */
	__u32 table; /* index into `tables`, or BRAID_NO_TABLE */
	__u32 reserved;
};
_Static_assert(sizeof(struct braid_mapping) == 32, "mapping");
#define BRAID_NO_TABLE 0xffffffffU

/* One module's unwind table (see <braid/unwind.h>): where it lies in the maps `pages` and `rows`. */
struct braid_table {
	__u32 first_page;
	__u32 page_count;
	__u32 pages_at; /* in `pages`: page_count entries */
	__u32 rows_at;	/* in `rows` */
};

/* A page's own rows, counted from the table's first: those with pc in the page. Eight bytes, as an array map's stride.
 */
struct braid_page {
	__u32 first;
	__u32 end;
};

/* Value of the map `processes`, key tgid. Replaced as a whole, so that a walk sees the old or the new one. */
struct braid_process {
	__u32 first_mapping;
	__u32 mapping_count;
	__u32 jvm;	  /* slot in `jvms` plus one; 0: no JVM */
	__u32 generation; /* tells apart all that the process's addresses ever meant; 0: not known since an exec */
	__u32 flags;	  /* BRAID_PROCESS_* */
	__u32 reserved;
};
#define BRAID_PROCESS_NOT_DEFERRED 1U /* a second walk would not come further: do not ask for it */
#define BRAID_PROCESS_LIBJVM 2U	      /* a JVM, whether its agent is there, not yet, or not any more */

/* Value of the map `jvms`, key slot. */
struct braid_jvm {
	__u32 generation; /* of the slot, so that late events of an earlier JVM are recognised; by the collector */
	__u32 epoch; /* counts class unloads: part of the hash of every stack with Java frames, because addresses may
			mean something new; by the drain */
	/* Addresses of counters in the JVM's memory, which are part of the hash, too: they are up to date when records
	 * are not. 0: none; by the drain */
	__u64 class_unloads;
	__u64 code_unloads;
	__u64 code_unloads_seen; /* what the last sample saw of the second, and when it had changed; 0: never */
	__u64 code_unload_ns;
	__u64 sleep_min_ns; /* shorter times off the CPU are counted only; UINT64_MAX: none is told; by the collector */
	__u64 waker_min_ns; /* of shorter ones it is not asked who ended them */
	__u64 park_min_ns;  /* of those that last as long it is asked what they were for; UINT64_MAX: of none */
	__u64 gc_cause;	    /* address of a string: braid_names.gc_cause; by the drain */
	/* By the collector, then as the agent reports it by the drain; what its flags say is growing, by each walk. */
	struct braid_layout layout;
	struct braid_statics statics;
};

#define BRAID_SLEEPERS 32768 /* entries of the map of threads off the CPU */

/*
 * Value of the map `request_shares`, by slot: what was told of a JVM's threads. The entry behind the last slot is of
 * processes that have none, and counts all sleepers.
 */
struct braid_request_share {
	__u64 until;	/* position of the event ring: when it has been read up to here, a new share begins */
	__u64 bytes;	/* used of this share */
	__s64 sleepers; /* entries in the map of threads off the CPU; on programs' replacement some ends are missed */
	__u64 lost[BRAID_JVM_KINDS_MAX]; /* events, by kind: no room in the share, or in the ring */
};

enum braid_event_kind {
	BRAID_EVENT_SAMPLE = 1,
	BRAID_EVENT_AGENT = 2,
	BRAID_EVENT_DEFERRED = 3,
	BRAID_EVENT_METHOD = 4,
	BRAID_EVENT_VTHREAD = 5,
	BRAID_EVENT_STACK = 6,
	BRAID_EVENT_JVM_EVENT = 7,
};

struct braid_event {
	__u32 kind; /* enum braid_event_kind */
	__u32 size; /* bytes, this header included */
	__u64 time_ns;
};

/* A sample; its frames (leaf first, <braid/frame.h>) follow only when the kernel side does not know that they were
 * sent. */
struct braid_event_sample {
	struct braid_event hdr;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 frame_count; /* 0: known by `stack` */
	__u64 stack;	   /* hash of process, generation, epoch and frames; never 0 */
	__u32 generation;  /* of the process's addresses, as the walk knew them */
	__u32 reserved;
	__u64 vthread; /* Thread.threadId() of the virtual thread whose frames these are, 0: none's, or not known */
};
_Static_assert(sizeof(struct braid_event_sample) == 56, "sample");

/* BRAID_EVENT_STACK is a struct braid_event_sample whose frames are news, and no sample: other events refer to its
 * hash. */

/* What an agent's thread, or a probe in the JVM or the kernel, has met. */
struct braid_event_jvm_event {
	struct braid_event hdr; /* time_ns: when it was told */
	__u32 pid;
	__u32 tid;
	__u64 stack;	   /* hash; 0: none */
	__u64 other_stack; /* of other_tid; 0: none */
	__u32 generation;  /* of the process's addresses, as the walk knew them */
	__u32 other_pid;   /* 0: other_tid is the JVM's own number; else host's, as other_tid then is */
	__u64 vthread;	   /* as in a sample */
	__u32 source;	   /* enum braid_event_source: who says so, and what its names mean */
	__u32 sleep;	   /* BRAID_SLEEP_*, of BLOCKED */
	struct braid_jvm_event event;
	char text[64]; /* of probes: a name, cut; of THREAD_CPU: the thread; of BLOCKED: the class of what it was
			  parked for, if that can be a lock; else empty; see also <braid/probe.h> */
};
_Static_assert(sizeof(struct braid_event_jvm_event) == 192, "jvm event");

#define BRAID_SLEEP_BLOCKED 1U /* it is long enough to be told of as BLOCKED */
#define BRAID_SLEEP_LOCK 2U    /* `text` is the class of what can be a lock */

enum braid_event_source {
	BRAID_SOURCE_AGENT = 0,	 /* name and detail are the agent's ids */
	BRAID_SOURCE_KERNEL = 1, /* they are 0 */
	BRAID_SOURCE_PROBE = 2,	 /* probe in libjvm: `text` is the name */
	BRAID_SOURCE_COLLECTOR = 3,
};

/*
 * Value of the map `sleepers`, key tid of the host: a thread of a JVM, from its first sleep on. The kernel side; the
 * collector reads what is left in the end.
 */
#define BRAID_WAKES 4
struct braid_wake {
	__u64 start_ns; /* of the sleep that it ended */
	__u64 time_ns;
	__u64 stack; /* of the thread that did it; 0: none */
	__u32 pid;
	__u32 tid;
};
/* What an event says of a stack that was taken for it. */
struct braid_stack_ref {
	__u64 stack; /* hash; 0: none */
	__u64 vthread;
	__u64 java;	  /* the frame of compiled Java code that called the VM through a stub; 0: none near the leaf */
	__u32 generation; /* of the process's addresses */
	__u32 bytes;	  /* of frames that were news, in the event ring */
};

struct braid_sleeper {
	__u64 start_ns;	  /* of the sleep that goes on; 0: none does */
	__u64 pending_ns; /* start of the last one, which is to be told when its thread can be walked; 0: none */
	__u64 pending_until_ns;
	__u64 counted; /* sleeps that were too short to be told */
	__u64 counted_ns;
	__u64 futex;		      /* address that it waits for; 0: for something else */
	struct braid_stack_ref start; /* the stack that was taken at the start */
	__u32 pid;
	__u32 flags; /* BRAID_BLOCKED_* */
	__u32 reserved;
	__u32 wake_count;		      /* the last one is at (wake_count - 1) % BRAID_WAKES */
	struct braid_wake wakes[BRAID_WAKES]; /* by threads; what a timer or a device ended has none */
};
_Static_assert(sizeof(struct braid_sleeper) == 96 + BRAID_WAKES * 32, "sleeper");

/*
 * A sample whose walk led to code that the collector had not told of yet: what is needed to walk once more, when it
 * has. The kernel's frames follow, and then the stack: what the thread uses of it, if it can be told, in at most so
 * many pages.
 */
#define BRAID_DEFERRED_PAGE 4096
#define BRAID_DEFERRED_PAGES 16
struct braid_event_deferred {
	struct braid_event hdr;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 cause; /* enum braid_end: why the first walk ended */
	__u32 generation;
	__u32 kernel_count;
	__u32 stack_bytes;
	__u32 missing;	/* bit n: page n was not in memory, as what a function has reserved and not used */
	__u64 stack_at; /* address of the first byte; sp is on the same page */
	__u64 pc, sp, fp, rax, rbx, r10, r13;
};
_Static_assert(sizeof(struct braid_event_deferred) == 112, "deferred sample");

/*
 * What an interpreted frame's Method is called, read while it has a frame: comes before the first sample with it, and
 * again when its address has come to mean another one. Strings are the JVM's (modified UTF-8), cut at the arrays' ends.
 */
#define BRAID_CLASS_NAME_MAX 512
#define BRAID_METHOD_NAME_MAX 256
#define BRAID_SIGNATURE_MAX 512
struct braid_event_method {
	struct braid_event hdr;
	__u32 pid;
	__u32 flags; /* BRAID_METHOD_* */
	__u64 method;
	__u64 const_method;
	__u64 sizes; /* the 8 bytes at ConstMethod::_code_size */
	__u64 lines; /* the 8 bytes behind the byte codes, where line numbers begin; 0: not in memory, as those of a
			method in the JDK's own archive whose lines nobody has asked for */
	__u32 modifiers;
	__u16 class_length; /* whole length; what is here may be less */
	__u16 name_length;
	__u16 signature_length;
	__u16 reserved;
	__u32 reserved2;
	char class_name[BRAID_CLASS_NAME_MAX];
	char name[BRAID_METHOD_NAME_MAX];
	char signature[BRAID_SIGNATURE_MAX];
};
_Static_assert(sizeof(struct braid_event_method) == 72 + 1280, "method event");
#define BRAID_METHOD_READ                                                                                              \
	0x1U /* the names are here; else their pages were not in memory, and the collector reads them */

/* A virtual thread: comes before the first sample of it, and again when it may have been renamed. */
#define BRAID_VTHREAD_NAME_MAX 256
struct braid_event_vthread {
	struct braid_event hdr;
	__u64 id; /* Thread.threadId() */
	__u32 pid;
	__u32 name_bytes; /* longer names are cut */
	__u8 utf16;	  /* 0: ISO 8859-1, 1: UTF-16 in the machine's order; else nothing that a JVM has */
	__u8 reserved[7];
	__u8 name[BRAID_VTHREAD_NAME_MAX];
};
_Static_assert(sizeof(struct braid_event_vthread) == 40 + BRAID_VTHREAD_NAME_MAX, "vthread event");

/* A ring record, validated for size and kind, stamped with the JVM whose ring it came through. */
struct braid_event_agent {
	struct braid_event hdr;
	__u32 slot;
	__u32 generation;
	/* struct braid_rec and what belongs to it */
};
_Static_assert(sizeof(struct braid_event_agent) == 24, "agent event");

/*
 * Argument of the drain program. A ring holds no more than its size, so that `budget` need not be more: the JVM can go
 * on writing, or claim to have written, for as long as the ring is read.
 */
struct braid_drain {
	__u32 slot;
	__u32 more;    /* out: the drain stopped before the ring was empty */
	__u64 budget;  /* in: bytes of the ring to read at most; out: what is left of them */
	__u64 records; /* out */
	__u64 bad;     /* out: records refused, their size is out of range */
	__u64 lost;    /* out: records for which `records` had no room */
};

/* Value of the per-CPU map `counters`. */
struct braid_counters {
	__u64 samples;	    /* taken */
	__u64 samples_lost; /* no room in the event ring */
	__u64 stacks_sent;
	__u64 walk_ns;	   /* time spent in the sampling program */
	__u64 frames_java; /* walked: compiled and interpreted */
	__u64 frames_native;
	__u64 frames_kernel;
	__u64 stacks;	      /* taken for events */
	__u64 stacks_lost;    /* no memory for one more at a time, or no room in the event ring */
	__u64 vthread_stacks; /* taken of virtual threads */
	__u64 vthread_known;  /* of them: whose was found */
};

#endif
