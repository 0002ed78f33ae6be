// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes x86-64 instructions: their lengths, and the effects of those that move rsp or rbp (Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2, appendix A).
 */
#include "code.h"

#include <string.h>

enum { RSP = 4, RBP = 5 };

/* What follows an opcode. */
enum { MODRM = 1, IMM8 = 2, IMM32 = 4, IMM16 = 8, MOFFS = 16, IMM64 = 32, NONE = 0, BAD = 128 };

struct decoder {
	const uint8_t *code;
	size_t size;
	size_t at;
	bool operand16, wide, rep;
	uint8_t rex;
	uint8_t opcode, modrm;
	unsigned int map; /* 0: one byte, 1: 0F, 2: 0F38, 3: 0F3A */
	bool vector;	  /* VEX or EVEX */
	int64_t immediate, displacement;
};

static unsigned int layout_low(uint8_t op)
{
	static const uint8_t alu[8] = {MODRM, MODRM, MODRM, MODRM, IMM8, IMM32, BAD, BAD};

	return alu[op & 7];
}

static unsigned int layout_one(uint8_t op)
{
	if (op < 0x40)
		return layout_low(op);
	switch (op) {
	case 0x63:
	case 0x84 ... 0x8f:
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf:
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return MODRM;
	case 0x68:
	case 0xa9:
	case 0xe8:
	case 0xe9:
		return IMM32;
	case 0x69:
	case 0x81:
	case 0xc7:
		return MODRM | IMM32;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return MODRM | IMM8;
	case 0x6a:
	case 0x70 ... 0x7f:
	case 0xa8:
	case 0xb0 ... 0xb7:
	case 0xcd:
	case 0xe0 ... 0xe7:
	case 0xeb:
		return IMM8;
	case 0xa0 ... 0xa3:
		return MOFFS;
	case 0xb8 ... 0xbf:
		return IMM64;
	case 0xc2:
	case 0xca:
		return IMM16;
	case 0xc8:
		return IMM16 | IMM8;
	case 0x60 ... 0x62:
	case 0x82:
	case 0x9a:
	case 0xce:
	case 0xd4 ... 0xd6:
	case 0xea:
		return BAD;
	default:
		return NONE;
	}
}

static unsigned int layout_two(uint8_t op)
{
	switch (op) {
	case 0x04:
	case 0x0a:
	case 0x0c:
	case 0x24 ... 0x27:
	case 0x36:
	case 0x39:
	case 0x3b ... 0x3f:
	case 0x7a:
	case 0x7b:
		return BAD;
	case 0x05 ... 0x09:
	case 0x0b:
	case 0x0e:
	case 0x30 ... 0x35:
	case 0x37:
	case 0x77:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return NONE;
	case 0x80 ... 0x8f:
		return IMM32;
	case 0x0f:
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return MODRM | IMM8;
	default:
		return MODRM;
	}
}

static uint8_t instruction_next(struct decoder *d)
{
	return d->at < d->size ? d->code[d->at++] : (d->at++, 0);
}

static int64_t operand_number(struct decoder *d, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)instruction_next(d) << 8 * i;
	return bytes == 1 ? (int8_t)value : bytes == 4 ? (int32_t)value : (int64_t)value;
}

static void prefixes(struct decoder *d)
{
	for (; d->at < d->size && d->at < 14; d->at++) {
		switch (d->code[d->at]) {
		case 0x66:
			d->operand16 = true;
			break;
		case 0xf2:
		case 0xf3:
			d->rep = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x67:
		case 0xf0:
			break;
		default:
			return;
		}
	}
}

static void vector_prefix(struct decoder *d, uint8_t first)
{
	uint8_t second = instruction_next(d);

	d->vector = true;
	d->map = first == 0xc5 ? 1 : second & 7;
	if (first == 0xc4)
		instruction_next(d);
	if (first == 0x62) {
		instruction_next(d);
		instruction_next(d);
	}
	d->opcode = instruction_next(d);
}

/* Reads up to the opcode and returns the layout of what follows. */
static unsigned int opcode(struct decoder *d)
{
	uint8_t op;

	prefixes(d);
	op = instruction_next(d);
	if ((op & 0xf0) == 0x40) {
		d->rex = op;
		op = instruction_next(d);
	}
	if (op == 0xc4 || op == 0xc5 || op == 0x62) {
		vector_prefix(d, op);
	} else if (op == 0x0f) {
		d->map = 1;
		d->opcode = instruction_next(d);
		if (d->opcode == 0x38 || d->opcode == 0x3a) {
			d->map = d->opcode == 0x38 ? 2 : 3;
			d->opcode = instruction_next(d);
		}
	} else {
		d->opcode = op;
	}
	switch (d->map) {
	case 0:
		return layout_one(d->opcode);
	case 1:
		return layout_two(d->opcode);
	case 3:
		return MODRM | IMM8;
	default: /* 5 and 6: half precision */
		return d->map == 2 || (d->vector && d->map >= 5) ? MODRM : BAD;
	}
}

static void operands(struct decoder *d, unsigned int layout)
{
	uint8_t mod, rm;

	if (layout & MODRM) {
		d->modrm = instruction_next(d);
		mod = d->modrm >> 6;
		rm = d->modrm & 7;
		if (mod != 3 && rm == 4 && (instruction_next(d) & 7) == 5 && mod == 0)
			mod = 2;
		else if (mod == 0 && rm == 5)
			mod = 2;
		if (mod == 1 || mod == 2)
			d->displacement = operand_number(d, mod == 1 ? 1 : 4);
		/* test has an immediate, the others of its group do not */
		if (d->map == 0 && (d->opcode == 0xf6 || d->opcode == 0xf7) && (d->modrm & 0x30) == 0)
			layout |= d->opcode == 0xf6 ? IMM8 : IMM32;
	}
	if (layout & IMM16)
		operand_number(d, 2);
	if (layout & IMM8)
		d->immediate = operand_number(d, 1);
	if (layout & IMM32) /* branches never have a shorter one */
		d->immediate =
			operand_number(d, d->operand16 && d->opcode != 0xe8 && d->opcode != 0xe9 && !d->map ? 2 : 4);
	if (layout & IMM64)
		operand_number(d, d->rex & 8 ? 8 : d->operand16 ? 2 : 4);
	if (layout & MOFFS)
		operand_number(d, 8);
}

/* ---- meaning ---- */

static unsigned int reg_of(const struct decoder *d)
{
	return (d->modrm >> 3 & 7) | (d->rex & 4) << 1;
}

/* The register operand of mod r/m, or 16 when it is memory. */
static unsigned int rm_of(const struct decoder *d)
{
	return d->modrm >> 6 == 3 ? (d->modrm & 7U) | (d->rex & 1U) << 3 : 16;
}

static enum code_kind lost(unsigned int reg)
{
	return reg == RSP ? CODE_SP_LOST : reg == RBP ? CODE_FP_LOST : CODE_OTHER;
}

/* The base of an address operand of sp or fp and a displacement, or 16. */
static unsigned int base_of(const struct decoder *d, size_t modrm_at)
{
	if (d->modrm >> 6 == 3 || (d->rex & 3))
		return 16;
	if ((d->modrm & 7) == 4) /* only a SIB byte can encode rsp alone */
		return modrm_at + 1 < d->size && d->code[modrm_at + 1] == 0x24 ? RSP : 16;
	return (d->modrm & 7) == RBP && d->modrm >> 6 ? RBP : 16;
}

static enum code_kind move(struct code_insn *out, unsigned int to, unsigned int from, int64_t offset)
{
	out->value = offset;
	if (to == RSP)
		return from == RSP ? CODE_MOVE_SP : from == RBP ? CODE_SP_FROM_FP : CODE_SP_LOST;
	if (to == RBP)
		return from == RSP ? CODE_FP_FROM_SP : CODE_FP_LOST;
	return CODE_OTHER;
}

/* add, sub and and with an immediate, and the like. */
static enum code_kind arithmetic(struct code_insn *out, const struct decoder *d)
{
	unsigned int what = d->modrm >> 3 & 7, to = rm_of(d);

	if (what == 7) /* cmp */
		return CODE_OTHER;
	if (to == RSP && (d->rex & 8) && (what == 0 || what == 5))
		return move(out, RSP, RSP, what == 0 ? d->immediate : -d->immediate);
	return lost(to);
}

static enum code_kind group_ff(const struct decoder *d)
{
	switch (d->modrm >> 3 & 7) {
	case 2:
		return CODE_CALL_UNKNOWN;
	case 4:
		return CODE_JUMP_UNKNOWN;
	case 6:
		return d->operand16 ? CODE_SP_LOST : CODE_PUSH;
	default:
		return lost(rm_of(d));
	}
}

static enum code_kind meaning_two(struct code_insn *out, const struct decoder *d)
{
	uint8_t op = d->opcode;

	if (op >= 0x80 && op <= 0x8f) {
		out->value = out->length + d->immediate;
		return CODE_BRANCH;
	}
	switch (op) {
	case 0x0b:
		return CODE_STOP;
	case 0x1e: /* endbr64 and nops */
	case 0x1f:
		return op == 0x1f ? CODE_PADDING : CODE_OTHER;
	case 0x40 ... 0x4f:
	case 0xaf:
	case 0xb6 ... 0xb8:
	case 0xbc ... 0xbf:
		return lost(reg_of(d));
	case 0xb0:
	case 0xb1:
	case 0xc0:
	case 0xc1:
		return lost(rm_of(d));
	case 0xc8 ... 0xcf:
		return lost((op & 7U) | (d->rex & 1U) << 3);
	default:
		return CODE_OTHER;
	}
}

static enum code_kind meaning_low(const struct decoder *d)
{
	if (d->opcode >= 0x38) /* cmp */
		return CODE_OTHER;
	switch (d->opcode & 7) {
	case 0:
	case 1:
		return lost(rm_of(d));
	case 2:
	case 3:
		return lost(reg_of(d));
	default:
		return CODE_OTHER;
	}
}

/* The effect of a one-byte opcode that meaning_one() does not know. */
static enum code_kind meaning_data(struct code_insn *out, const struct decoder *d, size_t modrm_at)
{
	uint8_t op = d->opcode;
	unsigned int from;

	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
		return lost(reg_of(d));
	case 0x80:
	case 0x81:
	case 0x83:
		return arithmetic(out, d);
	case 0x86:
	case 0x87:
		return lost(rm_of(d)) != CODE_OTHER ? lost(rm_of(d)) : lost(reg_of(d));
	case 0x89:
		return d->rex & 8 ? move(out, rm_of(d), reg_of(d), 0) : lost(rm_of(d));
	case 0x8b:
		return d->rex & 8 && rm_of(d) < 16 ? move(out, reg_of(d), rm_of(d), 0) : lost(reg_of(d));
	case 0x8d:
		from = base_of(d, modrm_at);
		return d->rex & 8 ? move(out, reg_of(d), from, d->displacement) : lost(reg_of(d));
	case 0x88:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0 ... 0xd3:
		return lost(rm_of(d));
	case 0xf6:
	case 0xf7:
		return (d->modrm & 0x38) == 0x10 || (d->modrm & 0x38) == 0x18 ? lost(rm_of(d)) : CODE_OTHER;
	case 0xb8 ... 0xbf:
		return lost((op & 7U) | (d->rex & 1U) << 3);
	case 0xfe:
	case 0xff:
		return op == 0xff ? group_ff(d) : lost(rm_of(d));
	default:
		return CODE_OTHER;
	}
}

static enum code_kind meaning_one(struct code_insn *out, const struct decoder *d, size_t modrm_at)
{
	uint8_t op = d->opcode;
	unsigned int low = (op & 7U) | (d->rex & 1U) << 3;

	if (op < 0x40)
		return meaning_low(d);
	switch (op) {
	case 0x50 ... 0x57:
		return low == RBP ? CODE_PUSH_FP : CODE_PUSH;
	case 0x58 ... 0x5f:
		return low == RSP ? CODE_SP_LOST : low == RBP ? CODE_POP_FP : CODE_POP;
	case 0x68:
	case 0x6a:
	case 0x9c:
		return CODE_PUSH;
	case 0x9d:
		return CODE_POP;
	case 0x8f:
		return rm_of(d) < 16 ? CODE_SP_LOST : CODE_POP;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
	case 0xe8:
	case 0xe9:
	case 0xeb:
		out->value = out->length + d->immediate;
		return op == 0xe8 ? CODE_CALL : op == 0xe9 || op == 0xeb ? CODE_JUMP : CODE_BRANCH;
	case 0x90:
		return CODE_PADDING;
	case 0xc2:
	case 0xc3:
		return CODE_RETURN;
	case 0xc8:
		return CODE_SP_LOST;
	case 0xc9:
		return CODE_LEAVE;
	case 0xcc:
	case 0xf4:
		return CODE_STOP;
	default:
		return meaning_data(out, d, modrm_at);
	}
}

void machine_decode(struct code_insn *out, const uint8_t *code, size_t size)
{
	struct decoder d = {.code = code, .size = size < 15 ? size : 15};
	unsigned int layout = opcode(&d);
	size_t modrm_at = d.at;

	out->value = 0;
	if (!(layout & BAD))
		operands(&d, layout);
	if ((layout & BAD) || d.at > d.size) {
		out->length = 1;
		out->kind = CODE_INVALID;
		return;
	}
	out->length = (uint8_t)d.at;
	if (d.vector || d.map > 1)
		out->kind = CODE_OTHER;
	else
		out->kind = (uint8_t)(d.map ? meaning_two(out, &d) : meaning_one(out, &d, modrm_at));
}

const int32_t machine_entry_height = 8;

uint32_t machine_rule(int32_t height, int32_t fp_cfa, int32_t saved)
{
	uint32_t rbp = saved > 0 ? BRAID_RBP_CFA : saved < 0 ? BRAID_RBP_UNDEFINED : BRAID_RBP_SAME;
	int32_t offset = saved > 0 ? -saved : 0;

	if (offset < -512 * 8) {
		rbp = BRAID_RBP_UNDEFINED;
		offset = 0;
	}
	/* A frame pointer that points to the saved one is intentional; any other one is better than nothing. */
	if (fp_cfa >= 0 && fp_cfa / 8 < 1 << 15 && (fp_cfa == saved || height < 0))
		return braid_rule(BRAID_CFA_RBP, fp_cfa, rbp, offset);
	if (height >= 0 && height / 8 < 1 << 15)
		return braid_rule(BRAID_CFA_RSP, height, rbp, offset);
	return BRAID_CFA_NONE;
}
