// SPDX-License-Identifier: Apache-2.0
/* The meaning of CFI rules on x86-64. Only this file and x86_64_code.c know the machine. */
#include "cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

/* System V ABI, AMD64 supplement, figure 3.36 */
enum { REG_RBX = 3, REG_RBP = 6, REG_RSP = 7, REG_R10 = 10, REG_RA = 16 };

/* ucontext_t at rsp: uc_mcontext.gregs[REG_RSP] (asm/sigcontext.h after asm-generic/ucontext.h's 40 bytes) */
#define UCONTEXT_RSP 160

#define SLOT_BYTES 16U
#define SLOTS_MAX (1U << 16)

const unsigned int machine_elf = EM_X86_64;
const char *const machine_name = "x86-64";

enum cfi_column machine_column(uint64_t reg)
{
	switch (reg) {
	case REG_RBP:
		return CFI_FP;
	case REG_RSP:
		return CFI_SP;
	case REG_RA:
		return CFI_RA;
	default:
		return CFI_IGNORED;
	}
}

bool machine_is_ra(uint64_t reg)
{
	return reg == REG_RA;
}

/* DW_OP_bregN offset and, with `deref`, a DW_OP_deref after it. */
static bool is_breg(const struct cfi_rule *rule, unsigned int reg, bool deref, int64_t *offset)
{
	struct cfi_bytes b;

	if (rule->how != CFI_EXPRESSION)
		return false;
	b = (struct cfi_bytes){rule->expr, rule->expr + rule->expr_bytes, false};
	if (bytes_uint(&b, 1) != DW_OP_breg0 + reg)
		return false;
	*offset = bytes_sleb(&b);
	if (deref && bytes_uint(&b, 1) != DW_OP_deref)
		return false;
	return !b.bad && b.at == b.end;
}

/*
 * The linker's lazy PLT (binutils, bfd/elfxx-x86.c and elf64-x86-64.c): rsp + 8 + ((rip & 15) >= N) * 8, where N is the
 * offset after the push of the slot's index: 11, or 9 (10 in earlier versions) when the slot begins with endbr64.
 */
static bool is_plt(const struct cfi_rule *rule, unsigned int *pushed)
{
	static const uint8_t lead[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t tail[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const uint8_t *expr = rule->expr;

	if (rule->how != CFI_EXPRESSION || rule->expr_bytes != sizeof(lead) + 1 + sizeof(tail) ||
	    memcmp(expr, lead, sizeof(lead)) || memcmp(expr + sizeof(lead) + 1, tail, sizeof(tail)))
		return false;
	*pushed = expr[sizeof(lead)] - (unsigned int)DW_OP_lit0;
	return *pushed > 0 && *pushed < SLOT_BYTES;
}

static bool offset_fits(int64_t offset, int bits)
{
	return offset % 8 == 0 && offset / 8 >= -(1LL << (bits - 1)) && offset / 8 < 1LL << (bits - 1);
}

static uint32_t cfa_kind(const struct cfi_rule *cfa, int64_t *offset)
{
	*offset = cfa->offset;
	if (cfa->how == CFI_REGISTER)
		return cfa->reg == REG_RSP   ? BRAID_CFA_RSP
		       : cfa->reg == REG_RBP ? BRAID_CFA_RBP
		       : cfa->reg == REG_R10 ? BRAID_CFA_R10
		       : cfa->reg == REG_RBX ? BRAID_CFA_RBX
					     : BRAID_CFA_UNSUPPORTED;
	if (is_breg(cfa, REG_RBP, true, offset))
		return BRAID_CFA_DEREF_RBP;
	if (is_breg(cfa, REG_RSP, true, offset))
		return BRAID_CFA_DEREF_RSP;
	return BRAID_CFA_UNSUPPORTED;
}

/* When no row can express where the frame pointer is saved, the walker loses the frame pointer but not the frame. */
static uint32_t rbp_kind(const struct cfi_rule *rbp, int64_t *offset)
{
	*offset = 0;
	if (rbp->how == CFI_UNSPECIFIED || rbp->how == CFI_SAME)
		return BRAID_RBP_SAME;
	if (rbp->how == CFI_OFFSET) {
		*offset = rbp->offset;
		return BRAID_RBP_CFA;
	}
	if (is_breg(rbp, REG_RBP, false, offset))
		return BRAID_RBP_RBP;
	*offset = 0;
	return BRAID_RBP_UNDEFINED;
}

static bool caller_is_plain(const struct cfi_state *s)
{
	const struct cfi_rule *ra = &s->column[CFI_RA], *rsp = &s->column[CFI_SP];

	return ra->how == CFI_OFFSET && ra->offset == -8 &&
	       (rsp->how == CFI_UNSPECIFIED || (rsp->how == CFI_VAL_OFFSET && rsp->offset == 0));
}

static uint32_t rule_of(const struct cfi_state *s, bool signal)
{
	int64_t cfa_offset, rbp_offset;
	uint32_t cfa, rbp;

	if (signal && is_breg(&s->cfa, REG_RSP, true, &cfa_offset) && cfa_offset == UCONTEXT_RSP)
		return BRAID_CFA_SIGNAL;
	if (s->column[CFI_RA].how == CFI_UNDEFINED)
		return BRAID_CFA_ROOT;
	cfa = cfa_kind(&s->cfa, &cfa_offset);
	rbp = rbp_kind(&s->column[CFI_FP], &rbp_offset);
	if (cfa == BRAID_CFA_UNSUPPORTED || !caller_is_plain(s) || !offset_fits(cfa_offset, 16) ||
	    !offset_fits(rbp_offset, 10))
		return BRAID_CFA_UNSUPPORTED;
	return braid_rule(cfa, (int32_t)cfa_offset, rbp, (int32_t)rbp_offset);
}

static uint32_t rsp_rule(int32_t offset)
{
	return braid_rule(BRAID_CFA_RSP, offset, BRAID_RBP_SAME, 0);
}

/* Slots that BRAID_CFA_PLT cannot express get their own rows. */
static int slot_rows(cfi_rows *rows, uint32_t lo, uint32_t hi, unsigned int pushed)
{
	uint64_t pc = lo & ~(SLOT_BYTES - 1);
	int err = 0;

	if ((hi - lo) / SLOT_BYTES >= SLOTS_MAX)
		return rows_put(rows, lo, BRAID_CFA_UNSUPPORTED);
	for (; pc < hi && !err; pc += SLOT_BYTES) {
		if (pc + pushed > lo)
			err = rows_put(rows, pc < lo ? lo : (uint32_t)pc, rsp_rule(8));
		if (!err && pc + pushed < hi)
			err = rows_put(rows, pc + pushed < lo ? lo : (uint32_t)(pc + pushed), rsp_rule(16));
	}
	return err;
}

int machine_rows(cfi_rows *rows, uint32_t lo, uint32_t hi, const struct cfi_state *state, bool signal)
{
	unsigned int pushed;

	if (!is_plt(&state->cfa, &pushed) || !caller_is_plain(state) ||
	    (state->column[CFI_FP].how != CFI_UNSPECIFIED && state->column[CFI_FP].how != CFI_SAME))
		return rows_put(rows, lo, rule_of(state, signal));
	if (pushed == 11)
		return rows_put(rows, lo, braid_rule(BRAID_CFA_PLT, 0, BRAID_RBP_SAME, 0));
	return slot_rows(rows, lo, hi, pushed);
}

/* ---- jump slots without CFI ---- */

static bool code_is(const struct machine_plt *plt, size_t at, const char *bytes, size_t size)
{
	return at + size <= plt->size && memcmp(plt->code + at, bytes, size) == 0;
}

/* push *GOT+8(%rip): the first slot of a lazy PLT; the others push their index, after an endbr64 or a jump. */
static unsigned int lazy_pushed(const struct machine_plt *plt)
{
	if (!code_is(plt, 0, "\xff\x35", 2))
		return 0;
	if (code_is(plt, SLOT_BYTES, "\xf3\x0f\x1e\xfa\x68", 5))
		return 9;
	if (code_is(plt, SLOT_BYTES, "\xff\x25", 2) && code_is(plt, SLOT_BYTES + 6, "\x68", 1))
		return 11;
	return 0;
}

static bool is_plain(const struct machine_plt *plt)
{
	return code_is(plt, 0, "\xff\x25", 2) || code_is(plt, 0, "\xf2\xff\x25", 3) ||
	       code_is(plt, 0, "\xf3\x0f\x1e\xfa\xff\x25", 6) || code_is(plt, 0, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7);
}

bool machine_plt_known(const struct machine_plt *plt)
{
	static const char *const names[] = {".plt", ".plt.got", ".plt.sec", ".plt.bnd", ".iplt"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(plt->name, names[i]))
			return is_plain(plt) || (plt->start % SLOT_BYTES == 0 && lazy_pushed(plt));
	return false;
}

static int put_between(cfi_rows *rows, uint64_t from, uint64_t to, uint32_t lo, uint32_t hi, uint32_t rule)
{
	uint64_t start = from < lo ? lo : from, end = to > hi ? hi : to;

	return start < end ? rows_put(rows, (uint32_t)start, rule) : 0;
}

int machine_plt_rows(cfi_rows *rows, const struct machine_plt *plt, uint32_t lo, uint32_t hi)
{
	unsigned int pushed = lazy_pushed(plt);
	uint64_t start = plt->start, slots = start + SLOT_BYTES;
	int err;

	if (!pushed)
		return rows_put(rows, lo, rsp_rule(8));
	/* The other slots jump to the first one with an index on the stack; it pushes the link map. */
	err = put_between(rows, start, start + 6, lo, hi, rsp_rule(16));
	if (!err)
		err = put_between(rows, start + 6, slots, lo, hi, rsp_rule(24));
	if (err || hi <= slots)
		return err;
	if (lo < slots)
		lo = (uint32_t)slots;
	return pushed == 11 ? rows_put(rows, lo, braid_rule(BRAID_CFA_PLT, 0, BRAID_RBP_SAME, 0))
			    : slot_rows(rows, lo, hi, pushed);
}
