// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the tables with which HotSpot describes itself to the serviceability agent (vmStructs.hpp) from a JVM's memory.
 * The agent reads them from inside, the collector from outside, with the same code.
 *
 * The library file alone is not enough. Names, sizes of types and addresses of static fields need only relocation, but
 * in most builds (JDK 8, 17, 21 and 25) the library's initialisation computes the offsets of fields, and then the form
 * of the entries. The form comes last, so a reader from outside knows by it that the tables are complete.
 *
 * All input is untrusted: lengths and counts are bounded, and pointers may lead anywhere.
 */
#ifndef BRAID_VM_TABLES_H
#define BRAID_VM_TABLES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The exported variables with the tables' addresses and the form of their entries. */
enum vm_symbol {
	VM_STRUCTS,
	VM_STRUCT_STRIDE,
	VM_STRUCT_TYPE,
	VM_STRUCT_FIELD,
	VM_STRUCT_DECLARED,
	VM_STRUCT_STATIC,
	VM_STRUCT_OFFSET,
	VM_STRUCT_ADDRESS,
	VM_TYPES,
	VM_TYPE_STRIDE,
	VM_TYPE_NAME,
	VM_TYPE_SIZE,
	VM_SYMBOLS,
};

static inline const char *vm_symbol_name(enum vm_symbol s)
{
	static const char *const names[VM_SYMBOLS] = {
		[VM_STRUCTS] = "gHotSpotVMStructs",
		[VM_STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
		[VM_STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
		[VM_STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
		[VM_STRUCT_DECLARED] = "gHotSpotVMStructEntryTypeStringOffset",
		[VM_STRUCT_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
		[VM_STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
		[VM_STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
		[VM_TYPES] = "gHotSpotVMTypes",
		[VM_TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
		[VM_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
		[VM_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	};

	return names[s];
}

struct vm_field {
	const char *type; /* in: the field to look for */
	const char *name;

	bool found;
	uint64_t offset;   /* of an instance's field */
	uint64_t address;  /* of a static field */
	char declared[24]; /* its type in the VM's source, cut; empty: not known */
};

/* The names that a field has had, the newest first; NULL: no more. */
#define VM_NAMES 3
struct vm_place {
	const char *type[VM_NAMES], *name[VM_NAMES];
};

/* How references and classes are encoded in the heap. */
#define VM_PLACE_NARROW(class, old, member)                                                                            \
	{                                                                                                              \
		{class, class, "Universe"},                                                                            \
		{                                                                                                      \
			member, old member, old member                                                                 \
		}                                                                                                      \
	}
#define VM_PLACE_OOP_BASE VM_PLACE_NARROW("CompressedOops", "_narrow_oop.", "_base")
#define VM_PLACE_OOP_SHIFT VM_PLACE_NARROW("CompressedOops", "_narrow_oop.", "_shift")
#define VM_PLACE_KLASS_BASE VM_PLACE_NARROW("CompressedKlassPointers", "_narrow_klass.", "_base")
#define VM_PLACE_KLASS_SHIFT VM_PLACE_NARROW("CompressedKlassPointers", "_narrow_klass.", "_shift")

/* Makes the `VM_NAMES * count` fields to ask the tables for, so that one pass finds them under any name. */
static inline void vm_places_ask(struct vm_field *asked, const struct vm_place *places, size_t count)
{
	for (size_t i = 0; i < VM_NAMES * count; i++) {
		const struct vm_place *p = &places[i % count];

		asked[i] = (struct vm_field){.type = p->type[i / count] ? p->type[i / count] : "",
					     .name = p->name[i / count] ? p->name[i / count] : ""};
	}
}

/* Takes from what was found each field under its newest name. The others are zero. */
static inline void vm_places_take(struct vm_field *to, const struct vm_field *asked, size_t count)
{
	memset(to, 0, count * sizeof(*to));
	for (size_t i = 0; i < VM_NAMES * count; i++)
		if (asked[i].found && !to[i % count].found)
			to[i % count] = asked[i];
}

struct vm_type {
	const char *name; /* in: the type to look for */

	bool found;
	uint64_t size;
};

/* Access to a JVM's tables. */
struct vm_tables {
	int (*read)(void *ctx, uint64_t address, void *to, size_t size); /* all bytes: 0, or none: a negative errno */
	void *ctx;
	uint64_t at[VM_SYMBOLS]; /* addresses of the variables; 0: the VM lacks it */
	uint64_t base;		 /* a pointer below it is not relocated yet */
};

/* Budget on entries, above any JDK's number; an entry without a name ends a table. */
#define VM_ENTRIES_MAX 20000U
#define VM_ENTRY_MAX 256U
#define VM_STRING_MAX 128U
#define VM_PAGE 4096U

/* A string may be the last of a mapping, so the next page is read only if the string does not end before it. */
static inline bool vm_string_read(const struct vm_tables *t, uint64_t address, char to[VM_STRING_MAX])
{
	size_t first = VM_PAGE - (address & (VM_PAGE - 1));

	if (first > VM_STRING_MAX)
		first = VM_STRING_MAX;
	if (!address || t->read(t->ctx, address, to, first))
		return false;
	if (memchr(to, '\0', first))
		return true;
	return first < VM_STRING_MAX && !t->read(t->ctx, address + first, to + first, VM_STRING_MAX - first) &&
	       memchr(to, '\0', VM_STRING_MAX);
}

static inline uint64_t vm_word(const uint8_t *entry, uint64_t offset)
{
	uint64_t w;

	memcpy(&w, entry + offset, sizeof(w));
	return w;
}

/* The last entry is all zeros. In others, the pointers alone may be 0 until they are relocated. */
static inline bool vm_entry_is_last(const uint8_t *entry, uint64_t stride)
{
	for (uint64_t i = 0; i < stride; i++)
		if (entry[i])
			return false;
	return true;
}

/* 1: an entry was read; 0: the table has ended; -EAGAIN: its names are not relocated yet. */
static inline int vm_entry_read(const struct vm_tables *t, uint64_t table, uint32_t i, uint64_t stride, uint64_t name,
				uint8_t entry[VM_ENTRY_MAX])
{
	if (i >= VM_ENTRIES_MAX)
		return 0;
	if (t->read(t->ctx, table + i * stride, entry, stride))
		return -EFAULT;
	if (!vm_word(entry, name) && vm_entry_is_last(entry, stride))
		return 0;
	return vm_word(entry, name) < t->base ? -EAGAIN : 1;
}

/* Fills in the fields that the entry describes. It compares the class first, because most entries are of others. */
static inline void vm_field_take(const struct vm_tables *t, const uint8_t *entry, const uint64_t v[VM_SYMBOLS],
				 struct vm_field *fields, size_t count)
{
	char type[VM_STRING_MAX], name[VM_STRING_MAX] = "", declared[VM_STRING_MAX];

	if (!vm_string_read(t, vm_word(entry, v[VM_STRUCT_TYPE]), type))
		return;
	for (size_t k = 0; k < count; k++) {
		struct vm_field *f = &fields[k];
		int32_t is_static;

		if (strcmp(f->type, type) != 0)
			continue;
		if (!name[0] && !vm_string_read(t, vm_word(entry, v[VM_STRUCT_FIELD]), name))
			return;
		if (strcmp(f->name, name) != 0)
			continue;
		memcpy(&is_static, entry + v[VM_STRUCT_STATIC], sizeof(is_static));
		f->found = true;
		f->offset = is_static ? 0 : vm_word(entry, v[VM_STRUCT_OFFSET]);
		f->address = is_static ? vm_word(entry, v[VM_STRUCT_ADDRESS]) : 0;
		f->declared[0] = '\0';
		if (vm_string_read(t, vm_word(entry, v[VM_STRUCT_DECLARED]), declared)) {
			memcpy(f->declared, declared, sizeof(f->declared) - 1);
			f->declared[sizeof(f->declared) - 1] = '\0';
		}
	}
}

/* Reads the variables themselves. -EAGAIN: the library is not initialised yet. */
static inline int vm_form_read(const struct vm_tables *t, uint64_t v[VM_SYMBOLS])
{
	for (int i = 0; i < VM_SYMBOLS; i++) {
		if (!t->at[i])
			return -ENOENT;
		if (t->read(t->ctx, t->at[i], &v[i], sizeof(v[i])))
			return -EFAULT;
	}
	if (v[VM_STRUCTS] < t->base || v[VM_TYPES] < t->base || !v[VM_STRUCT_STRIDE] || !v[VM_STRUCT_ADDRESS] ||
	    !v[VM_TYPE_STRIDE] || !v[VM_TYPE_SIZE])
		return -EAGAIN;
	if (v[VM_STRUCT_STRIDE] > VM_ENTRY_MAX || v[VM_TYPE_STRIDE] > VM_ENTRY_MAX)
		return -EINVAL;
	for (int i = VM_STRUCT_TYPE; i <= VM_STRUCT_ADDRESS; i++)
		if (v[i] + sizeof(uint64_t) > v[VM_STRUCT_STRIDE] || v[i] > VM_ENTRY_MAX)
			return -EINVAL;
	for (int i = VM_TYPE_NAME; i <= VM_TYPE_SIZE; i++)
		if (v[i] + sizeof(uint64_t) > v[VM_TYPE_STRIDE] || v[i] > VM_ENTRY_MAX)
			return -EINVAL;
	return 0;
}

/*
 * Fills in the fields and types that are found. Returns 0, or -ENOENT: the library has no such tables; -EAGAIN: it is
 * too early; -EINVAL, -EFAULT: the tables are damaged.
 */
static inline int vm_tables_read(const struct vm_tables *t, struct vm_field *fields, size_t field_count,
				 struct vm_type *types, size_t type_count)
{
	uint8_t entry[VM_ENTRY_MAX];
	char name[VM_STRING_MAX];
	uint64_t v[VM_SYMBOLS];
	int err = vm_form_read(t, v);

	if (err)
		return err;
	for (uint32_t i = 0;; i++) {
		err = vm_entry_read(t, v[VM_STRUCTS], i, v[VM_STRUCT_STRIDE], v[VM_STRUCT_TYPE], entry);
		if (err <= 0)
			break;
		vm_field_take(t, entry, v, fields, field_count);
	}
	for (uint32_t i = 0; !err && type_count; i++) {
		err = vm_entry_read(t, v[VM_TYPES], i, v[VM_TYPE_STRIDE], v[VM_TYPE_NAME], entry);
		if (err <= 0)
			break;
		err = 0;
		if (!vm_string_read(t, vm_word(entry, v[VM_TYPE_NAME]), name))
			continue;
		for (size_t k = 0; k < type_count; k++) {
			if (strcmp(types[k].name, name) != 0)
				continue;
			types[k].found = true;
			types[k].size = vm_word(entry, v[VM_TYPE_SIZE]);
		}
	}
	return err;
}

#endif
