// SPDX-License-Identifier: Apache-2.0
/* What the collector and the BPF programs at probes in libjvm.so share: cookies, state and arguments of events. */
#ifndef BRAID_PROBE_H
#define BRAID_PROBE_H

#include <braid/event.h>

/* Cookies of attached probes: the place in the VM's code, and the form of its arguments. */
enum braid_probe {
	BRAID_PROBE_SAFEPOINT_BEGIN = 1, /* the operation is not given */
	BRAID_PROBE_SAFEPOINT_TIMED,	 /* end; the VM's data have its times and operation: braid_probed.begin_at,
					   ... */
	BRAID_PROBE_SAFEPOINT_OBJECT,	 /* begin; braid_probed.operation_at points to the VM_Operation */
	BRAID_PROBE_SAFEPOINT_REACHED,	 /* every thread has stopped */
	BRAID_PROBE_SAFEPOINT_NAME,	 /* the same; arguments: the operation's name and length */
	BRAID_PROBE_SAFEPOINT_END,
	BRAID_PROBE_SAFEPOINT_STOP, /* a Java thread stops */
	BRAID_PROBE_COMPILE_BEGIN,
	BRAID_PROBE_COMPILE_TASK, /* begin; 1st argument: CompileTask */
	BRAID_PROBE_COMPILE_END,  /* arguments of hotspot:method__compile__end */
	BRAID_PROBE_COMPILE_POST, /* end; arguments of CompileBroker::post_compile() */
	BRAID_PROBE_TRAP,	  /* 2nd argument: trap request */
	BRAID_PROBE_UNPACK,	  /* 2nd argument: Deoptimization::UnpackType */
	/* The 1st argument of these is a GCTracer or GCTimer, which identifies the collection. */
	BRAID_PROBE_GC_BEGIN,
	BRAID_PROBE_GC_END,
	BRAID_PROBE_GC_HEAP,  /* 2nd argument: 0 before, 1 after; 3rd: GCHeapSummary */
	BRAID_PROBE_GC_PAUSE, /* 2nd argument: name, as for GC_PHASE */
	BRAID_PROBE_GC_PAUSE_END,
	BRAID_PROBE_GC_PHASE,
	BRAID_PROBE_GC_PHASE_END,
};

/* Maxima per safepoint and per second; events above them are only counted. */
#define BRAID_PROBE_STOPS_MAX 64
#define BRAID_PROBE_DEOPTS_MAX 1000

/* Value of the map `probed`, key tgid: a JVM with probes. The collector sets the first part before it attaches. */
struct braid_probed {
	/* Addresses in the VM's data; 0: not found. */
	__u64 operation_at; /* VMThread::_cur_vm_operation */
	__u64 type_at;	    /* SafepointTracing::_current_type and its times, of the latest safepoint */
	__u64 begin_at;
	__u64 reached_at;
	__u64 end_at;
	__u16 task_id; /* offsets in a CompileTask; valid with BRAID_PROBED_TASK */
	__u16 task_method;
	__u16 task_osr_bci;
	__u16 task_level;
	__u32 flags; /* BRAID_PROBED_* */
	/* Offsets in JavaThread where JFR keeps the running thread, recording or not (21 and later). 0: not known. */
	__u16 thread_virtual; /* bool: a virtual thread is mounted */
	__u16 thread_number;  /* its id, valid then */
	/* ---- the kernel side's part ---- */
	__u64 begin_ns; /* of the current safepoint; 0: none, or it is at begin_at */
	__u64 reached_ns;
	__u64 safepoints; /* number that have ended */
	__u64 operation;  /* type plus one, or the object's vtable */
	__u64 stops;	  /* number in this safepoint */
	__u64 deopt_second;
	__u64 deopts; /* number in that second */
	/* Totals of events that were only counted. */
	__u64 stops_counted;
	__u64 deopts_counted;
	char name[64];
};
_Static_assert(sizeof(struct braid_probed) == 192, "probed");
#define BRAID_PROBED_TASK 0x1U

/*
 * BRAID_EVENT_JVM_EVENT with source BRAID_SOURCE_PROBE. event.name and event.detail are the VM's own numbers:
 *
 * SAFEPOINT       name: operation's type plus one; weight: its vtable; text: its name; 0 or empty if not known
 * COMPILE         weight: Method; text: the method's name, with the class's in a struct braid_event_compile
 * DEOPT           name: BRAID_PROBE_TRAP or _UNPACK; detail: its argument; weight: the deoptimised frame
 *                 (<braid/frame.h>), 0: not found
 * GC_CYCLE        name: any BRAID_PROBE_GC_*; number: the object; GC_BEGIN: text: the cause; GC_PAUSE and GC_PHASE:
 *                 text, weight: the name and its address; GC_HEAP: detail: the 2nd argument; value: bytes used
 */
#define BRAID_COMPILE_CLASS_MAX 192
struct braid_event_compile {
	struct braid_event_jvm_event jvm;
	char class_name[BRAID_COMPILE_CLASS_MAX]; /* in the VM's form: "java/lang/String", modified UTF-8, cut */
};

#endif
