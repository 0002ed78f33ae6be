// SPDX-License-Identifier: Apache-2.0
/*
 * What is inserted in front of instructions that write chosen fields. On the stack are the object, unless the field is
 * static, and the value: both are there behind the call, too.
 */
#include "method.h"

#define DUP 0x59U
#define DUP2 0x5cU
#define DUP2_X1 0x5dU
#define DUP_X2 0x5bU
#define GETFIELD 0xb4U
#define GETSTATIC 0xb2U
#define INVOKESTATIC 0xb8U
#define POP 0x57U
#define POP2 0x58U
#define SWAP 0x5fU

#define STACK_WRITE 5U /* two values of two slots, of which one is the instruction's, and the id: 2 + 2 + 1 */

#define TYPES 5U

enum { FACT, NOW, BOTH = NOW + TYPES };
_Static_assert(BOTH + TYPES == WRITE_CALLS, "calls");

/*
 * A call with both values returns the new one, so that no instruction has to copy it; but an Object would need a cast.
 */
static uint32_t call_entry(struct method *m, uint32_t call)
{
	static const struct text descriptors[WRITE_CALLS] = {TEXT_OF("(I)V"),
							     TEXT_OF("(II)V"),
							     TEXT_OF("(JI)V"),
							     TEXT_OF("(FI)V"),
							     TEXT_OF("(DI)V"),
							     TEXT_OF("(Ljava/lang/Object;I)V"),
							     TEXT_OF("(III)I"),
							     TEXT_OF("(JJI)J"),
							     TEXT_OF("(FFI)F"),
							     TEXT_OF("(DDI)D"),
							     TEXT_OF("(Ljava/lang/Object;Ljava/lang/Object;I)V")};
	uint32_t *entry = &m->helper->wrote[call];

	if (!*entry)
		*entry = pool_add_method(m->pool, pool_class(m->pool, TEXT(REWRITE_FIELD_HELPER)), TEXT("wrote"),
					 descriptors[call]);
	return *entry;
}

static uint32_t type_of(struct text descriptor)
{
	static const char types[] = "IJFD"; /* in the order of the descriptors */
	const char *at = strchr(types, *descriptor.at);

	return strchr("L[", *descriptor.at) ? TYPES - 1 : at ? (uint32_t)(at - types) : 0;
}

/* Reads the value that is there before: in front of the value of an object's field is the object. */
static void before_write(struct writer *w, uint32_t opcode, uint32_t field, bool wide, bool object)
{
	if (opcode == OPCODE_PUTSTATIC) {
		if (object)
			write_u1(w, DUP);
		call_index(w, GETSTATIC, field);
		return;
	}
	if (wide) {
		write_u1(w, DUP2_X1);
		write_u1(w, POP2);
		write_u1(w, DUP_X2);
	} else {
		write_u1(w, DUP2);
		write_u1(w, object ? SWAP : POP);
	}
	call_index(w, GETFIELD, field);
}

static bool call_write(struct method *m, uint32_t opcode, uint32_t field, struct text descriptor,
		       const struct rewrite_write *write)
{
	uint32_t type = type_of(descriptor), call = FACT;
	bool wide = slots_of_type(*descriptor.at) == 2;

	/* Before super(), a constructor cannot read a field. */
	if (write->before && !(m->constructor && opcode == OPCODE_PUTFIELD)) {
		call = BOTH + type;
		before_write(&m->writes, opcode, field, wide, type == TYPES - 1);
	} else if (write->now || write->before) {
		call = NOW + type;
		write_u1(&m->writes, wide ? DUP2 : DUP);
	}
	if (!call_number(m, &m->writes, write->id) || !call_entry(m, call))
		return false;
	call_index(&m->writes, INVOKESTATIC, call_entry(m, call));
	return true;
}

/* The first write of the method to a field decides what is inserted in front of all of them. */
static bool put_make(struct method *m, const struct rewrite *r, const struct rewrite_method *what, uint32_t opcode,
		     uint32_t index)
{
	struct put *put = &m->puts[index];
	struct rewrite_write write = {0};
	struct rewrite_field f;

	if (put->method == m->number)
		return true;
	put->method = m->number;
	put->opcode = (uint8_t)opcode;
	put->at = m->writes.used;
	put->size = 0;
	if (!pool_field(m->pool, index, &f) || !r->choose_write(r->ctx, &f, what, &write))
		return true;
	if (!call_write(m, opcode, index, f.type, &write))
		return false;
	put->size = m->writes.used - put->at;
	return !m->writes.failed;
}

static bool is_write(const struct method *m, uint32_t offset)
{
	uint32_t opcode = m->code[offset];

	return opcode == OPCODE_PUTFIELD || opcode == OPCODE_PUTSTATIC;
}

bool writes_make(struct method *m, const struct rewrite *r, const struct rewrite_method *what)
{
	uint32_t length, index;

	for (uint32_t at = 0; at < m->length; at += length) {
		length = code_instruction(m, at);
		if (!length)
			return false;
		if (code_is_switch(m->code[at]))
			length += code_padding(at);
		if (!is_write(m, at))
			continue;
		index = get_u2(m->code + at + 1);
		if (index >= m->pool->own || !m->puts[index].may)
			continue;
		if (!put_make(m, r, what, m->code[at], index))
			return false;
		m->write_count += writes_at(m, at) != NULL;
	}
	m->new_stack = m->stack + (m->write_count ? STACK_WRITE : 0);
	return m->new_stack <= UINT16_MAX;
}

const struct put *writes_at(const struct method *m, uint32_t offset)
{
	const struct put *put;
	uint32_t index;

	if (!m->puts || !is_write(m, offset))
		return NULL;
	index = get_u2(m->code + offset + 1);
	put = index < m->pool->own && m->puts[index].may ? &m->puts[index] : NULL;
	return put && put->size && put->method == m->number && put->opcode == m->code[offset] ? put : NULL;
}
