// SPDX-License-Identifier: Apache-2.0
/*
 * Hit events, as the eBPF programs and the collector share them: tracepoints, uprobes and USDT probes whose hits are
 * samples. A counter beside the clock is one, too, and so is a kernel event, whose hits have a duration. Each has a
 * number, which its program receives as cookie.
 */
#ifndef BRAID_HIT_H
#define BRAID_HIT_H

#include <braid/types.h>

#define BRAID_HITS 16	      /* events of a recording */
#define BRAID_HIT_TERMS 8     /* of a filter */
#define BRAID_HIT_ARGUMENTS 6 /* of a function or USDT probe */
#define BRAID_HIT_VALUES 8    /* of a kernel event */
#define BRAID_HIT_PATTERN 32  /* bytes of a pattern, with the zero at its end */
#define BRAID_HIT_FIELDS 16   /* whose values a sample has */

/* Kernel events, in the order of their kinds from BRAID_JVM_SYSCALL on. */
enum braid_kernel_event {
	BRAID_KERNEL_SYSCALL,
	BRAID_KERNEL_FAULT,
	BRAID_KERNEL_BLOCK,
	BRAID_KERNEL_TCP,
	BRAID_KERNEL_EVENTS,
};

/* What a return has: numbers of a BRAID_HIT_ARGUMENT. */
#define BRAID_RETURN_VALUE 0
#define BRAID_RETURN_ELAPSED 1 /* since the call, in ns */
#define BRAID_RETURN_VALUES 2
#define BRAID_RETURN_CALLS 16384 /* whose beginning is known at a time */

/* A sampled block of memory that a process has allocated, by an allocator that reports its samples. */
#define BRAID_NATIVE_BLOCKS 65536  /* that are followed at a time */
#define BRAID_NATIVE_SHARE 32768   /* of these, of one program */
#define BRAID_NATIVE_PROGRAMS 4096 /* that have some */

/* A process may execute one program after another. */
struct braid_native_program {
	__u32 pid;
	__u32 number; /* task_struct's self_exec_id */
};

struct braid_native_count {
	__u64 since_ns;
	__u32 blocks;
	__u32 reserved;
};

struct braid_native_key {
	__u64 address;
	struct braid_native_program of;
};

struct braid_native_block {
	__u64 number; /* of the event that has its stack */
	__u64 time_ns;
	__u64 bytes;
	__u64 weight; /* bytes that it represents */
};

/* What filters of a system call compare, beside its arguments: numbers of a BRAID_HIT_ARGUMENT. */
#define BRAID_SYSCALL_CALL 6
#define BRAID_SYSCALL_RESULT 7

/* The same of a page fault. */
#define BRAID_FAULT_ADDRESS 0
#define BRAID_FAULT_MAJOR 1 /* it read from a disk */

/* The same of a block I/O request. */
#define BRAID_BLOCK_SECTOR 0
#define BRAID_BLOCK_BYTES 1
#define BRAID_BLOCK_OPERATION 2 /* as in include/linux/blk_types.h */

/* The same of a TCP connection. */
#define BRAID_TCP_PORT 0       /* of the peer */
#define BRAID_TCP_RETRANSMIT 1 /* else it was connected */

enum braid_hit_operand {
	BRAID_HIT_COMM, /* of the thread */
	BRAID_HIT_PID,	/* the process, as the host numbers it */
	BRAID_HIT_TID,
	BRAID_HIT_CPU,
	BRAID_HIT_ARGUMENT, /* `offset`: which, from 0; of a kernel event, which of its values */
	BRAID_HIT_NUMBER,   /* in the tracepoint's record */
	BRAID_HIT_DURATION, /* of a time off the CPU, in ns */
	BRAID_HIT_STATE,    /* of a time off the CPU: 1 << enum braid_offcpu_class */
	BRAID_HIT_CGROUP,   /* `value` is the id of the thread's cgroup, or of one above it */
	BRAID_HIT_STRING,   /* in the record itself, `size` bytes */
	BRAID_HIT_DYNAMIC,  /* the record has the string's place, as __data_loc */
	BRAID_HIT_USER,	    /* the record has its address in the process's memory */
	BRAID_HIT_POINTED,  /* the argument `offset` is its address there */
};

enum braid_hit_operator {
	BRAID_HIT_EQUAL,
	BRAID_HIT_UNEQUAL,
	BRAID_HIT_LESS,
	BRAID_HIT_LESS_EQUAL,
	BRAID_HIT_GREATER,
	BRAID_HIT_GREATER_EQUAL,
	BRAID_HIT_BITS,	 /* any of the bits is set */
	BRAID_HIT_MATCH, /* a pattern with * and ? */
};

#define BRAID_HIT_OR 1U	    /* the term begins another alternative; && binds closer */
#define BRAID_HIT_SIGNED 2U /* of a number */
#define BRAID_HIT_HEX 4U    /* of a number that may be an address or flags */
#define BRAID_HIT_TIME 8U   /* of a number of ns */

struct braid_hit_term {
	__u16 offset;
	__u8 size;     /* of a number: 1, 2, 4 or 8 */
	__u8 operand;  /* enum braid_hit_operand */
	__u8 operator; /* enum braid_hit_operator */
	__u8 flags;    /* BRAID_HIT_* */
	__u8 reserved[2];
	__u64 value;
	char pattern[BRAID_HIT_PATTERN]; /* strings */
};
_Static_assert(sizeof(struct braid_hit_term) == 48, "hit term");

#define BRAID_HIT_READS_ARGUMENTS 1U
#define BRAID_HIT_FILES 2U /* of system calls: only reads, writes and syncs of files */
#define BRAID_HIT_READS_ELAPSED 4U

/* Whether a comparison of numbers holds. */
static inline bool braid_hit_compare(const struct braid_hit_term *t, __u64 value)
{
	__u64 other = t->value;
	bool less = t->flags & BRAID_HIT_SIGNED ? (__s64)value < (__s64)other : value < other;

	switch (t->operator) {
	case BRAID_HIT_EQUAL:
		return value == other;
	case BRAID_HIT_UNEQUAL:
		return value != other;
	case BRAID_HIT_LESS:
		return less;
	case BRAID_HIT_LESS_EQUAL:
		return less || value == other;
	case BRAID_HIT_GREATER:
		return !less && value != other;
	case BRAID_HIT_GREATER_EQUAL:
		return !less;
	default:
		return value & other;
	}
}

/* Value of the map `hits`, by the event's number. */
struct braid_hit {
	__u64 period; /* hits for each sample; 0: the event is off */
	__u64 min_ns; /* of a kernel event: shorter ones are no hits */
	__u32 terms;
	__u32 flags; /* BRAID_HIT_READS_*, BRAID_HIT_FILES */
	struct braid_hit_term term[BRAID_HIT_TERMS];
	__u32 fields;
	__u32 reserved;
	struct braid_hit_term field[BRAID_HIT_FIELDS]; /* only what the value is */
};

/* What comes before each value in a braid_event_hit. */
enum braid_hit_value {
	BRAID_VALUE_NONE = 0,	/* there is none, or it could not be read */
	BRAID_VALUE_NUMBER = 1, /* eight bytes follow */
	BRAID_VALUE_TEXT = 2,	/* text follows, with a zero byte */
	BRAID_VALUE_CUT = 3,	/* the same, and it is longer */
};
#define BRAID_VALUE_TEXT_MAX 128 /* bytes of a text, with the zero */

/* Value of the per-CPU map `hit_counts`, by the event's number. */
struct braid_hit_count {
	__u64 hits; /* by recorded processes, as the filter selects them */
	__u64 lost; /* of those that were due to be samples */
};

#endif
