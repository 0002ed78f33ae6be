// SPDX-License-Identifier: Apache-2.0
/*
 * The protocol between the agent and the collector: the records that libbraid-agent.so publishes into its
 * BPF_MAP_TYPE_USER_RINGBUF, and the messages of the UNIX socket through which it receives that ring.
 *
 * A process that braid does not trust writes all of this. A reader copies a record first, because the writer can
 * change shared memory at any time, and then checks `size`, `kind` and every count and string length in the copy.
 *
 * Integers are in the machine's byte order. Times are CLOCK_MONOTONIC nanoseconds. Ids are dense and start at 1; 0
 * means "none". They are the agent's own (never a pointer or a jmethodID), are defined before they are used, and are
 * never used again in the life of a JVM.
 */
#ifndef BRAID_RING_H
#define BRAID_RING_H

#include <braid/event_config.h>
#include <braid/jvm_event.h>

#define BRAID_RING_VERSION 8U

/* Longest record, including the header, in bytes; agents split or truncate longer ones. */
#define BRAID_REC_MAX 16384U
/* Longest string in a record, in bytes; longer ones are cut and BRAID_REC_TRUNCATED is set. */
#define BRAID_STR_MAX 4095U

enum braid_rec_kind {
	BRAID_REC_HELLO = 1,	     /* definition: first record of every connection */
	BRAID_REC_LAYOUT = 2,	     /* definition: HotSpot's layout, <braid/layout.h> */
	BRAID_REC_METHOD = 3,	     /* definition */
	BRAID_REC_LINES = 4,	     /* definition */
	BRAID_REC_CODE_LOAD = 5,     /* definition */
	BRAID_REC_CODE_SCOPES = 6,   /* definition: inlining rows of the CODE_LOAD at the same address */
	BRAID_REC_CODE_UNLOAD = 7,   /* definition */
	BRAID_REC_STUB = 8,	     /* definition: DynamicCodeGenerated */
	BRAID_REC_THREAD = 9,	     /* definition: a Java thread, at its start or at attach */
	BRAID_REC_THREAD_END = 10,   /* definition */
	BRAID_REC_GC_START = 11,     /* event */
	BRAID_REC_GC_FINISH = 12,    /* event */
	BRAID_REC_CLASS_UNLOAD = 13, /* definition: addresses of metadata may change their meaning from here on */
	BRAID_REC_VM_INIT = 14,	     /* event */
	BRAID_REC_VM_DEATH = 15,     /* event */
	BRAID_REC_LOSS = 16,	     /* definition: counts of what the agent could not publish */
	BRAID_REC_REPLAYED = 17,     /* definition: all that is older than the agent is published */
	BRAID_REC_NOTICE = 18,	     /* definition: a message for a person */
	BRAID_REC_NAMES = 19,	     /* definition: where HotSpot keeps names, <braid/names.h> */
	BRAID_REC_TYPE = 20,	     /* definition: a class that events mention */
	BRAID_REC_NAMED_EVENT = 21,  /* definition: a JVM event with its names and without a stack */
	BRAID_REC_CLASS = 22,	     /* definition: a class was loaded */
	BRAID_REC_JVM_EVENT = 26,    /* event: a JVM event whose stack could not be taken */
	BRAID_REC_HEAP_CLASS = 27,   /* definition: a row of a histogram of the heap */
	BRAID_REC_SETTING = 28,	     /* definition: a flag of the VM or a system property */
	BRAID_REC_CALL = 29,	     /* event: more about the METHOD that follows */
	BRAID_REC_PATTERN = 30,	     /* definition: a pattern of methods or fields is looked for, or matches */
	BRAID_REC_KINDS,	     /* one more than the largest kind */
};

/* braid_rec.flags */
#define BRAID_REC_TRUNCATED 0x1U /* a string or table was cut to fit */
#define BRAID_REC_REPLAY                                                                                               \
	0x2U /* describes something older than the agent: time_ns is when it was published, not when it began */

/* Every record begins with this. */
struct braid_rec {
	__u32 size;	/* bytes, including this header, at most BRAID_REC_MAX */
	__u16 kind;	/* enum braid_rec_kind; unknown kinds are skipped */
	__u16 flags;	/* BRAID_REC_* */
	__u32 tid;	/* the publishing thread, in the JVM's own pid namespace */
	__u32 reserved; /* 0 */
	__u64 time_ns;	/* CLOCK_MONOTONIC */
};
_Static_assert(sizeof(struct braid_rec) == 24, "record header");

/* How the agent was loaded. */
enum braid_start { BRAID_START_ONLOAD = 1, BRAID_START_ATTACH = 2 };

/*
 * Capability bits have JVM TI's numbering: bit n is the n-th one-bit field of jvmtiCapabilities.
 * In all records strings follow the fixed part, without terminating zeros, in the order of their lengths.
 */
struct braid_rec_hello {
	struct braid_rec hdr;
	__u32 version;	     /* BRAID_RING_VERSION */
	__u32 pid;	     /* in the JVM's pid namespace */
	__u32 jvmti_version; /* GetVersionNumber */
	__u16 start;	     /* enum braid_start */
	__u16 header_size;   /* sizeof(struct braid_rec) */
	__u64 caps_got[2];
	__u64 caps_refused[2];	/* requested and refused */
	__u16 vm_version_len;	/* java.vm.version */
	__u16 vm_name_len;	/* java.vm.name */
	__u16 java_version_len; /* java.version */
	__u16 command_len;	/* sun.java.command, empty before VM init */
				/* strings */
};
_Static_assert(sizeof(struct braid_rec_hello) == 80, "hello");

struct braid_rec_method {
	struct braid_rec hdr;
	__u32 method;	 /* id */
	__u32 modifiers; /* JVM access flags */
	__u16 class_len; /* class signature in JVM TI's form: "Ljava/lang/String;", modified UTF-8 */
	__u16 name_len;
	__u16 sig_len;
	__u16 source_len; /* source file name, may be empty */
			  /* strings */
};
_Static_assert(sizeof(struct braid_rec_method) == 40, "method");

struct braid_line {
	__u32 bci; /* first byte code index of the line */
	__u32 line;
};

struct braid_rec_lines {
	struct braid_rec hdr;
	__u32 method;
	__u32 count;
	/* struct braid_line[count], ascending bci; longer tables are cut */
};
_Static_assert(sizeof(struct braid_rec_lines) == 32, "lines");

/* Tier of compiled code: HotSpot's compilation levels. */
enum braid_tier {
	BRAID_TIER_UNKNOWN = 0xff,
	BRAID_TIER_NATIVE_WRAPPER = 0,
	BRAID_TIER_C1 = 1, /* and 2, 3: C1 with profiling */
	BRAID_TIER_C2 = 4,
};

/*
 * One compiled form of a method; several may exist at once. [address, address + code_size) is the instruction part. Its
 * scopes follow in CODE_SCOPES records of the same address, before any other record mentions it.
 */
#define BRAID_CODE_OUTER_ONLY 0x1U /* the rows have no inlined methods (code older than the agent, JDK 8) */
#define BRAID_CODE_STALE 0x2U	   /* already out of use when published: its methods' lines may be of a newer version */
struct braid_rec_code_load {
	struct braid_rec hdr;
	__u64 address;
	__u32 code_size;
	__u32 method;	  /* the compiled method, not the inlined ones */
	__u32 compile_id; /* the nmethod's own, 0 when not known */
	__u32 scope_rows; /* number of rows in its CODE_SCOPES records */
	__u8 tier;	  /* enum braid_tier */
	__u8 is_osr;
	__u16 doubts;	   /* BRAID_CODE_* */
	__u32 frame_words; /* CodeBlob frame size in 8-byte words, 0 when not known */
};
_Static_assert(sizeof(struct braid_rec_code_load) == 56, "code load");

struct braid_scope {
	__u32 method;
	__s32 bci; /* -1: none */
};

/*
 * A row has the scopes of the instructions after the previous row's pc_offset, up to and including its own. This is
 * HotSpot's PcDesc convention: a descriptor's pc is the return address of a call, or the faulting instruction. Rows are
 * ascending in pc_offset.
 */
struct braid_scope_row {
	__u32 pc_offset; /* from the code's address */
	__u32 depth;	 /* number of scopes that follow, innermost first; the last one is the compiled method */
			 /* struct braid_scope[depth] */
};

struct braid_rec_code_scopes {
	struct braid_rec hdr;
	__u64 address; /* that of the CODE_LOAD */
	__u32 rows;    /* number of rows in this record */
	__u32 bytes;   /* total size of the rows */
		       /* rows, packed one after the other */
};
_Static_assert(sizeof(struct braid_rec_code_scopes) == 40, "code scopes");

/* A class that events mention, which may have been unloaded; or another named thing. */
struct braid_rec_type {
	struct braid_rec hdr;
	__u32 type; /* id */
	__u16 name_len;
	__u16 is_text; /* 1: the name is a text */
		       /* 0: it is a class signature in JVM TI's form, modified UTF-8 */
};
_Static_assert(sizeof(struct braid_rec_type) == 32, "type");

/* What the program `stack_request` would emit, without a stack; hdr.tid is the event's thread, 0: none. */
struct braid_rec_jvm_event {
	struct braid_rec hdr;
	struct braid_jvm_event event;
};
_Static_assert(sizeof(struct braid_rec_jvm_event) == 88, "jvm event record");

struct braid_rec_code_unload {
	struct braid_rec hdr;
	__u64 address;
};

struct braid_rec_stub {
	struct braid_rec hdr;
	__u64 address;
	__u32 size;
	__u16 name_len;
	__u16 reserved;
	/* name */
};
_Static_assert(sizeof(struct braid_rec_stub) == 40, "stub");

/* braid_rec_thread.flags */
#define BRAID_THREAD_DAEMON 0x1U
#define BRAID_THREAD_INITIAL 0x2U /* started before the agent */
#define BRAID_THREAD_AGAIN 0x4U	  /* published before: carries the current name */
#define BRAID_THREAD_AGENT 0x8U	  /* the agent's own thread, none of the program's */

struct braid_rec_thread {
	struct braid_rec hdr;
	__u64 java_thread; /* JavaThread address, 0 when it could not be found */
	__u32 thread_tid;  /* OS tid in the JVM's pid namespace; 0 when it could not be found */
	__u32 flags;
	__u32 priority; /* Java priority */
	__u16 name_len;
	__u16 group_len;
	__u64 cpu_ns;	 /* CPU time of the OS thread before it became this Java thread */
	__u64 system_ns; /* the part of it in the kernel, with the resolution of the kernel's accounting */
			 /* strings */
};
_Static_assert(sizeof(struct braid_rec_thread) == 64, "thread");

/* The ending thread publishes it itself. */
struct braid_rec_thread_end {
	struct braid_rec hdr;
	__u64 java_thread; /* 0 when not known */
	__u64 cpu_ns;	   /* of the OS thread so far */
	__u64 system_ns;   /* the part of it in the kernel */
	__u16 name_len;	   /* of its current name; 0: not read, or without a name */
	__u16 reserved[3];
	/* name */
};
_Static_assert(sizeof(struct braid_rec_thread_end) == 56, "thread end");

/* A stop-the-world pause begins or has ended at hdr.time_ns. The FINISH of the same number has what a START lacks. */
struct braid_rec_gc {
	struct braid_rec hdr;
	__u64 sequence;	   /* the pause's number; several collections in one pause have a FINISH and a number each */
	__u64 start_ns;	   /* 0: the start was not received */
	__u64 used_before; /* bytes of heap; 0: not known */
	__u64 used_after;
	__u16 collector_len; /* the JVM's name for it, in sun.gc.collector.N.name */
	__u16 cause_len;     /* from sun.gc.cause */
	__u32 reserved;
	/* strings */
};
_Static_assert(sizeof(struct braid_rec_gc) == 64, "gc");

struct braid_rec_class_unload {
	struct braid_rec hdr;
	__u32 count; /* number of classes: at least one, more after the ring was full */
	__u16 name_len;
	__u16 reserved;
	/* name of the last one, may be empty */
};
_Static_assert(sizeof(struct braid_rec_class_unload) == 32, "class unload");

/*
 * A JVM event without a stack; hdr.tid is its thread, 0: none. enum braid_jvm_event_kind defines the meaning of the
 * fields. The name is that of the method or type if one is given, else the string.
 */
struct braid_rec_named_event {
	struct braid_rec hdr;
	__u32 event; /* enum braid_jvm_event_kind */
	__u32 flags;
	__u64 value;
	__u64 weight;
	__u64 number;
	__u32 method; /* id, 0: none */
	__u32 type;   /* id, 0: none */
	__u16 name_len;
	__u16 detail_len;
	__u16 text_len;
	__u16 reserved;
	/* strings, modified UTF-8 */
};
_Static_assert(sizeof(struct braid_rec_named_event) == 72, "named event");

struct braid_rec_class {
	struct braid_rec hdr;
	__u32 modifiers;       /* JVM access flags */
	__u16 class_len;       /* signature as JVM TI gives it */
	__u16 loader_len;      /* signature of the loader's class; empty: the boot loader */
	__u16 loader_name_len; /* may be empty, as the following ones */
	__u16 module_len;
	__u16 source_len;
	__u16 prepared; /* 1: linked, only the class is given; 0: loaded */
			/* strings */
};
_Static_assert(sizeof(struct braid_rec_class) == 40, "class");

/* braid_rec_heap_class.which */
enum braid_heap_row {
	BRAID_HEAP_ROW_CLASS = 0,
	BRAID_HEAP_ROW_REST = 1,  /* the classes that have no row */
	BRAID_HEAP_ROW_LATER = 2, /* classes that were loaded while the histogram was being taken */
};

/* A row of a histogram of the heap, before the JVM_EVENT of kind HEAP with its number. */
struct braid_rec_heap_class {
	struct braid_rec hdr;
	__u64 number; /* of the histogram */
	__u64 bytes;
	__u64 objects;
	__u32 which;	       /* enum braid_heap_row */
	__u32 classes;	       /* that it sums up; 0: not known, or a class */
	__u32 loader_hash;     /* the loader's identity hash code */
	__u16 class_len;       /* signature as JVM TI gives it */
	__u16 loader_len;      /* signature of the loader's class; empty: the boot loader */
	__u16 loader_name_len; /* may be empty */
	__u16 reserved[3];
	/* strings */
};
_Static_assert(sizeof(struct braid_rec_heap_class) == 72, "heap class");

/* Who set a flag of the VM, with HotSpot's numbers (JVMFlagOrigin). Flags with their default value are not reported. */
enum braid_setting_origin {
	BRAID_SETTING_PROPERTY = 0, /* it is a system property, and no flag */
	BRAID_SETTING_COMMAND_LINE = 1,
	BRAID_SETTING_ENVIRONMENT = 2, /* JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, ... */
	BRAID_SETTING_CONFIG_FILE = 3, /* -XX:Flags, -XX:VMOptionsFile */
	BRAID_SETTING_MANAGEMENT = 4,  /* HotSpotDiagnosticMXBean */
	BRAID_SETTING_ERGONOMIC = 5,   /* the JVM, for this machine */
	BRAID_SETTING_ATTACH = 6,      /* jinfo -flag */
	BRAID_SETTING_INTERNAL = 7,
	BRAID_SETTING_IMAGE = 8,    /* the JDK's image, since JDK 21 */
	BRAID_SETTING_DEFAULT = 16, /* nobody; the VM's own numbers have four bits, and this one is 0 there */
	BRAID_SETTING_ORIGINS,	    /* one more than the largest */
};

struct braid_rec_setting {
	struct braid_rec hdr;
	__u32 origin; /* enum braid_setting_origin */
	__u16 name_len;
	__u16 value_len;
	/* strings */
};
_Static_assert(sizeof(struct braid_rec_setting) == 32, "setting");

/* A call of a timed method, or a write to a field, before the JVM_EVENT of kind METHOD or FIELD that has its number. */
struct braid_rec_call {
	struct braid_rec hdr;
	__u64 number;
	__u16 exception_len; /* signature of the class of the exception that ended it; may be empty */
	__u16 values_len;    /* 'arg1=42, this.name="orders"', may be empty */
	__u32 reserved;
	/* strings */
};
_Static_assert(sizeof(struct braid_rec_call) == 40, "call");

/* From here on classes are compared with a pattern of the configuration, or one has matched for the first time. */
struct braid_rec_pattern {
	struct braid_rec hdr;
	__u16 is_field;
	__u16 matches;
	__u16 text_len;
	__u16 reserved;
	/* as in braid_method_pattern */
};
_Static_assert(sizeof(struct braid_rec_pattern) == 32, "pattern");

/* Losses since the last published LOSS record. */
struct braid_rec_loss {
	struct braid_rec hdr;
	__u32 count; /* pairs */
	__u32 reserved;
	/* struct braid_loss[count] */
};

struct braid_loss {
	__u32 kind; /* enum braid_rec_kind of what was lost */
	__u32 lost;
};

struct braid_rec_replayed {
	struct braid_rec hdr;
	__u32 methods;	  /* number defined so far */
	__u32 code_loads; /* number published so far, including the replay */
	__u32 stubs;
	__u32 threads;
	__u64 took_ns; /* since the connection */
	__u32 classes; /* number loaded before ClassLoad was enabled, without arrays; 0 if it is not enabled */
	__u32 reserved;
};

enum braid_severity { BRAID_NOTICE_INFO = 0, BRAID_NOTICE_WARNING = 1 };

struct braid_rec_notice {
	struct braid_rec hdr;
	__u16 severity;
	__u16 text_len;
	__u32 reserved;
	/* text */
};

/*
 * The socket. The collector listens (SOCK_SEQPACKET) at a path inside the JVM's own mount namespace and the agent
 * connects. Both check SO_PEERCRED. The collector sends GRANT with file descriptors: the ring's map, an eventfd that
 * the agent writes when the ring is a quarter full, and the program `stack_request` if the kernel lets a JVM run it.
 * The connection stays open; its end means that the other side has gone.
 */
#define BRAID_SOCK_MAGIC 0x44495242U /* "BRID" */

enum braid_msg_kind {
	BRAID_MSG_JOIN = 1,    /* agent: first message, `value` is its pid in its own namespace */
	BRAID_MSG_GRANT = 2,   /* collector: struct braid_grant, `value` is the ring's size in bytes; carries the fds */
	BRAID_MSG_STOP = 3,    /* collector: stop publishing, release the ring, stay loaded and dormant */
	BRAID_MSG_STOPPED = 4, /* agent: it writes nothing to the ring any more */
	BRAID_MSG_CONFIGURE = 5,  /* collector: struct braid_grant with a new event configuration; carries an fd when
				     the program `stack_request` is a new one */
	BRAID_MSG_COMMAND = 6,	  /* collector: `value` is an enum braid_command */
	BRAID_MSG_CONFIGURED = 7, /* agent: answers GRANT and CONFIGURE; `value`: the event types that it can record */
};

struct braid_msg {
	__u32 magic;   /* BRAID_SOCK_MAGIC */
	__u32 version; /* BRAID_RING_VERSION */
	__u32 kind;    /* enum braid_msg_kind */
	__u32 reserved;
	__u64 value;
};
_Static_assert(sizeof(struct braid_msg) == 24, "message");

struct braid_grant {
	struct braid_msg msg;
	struct braid_event_config config;
};
_Static_assert(sizeof(struct braid_grant) == 4872, "grant");

enum braid_command {
	BRAID_COMMAND_RESET = 1, /* forget the watched objects */
	BRAID_COMMAND_GC = 2,	 /* collect garbage, as System.gc() does */
	BRAID_COMMAND_DUMP = 3,	 /* publish now what is published at the end: live objects, names, CPU times */
};

#endif
