// SPDX-License-Identifier: Apache-2.0
/* Runs call frame instructions (DWARF 5, section 6.4.2) and passes each range with one state to the machine. */
#include "cfi.h"

#include "util/stint.h"

#include <dwarf.h>
#include <errno.h>

#define REMEMBER_DEPTH 32

struct run {
	struct cfi_entries *entries;
	const struct cfi_cie *cie;
	cfi_rows *rows; /* NULL while a CIE's initial instructions run */
	struct cfi_bytes code;
	uint64_t pc;
	uint64_t function;
	uint32_t lo;
	uint32_t hi;
	unsigned int depth;
	int err;
	struct cfi_state state;
	struct cfi_state stack[REMEMBER_DEPTH];
};

static void run_break(struct run *r)
{
	r->code.bad = true;
}

static uint32_t clip(const struct run *r, uint64_t pc)
{
	return pc < r->lo ? r->lo : pc > r->hi ? r->hi : (uint32_t)pc;
}

static void run_advance_to(struct run *r, uint64_t pc)
{
	uint32_t from = clip(r, r->pc), to = clip(r, pc);

	if (!r->rows || pc < r->pc) {
		run_break(r);
		return;
	}
	if (from < to)
		r->err = machine_rows(r->rows, from, to, &r->state, r->cie->signal);
	r->pc = pc;
}

static void run_advance(struct run *r, uint64_t delta)
{
	uint64_t bytes, pc;

	if (__builtin_mul_overflow(delta, r->cie->code_align, &bytes) || __builtin_add_overflow(r->pc, bytes, &pc))
		pc = UINT64_MAX;
	run_advance_to(r, pc);
}

static void set_rule(struct run *r, uint64_t reg, struct cfi_rule rule)
{
	enum cfi_column column = machine_column(reg);

	if (column != CFI_IGNORED)
		r->state.column[column] = rule;
}

static void set_how(struct run *r, uint64_t reg, enum cfi_how how)
{
	set_rule(r, reg, (struct cfi_rule){.how = how});
}

static int64_t scaled(const struct run *r, int64_t factor)
{
	return (int64_t)((uint64_t)factor * (uint64_t)r->cie->data_align);
}

static void set_offset(struct run *r, uint64_t reg, int64_t factor)
{
	set_rule(r, reg, (struct cfi_rule){.how = CFI_OFFSET, .offset = scaled(r, factor)});
}

static void set_val_offset(struct run *r, uint64_t reg, int64_t factor)
{
	set_rule(r, reg, (struct cfi_rule){.how = CFI_VAL_OFFSET, .offset = scaled(r, factor)});
}

static struct cfi_rule expression(struct run *r, enum cfi_how how)
{
	uint64_t size = bytes_uleb(&r->code);
	const uint8_t *expr = bytes_skip(&r->code, size);

	if (!expr)
		return (struct cfi_rule){.how = CFI_INVALID};
	return (struct cfi_rule){.how = how, .expr = expr, .expr_bytes = size};
}

static void restore(struct run *r, uint64_t reg)
{
	enum cfi_column column = machine_column(reg);

	if (!r->rows)
		run_break(r);
	else if (column != CFI_IGNORED)
		r->state.column[column] = r->cie->initial.column[column];
}

static void def_cfa(struct run *r, uint64_t reg, int64_t offset)
{
	r->state.cfa = (struct cfi_rule){
		.how = reg > UINT32_MAX ? CFI_INVALID : CFI_REGISTER, .reg = (uint32_t)reg, .offset = offset};
}

static void def_cfa_offset(struct run *r, int64_t offset)
{
	if (r->state.cfa.how != CFI_REGISTER)
		r->state.cfa.how = CFI_INVALID;
	r->state.cfa.offset = offset;
}

static void def_cfa_register(struct run *r, uint64_t reg)
{
	if (r->state.cfa.how != CFI_REGISTER || reg > UINT32_MAX)
		r->state.cfa.how = CFI_INVALID;
	r->state.cfa.reg = (uint32_t)reg;
}

static void remember(struct run *r)
{
	if (r->depth == REMEMBER_DEPTH)
		run_break(r);
	else
		r->stack[r->depth++] = r->state;
}

static void recall(struct run *r)
{
	if (!r->depth)
		run_break(r);
	else
		r->state = r->stack[--r->depth];
}

static bool run_location(struct run *r, uint8_t op)
{
	struct cfi_bytes *code = &r->code;

	switch (op) {
	case DW_CFA_set_loc: {
		uint64_t pc = cfi_pointer(code, r->cie->encoding, &r->entries->section, r->function);

		if (!code->bad)
			run_advance_to(r, pc);
		return true;
	}
	case DW_CFA_advance_loc1:
		run_advance(r, bytes_uint(code, 1));
		return true;
	case DW_CFA_advance_loc2:
		run_advance(r, bytes_uint(code, 2));
		return true;
	case DW_CFA_advance_loc4:
		run_advance(r, bytes_uint(code, 4));
		return true;
	case DW_CFA_MIPS_advance_loc8:
		run_advance(r, bytes_uint(code, 8));
		return true;
	default:
		return false;
	}
}

static bool run_cfa(struct run *r, uint8_t op)
{
	struct cfi_bytes *code = &r->code;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = bytes_uleb(code);
		def_cfa(r, reg, (int64_t)bytes_uleb(code));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = bytes_uleb(code);
		def_cfa(r, reg, scaled(r, bytes_sleb(code)));
		return true;
	case DW_CFA_def_cfa_register:
		def_cfa_register(r, bytes_uleb(code));
		return true;
	case DW_CFA_def_cfa_offset:
		def_cfa_offset(r, (int64_t)bytes_uleb(code));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		def_cfa_offset(r, scaled(r, bytes_sleb(code)));
		return true;
	case DW_CFA_def_cfa_expression:
		r->state.cfa = expression(r, CFI_EXPRESSION);
		return true;
	default:
		return false;
	}
}

static bool run_offset(struct run *r, uint8_t op)
{
	struct cfi_bytes *code = &r->code;
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = bytes_uleb(code);
		set_offset(r, reg, (int64_t)bytes_uleb(code));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = bytes_uleb(code);
		set_offset(r, reg, bytes_sleb(code));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = bytes_uleb(code);
		set_offset(r, reg, (int64_t)-bytes_uleb(code));
		return true;
	case DW_CFA_val_offset:
		reg = bytes_uleb(code);
		set_val_offset(r, reg, (int64_t)bytes_uleb(code));
		return true;
	case DW_CFA_val_offset_sf:
		reg = bytes_uleb(code);
		set_val_offset(r, reg, bytes_sleb(code));
		return true;
	default:
		return false;
	}
}

static void run_rule(struct run *r, uint8_t op)
{
	struct cfi_bytes *code = &r->code;
	uint64_t reg;

	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_restore_extended:
		restore(r, bytes_uleb(code));
		break;
	case DW_CFA_undefined:
		set_how(r, bytes_uleb(code), CFI_UNDEFINED);
		break;
	case DW_CFA_same_value:
		set_how(r, bytes_uleb(code), CFI_SAME);
		break;
	case DW_CFA_register:
		reg = bytes_uleb(code);
		bytes_uleb(code);
		set_how(r, reg, CFI_REGISTER);
		break;
	case DW_CFA_expression:
		reg = bytes_uleb(code);
		set_rule(r, reg, expression(r, CFI_EXPRESSION));
		break;
	case DW_CFA_val_expression:
		reg = bytes_uleb(code);
		set_rule(r, reg, expression(r, CFI_VAL_EXPRESSION));
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		recall(r);
		break;
	case DW_CFA_GNU_args_size: /* the size that a handler pops, which a walker does not need */
		bytes_uleb(code);
		break;
	default:
		run_break(r);
	}
}

/* Until the code ends, is invalid, leaves [lo, hi), or memory runs out. */
static void run_code(struct run *r)
{
	while (r->code.at < r->code.end && !r->code.bad && !r->err && (!r->rows || r->pc < r->hi)) {
		uint8_t op = *r->code.at++;

		if (stint_over()) {
			r->err = -ETIME;
			return;
		}
		if (r->entries->budget == 0) {
			run_break(r);
			return;
		}
		r->entries->budget--;
		if ((op & 0xc0) == DW_CFA_advance_loc)
			run_advance(r, op & 0x3f);
		else if ((op & 0xc0) == DW_CFA_offset)
			set_offset(r, op & 0x3f, (int64_t)bytes_uleb(&r->code));
		else if ((op & 0xc0) == DW_CFA_restore)
			restore(r, op & 0x3f);
		else if (!run_cfa(r, op) && !run_location(r, op) && !run_offset(r, op))
			run_rule(r, op);
	}
}

bool cfi_run_initial(struct cfi_entries *e, struct cfi_cie *cie, const uint8_t *program, size_t size)
{
	struct run r;

	r.entries = e;
	r.cie = cie;
	r.rows = NULL;
	r.pc = 0;
	r.code = (struct cfi_bytes){program, program + size, false};
	r.depth = 0;
	r.err = 0;
	r.state = (struct cfi_state){.cfa = {.how = CFI_INVALID}};
	run_code(&r);
	cie->initial = r.state;
	return !r.code.bad;
}

int cfi_run(struct cfi_entries *e, const struct cfi_fde *fde, uint32_t lo, uint32_t hi, cfi_rows *rows)
{
	static const struct cfi_state unknown = {.cfa = {.how = CFI_INVALID}};
	const struct cfi_cie *cie = &e->cies.at[fde->cie];
	const uint8_t *program = e->section.data + fde->program;
	struct run r;

	if (cie->broken || !machine_is_ra(cie->ra_register))
		return machine_rows(rows, lo, hi, &unknown, false);
	r.entries = e;
	r.cie = cie;
	r.rows = rows;
	r.code = (struct cfi_bytes){program, program + fde->program_bytes, false};
	r.pc = r.function = fde->start;
	r.lo = lo;
	r.hi = hi;
	r.depth = 0;
	r.err = 0;
	r.state = cie->initial;
	run_code(&r);
	if (!r.err && r.pc < hi)
		r.err = machine_rows(rows, clip(&r, r.pc), hi, r.code.bad ? &unknown : &r.state, cie->signal);
	return r.err;
}
