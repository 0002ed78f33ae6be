// SPDX-License-Identifier: Apache-2.0
/* The instructions of a method: where they go, and what they become. */
#include "method.h"

#define GOTO_W 0xc8U
#define IINC 0x84U
#define JSR_W 0xc9U
#define WIDE 0xc4U

#define CODE_MAX 65535U
/* HotSpot's HugeMethodLimit: it never compiles a method with more bytes (-XX:-DontCompileHugeMethods: it does). */
#define COMPILED_MAX 8000U

enum { SWITCH = 0, WIDENS = 0xf, UNKNOWN = 0xe };

/* Lengths of instructions by opcode, two in a byte, the lower one first. */
static uint32_t length_of(uint32_t opcode)
{
	static const struct range {
		uint8_t last, length;
	} ranges[] = {{0x0f, 1}, {0x10, 2}, {0x11, 3},	    {0x12, 2}, {0x14, 3}, {0x19, 2}, {0x35, 1},
		      {0x3a, 2}, {0x83, 1}, {0x84, 3},	    {0x98, 1}, {0xa8, 3}, {0xa9, 2}, {0xab, SWITCH},
		      {0xb1, 1}, {0xb8, 3}, {0xba, 5},	    {0xbb, 3}, {0xbc, 2}, {0xbd, 3}, {0xbf, 1},
		      {0xc1, 3}, {0xc3, 1}, {0xc4, WIDENS}, {0xc5, 4}, {0xc7, 3}, {0xc9, 5}, {0xff, UNKNOWN}};
	size_t i = 0;

	while (opcode > ranges[i].last)
		i++;
	return ranges[i].length;
}

static bool is_return(uint32_t opcode)
{
	return opcode >= 0xac && opcode <= 0xb1;
}

/* Jumps with an offset of two bytes: if, goto, jsr, ifnull, ifnonnull. */
static bool is_jump(uint32_t opcode)
{
	return (opcode >= 0x99 && opcode <= 0xa8) || opcode == 0xc6 || opcode == 0xc7;
}

/* The default, and the offsets or pairs behind it. */
struct branches {
	const uint8_t *at; /* the first of them, behind counts and bounds */
	uint32_t count, step;
};

/* The switch at `offset`; false: it does not end in the code. */
static bool switch_read(const struct method *m, uint32_t offset, struct branches *b)
{
	struct reader r = {.at = m->code + offset + 1, .end = m->code + m->length};
	bool table = m->code[offset] == OPCODE_TABLESWITCH;
	int64_t low, high;

	read_bytes(&r, code_padding(offset) + 4);
	low = (int32_t)read_u4(&r);
	high = table ? (int32_t)read_u4(&r) : low - 1;
	if (!table)
		low = 0;
	if (r.bad || high - low + 1 < 0 || high - low + 1 > CODE_MAX)
		return false;
	*b = (struct branches){.at = r.at, .count = (uint32_t)(high - low + 1), .step = table ? 4 : 8};
	read_bytes(&r, (size_t)b->count * b->step);
	return !r.bad;
}

uint32_t code_instruction(const struct method *m, uint32_t offset)
{
	uint32_t length = length_of(m->code[offset]);
	struct branches b;

	if (length == SWITCH)
		return switch_read(m, offset, &b)
			       ? (uint32_t)(b.at - (m->code + offset)) + b.count * b.step - code_padding(offset)
			       : 0;
	if (length == UNKNOWN || offset + 1 >= m->length)
		return length == 1 ? 1 : 0;
	if (length == WIDENS)
		length = m->code[offset + 1] == IINC ? 6 : 4;
	return length <= m->length - offset ? length : 0;
}

static size_t inserted_size(const struct method *m, uint32_t offset)
{
	const struct put *put = writes_at(m, offset);

	return put ? put->size : is_return(m->code[offset]) ? m->exit.used : 0;
}

bool code_measure(struct method *m)
{
	size_t to = m->entry.used;
	uint32_t length, pad;

	m->place = malloc((m->length + 1) * sizeof(*m->place));
	if (!m->place)
		return false;
	memset(m->place, 0xff, (m->length + 1) * sizeof(*m->place));
	for (uint32_t at = 0; at < m->length; at += length + pad) {
		bool is_switch = code_is_switch(m->code[at]);

		length = code_instruction(m, at);
		if (!length)
			return false;
		m->place[at] = (uint32_t)to;
		pad = is_switch ? code_padding(at) : 0;
		to += length + (is_switch ? code_padding((uint32_t)to) : 0) + inserted_size(m, at);
	}
	m->place[m->length] = m->handler = (uint32_t)to;
	m->total = (uint32_t)(to + m->thrown.used);
	return m->total <= (m->length <= COMPILED_MAX ? COMPILED_MAX : CODE_MAX);
}

/* Where the jump of the instruction at `offset` leads, relative to its new place; false: to no instruction. */
static bool jump(const struct method *m, uint32_t offset, int64_t by, int64_t *to)
{
	int64_t target = (int64_t)offset + by;

	if (target < 0 || target >= m->length || m->place[target] == NO_PLACE)
		return false;
	*to = (int64_t)m->place[target] - m->place[offset];
	return true;
}

static bool switch_write(const struct method *m, struct writer *w, uint32_t offset)
{
	const uint8_t *at = m->code + offset + 1 + code_padding(offset);
	struct branches b;
	int64_t to;

	if (!switch_read(m, offset, &b) || !jump(m, offset, (int32_t)get_u4(at), &to))
		return false;
	write_u1(w, m->code[offset]);
	write_bytes(w, "\0\0\0", code_padding(m->place[offset]));
	write_u4(w, (uint32_t)to);
	write_bytes(w, at + 4, (size_t)(b.at - at) - 4);
	for (uint32_t i = 0; i < b.count; i++, b.at += b.step) {
		if (!jump(m, offset, (int32_t)get_u4(b.at + b.step - 4), &to))
			return false;
		write_bytes(w, b.at, b.step - 4);
		write_u4(w, (uint32_t)to);
	}
	return true;
}

/* The instruction at its new place, which is not behind an inserted call: jumps and switches have none. */
static bool instruction_write(const struct method *m, struct writer *w, uint32_t offset)
{
	const uint8_t *at = m->code + offset;
	const struct put *put = writes_at(m, offset);
	int64_t to;

	if (code_is_switch(*at))
		return switch_write(m, w, offset);
	if (is_jump(*at)) {
		if (!jump(m, offset, (int16_t)get_u2(at + 1), &to) || to < INT16_MIN || to > INT16_MAX)
			return false;
		write_u1(w, *at);
		write_u2(w, (uint32_t)to);
		return true;
	}
	if (*at == GOTO_W || *at == JSR_W) {
		if (!jump(m, offset, (int32_t)get_u4(at + 1), &to))
			return false;
		write_u1(w, *at);
		write_u4(w, (uint32_t)to);
		return true;
	}
	if (is_return(*at))
		write_bytes(w, m->exit.bytes, m->exit.used);
	if (put)
		write_bytes(w, m->writes.bytes + put->at, put->size);
	write_bytes(w, at, code_instruction(m, offset));
	return true;
}

bool code_write(const struct method *m, struct writer *w)
{
	write_bytes(w, m->entry.bytes, m->entry.used);
	for (uint32_t at = 0; at < m->length; at++)
		if (m->place[at] != NO_PLACE && !instruction_write(m, w, at))
			return false;
	write_bytes(w, m->thrown.bytes, m->thrown.used);
	return true;
}
