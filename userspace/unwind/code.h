// SPDX-License-Identifier: Apache-2.0
/* The effects of instructions on the stack, for code without CFI. build.c calls it. */
#ifndef BRAID_UNWIND_CODE_H
#define BRAID_UNWIND_CODE_H

#include "cfi.h"

enum code_kind {
	CODE_OTHER,
	CODE_PUSH,	   /* 8 bytes */
	CODE_POP,	   /* 8 bytes */
	CODE_PUSH_FP,	   /* the frame pointer */
	CODE_POP_FP,	   /* into the frame pointer */
	CODE_MOVE_SP,	   /* sp += value */
	CODE_SP_FROM_FP,   /* sp = fp + value */
	CODE_FP_FROM_SP,   /* fp = sp + value */
	CODE_LEAVE,	   /* sp = fp, and the frame pointer is popped */
	CODE_SP_LOST,	   /* sp becomes something else */
	CODE_FP_LOST,	   /* fp becomes something else */
	CODE_BRANCH,	   /* perhaps to value */
	CODE_JUMP,	   /* to value */
	CODE_JUMP_UNKNOWN, /* to what is computed */
	CODE_CALL,	   /* to value; it returns if the callee does */
	CODE_CALL_UNKNOWN,
	CODE_RETURN,
	CODE_STOP, /* execution does not continue after it */
	CODE_PADDING,
	CODE_INVALID,
};

struct code_insn {
	uint32_t pc;
	uint8_t length;
	uint8_t kind;  /* enum code_kind */
	int64_t value; /* a target is relative to pc */
};

/* Decodes one instruction of at most `size` bytes, at least one; length is never 0. */
void machine_decode(struct code_insn *out, const uint8_t *code, size_t size);
/*
 * The rule for CFA = fp + fp_cfa (when not negative), else sp + height; the caller's fp is at CFA - saved (0: in its
 * register, negative: lost). BRAID_CFA_NONE when nothing is known.
 */
uint32_t machine_rule(int32_t height, int32_t fp_cfa, int32_t saved);
/* Bytes on the stack at a function's entry. */
extern const int32_t machine_entry_height;

/*
 * Adds rows for the code in [start, start + size), from its instructions. `starts`, sorted, are known starts of
 * functions. Code of more instructions than compilers make gets none.
 */
int code_rows(cfi_rows *rows, uint32_t start, const uint8_t *code, size_t size, const uint32_t *starts,
	      size_t start_count);

#endif
