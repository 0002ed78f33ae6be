// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind rows: what .eh_frame or .debug_frame says, compiled into eight bytes per change of rule.
 *
 * A table belongs to one module (one build-id), is position independent and shared by every process that maps the
 * module. A row holds from its pc up to the next row's pc. Rows are sorted by pc, which is the offset from the module's
 * load bias (that is, the ELF virtual address; modules whose addresses do not fit 32 bits have no table). A gap between
 * two FDEs is a row of kind BRAID_CFA_NONE. The page index, one row number per page of 1 << BRAID_UNWIND_PAGE_SHIFT
 * bytes, says where a search begins: page p's rows start at index[p], and the row in force at the page's first byte is
 * at index[p] - 1 or index[p]. The index has one entry more than pages, the last being the number of rows.
 */
#ifndef BRAID_UNWIND_H
#define BRAID_UNWIND_H

#include <braid/types.h>

#define BRAID_UNWIND_PAGE_SHIFT 10

/* How the canonical frame address (the caller's stack pointer) is found. x86-64. */
enum braid_cfa {
	BRAID_CFA_NONE = 0,	    /* no rule: not covered by CFI */
	BRAID_CFA_RSP = 1,	    /* rsp + offset */
	BRAID_CFA_RBP = 2,	    /* rbp + offset */
	BRAID_CFA_DEREF_RBP = 3,    /* *(rbp + offset): realigned stacks */
	BRAID_CFA_DEREF_RSP = 4,    /* *(rsp + offset) */
	BRAID_CFA_R10 = 5,	    /* r10 + offset, only where the registers are exact */
	BRAID_CFA_PLT = 6,	    /* rsp + 8 + ((rip & 15) >= 11) * 8: the linker's PLT */
	BRAID_CFA_SIGNAL = 7,	    /* a signal frame: every register from the ucontext at rsp */
	BRAID_CFA_ROOT = 8,	    /* return address undefined: this is the thread's first frame */
	BRAID_CFA_RBX = 9,	    /* rbx + offset: the C library's lazy binding, and where the registers are exact */
	BRAID_CFA_UNSUPPORTED = 10, /* a rule that cannot be expressed */
};

/* How the caller's rbp is found. */
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
