// SPDX-License-Identifier: Apache-2.0
/*
 * Where HotSpot keeps what a heap dump needs: struct braid_layout as the agent has checked it, and what the VM's tables
 * have besides. Offsets count from the start of the structure.
 */
#ifndef BRAID_HEAPDUMP_VM_H
#define BRAID_HEAPDUMP_VM_H

#include "copy.h"

#include <braid/heap_roots.h>
#include <braid/vm_tables.h>

struct vm {
	const struct copy *copy;
	struct braid_layout layout;
	struct braid_names names;

	/* Klass */
	uint16_t klass_layout, klass_super, klass_mirror, klass_subklass, klass_sibling, klass_loader_data;
	uint16_t klass_vtable; /* in InstanceKlass in 8 */
	/* InstanceKlass */
	uint16_t instance_size; /* sizeof */
	uint16_t instance_itable, instance_oop_maps, instance_fields, instance_java_fields, instance_constants;
	uint16_t instance_arrays, array_higher;
	bool field_stream;		  /* fields are compressed numbers (21 and later), else six u2 each */
	uint16_t bytes_data, shorts_data; /* elements of Array<u1> and Array<u2> */
	uint16_t pool_cache, resolved;	  /* resolved is in ConstantPool in 8, else in ConstantPoolCache */
	uint16_t loader_data_loader;
	bool handles;	      /* a Klass and a ClassLoaderData refer to objects through a handle; not in 8 */
	uint32_t class_klass; /* in a java.lang.Class: its Klass */
	uint32_t class_words; /* the same: its size in words; 0: not known */
	uint64_t symbols;     /* the VM's own names, of injected fields */
	uint64_t heap_low, heap_high;
	uint8_t hash_shift;    /* of the hash code in an object's first word (markWord.hpp: 24 and later, before) */
	uint32_t header;       /* bytes that have an object's class */
	uint32_t array_length; /* offset of an array's length, an int */
};

/* `at` are the tables' variables as vm_symbols_find() finds them. -ENOENT: this VM lacks something. */
int vm_open(struct vm *v, const struct copy *copy, const struct braid_heap_roots *roots, const uint64_t at[VM_SYMBOLS]);

/*
 * Where an object is. Shenandoah moves objects while the program runs, and references lead to where they were until it
 * has gone through all: the header there has the new address (markWord.hpp). No other collector moves one while the
 * program stands still for something else.
 */
uint64_t vm_where(const struct vm *v, uint64_t object);

/* The object that a reference outside the heap points to. */
uint64_t vm_handle(const struct vm *v, uint64_t at);

/* The reference in bytes of the heap that have been read. */
static inline uint64_t vm_reference(const struct vm *v, const uint8_t *bytes)
{
	uint64_t wide;
	uint32_t narrow;

	if (v->layout.objects.oops == BRAID_OOPS_COMPRESSED) {
		memcpy(&narrow, bytes, sizeof(narrow));
		return narrow ? v->layout.objects.oop_base + ((uint64_t)narrow << v->layout.objects.oop_shift) : 0;
	}
	memcpy(&wide, bytes, sizeof(wide));
	return wide;
}

static inline uint32_t vm_reference_bytes(const struct vm *v)
{
	return v->layout.objects.oops == BRAID_OOPS_COMPRESSED ? 4 : 8;
}

/* The reference at an address of the heap; 0 also if it is not readable. */
static inline uint64_t vm_reference_at(const struct vm *v, uint64_t address)
{
	uint8_t bytes[8];

	return copy_peek(v->copy, address, bytes, vm_reference_bytes(v)) ? vm_reference(v, bytes) : 0;
}

/* The Klass in an object's header, of which 16 bytes have been read. */
static inline uint64_t vm_klass(const struct vm *v, const uint8_t *header)
{
	const struct braid_objects *o = &v->layout.objects;
	uint64_t word;
	uint32_t narrow;

	if (o->klasses == BRAID_KLASSES_COMPRESSED) {
		memcpy(&narrow, header + 8, sizeof(narrow));
		return o->klass_base + ((uint64_t)narrow << o->klass_shift);
	}
	memcpy(&word, header + (o->klasses == BRAID_KLASSES_PLAIN ? 8 : 0), sizeof(word));
	return o->klasses == BRAID_KLASSES_PLAIN ? word : o->klass_base + ((word >> 42) << o->klass_shift);
}

#endif
