// SPDX-License-Identifier: Apache-2.0
/* One method that is being rewritten: what its parts share. For this folder only. */
#ifndef BRAID_AGENT_REWRITE_METHOD_H
#define BRAID_AGENT_REWRITE_METHOD_H

#include "pool.h"

#define NO_PLACE UINT32_MAX

#define OPCODE_NEW 0xbbU

/* Indices of what calls need in the constant pool; made with the first method of a class that is rewritten. */
struct helper_entries {
	uint32_t enter, exit, thrown; /* methods */
	uint32_t throwable;	      /* class */
	uint32_t stack_map_table;     /* text */
};

struct method {
	struct pool *pool;
	const struct helper_entries *helper;
	struct text descriptor;
	uint32_t class; /* that declares it */
	bool is_static, constructor;
	bool frames;	     /* its class file has stack map frames */
	uint32_t id_op, id;  /* the instruction that pushes the id, and its operand */
	uint32_t local;	     /* the new variable, of two slots */
	uint32_t stack;	     /* deepest, as it was */
	const uint8_t *code; /* as it was */
	uint32_t length;     /* of it */
	uint32_t *place;     /* by offset in the old code and for its end: the new offset, where what was inserted in
				  front of the instruction begins; NO_PLACE: not the beginning of an instruction */
	uint32_t handler;    /* offset of the new handler: the end of the old code's new place */
	uint32_t total;	     /* length of the new code */
};

/* code.c: sets what depends on the instructions; false: malformed, or too long. m->place must be freed in any case. */
bool code_measure(struct method *m);
/* Writes the new code; false: a jump has become too long. */
bool code_write(const struct method *m, struct writer *w);

/* frames.c: writes the attribute StackMapTable with all frames in full; `table` is the old one, or is empty. */
bool frames_write(const struct method *m, struct reader table, struct writer *w);

static inline uint32_t method_place(const struct method *m, uint32_t offset)
{
	return offset <= m->length ? m->place[offset] : NO_PLACE;
}

#endif
