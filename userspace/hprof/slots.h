// SPDX-License-Identifier: Apache-2.0
/* Where an object refers to others: its fields by name, its elements by index. Reads the dump at the object's place. */
#ifndef BRAID_HPROF_SLOTS_H
#define BRAID_HPROF_SLOTS_H

#include "dump.h"

enum hprof_slot_kind {
	HPROF_SLOT_FIELD,
	HPROF_SLOT_ELEMENT,
	HPROF_SLOT_STATIC,
	HPROF_SLOT_CONSTANT, /* of a class's constant pool */
	HPROF_SLOT_CLASS,    /* the object's class */
	HPROF_SLOT_SUPER,    /* the class above a class */
	HPROF_SLOT_LOADER,
	HPROF_SLOT_SIGNERS,
	HPROF_SLOT_DOMAIN, /* a class's protection domain */
	HPROF_SLOT_RESERVED,
};

struct hprof_slot {
	enum hprof_slot_kind kind;
	uint64_t id;	/* of the object that it refers to, or the primitive value */
	uint64_t name;	/* of a field, as a string's id */
	uint32_t field; /* in the dump's fields; HPROF_NONE for other kinds */
	uint32_t index; /* of an element */
	uint8_t type;
};

/* Not 0: the last slot is reached, or an error, which the caller returns. */
typedef int (*hprof_slot_fn)(void *ctx, const struct hprof_slot *slot);

/* Calls fn for what a class refers to. `at`: its part of the dump. What fn returned, 0, or -EBADMSG. */
int hprof_class_slots(struct hprof_dump *d, uint64_t at, hprof_slot_fn fn, void *ctx);

/* The same for any object, and with `values` also for its fields that are no references. */
int hprof_slots(struct hprof_dump *d, uint32_t object, bool values, hprof_slot_fn fn, void *ctx);

#endif
