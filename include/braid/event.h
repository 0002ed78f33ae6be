// SPDX-License-Identifier: Apache-2.0
/*
 * What the eBPF programs and the collector share: the values of the BPF maps, and the events that the programs send
 * through the BPF ring buffer. Both sides are built together, so nothing is versioned; sizes are asserted because the
 * BPF and the host compilers must agree.
 */
#ifndef BRAID_EVENT_H
#define BRAID_EVENT_H

#include <braid/jvm_event.h>
#include <braid/layout.h>

#define BRAID_MAX_JVMS 256
#define BRAID_MAX_DEPTH 16384	   /* user frames per stack */
#define BRAID_MAX_KERNEL_DEPTH 127 /* kernel frames per stack */
#define BRAID_RULE_MEMOS 4096	   /* unwind rules cached during walks */
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

/* One module's unwind table (see <braid/unwind.h>): its extents in the maps `pages` and `rows`. */
struct braid_table {
	__u32 first_page;
	__u32 page_count;
	__u32 pages_at; /* in `pages`: page_count entries */
	__u32 rows_at;	/* in `rows` */
};

/* The rows with a pc in one page, counted from the table's first. Eight bytes, the stride of an array map. */
struct braid_page {
	__u32 first;
	__u32 end;
};

/*
 * Where the threads of a process keep the request that they serve, see <braid/context.h>. The TLS variable is at an
 * offset from the thread pointer, or in a module's block that the thread's DTV leads to.
 */
struct braid_context_place {
	__u32 module; /* number in the DTV, BRAID_CONTEXT_STATIC, or 0: there is no variable */
	__s32 offset;
	__u64 table; /* of virtual threads; 0: none */
};
#define BRAID_CONTEXT_STATIC 0xffffffffU
#define BRAID_CONTEXT_MODULES 254 /* higher numbers in the DTV are not read */

/* Value of the map `processes`, key tgid. Replaced as a whole, so that a walk sees the old or the new one. */
struct braid_process {
	__u32 first_mapping;
	__u32 mapping_count;
	__u32 jvm;	  /* slot in `jvms` plus one; 0: no JVM */
	__u32 generation; /* distinguishes all that the process's addresses ever meant; 0: not known since an exec */
	__u32 flags;	  /* BRAID_PROCESS_* */
	__u32 user;	  /* of `user_shares` */
	struct braid_context_place context;
};
#define BRAID_PROCESS_NOT_DEFERRED 1U /* a deferred unwind would not get further: send no copy of the stack */
#define BRAID_PROCESS_LIBJVM 2U	      /* a JVM, with or without a connected agent */

/* What is reported of a process's threads off the CPU. */
struct braid_offcpu_limits {
	__u64 min_ns;		 /* shorter times are only counted; UINT64_MAX: no events */
	__u64 waker_min_ns;	 /* shorter ones get no waker */
	__u64 sums_waker_min_ns; /* the same for threads whose times are added up */
	__u64 park_min_ns;	 /* shorter ones get no park blocker; UINT64_MAX: none gets one */
	__u32 all;   /* report when they could run, too, and all of each thread's time; else only what blocks them */
	__u32 locks; /* parks for what can be a lock are of interest however short, and those that are added up, too */
};

/* Value of the map `offcpu_settings`, set by the collector. */
struct braid_offcpu_settings {
	struct braid_offcpu_limits limits; /* of processes without a slot in `jvms` */
	__u64 least_ns;			   /* no process has a smaller min_ns or park_min_ns */
	__u64 begin_ns;			   /* since when all times of threads that existed then are reported */
	__u64 end_ns;			   /* when the recording ends */
	__u64 complete; /* every thread to be followed has an entry from its start on, or was found */
	__u32 turn;	/* odd: sums go to `sums_odd` */
	__u32 ends;	/* threads that come back run a program that can take their stacks */
};

/* Value of the map `offcpu_counts`. */
struct braid_offcpu_counts {
	__s64 pending; /* threads with an interval to be emitted; mostly 0 */
	__s64 before;  /* intervals that began before their threads were found, and go on */
	__u64 in_part; /* stacks that were taken at an interval's start and are not whole */
	__s64 threads; /* entries of `thread_times` in use */
	__u64 used;    /* entries that ever were */
	__u32 turn;    /* of the settings, when `span_sums` was counted */
	__u32 span_sums;
};

/* Value of the map `jvms`, key slot. */
struct braid_jvm {
	__u32 generation; /* of the slot: identifies late events of an earlier JVM; set by the collector */
	__u32 epoch; /* counts class unloads; part of the hash of every stack with Java frames, because addresses may
			change their meaning; set by the drain */
	/* Addresses of counters in the JVM's memory, also part of that hash: they are current even when records are
	 * late. 0: none; set by the drain */
	__u64 class_unloads;
	__u64 code_unloads;
	__u64 code_unloads_seen; /* the second one's value at the last sample, and when it had changed; 0: never */
	__u64 code_unload_ns;
	struct braid_offcpu_limits offcpu; /* set by the collector */
	__u64 gc_cause;			   /* address of a string: braid_names.gc_cause; set by the drain */
	/* Set by the collector, then by the drain from the agent's record. Each walk updates what its flags call
	 * growing. */
	struct braid_layout layout;
	struct braid_statics statics;
};

#define BRAID_THREAD_TIMES 32768      /* entries of the map `thread_times` */
#define BRAID_REUSES (1 << 14)	      /* entries of the map `stack_reuses`: four for each of the first threads */
#define BRAID_VTHREAD_TIMES (1 << 18) /* of `vthread_times`, which takes memory for those in use only */
#define BRAID_TIDS (1U << 22)	      /* the kernel has no larger ones (PID_MAX_LIMIT) */

/* Events that were left out, by kind: there was no room for them, or no time to walk their stacks. */
struct braid_lost {
	__u64 events[BRAID_JVM_KINDS_MAX];
};
#define BRAID_LOST_HIT 0 /* in place of a kind: samples of hit events */

#define BRAID_STRAYS 256 /* processes without a slot whose losses are counted apart */

/* A process's or user's share of the event ring. */
struct braid_ring_share {
	__u64 until; /* position of the ring; when the collector has read up to it, a new share begins */
	__u64 bytes; /* used of this share */
};

/*
 * Value of the map `request_shares`, by slot: what a JVM takes of what all share. The entry after the last slot is for
 * processes without a slot, which have their shares of the ring elsewhere.
 */
struct braid_request_share {
	struct braid_ring_share ring;
	__s64 threads; /* entries in `thread_times`; while programs are replaced some ends are missed */
	struct braid_lost lost;
};

#define BRAID_USERS 1026 /* entries of the map `user_shares` */

/* Value of that map: what all processes of a user take. The first entry is for processes whose user is not known. */
struct braid_user_share {
	struct braid_ring_share ring;
	__s64 threads;
};

enum braid_event_kind {
	BRAID_EVENT_SAMPLE = 1,
	BRAID_EVENT_AGENT = 2,
	BRAID_EVENT_DEFERRED = 3,
	BRAID_EVENT_METHOD = 4,
	BRAID_EVENT_VTHREAD = 5,
	BRAID_EVENT_STACK = 6,
	BRAID_EVENT_JVM_EVENT = 7,
	BRAID_EVENT_SPAN = 8,
	BRAID_EVENT_HIT = 9,
};

struct braid_event {
	__u32 kind; /* enum braid_event_kind */
	__u32 size; /* bytes, including this header */
	__u64 time_ns;
};

/* A sample. Its frames (leaf first, <braid/frame.h>) follow only if the kernel side does not know that they were
 * sent. */
struct braid_event_sample {
	struct braid_event hdr;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 frame_count; /* 0: `stack` identifies frames that were sent before */
	__u64 stack;	   /* hash of process, generation, epoch and frames; never 0 */
	__u32 generation;  /* of the process's addresses, as the walk knew them */
	__u32 event;	   /* 0: the clock; else the number of a hit event, plus one */
	__u64 vthread; /* Thread.threadId() of the virtual thread that the frames belong to; 0: none, or not known */
	__u64 span;    /* key of the BRAID_EVENT_SPAN that the thread was in; 0: none */
};
_Static_assert(sizeof(struct braid_event_sample) == 64, "sample");

/* The values that a hit event's sample has. It precedes the sample, which has the same thread and time. */
#define BRAID_HIT_BYTES 1024
struct braid_event_hit {
	struct braid_event hdr;
	__u32 pid;
	__u32 tid;
	__u32 event; /* its number, plus one */
	__u32 count; /* of values */
	__u8 bytes
		[BRAID_HIT_BYTES]; /* as many as there are: an enum braid_hit_value and the value, one after the other */
};
_Static_assert(sizeof(struct braid_event_hit) == 32 + BRAID_HIT_BYTES, "hit");

/*
 * BRAID_EVENT_STACK is a struct braid_event_sample with new frames that is no sample: other events refer to its hash.
 */

#define BRAID_TEXT_MAX 64

/* A JVM event that an agent's thread, or a probe in the JVM or the kernel, has met. */
struct braid_event_jvm_event {
	struct braid_event hdr; /* time_ns: when it was emitted */
	__u32 pid;
	__u32 tid;
	__u64 stack;	   /* hash; 0: none */
	__u64 other_stack; /* of other_tid; 0: none */
	__u32 generation;  /* of the process's addresses, as the walk knew them */
	__u32 other_pid;   /* 0: other_tid is in the JVM's own pid namespace; else both are the host's */
	__u64 vthread;	   /* as in a sample */
	__u64 span;	   /* as in a sample */
	__u32 source;	   /* enum braid_event_source: the reporter, which also defines the meaning of names */
	__u32 sleep;	   /* of OFFCPU: BRAID_SLEEP_*, and what `text` is */
	struct braid_jvm_event event; /* detail: of OFFCPU: BRAID_IRQ_* */
	char text[BRAID_TEXT_MAX]; /* of probes: a name, cut; of THREAD_CPU: the thread; of OFFCPU: the class of what it
				      was parked for, or an enum braid_object; else empty; see also
				      <braid/probe.h> */
};
_Static_assert(sizeof(struct braid_event_jvm_event) == 200, "jvm event");

/* A kernel event (<braid/hit.h>): the same, and the values that its filters compare. */
#define BRAID_EVENT_VALUES 8
struct braid_event_kernel {
	struct braid_event_jvm_event jvm; /* sleep: an enum braid_object, shifted */
	__u64 value[BRAID_EVENT_VALUES];
};
_Static_assert(sizeof(struct braid_event_kernel) == 264, "kernel event");

#define BRAID_SLEEP_LONG 1U	 /* long enough for an OFFCPU event */
#define BRAID_SLEEP_BLOCKER 2U	 /* `text` is the class of what the thread was parked for */
#define BRAID_SLEEP_CONDITION 4U /* the same, but it was parked for a condition of that lock */
#define BRAID_SLEEP_VIRTUAL 8U	 /* event.number is that of the virtual thread that owned it when the thread parked */
#define BRAID_SLEEP_AFTER                                                                                              \
	16U /* of a virtual thread: the owner is that after the park, and nobody knows who it was before */
#define BRAID_SLEEP_NO_BLOCKER 32U /* it was read that the thread was parked for nothing */
#define BRAID_SLEEP_OBJECT_SHIFT 8

/* What a thread waited for, in `text`. */
enum braid_object {
	BRAID_OBJECT_NONE = 0,
	BRAID_OBJECT_PATH = 1, /* the path's components from the last one to the root's child, each with a zero byte */
	BRAID_OBJECT_PATH_CUT = 2, /* the same, without the first components */
	BRAID_OBJECT_NAME = 3,	   /* a file without a directory, or as a program names it, with a zero byte */
	BRAID_OBJECT_PIPE = 4,
	BRAID_OBJECT_INET = 5,	/* a struct braid_address */
	BRAID_OBJECT_INET6 = 6, /* the same */
	BRAID_OBJECT_UNIX = 7,	/* the name of a Unix socket: a path, or 0 and an abstract name */
};

struct braid_address {
	__u8 address[16]; /* of the peer; of a listening socket, its own */
	__u8 port[2];	  /* big endian */
};

/* The interrupt that woke a thread, in braid_jvm_event.detail. The low bits are a number. */
#define BRAID_IRQ_NUMBER 0xffffffU
#define BRAID_IRQ_TIMER 0x1000000U
#define BRAID_IRQ_SOFT 0x2000000U   /* a softirq, with its vector */
#define BRAID_IRQ_DEVICE 0x3000000U /* with the number in /proc/interrupts */

enum braid_event_source {
	BRAID_SOURCE_AGENT = 0,	 /* name and detail are the agent's ids */
	BRAID_SOURCE_KERNEL = 1, /* name and detail are 0 */
	BRAID_SOURCE_PROBE = 2,	 /* probe in libjvm: `text` is the name */
	BRAID_SOURCE_COLLECTOR = 3,
};

/* The last thread that woke another one. */
#define BRAID_WAKES 4
struct braid_wake {
	__u64 start_ns; /* of the interval that was ended */
	__u64 time_ns;
	__u64 stack; /* of the waker; 0: none */
	__u32 pid;
	__u32 tid;
};

/* Refers to a stack that was taken for an event. */
struct braid_stack_ref {
	__u64 stack; /* hash; 0: none */
	__u64 vthread;
	__u64 span;
	__u64 java;	  /* the compiled Java frame that called the VM through a stub; 0: none near the leaf */
	__u32 generation; /* of the process's addresses */
	__u32 bytes;	  /* of new frames, in the event ring */
};

#define BRAID_BLOCK_REQUESTS 4096 /* entries of the map `block_requests` */

/* Value of that map: a block I/O request that has not completed. Its key is the address of the kernel's structure. */
struct braid_block_request {
	__u64 queued_ns;
	__u64 issued_ns; /* 0: not yet */
	__u64 sector;
	__u32 bytes;
	__u32 operation;
	__u32 pid;
	__u32 tid;
	__u32 left_out; /* 1: it has no event: another process's, or not selected, or counted as lost */
	__u32 requeued; /* 1: it will be issued again */
	struct braid_stack_ref ref;
};

/* A time off the CPU. */
struct braid_interval {
	__u64 start_ns; /* 0: none */
	__u64 end_ns;
	__u64 ready_ns;	 /* since when it could run; 0: it is blocked */
	__u64 futex;	 /* the address that it waits for; 0: it waits for something else */
	__u32 flags;	 /* BRAID_OFFCPU_* */
	__u32 from;	 /* the CPU that it left */
	__u32 to;	 /* the CPU that it came back to */
	__u32 irq;	 /* BRAID_IRQ_*: what woke it; 0: a thread, or not known */
	__u32 selected;	 /* it is emitted: long enough, and the filter selects it. 0 before its end */
	__u32 polled;	 /* the descriptor that it polls alone, or whose event woke it, plus 1; 0: not known */
	__u64 vthread;	 /* the virtual thread that it had mounted; 0: none, or not known */
	__u32 waker_pid; /* the thread that woke it; 0: none, or not known */
	__u32 waker_tid;
};

/* Whether times off the CPU are added up by stack, instead of being reported one by one. */
enum braid_sums {
	BRAID_SUMS_FLOOD =
		0, /* what exceeds BRAID_FLOOD in a second of a process, and what is too short for an event */
	BRAID_SUMS_ALWAYS = 1,
	BRAID_SUMS_NEVER = 2,
};
#define BRAID_FLOOD 10000

/*
 * The owner of a contended monitor or lock matters even if sleeps are reported only from a longer time on. But where
 * threads hand a lock over every few microseconds, a walk each time would cost more than the lock.
 */
#define BRAID_OWNER_MIN_NS 50000ULL

#define BRAID_SUMS 16384		 /* entries of each of the two maps */
#define BRAID_SUM_SPANS (BRAID_SUMS / 2) /* those with a span; the times in further ones are added up without it */
#define BRAID_SPAN_MANY 2ULL		 /* one of these; keys of spans are odd */

/* Key and value of the maps `sums_even` and `sums_odd`: times off the CPU of one thread, for one reason on one stack
 * in one span. */
struct braid_sum_key {
	__u64 stack;
	__u64 span; /* as in a sample, or BRAID_SPAN_MANY */
	__u32 pid;
	__u32 tid;
	__u32 generation; /* of the process's addresses */
	__u32 flags;	  /* of OFFCPU: system call and class; BRAID_OFFCPU_SHORT */
};

struct braid_sum {
	__u64 count;
	__u64 ns;	/* without those in which it could run */
	__u64 ready_ns; /* in which it could run, at the end of the intervals */
	__u64 longest_ns, longest_start_ns;
	__u64 until_ns; /* end of the last one */
};

/* Where a thread left the CPU last, and until when what was found then holds; the kernel side's alone. */
struct braid_steady {
	__u64 until_ns;	  /* 0: it does not */
	__u64 pc, sp, fp; /* the registers with which it entered the kernel */
	__u64 argument;	  /* of its system call, the first one */
	__u32 call;
	__u16 state; /* TASK_* */
	__u16 from;  /* the CPU */
};

/*
 * Value of the map `thread_times`: a thread that is followed on and off the CPU. The kernel side writes it; the
 * collector reads the remaining entries at the end.
 */
struct braid_thread_time {
	struct braid_interval now;	     /* the current one */
	struct braid_interval pending;	     /* the last one, which is emitted when its thread can be walked */
	struct braid_stack_ref start;	     /* the stack that was taken at the current one's start */
	__u64 since_ns;			     /* its whole time is observed since then; 0: only what blocks it */
	__u64 on_ns;			     /* on the CPU since then */
	__u64 run_ns;			     /* sum of its times on the CPU */
	__u64 ready_ns;			     /* sum of the times in which it could run and did not */
	__u64 early_ns;			     /* the last wake-up that came before it was seen to leave the CPU */
	__u64 exec_ns;			     /* the kernel's own sum of its times on the CPU, when that was last read */
	__u64 counted[BRAID_OFFCPU_CLASSES]; /* intervals that were too short for an event */
	__u64 counted_ns[BRAID_OFFCPU_CLASSES];
	/* The file descriptor that it last waited for, with its class, and when that was looked up. */
	__u64 fd_ns;
	__u32 fd;
	__u32 fd_class;
	__u32 pid;
	__u16 slot;    /* whose shares it counts in: of `request_shares`, and */
	__u16 user;    /* of `user_shares` */
	__u64 comm[2]; /* the thread's name and cgroup when it last left the CPU, if the filter compares them */
	__u64 cgroup;
	__u64 task;	  /* for the kernel side alone */
	__u32 seen;	  /* they are known */
	__u32 texts;	  /* bits of the filter's terms that compare them and hold */
	__u64 may_select; /* whether the filter may select an interval like `like`: 0 or 1 */
	__u64 like;
	__u64 min_ns; /* limits of the current interval, if its stack was taken at its start */
	__u64 waker_min_ns;
	struct braid_sum_key sum_key; /* the sum to which it has added last */
	struct braid_sum sum;	      /* count 0: none */
	__u64 sums_until;	      /* its process has used up its budget until then */
	__u32 sum_turn;		      /* the settings' when it was begun */
	__u32 started;		      /* not 0: the current interval has its limits and its stack from its start */
	__u32 tid;		      /* 0: the entry is free */
	__u32 wake_count;	      /* the last waker is at (wake_count - 1) % BRAID_WAKES */
	__u64 vthread;		      /* the virtual thread that it has mounted; 0: none, or not known */
	__u64 carries;		      /* it reports what it mounts */
	__u64 mounted_ns;	      /* when it last did */
	struct braid_wake wakes[BRAID_WAKES]; /* wakers that are threads; interrupts have no entry */
	__u64 delay_ns;			      /* the kernel's own sum of its waits for a CPU, when it last left one */
	struct braid_steady steady;
};
_Static_assert(sizeof(struct braid_thread_time) == 2 * 72 + 40 + 48 + 16 + 16 * BRAID_OFFCPU_CLASSES + 32 + 80 + 24 +
							   48 + 24 + 32 * BRAID_WAKES + 8 + 48,
	       "thread time");

#define BRAID_ASLEEP_RETURNS 8

/*
 * A thread that is off the CPU, as the program `on_thread_asleep` finds it: the registers with which it entered the
 * kernel. They and its stack stay the same as long as the kernel's sum of its times on the CPU does.
 */
struct braid_asleep {
	__u32 pid;
	__u32 tid;
	__u64 exec_ns; /* that sum */
	__u32 flags;   /* of the event: BRAID_OFFCPU_*, BRAID_DUMP_RUNS */
	__u32 reserved;
	__u64 pc, sp, fp, rax, rbx, r10, r13;
	__u64 thread_pointer;
	__u64 trampoline; /* what the kernel has put in place of these return addresses (uretprobes); 0: nothing */
	struct {
		__u64 at; /* on the stack; 0: no more */
		__u64 to;
	} returns[BRAID_ASLEEP_RETURNS]; /* the innermost */
};
_Static_assert(sizeof(struct braid_asleep) == 96 + 16 * BRAID_ASLEEP_RETURNS, "thread asleep");

/* The same with what its system call waits for, as the program `on_thread_asleep` finds it. */
struct braid_asleep_call {
	struct braid_asleep asleep;
	__u64 number; /* of the object: an inode; 0: none */
	__u32 object; /* enum braid_object, whose `text` it is */
	__u32 class;  /* enum braid_offcpu_class: what the file is; 0: no file */
	char text[BRAID_TEXT_MAX];
};
_Static_assert(sizeof(struct braid_asleep_call) == sizeof(struct braid_asleep) + 16 + BRAID_TEXT_MAX, "call asleep");

#define BRAID_DUMP_KERNEL_DEPTH 48

/*
 * A thread of a dump, as the program `on_thread_dump` finds it. The registers are those of a thread that does not run.
 */
struct braid_dump_thread {
	struct braid_asleep asleep;
	__u64 futex;
	__u64 kernel_count;
	__u64 kernel[BRAID_DUMP_KERNEL_DEPTH]; /* its innermost frames in the kernel */
};
_Static_assert(sizeof(struct braid_dump_thread) == sizeof(struct braid_asleep) + 16 + 8 * BRAID_DUMP_KERNEL_DEPTH,
	       "thread of a dump");

/*
 * A sample whose walk led to code that the collector had not received yet, with all that a deferred unwind needs. The
 * kernel's frames follow, and then the part of the stack in use, as far as that is known, at most BRAID_DEFERRED_PAGES.
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
	__u32 missing;	/* bit n: page n was not in memory, for instance reserved and unused by a function */
	__u64 stack_at; /* address of the first byte; sp is on the same page */
	__u64 pc, sp, fp, rax, rbx, r10, r13;
	__u64 span;  /* as in a sample */
	__u32 event; /* as in a sample */
	__u32 reserved;
};
_Static_assert(sizeof(struct braid_event_deferred) == 128, "deferred sample");

/*
 * The names of an interpreted frame's Method, read while the frame exists. It precedes the first sample with the
 * method, and comes again when the address means another one. Strings are the JVM's (modified UTF-8), cut to the
 * arrays' sizes.
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
	__u64 lines; /* the 8 bytes after the byte codes, where line numbers begin; 0: not in memory, as in the JDK's
			own archive before the first use of a method's lines */
	__u32 modifiers;
	__u16 class_length; /* full length; the arrays may have less */
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
	0x1U /* the names are here; else their pages were not in memory and the collector reads them */

/* A virtual thread. It precedes the first sample of the thread, and comes again when it may have been renamed. */
#define BRAID_VTHREAD_NAME_MAX 256
struct braid_event_vthread {
	struct braid_event hdr;
	__u64 id; /* Thread.threadId() */
	__u32 pid;
	__u32 name_bytes; /* longer names are cut */
	__u8 utf16;	  /* 0: ISO 8859-1, 1: UTF-16 in the machine's byte order; a JVM has no other value */
	__u8 reserved[7];
	__u8 name[BRAID_VTHREAD_NAME_MAX];
};
_Static_assert(sizeof(struct braid_event_vthread) == 40 + BRAID_VTHREAD_NAME_MAX, "vthread event");

/*
 * The ids of a span, in network byte order. It precedes the first event with its key, and comes again when the size of
 * its attributes has changed.
 */
struct braid_event_span {
	struct braid_event hdr;
	__u64 key; /* hash of process and ids; odd */
	__u32 pid;
	__u32 attrs_size; /* of its attributes; the first ones follow, as far as they were readable */
	__u8 trace[16];
	__u8 span[8];
};
_Static_assert(sizeof(struct braid_event_span) == 56, "span event");

/* A ring record, checked for size and kind, with the JVM whose ring it came through. */
struct braid_event_agent {
	struct braid_event hdr;
	__u32 slot;
	__u32 generation;
	/* struct braid_rec and its payload */
};
_Static_assert(sizeof(struct braid_event_agent) == 24, "agent event");

/*
 * Argument of the drain program. A ring holds at most its size, so `budget` need not exceed it: the JVM can go on
 * writing, or pretend to, while its ring is read.
 */
struct braid_drain {
	__u32 slot;
	__u32 more;    /* out: the drain stopped before the ring was empty */
	__u64 budget;  /* in: bytes of the ring to read at most; out: the rest of them */
	__u64 records; /* out */
	__u64 bad;     /* out: records refused because their size is out of range */
	__u64 lost;    /* out: records for which the map `records` had no room */
};

/*
 * What the kernel prints of a function: "name+0xOFFSET/0xSIZE [module]"; the address alone if none is there
 * (lib/vsprintf.c: %pS).
 */
#define BRAID_KERNEL_SYMBOL_MAX 640

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
	__u64 stacks_lost;    /* too many at a time, or no room in the event ring */
	__u64 vthread_stacks; /* taken of virtual threads */
	__u64 vthread_known;  /* those of them whose thread was identified */
};

#endif
