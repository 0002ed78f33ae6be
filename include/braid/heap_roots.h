// SPDX-License-Identifier: Apache-2.0
/*
 * The roots of a copied heap. The agent copies its process while the JVM stands still, see agent/events/heap_copy.c.
 * The copy fills in this table in its own memory and then does nothing more; the collector reads the table and the heap
 * from there. It is untrusted, like everything in that memory.
 */
#ifndef BRAID_HEAP_ROOTS_H
#define BRAID_HEAP_ROOTS_H

#include <braid/layout.h>
#include <braid/names.h>

#define BRAID_ROOTS_MAGIC 0x53544f4f52444e42ULL
#define BRAID_ROOTS_MAX (16U << 20) /* an address range: only what is used becomes memory */

enum braid_roots_state {
	BRAID_ROOTS_COLLECTING = 0,
	BRAID_ROOTS_COMPLETE = 1,
	BRAID_ROOTS_OVERFLOW = 2, /* there are more than the table has room for */
};

/* braid_heap_root.kind: the kinds of references from roots as JVM TI numbers them. */
enum braid_root_kind {
	BRAID_ROOT_JNI_GLOBAL = 21,
	BRAID_ROOT_SYSTEM_CLASS = 22,
	BRAID_ROOT_MONITOR = 23,
	BRAID_ROOT_STACK_LOCAL = 24,
	BRAID_ROOT_JNI_LOCAL = 25,
	BRAID_ROOT_THREAD = 26,
	BRAID_ROOT_OTHER = 27,
};

struct braid_heap_root {
	__u64 object; /* address */
	__u64 thread; /* Java's id of the thread, of STACK_LOCAL and JNI_LOCAL */
	__u64 bytes;  /* the object's size, as the JVM has it */
	__u32 depth;  /* of the frame, 0: the innermost */
	__u32 kind;   /* enum braid_root_kind */
};
_Static_assert(sizeof(struct braid_heap_root) == 32, "heap root");

/*
 * A sampled object that is watched by a weak reference. Its address is in the reference's slot, at the moment of the
 * copy.
 */
struct braid_heap_watched {
	__u64 slot;   /* address of the slot */
	__u64 number; /* of the object, as in its ALLOC event */
	__u64 bytes;  /* its size */
	__u64 weight; /* estimated bytes of allocations that it represents */
};
_Static_assert(sizeof(struct braid_heap_watched) == 32, "watched object");

#define BRAID_WATCHED_MAX 65536U

/* `count` roots are right behind it. */
struct braid_heap_roots {
	__u64 magic;
	__u32 state; /* enum braid_roots_state, written last */
	__u32 count;
	__u64 watched; /* address of an array */
	__u32 watched_count;
	__u32 reserved;
	struct braid_layout layout; /* as the agent has read and checked it */
	struct braid_names names;
};

#endif
