// SPDX-License-Identifier: Apache-2.0
/*
 * The layout of a HotSpot JVM: where it keeps what a stack walk needs. It comes from the exported tables
 * gHotSpotVMStructs and gHotSpotVMTypes. The collector reads them as soon as the JVM's library is mapped; the agent
 * reads them once, checks them and publishes a LAYOUT record. The walker and the collector's reader of JVM memory use
 * it from the BPF map `jvms`. No JDK is assumed: a field that the tables do not have stays 0 and switches off what
 * depends on it.
 *
 * It is untrusted like every record: addresses are only read through calls that may fail, and types bound offsets.
 */
#ifndef BRAID_LAYOUT_H
#define BRAID_LAYOUT_H

#include <braid/ring.h>

#define BRAID_CODE_HEAPS 4

/* One CodeHeap: [low, high) is reserved address space, `segmap` one byte per segment of 1 << log2_segment bytes. */
struct braid_code_heap {
	__u64 low;
	__u64 high;
	__u64 segmap;
	__u32 log2_segment;
	__u32 reserved;
};

#define BRAID_CODE_HEAP_MAX (4ULL << 30)

/* True if the heap is plausible. HotSpot's own limit is half as much; its segments have 64 or 128 bytes. */
static inline int braid_code_heap_fits(const struct braid_code_heap *h)
{
	return h->low && h->low < h->high && h->high - h->low <= BRAID_CODE_HEAP_MAX && h->segmap &&
	       h->log2_segment > 3 && h->log2_segment < 20;
}

/* braid_layout.flags */
#define BRAID_LAYOUT_WALKABLE 0x1U /* all that walking compiled and interpreted frames needs was found and checked */
#define BRAID_LAYOUT_NAMES 0x2U	   /* all that reading a Method's name needs was found */
#define BRAID_LAYOUT_CODE_OFFSET                                                                                       \
	0x4U /* blob_code is an int offset from the blob (JDK 8, 23 and later), else a pointer */
#define BRAID_LAYOUT_SHORT_COMPLETE 0x8U /* blob_frame_complete is 16 bits wide, else 32 */
#define BRAID_LAYOUT_CHECKED 0x10U	 /* the code heap agreed with CompiledMethodLoad */
#define BRAID_LAYOUT_GROWING                                                                                           \
	0x20U /* the VM is still creating code heaps, interpreter and stubs: see struct braid_statics */

#define BRAID_LAYOUT_AGREED 0x40U /* in traces: the collector's reading from outside equals the agent's */

/* braid_objects.flags */
#define BRAID_OBJECTS_THREADS 0x1U  /* the way from a JavaThread to its threads' ids and names is found and checked */
#define BRAID_OBJECTS_BLOCKERS 0x2U /* the same of the way from a thread to its blocker, its class and its owner */
#define BRAID_CONDITION_OF "Condition of " /* how a condition is called: with the class of its lock */
#define BRAID_OBJECTS_HANDLES 0x4U	   /* a JavaThread refers to its threads by OopHandle (14 and later) */

/* How references in the heap are encoded. */
enum braid_oops {
	BRAID_OOPS_PLAIN = 0,	   /* 8 bytes, the address; in the older ZGC with colours, which are mapped */
	BRAID_OOPS_COMPRESSED = 1, /* 4 bytes: oop_base + (value << oop_shift) */
	BRAID_OOPS_COLOURED = 2, /* generational ZGC (zAddress.hpp): the bit set among bits 12 to 15 gives the shift */
};

/* How an object refers to its Klass. */
enum braid_klasses {
	BRAID_KLASSES_PLAIN = 0,      /* 8 bytes after the mark */
	BRAID_KLASSES_COMPRESSED = 1, /* 4 bytes there: klass_base + (value << klass_shift) */
	BRAID_KLASSES_COMPACT = 2,    /* the upper 22 bits of the mark, widened alike (markWord.hpp, 24 and later) */
};

/* Where an array has its length, which is behind its class. */
static inline __u16 braid_array_length_at(__u8 klasses)
{
	return klasses == BRAID_KLASSES_PLAIN ? 16 : klasses == BRAID_KLASSES_COMPRESSED ? 12 : 8;
}

/* Where threads and their blockers keep what events report. Offsets of fields count from the object's start. */
struct braid_objects {
	__u64 oop_base;
	__u64 oop_bad; /* address of a mask (ZGC): a reference with one of its bits may be stale, and another object may
			  be there by now; 0: none */
	__u64 klass_base;
	__u64 ownable_klass;  /* of AbstractOwnableSynchronizer */
	__u64 virtual_klass;  /* of VirtualThread; 0: the JDK has none */
	__u32 flags;	      /* BRAID_OBJECTS_* */
	__u16 carrier;	      /* JavaThread::_threadObj */
	__u16 current;	      /* JavaThread::_vthread: mostly the virtual thread while one is mounted; 0: none */
	__u16 thread_id;      /* Thread: long */
	__u16 thread_name;    /* Thread: String */
	__u16 thread_eetop;   /* Thread: long, its JavaThread */
	__u16 thread_blocker; /* Thread: Object, parkBlocker */
	__u16 ownable_thread; /* AbstractOwnableSynchronizer: Thread */
	__u16 klass_super;    /* Klass::_super */
	__u16 string_value;   /* String: byte[] */
	__u16 string_coder;   /* String: byte, 1: UTF-16 */
	__u16 array_length;   /* byte[] */
	__u16 array_data;
	__u8 oops; /* enum braid_oops */
	__u8 oop_shift;
	__u8 klasses; /* enum braid_klasses */
	__u8 klass_shift;
};
_Static_assert(sizeof(struct braid_objects) == 72, "objects");

/* braid_vthreads.flags */
#define BRAID_VTHREADS_WALK 0x1U   /* the code addresses and the offset of a JavaThread's entry are known */
#define BRAID_VTHREADS_FROZEN 0x2U /* all that reading frozen frames needs was found and checked */
#define BRAID_VTHREADS_TASKS 0x4U  /* the way from a Continuation to its virtual thread is found and checked */
#define BRAID_VTHREADS_AROUND 0x8U /* a thread mounts before its continuation is entered and unmounts after it */

/*
 * Virtual threads (21 and later). A thread's frames are on its carrier's stack, above the frame of
 * Continuation.enterSpecial, which begins with a ContinuationEntry. Frames that have not run since the thread was
 * parked are in the heap, in jdk.internal.vm.StackChunk objects. Offsets of fields count from the object's start.
 */
struct braid_vthreads {
	__u64 stubs_start; /* thaw stubs and return barrier: StubRoutines::cont_* */
	__u64 stubs_end;
	__u64 barrier;	   /* return address of the last frame on the stack while more frames are in the heap */
	__u64 enter_start; /* code of Continuation.enterSpecial */
	__u64 enter_end;
	__u64 enter_return; /* ContinuationEntry::_return_pc */
	__u64 yield_start;  /* code of Continuation.doYield, which freezes */
	__u64 yield_end;
	__u32 flags;	  /* BRAID_VTHREADS_* */
	__u16 enter_size; /* bytes of its frame, including return address and rbp */
	__u16 entry_parent;
	__u16 entry_cont;
	__u16 thread_entry; /* JavaThread::_cont_entry */
	__u16 cont_target;  /* Continuation: Runnable */
	__u16 cont_tail;    /* Continuation: StackChunk */
	__u16 chunk_parent; /* StackChunk */
	__u16 chunk_sp;	    /* int, words from the chunk's stack */
	__u16 chunk_bottom; /* the same, of the frames' end */
	__u16 chunk_stack;  /* offset of its stack */
	__u16 task_thread;  /* Runnable of a virtual thread: VirtualThread */
	__u16 thread_cont;  /* VirtualThread: Continuation */
	__u16 entry_flags;  /* int: not 0 in a virtual thread's entry */
	__u16 thread_owner; /* JavaThread::_monitor_owner_id: id of the running thread, virtual or not; 0: none */
};
_Static_assert(sizeof(struct braid_vthreads) == 96, "vthreads");

struct braid_layout {
	__u32 flags;
	__u32 heap_count;
	struct braid_code_heap heaps[BRAID_CODE_HEAPS];
	__u64 interpreter_start; /* StubQueue of the template interpreter */
	__u64 interpreter_end;
	__u64 call_stub_return; /* StubRoutines::_call_stub_return_address */
	__u64 libjvm_base;	/* load bias of libjvm.so */

	/* CodeBlob: offsets from its start. A blob starts `heap_block_header` bytes after its segment's start. */
	__u16 heap_block_header;
	__u16 blob_name;	   /* const char * */
	__u16 blob_size;	   /* int */
	__u16 blob_frame_size;	   /* int, 8-byte words */
	__u16 blob_frame_complete; /* int or short: offset from code begin where the frame is set up; negative: never */
	__u16 blob_code;	   /* code begin: pointer, or int offset from the blob */
	__u16 nmethod_method;	   /* Method *, valid only in blobs named "nmethod" or "native nmethod" */
	__u16 nmethod_compile_id;  /* int */
	__u16 nmethod_comp_level;  /* int, or signed char from 21 on: see nmethod_comp_level_size */
	__u16 nmethod_comp_level_size;
	__u16 nmethod_deopt_handler;  /* pointer, or int offset; 0: not exported */
	__u16 nmethod_orig_pc_offset; /* int: offset from sp of the slot with the original pc of a deoptimised frame */

	/* Interpreter frame: in 8-byte words relative to the frame pointer (frame_x86.hpp) */
	__s16 interp_sender_sp; /* -1 */
	__s16 interp_method;	/* -3 */
	__s16 interp_bcp;	/* -8; -7 before JDK 9 */

	/* Method, ConstMethod, ConstantPool, Klass, Symbol */
	__u16 method_const;	     /* ConstMethod * */
	__u16 method_access_flags;   /* int */
	__u16 const_size;	     /* sizeof(ConstMethod): the byte codes follow */
	__u16 const_constants;	     /* ConstantPool * */
	__u16 const_code_size;	     /* u2 */
	__u16 const_name_index;	     /* u2 */
	__u16 const_signature_index; /* u2 */
	__u16 pool_size;	     /* sizeof(ConstantPool): 8-byte slots follow */
	__u16 pool_holder;	     /* InstanceKlass * */
	__u16 klass_name;	     /* Symbol * */
	__u16 symbol_length;	     /* u2 */
	__u16 symbol_body;

	/* JavaThread */
	__u16 thread_anchor_sp; /* JavaFrameAnchor::_last_Java_sp, from the JavaThread */
	__u16 thread_anchor_fp;
	__u16 thread_anchor_pc;
	__u16 thread_osthread; /* OSThread * */
	__u16 osthread_tid;    /* OSThread::_thread_id, int */
	__u16 thread_pending;  /* _current_pending_monitor, ObjectMonitor *; 0: not exported */
	struct braid_objects objects;
	struct braid_vthreads vthreads;
};
_Static_assert(sizeof(struct braid_layout) == 8 + BRAID_CODE_HEAPS * 32 + 32 + 33 * 2 + 6 + 72 + 96, "layout");

/* The walker copies WALK_BLOB_BYTES of a blob, so larger offsets make a layout unusable for walks. */
static inline int braid_layout_fits(const struct braid_layout *l)
{
	return l->blob_code <= 120 && l->blob_size <= 124 && l->blob_frame_size <= 124 && l->blob_frame_complete <= 124;
}

/*
 * Where the VM keeps what it creates while it starts: the code heaps, the interpreter, the first stubs. Members are
 * addresses of static fields (0: not exported) and offsets in what these point to.
 */
struct braid_statics {
	__u64 heaps;	    /* CodeCache::_heaps, a GrowableArray<CodeHeap*>*; or _heap, a CodeHeap* */
	__u64 interpreter;  /* AbstractInterpreter::_code, a StubQueue* */
	__u64 call_stub;    /* StubRoutines::_call_stub_return_address */
	__u16 array;	    /* 1: `heaps` points to an array */
	__u16 array_length; /* int */
	__u16 array_data;
	__u16 heap_low; /* of the reserved address space */
	__u16 heap_high;
	__u16 heap_segmap;
	__u16 heap_log2;    /* int */
	__u16 queue_buffer; /* address */
	__u16 queue_limit;  /* int, bytes */
	__u16 reserved[3];
};
_Static_assert(sizeof(struct braid_statics) == 48, "statics");

struct braid_rec_layout {
	struct braid_rec hdr;
	struct braid_layout layout;
	struct braid_statics statics;
};

#endif
