// SPDX-License-Identifier: Apache-2.0
/*
 * The records of a trace, as all code outside of userspace/trace sees them.
 *
 * A record is a kind and a struct. The codec (codec.c) turns it into bytes and back with one table that lists every
 * kind's fields; the SCHEMA block, `braid script --raw` and docs/trace-format.md are derived from the same table.
 *
 * Definitions (kinds below TRACE_FIRST_EVENT) are dense-id objects, independent of time: ids start at 1, 0 is "none",
 * and a definition that is sent again with the same id replaces the earlier one. Definitions may arrive after records
 * that refer to them only where a comment below permits it. Events carry time_ns and are nearly, but not exactly, in
 * time order.
 *
 * Strings are valid UTF-8 (the collector converts and repairs them), not zero-terminated in the file; in memory `str`
 * points into the reader's block buffer, is not terminated by a zero, and is valid until the next record is read.
 */
#ifndef BRAID_TRACE_RECORD_H
#define BRAID_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* STAT of a JVM: 1 if it has or had an agent, else 0. */
#define TRACE_STAT_AGENT "agent"

struct trace_str {
	const char *str;
	uint32_t len;
};

enum trace_kind {
	TRACE_INFO = 1,
	TRACE_CLOCK = 2,
	TRACE_PROCESS = 3,
	TRACE_THREAD = 4,
	TRACE_MODULE = 5,
	TRACE_MAPPING = 6,
	TRACE_SYMBOL = 7,
	TRACE_JVM = 8,
	TRACE_METHOD = 9,
	TRACE_LINES = 10,
	TRACE_CODE = 11,
	TRACE_FRAME = 12,
	TRACE_NODE = 13,
	TRACE_PLACE = 14,
	TRACE_VTHREAD = 15,
	TRACE_NAME = 16,
	TRACE_SPAN = 17,
	TRACE_RESOURCE = 18,
	TRACE_ATTRIBUTE = 19,
	TRACE_SETTING = 20,
	TRACE_FIRST_EVENT = 32,
	TRACE_SAMPLE = 32,
	/* 33 was a GC pause's start or end */
	TRACE_PROCESS_STATE = 35,
	TRACE_CODE_LOAD = 36,
	TRACE_CODE_UNLOAD = 37,
	TRACE_LOSS = 39,
	TRACE_STAT = 40,
	TRACE_NOTICE = 41,
	TRACE_END = 42,
	TRACE_JVM_EVENT = 43,
	TRACE_KINDS = 44,
};

/* One fact about the recording or its host: "host.kernel", "record.command", "record.frequency_hz", "record.event", ...
 */
struct trace_info {
	struct trace_str key;
	struct trace_str value;
};

/* The three clocks, read together: one triple at the start, one at the end, some in between. */
struct trace_clock {
	uint64_t monotonic_ns;
	uint64_t boottime_ns;
	uint64_t realtime_ns;
};

/* A process image: exec makes a new one with the same pid. `process` ids are the trace's own. */
struct trace_process {
	uint32_t process;
	uint32_t pid;	   /* in the host's namespace; 0 is the kernel itself */
	uint32_t parent;   /* process id of the parent, 0: outside of the trace */
	uint64_t start_ns; /* CLOCK_MONOTONIC; 0: older than the host's boot clock can express */
	struct trace_str comm;
	struct trace_str exe;	 /* path in the process's own mount namespace */
	struct trace_str cgroup; /* path in cgroup v2's hierarchy, else the longest one of v1; empty: not known */
};

#define TRACE_THREAD_JAVA 0x1U /* a thread that the JVM reported: runs, or can run, Java code */
#define TRACE_THREAD_DAEMON 0x2U
#define TRACE_THREAD_KERNEL 0x4U

/* Sent again when the thread turns out to be a Java thread, is renamed, or its whole name is found. */
struct trace_thread {
	uint32_t thread;
	uint32_t process;
	uint32_t tid;		/* host's namespace */
	uint32_t ns_tid;	/* innermost namespace, equal to tid outside of containers */
	uint32_t flags;		/* TRACE_THREAD_* */
	uint64_t start_ns;	/* 0: before the recording */
	struct trace_str name;	/* the Java name, else the whole name if it is known, else comm */
	struct trace_str group; /* Java thread group */
};

enum trace_module_kind { TRACE_MODULE_ELF = 0, TRACE_MODULE_VDSO = 1, TRACE_MODULE_KERNEL = 2, TRACE_MODULE_ANON = 3 };

struct trace_module {
	uint32_t module;
	uint32_t kind;
	struct trace_str path;	   /* in the process's mount namespace, or "[kernel]", "[vdso]" */
	struct trace_str build_id; /* lower-case hex, empty when there is none */
};

struct trace_mapping {
	uint32_t process;
	uint32_t module;
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint64_t bias;	  /* address - bias = ELF virtual address */
	uint64_t time_ns; /* when it was seen */
};

/* A native or kernel function that was hit. Kernel symbols have the kernel's module and a runtime address. */
struct trace_symbol {
	uint32_t symbol;
	uint32_t module;
	uint64_t address; /* ELF virtual address */
	uint64_t size;
	struct trace_str name; /* as in the symbol table, not demangled; empty: only its location is known */
};

/* A process image that is a JVM, with or without the agent. Sent again when more is known. */
struct trace_jvm {
	uint32_t process;
	uint32_t start; /* enum braid_start, 0: no agent */
	uint32_t jvmti_version;
	uint32_t layout_flags;		   /* BRAID_LAYOUT_* */
	uint64_t caps_got_lo, caps_got_hi; /* bits as in braid_rec_hello */
	uint64_t caps_refused_lo, caps_refused_hi;
	struct trace_str vm_name;
	struct trace_str vm_version;
	struct trace_str java_version;
	struct trace_str command;
};

struct trace_method {
	uint32_t method;
	uint32_t process;
	uint32_t modifiers;
	struct trace_str class_name; /* "java.lang.String", also for arrays and hidden classes */
	struct trace_str name;
	struct trace_str signature; /* descriptor "(I)V" */
	struct trace_str source;    /* file name, may be empty */
	uint32_t version;	    /* counts earlier methods with these names and other lines: redefinition */
};

struct trace_line {
	uint32_t bci;
	uint32_t line;
};

struct trace_lines {
	uint32_t method;
	uint32_t count;
	const struct trace_line *lines; /* ascending bci */
};

enum trace_code_kind { TRACE_CODE_METHOD = 0, TRACE_CODE_STUB = 1 };

/* A piece of code-cache code that was hit: a compiled form of a method, or a stub (method 0, with a name). */
struct trace_code {
	uint32_t code;
	uint32_t process;
	uint32_t kind; /* enum trace_code_kind */
	uint32_t method;
	uint32_t tier; /* enum braid_tier */
	uint32_t compile_id;
	uint32_t is_osr;
	uint64_t address;
	uint64_t size;
	uint64_t load_ns;
	struct trace_str name; /* of a stub: "jbyte_disjoint_arraycopy", "Interpreter" */
};

struct trace_scope {
	uint32_t method; /* native: place */
	int32_t bci;	 /* -1: none; native: line */
};

/*
 * One distinct frame: an address in one process with one meaning. A reused address makes a new frame. A code-cache
 * frame may be sent again: its code is 0 as long as its code record has not arrived.
 */
struct trace_frame {
	uint32_t frame;
	uint32_t kind;	      /* enum braid_frame_kind */
	uint32_t process;     /* 0 for kernel frames */
	uint32_t exact;	      /* 1: address is the instruction itself, 0: it is a return address */
	uint64_t address;     /* raw pc; Method address for interpreted frames; enum braid_end for END frames */
	uint32_t module;      /* native, kernel; 0: in no mapping */
	uint32_t symbol;      /* native, kernel; 0: not named */
	uint32_t code;	      /* code cache; 0: not (yet) known */
	uint32_t scope_count; /* code cache: inlining at this address, innermost first, last one is code's method;
				 interpreted: one scope, method 0 when the name could not be read */
	/* Native, when source lines were requested: pairs of place and line, innermost first, -1: no line. */
	const struct trace_scope *scopes;
};

/* A native function, and the file that contains it or, if it was inlined, the call of the code inlined into it. */
struct trace_place {
	uint32_t place;
	struct trace_str name; /* as in the debug information: the linkage name, else the plain one */
	struct trace_str file; /* path as compiled */
};

/* A stack is a node: its own frame on top of its parent's stack. Node 0 is the empty stack; parents come first. */
struct trace_node {
	uint32_t node;
	uint32_t parent;
	uint32_t frame;
};

/* A virtual thread that was hit; sent again when it is renamed. */
struct trace_vthread {
	uint32_t vthread;
	uint32_t process;
	uint64_t number;       /* Thread.threadId() */
	struct trace_str name; /* may be empty */
};

/* A name that events refer to: of a class, a collector, a cause, a thread. Only the empty name has the id 0. */
struct trace_name {
	uint32_t name;
	struct trace_str text;
};

/*
 * A request, or a part of it, that threads of a process serve, as OpenTelemetry identifies it. The same span can have
 * several ids.
 */
struct trace_span {
	uint32_t span;
	uint32_t process;
	uint64_t trace_hi; /* the first 8 bytes of the trace id, as a number */
	uint64_t trace_lo;
	uint64_t span_id;
};

/* An attribute of a process, which it has published about itself. A later one with the same key takes its place. */
struct trace_resource {
	uint32_t process;
	uint32_t key;	/* TRACE_NAME */
	uint32_t value; /* TRACE_NAME */
};

#define TRACE_SETTINGS_MAX                                                                                             \
	2048 /* of a process, counting later ones: neither written nor kept beyond. JDKs have some 1,400. */

/* A flag of a JVM, or a system property. A later one with the same key takes its place. */
struct trace_setting {
	uint32_t process;
	uint32_t origin; /* enum braid_setting_origin */
	uint32_t key;	 /* TRACE_NAME */
	uint32_t value;	 /* TRACE_NAME; 0: empty */
};

/* The same as a resource, of a span. */
struct trace_attribute {
	uint32_t span;
	uint32_t key;	/* TRACE_NAME */
	uint32_t value; /* TRACE_NAME */
};

#define TRACE_NO_CPU UINT32_MAX /* it is not known on which CPU */

struct trace_sample {
	uint64_t time_ns;
	uint32_t thread;
	uint32_t cpu;
	uint32_t node;	  /* leaf of the stack; 0: no stack */
	uint64_t weight;  /* samples: 1 */
	uint32_t vthread; /* the virtual thread with these frames, while `thread` carries it; 0: none, or not known */
	uint32_t event;	  /* TRACE_NAME of the event that took it; 0: the recording's sampling event, record.event */
	uint32_t span;	  /* what the thread was working for; 0: nothing, or not known */
	struct trace_str text; /* the values of a hit event's fields: "fd=3, filename=\"/etc/passwd\"" */
};

/* what: 0 fork, 1 exec, 2 exit */
struct trace_process_state {
	uint64_t time_ns;
	uint32_t process;
	uint32_t what;
};

/* Every compilation that the agent reported, hit or not. `replay`: the code is older than the agent. */
struct trace_code_load {
	uint64_t time_ns;
	uint32_t process;
	uint64_t address;
	uint64_t size;
	uint32_t tier;
	uint32_t compile_id;
	uint32_t replay;
};

struct trace_code_unload {
	uint64_t time_ns;
	uint32_t process;
	uint64_t address;
};

/* The number of things of `kind` that were lost at `hop` since the previous LOSS with the same three. */
struct trace_loss {
	uint64_t time_ns;
	uint32_t process;      /* 0: of no single process */
	struct trace_str hop;  /* "agent", "ring", "bpf", "collector", "sideband", "budget", "file", "import" */
	struct trace_str kind; /* "sample", "code_load", ... */
	uint64_t count;
};

/* A cumulative figure; the last record of a key counts. */
struct trace_stat {
	uint64_t time_ns;
	uint32_t process; /* 0: the recording's: "collector_cpu_ns", "bpf_cpu_ns", "bpf_samples"; else "methods", ... */
	struct trace_str key;
	uint64_t value;
};

/* A refusal or a degradation, as a sentence. */
struct trace_notice {
	uint64_t time_ns;
	uint32_t process;
	uint32_t severity; /* enum braid_severity */
	struct trace_str text;
};

/* A JVM event. <braid/jvm_event.h> defines the fields of each kind. */
struct trace_jvm_event {
	uint64_t time_ns; /* when it began */
	uint32_t kind;	  /* enum braid_jvm_event_kind */
	uint32_t process;
	uint32_t thread; /* 0: not known, or of no single thread */
	uint64_t duration_ns;
	uint32_t node; /* leaf of the thread's stack; 0: none */
	uint32_t name; /* TRACE_NAME */
	uint64_t value;
	uint64_t weight;
	uint64_t number;
	uint32_t flags;
	uint32_t detail;  /* TRACE_NAME */
	uint32_t vthread; /* as in a sample */
	uint32_t other;	  /* thread */
	uint32_t other_node;
	uint32_t source; /* enum braid_event_source */
	struct trace_str text;
	uint32_t span;		/* as in a sample */
	uint32_t other_vthread; /* as vthread, in place of `other` */
};

/* "alloc", "gc_pause"; NULL for an unknown kind. jvm_kinds.c */
const char *jvm_event_name(uint32_t kind);

/* Whether threads that park for an object of that class wait for a lock, which has an owner. jvm_kinds.c */
bool jvm_class_is_lock(const char *class_name);

/* The recording ended in order. */
struct trace_end {
	uint64_t time_ns;
};

struct trace_rec {
	uint32_t kind; /* enum trace_kind */
	union {
		struct trace_info info;
		struct trace_clock clock;
		struct trace_process process;
		struct trace_thread thread;
		struct trace_module module;
		struct trace_mapping mapping;
		struct trace_symbol symbol;
		struct trace_jvm jvm;
		struct trace_method method;
		struct trace_lines lines;
		struct trace_code code;
		struct trace_frame frame;
		struct trace_node node;
		struct trace_place place;
		struct trace_vthread vthread;
		struct trace_name name;
		struct trace_span span;
		struct trace_resource resource;
		struct trace_attribute attribute;
		struct trace_setting setting;
		struct trace_sample sample;
		struct trace_process_state process_state;
		struct trace_code_load code_load;
		struct trace_code_unload code_unload;
		struct trace_loss loss;
		struct trace_stat stat;
		struct trace_notice notice;
		struct trace_end end;
		struct trace_jvm_event jvm_event;
	};
};

#endif
