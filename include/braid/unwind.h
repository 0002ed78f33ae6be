// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind tables: .eh_frame or .debug_frame compiled into eight bytes per change of rule. The collector compiles them;
 * the walk uses them.
 *
 * A table belongs to one module (one build-id), is position independent and shared by all processes that map the
 * module. A row is in force from its pc to the next row's. Rows are sorted by pc, the offset from the module's load
 * bias (the ELF virtual address; a module whose addresses exceed 32 bits has no table). A gap between two FDEs is a
 * row of kind BRAID_CFA_NONE. The page index has one row number per page of 1 << BRAID_UNWIND_PAGE_SHIFT bytes: page
 * p's rows start at index[p], and the row in force at the page's first byte is at index[p] - 1 or index[p]. The index
 * has one entry more than pages, whose value is the number of rows.
 */
#ifndef BRAID_UNWIND_H
#define BRAID_UNWIND_H

#include <braid/types.h>

#define BRAID_UNWIND_PAGE_SHIFT 10

/* How to find the canonical frame address (CFA), the caller's stack pointer. x86-64. */
enum braid_cfa {
	BRAID_CFA_NONE = 0,	    /* no rule: CFI does not cover the pc */
	BRAID_CFA_RSP = 1,	    /* rsp + offset */
	BRAID_CFA_RBP = 2,	    /* rbp + offset */
	BRAID_CFA_DEREF_RBP = 3,    /* *(rbp + offset): realigned stacks */
	BRAID_CFA_DEREF_RSP = 4,    /* *(rsp + offset) */
	BRAID_CFA_R10 = 5,	    /* r10 + offset, only in a frame whose registers are all known */
	BRAID_CFA_PLT = 6,	    /* rsp + 8 + ((rip & 15) >= 11) * 8: the linker's PLT */
	BRAID_CFA_SIGNAL = 7,	    /* a signal frame: all registers are in the ucontext at rsp */
	BRAID_CFA_ROOT = 8,	    /* undefined return address: the thread's first frame */
	BRAID_CFA_RBX = 9,	    /* rbx + offset: in the C library's lazy binding, or with all registers known */
	BRAID_CFA_UNSUPPORTED = 10, /* a rule that cannot be expressed */
};

/* How to find the caller's rbp. */
enum braid_rbp {
	BRAID_RBP_SAME = 0,
	BRAID_RBP_CFA = 1, /* *(cfa + rbp_offset) */
	BRAID_RBP_RBP = 2, /* *(rbp + rbp_offset): realigned stacks */
	BRAID_RBP_UNDEFINED = 3,
};

/*
 * rule: bits 0-3 enum braid_cfa, 4-5 enum braid_rbp, 6-15 rbp_offset / 8 (signed 10 bits), 16-31 cfa offset / 8
 * (signed). Offsets that are not multiples of 8 or do not fit make the row BRAID_CFA_UNSUPPORTED. The return address is
 * always at cfa - 8 except in signal frames.
 */
struct braid_unwind_row {
	__u32 pc;
	__u32 rule;
};
_Static_assert(sizeof(struct braid_unwind_row) == 8, "unwind row");

static inline __u32 braid_rule(__u32 cfa, __s32 cfa_offset, __u32 rbp, __s32 rbp_offset)
{
	return cfa | rbp << 4 | ((__u32)(rbp_offset / 8) & 0x3ffU) << 6 | ((__u32)(cfa_offset / 8) & 0xffffU) << 16;
}

static inline __u32 braid_rule_cfa(__u32 rule)
{
	return rule & 0xfU;
}

static inline __u32 braid_rule_rbp(__u32 rule)
{
	return rule >> 4 & 0x3U;
}

static inline __s64 braid_rule_cfa_offset(__u32 rule)
{
	return (__s64)((__s32)rule >> 16) * 8;
}

static inline __s64 braid_rule_rbp_offset(__u32 rule)
{
	return (__s64)((__s32)(rule << 16) >> 22) * 8;
}

#endif
