// SPDX-License-Identifier: Apache-2.0
/* One method that is being rewritten: what its parts share. For this folder only. */
#ifndef BRAID_AGENT_REWRITE_METHOD_H
#define BRAID_AGENT_REWRITE_METHOD_H

#include "rewrite.h"

#define NO_PLACE UINT32_MAX

#define OPCODE_TABLESWITCH 0xaaU
#define OPCODE_LOOKUPSWITCH 0xabU
#define OPCODE_NEW 0xbbU

#define OPCODE_PUTSTATIC 0xb3U
#define OPCODE_PUTFIELD 0xb5U

#define WRITE_CALLS 11U /* the fact alone, and by type with one value, or two */

#define TIME_SLOTS 2U /* of the new variable that all have: when the call began */

/* Indices of what calls need in the constant pool; made with the first method of a class that needs them. */
struct helper_entries {
	uint32_t enter, exit, thrown; /* methods */
	uint32_t throwable;	      /* class */
	uint32_t stack_map_table;     /* text */
	/* for values */
	uint32_t exit_values, thrown_values, bits; /* methods */
	uint32_t object;			   /* class */
	/* for writes to fields */
	uint32_t wrote[WRITE_CALLS]; /* methods */
};

/* A Field entry of the class's constants. */
struct put {
	bool may;	 /* be chosen */
	uint32_t method; /* number of the one for which the rest holds; 0: none */
	uint8_t opcode;	 /* of the writes: one by the other opcode fails, as the field is static or not */
	size_t at, size; /* what is inserted in front of a write, in the method's `writes`; size 0: nothing */
};

/* A field of the class. */
struct field {
	struct text type;
	uint32_t entry; /* in the constant pool */
};

struct class;

struct method {
	struct pool *pool;
	struct helper_entries *helper;
	struct class *class_being;
	bool (*field_find)(struct class *c, struct text name, struct field *to);
	struct text descriptor;
	uint32_t class;	 /* that declares it */
	uint32_t number; /* in the class, from 1 on */
	bool is_static, constructor;
	bool timed;
	bool handler_added;		   /* behind its code, for what it throws */
	bool frames;			   /* its class file has stack map frames */
	uint32_t local;			   /* the first new variable: when the call began; values follow */
	uint32_t slots;			   /* of the new variables */
	uint32_t stack;			   /* deepest, as it was */
	uint32_t new_stack;		   /* as it becomes */
	uint8_t kinds[REWRITE_VALUES];	   /* enum rewrite_kind of the values, each of which has a variable */
	bool lacks;			   /* some that were asked for are not there */
	struct writer entry, exit, thrown; /* what is inserted; thrown: the handler, empty in a constructor */
	struct put *puts;		   /* by index of a constant; NULL: no write is chosen */
	struct writer writes;
	uint32_t write_count;
	const uint8_t *code; /* as it was */
	uint32_t length;     /* of it */
	uint32_t *place;     /* by offset in the old code and for its end: the new offset, where what was inserted in
			      front of the instruction begins; NO_PLACE: not the beginning of an instruction */
	uint32_t handler;    /* offset of the new handler: the end of the old code's new place */
	uint32_t total;	     /* length of the new code */
};

/* calls.c: fills what is inserted. False: out of memory, or too large for a class file. */
bool calls_make(struct method *m, const struct rewrite_choice *c);
void calls_free(struct method *m);
/* False: the pool is full. */
bool call_number(struct method *m, struct writer *w, uint32_t number);
void call_index(struct writer *w, uint32_t opcode, uint32_t index);

/* writes.c: what is inserted in front of writes to fields. False: malformed, out of memory, or too large. */
bool writes_make(struct method *m, const struct rewrite *r, const struct rewrite_method *what);
/* The entry that says what is inserted in front of the instruction; NULL: nothing. */
const struct put *writes_at(const struct method *m, uint32_t offset);

/* code.c: sets what depends on the instructions; false: malformed, or too long. m->place must be freed in any case. */
bool code_measure(struct method *m);
/* The length of an instruction, without a switch's padding; 0: malformed. It needs m->code and m->length only. */
uint32_t code_instruction(const struct method *m, uint32_t offset);
/* Writes the new code; false: a jump has become too long. */
bool code_write(const struct method *m, struct writer *w);

/* frames.c: writes the attribute StackMapTable with all frames in full; `table` is the old one, or is empty. */
bool frames_write(const struct method *m, struct reader table, struct writer *w);

/* Steps through a method's descriptor. False: it is malformed; or there is no further argument. */
bool descriptor_begin(struct text *rest);
bool descriptor_next(struct text *rest, struct text *argument);

static inline bool code_is_switch(uint32_t opcode)
{
	return opcode == OPCODE_TABLESWITCH || opcode == OPCODE_LOOKUPSWITCH;
}

/* Of a switch. */
static inline uint32_t code_padding(uint32_t offset)
{
	return 3 - offset % 4;
}

static inline uint32_t slots_of_type(char type)
{
	return type == 'J' || type == 'D' ? 2 : 1;
}

static inline uint32_t method_place(const struct method *m, uint32_t offset)
{
	return offset <= m->length ? m->place[offset] : NO_PLACE;
}

#endif
