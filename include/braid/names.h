// SPDX-License-Identifier: Apache-2.0
/*
 * Where a HotSpot JVM keeps what naming its frames needs, beyond <braid/layout.h>. The agent reads it once and
 * publishes a NAMES record; the kernel side uses the counters, the collector the rest. A field that a JDK's tables do
 * not have stays 0 and switches off what depends on it. It is untrusted like every record.
 */
#ifndef BRAID_NAMES_H
#define BRAID_NAMES_H

#include <braid/ring.h>

/* braid_names.flags */
#define BRAID_NAMES_SCOPES 0x1U		 /* all that reading an nmethod's own scopes needs was found */
#define BRAID_NAMES_IMMUTABLE 0x2U	 /* scopes and PcDescs are in nmethod_immutable (23 and later) */
#define BRAID_NAMES_MUTABLE 0x4U	 /* metadata are in blob_mutable, after the relocations (25 and later) */
#define BRAID_NAMES_POINTER 0x8U	 /* nmethod_scopes_data is a pointer (9 to 22), else an int offset */
#define BRAID_NAMES_NO_ZERO 0x10U	 /* compressed numbers never contain the byte 0 (20 and later) */
#define BRAID_NAMES_WIDE_FLAGS 0x20U	 /* const_flags has four bytes, else two */
#define BRAID_NAMES_SHORT_METADATA 0x40U /* nmethod_metadata has two bytes and counts from blob_data (23, 24) */

struct braid_names {
	__u64 class_unloads; /* address of a 64-bit counter that grows at once when a class is unloaded */
	__u64 code_unloads;  /* address of the agent's counter of CompiledMethodUnload events */
	__u64 gc_cause;	     /* address of a string: the current cause of garbage collection; 0: the VM has none */
	__u32 flags;

	/* ConstMethod and other sources of lines */
	__u16 const_method_size; /* int, 8-byte words: its whole size */
	__u16 const_flags;	 /* bit 0: a compressed line number table follows the byte codes */
	__u16 pool_source;	 /* u2 in ConstantPool: index of the source file's name */
	__u16 klass_source;	 /* the same in InstanceKlass, before 14 */

	/* nmethod */
	__u16 nmethod_entry_bci;      /* int, -1 unless it is an OSR compilation */
	__u16 nmethod_scopes_data;    /* int or pointer */
	__u16 nmethod_scopes_pcs;     /* int */
	__u16 nmethod_dependencies;   /* int: the end of the PcDescs, when they are in the nmethod */
	__u16 nmethod_metadata;	      /* int or u2 */
	__u16 nmethod_immutable;      /* pointer */
	__u16 nmethod_immutable_size; /* int */
	__u16 blob_mutable;	      /* pointer */
	__u16 blob_mutable_size;      /* int */
	__u16 blob_relocation_size;   /* int */
	__u16 blob_data;	      /* int */
	__u16 pc_offset;	      /* PcDesc: int */
	__u16 pc_scope;		      /* PcDesc: int */
	__u16 pc_size;		      /* sizeof(PcDesc) */
};
_Static_assert(sizeof(struct braid_names) == 64, "names");

struct braid_rec_names {
	struct braid_rec hdr;
	struct braid_names names;
};

#endif
