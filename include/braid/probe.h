// SPDX-License-Identifier: Apache-2.0
/* What the collector and the programs at probes in libjvm.so share. */
#ifndef BRAID_PROBE_H
#define BRAID_PROBE_H

#include <braid/event.h>

/* Cookies of attached probes: where in the VM's code, and in what form its arguments are. */
enum braid_probe {
	BRAID_PROBE_SAFEPOINT_BEGIN = 1, /* nothing said of the operation */
	BRAID_PROBE_SAFEPOINT_TIMED,	 /* end; the VM's data have its times and operation: braid_probed.begin_at,
					   ... */
	BRAID_PROBE_SAFEPOINT_OBJECT,	 /* begin; braid_probed.operation_at points to the VM_Operation */
	BRAID_PROBE_SAFEPOINT_REACHED,	 /* every thread stands */
	BRAID_PROBE_SAFEPOINT_NAME,	 /* the same; arguments: the operation's name and length */
	BRAID_PROBE_SAFEPOINT_END,
	BRAID_PROBE_SAFEPOINT_STOP, /* a Java thread stops */
	BRAID_PROBE_COMPILE_BEGIN,
	BRAID_PROBE_COMPILE_TASK, /* begin; 1st argument: CompileTask */
	BRAID_PROBE_COMPILE_END,  /* arguments of hotspot:method__compile__end */
	BRAID_PROBE_COMPILE_POST, /* end; arguments of CompileBroker::post_compile() */
	BRAID_PROBE_TRAP,	  /* 2nd argument: trap request */
	BRAID_PROBE_UNPACK,	  /* 2nd argument: Deoptimization::UnpackType */
	/* Of these the 1st argument is the object that is told by, GCTracer or GCTimer. */
	BRAID_PROBE_GC_BEGIN,
	BRAID_PROBE_GC_END,
	BRAID_PROBE_GC_HEAP,  /* 2nd argument: 0 before, 1 after; 3rd: GCHeapSummary */
	BRAID_PROBE_GC_PAUSE, /* 2nd argument: name, as of GC_PHASE */
	BRAID_PROBE_GC_PAUSE_END,
	BRAID_PROBE_GC_PHASE,
	BRAID_PROBE_GC_PHASE_END,
};

/* Of one safepoint, or second, no more are told; the others are counted. */
#define BRAID_PROBE_STOPS_MAX 64
#define BRAID_PROBE_DEOPTS_MAX 1000

/* Value of the map `probed`, key tgid: a JVM with probes. Fields above the line by the collector, before it attaches.
 */
struct braid_probed {
	/* Addresses in the VM's data, 0: not there. */
	__u64 operation_at; /* VMThread::_cur_vm_operation */
	__u64 type_at;	    /* SafepointTracing::_current_type and its times, of the latest safepoint */
	__u64 begin_at;
	__u64 reached_at;
	__u64 end_at;
	__u16 task_id; /* offsets in a CompileTask; valid if flags say so */
	__u16 task_method;
	__u16 task_osr_bci;
	__u16 task_level;
	__u32 flags; /* BRAID_PROBED_* */
	/* Of JFR, which keeps who runs in each JavaThread, recording or not (21 and later). 0: not known. */
	__u16 thread_virtual; /* bool: a virtual thread is mounted */
	__u16 thread_number;  /* its number, valid then */
	/* ---- the kernel side's ---- */
	__u64 begin_ns; /* of the safepoint; 0: none, or at begin_at */
	__u64 reached_ns;
	__u64 safepoints; /* ended */
	__u64 operation;  /* type plus one, or the object's vtable */
	__u64 stops;	  /* of this safepoint */
	__u64 deopt_second;
	__u64 deopts; /* in it */
	/* Cumulative. */
	__u64 stops_counted;
	__u64 deopts_counted;
	char name[64];
};
_Static_assert(sizeof(struct braid_probed) == 192, "probed");
#define BRAID_PROBED_TASK 0x1U

/*
 * BRAID_EVENT_JVM_EVENT with source BRAID_SOURCE_PROBE. event.name and event.detail are numbers of the VM's own:
 *
 * SAFEPOINT       name: operation's type plus one; weight: its vtable; text: its name; whichever is known
 * COMPILE         weight: Method; text: the method's name, with the class's in a struct braid_event_compile
 * DEOPT           name: BRAID_PROBE_TRAP or _UNPACK; detail: its argument; weight: the frame that is given up
 * (<braid/frame.h>), 0: not found
 * GC_CYCLE        any BRAID_PROBE_GC_*, which is the name; number: the object; GC_BEGIN: text: the cause; GC_PAUSE,
 * GC_PHASE: text, weight: the name and where it lies; GC_HEAP: detail: when; value: bytes used
 */
#define BRAID_COMPILE_CLASS_MAX 192
struct braid_event_compile {
	struct braid_event_jvm_event jvm;
	char class_name[BRAID_COMPILE_CLASS_MAX]; /* the VM's: "java/lang/String", modified UTF-8, cut */
};

#endif
