// SPDX-License-Identifier: Apache-2.0
#include "flags.h"

#include "mem.h"
#include "vmstructs.h"

#include <braid/ring.h>

#include <inttypes.h>
#include <stdio.h>

#define FLAGS_MAX 4096U /* above any JDK's number */
#define ORIGIN_MASK 0xfU

enum { F_TABLE, F_COUNT, F_NAME, F_VALUE, F_BITS, F_TYPE, FIELDS };

/* A flag is a JVMFlag since JDK 11, and a Flag before. */
#define FLAG_PLACE(field)                                                                                              \
	{                                                                                                              \
		{"JVMFlag", "Flag"},                                                                                   \
		{                                                                                                      \
			field, field                                                                                   \
		}                                                                                                      \
	}
static const struct vm_place places[FIELDS] = {
	[F_TABLE] = FLAG_PLACE("flags"), [F_COUNT] = FLAG_PLACE("numFlags"), [F_NAME] = FLAG_PLACE("_name"),
	[F_VALUE] = FLAG_PLACE("_addr"), [F_BITS] = FLAG_PLACE("_flags"),    [F_TYPE] = FLAG_PLACE("_type"),
};

static struct {
	uint64_t first; /* address; 0: not known */
	uint32_t count, size;
	uint32_t name, value, bits, type; /* offsets */
	bool named_types;		  /* a flag's type is a string, as before JDK 16, not a number */
} table;

enum flag_type {
	TYPE_BOOL,
	TYPE_INT,
	TYPE_UINT,
	TYPE_INTX,
	TYPE_UINTX,
	TYPE_UINT64,
	TYPE_SIZE,
	TYPE_DOUBLE,
	TYPE_STRING,
	TYPE_STRINGS,
	FLAG_TYPES,
};

static const char *const type_names[FLAG_TYPES] = {
	[TYPE_BOOL] = "bool",	 [TYPE_INT] = "int",	       [TYPE_UINT] = "uint",   [TYPE_INTX] = "intx",
	[TYPE_UINTX] = "uintx",	 [TYPE_UINT64] = "uint64_t",   [TYPE_SIZE] = "size_t", [TYPE_DOUBLE] = "double",
	[TYPE_STRING] = "ccstr", [TYPE_STRINGS] = "ccstrlist",
};

static bool fits(const struct vm_field *f, const struct vm_type *type, size_t size)
{
	return f->found && f->offset <= type->size - size;
}

/* Takes the table if all is known of it, and the fields are inside of a flag. */
static bool table_take(const struct vm_field f[FIELDS], const struct vm_type *type)
{
	bool named_types = strcmp(f[F_TYPE].declared, "int") != 0;
	uint64_t count;

	if (!type->found || type->size < sizeof(uint64_t) || type->size > MEM_READ_MAX ||
	    !fits(&f[F_NAME], type, sizeof(uint64_t)) || !fits(&f[F_VALUE], type, sizeof(uint64_t)) ||
	    !fits(&f[F_BITS], type, sizeof(uint32_t)) ||
	    !fits(&f[F_TYPE], type, named_types ? sizeof(uint64_t) : sizeof(uint32_t)))
		return false;
	if (!mem_read(&count, f[F_COUNT].address, sizeof(count)) ||
	    !mem_read(&table.first, f[F_TABLE].address, sizeof(table.first)))
		return false;
	table.count = count < FLAGS_MAX ? (uint32_t)count : FLAGS_MAX;
	table.size = (uint32_t)type->size;
	table.name = (uint32_t)f[F_NAME].offset;
	table.value = (uint32_t)f[F_VALUE].offset;
	table.bits = (uint32_t)f[F_BITS].offset;
	table.type = (uint32_t)f[F_TYPE].offset;
	table.named_types = named_types;
	return true;
}

void flags_open(void *libjvm)
{
	struct vm_type types[] = {{.name = "JVMFlag"}, {.name = "Flag"}};
	struct vm_field asked[VM_NAMES * FIELDS], f[FIELDS];

	vm_places_ask(asked, places, FIELDS);
	vmstructs_read(libjvm, asked, VM_NAMES * FIELDS, types, 2);
	vm_places_take(f, asked, FIELDS);
	(void)table_take(f, types[0].found ? &types[0] : &types[1]);
}

static enum flag_type type_of(uint64_t word)
{
	char name[16];

	if (!table.named_types)
		return (uint32_t)word < FLAG_TYPES ? (enum flag_type)(uint32_t)word : FLAG_TYPES;
	if (!mem_read_string(name, sizeof(name), word))
		return FLAG_TYPES;
	for (int i = 0; i < FLAG_TYPES; i++)
		if (strcmp(name, type_names[i]) == 0)
			return (enum flag_type)i;
	return FLAG_TYPES;
}

static bool number_print(char to[FLAG_VALUE_MAX], uint64_t at, bool wide, bool is_signed)
{
	uint64_t value = 0;

	if (!mem_read(&value, at, wide ? sizeof(value) : sizeof(uint32_t)))
		return false;
	if (is_signed)
		snprintf(to, FLAG_VALUE_MAX, "%" PRId64, wide ? (int64_t)value : (int64_t)(int32_t)value);
	else
		snprintf(to, FLAG_VALUE_MAX, "%" PRIu64, value);
	return true;
}

static bool value_print(char to[FLAG_VALUE_MAX], enum flag_type type, uint64_t at)
{
	uint64_t text;
	uint8_t flag;
	double number;

	switch (type) {
	case TYPE_BOOL:
		if (!mem_read(&flag, at, sizeof(flag)))
			return false;
		strcpy(to, flag ? "true" : "false");
		return true;
	case TYPE_INT:
	case TYPE_UINT:
		return number_print(to, at, false, type == TYPE_INT);
	case TYPE_INTX:
	case TYPE_UINTX:
	case TYPE_UINT64:
	case TYPE_SIZE:
		return number_print(to, at, true, type == TYPE_INTX);
	case TYPE_DOUBLE:
		return mem_read(&number, at, sizeof(number)) && snprintf(to, FLAG_VALUE_MAX, "%f", number) > 0;
	case TYPE_STRING:
	case TYPE_STRINGS:
		to[0] = '\0';
		return mem_read(&text, at, sizeof(text)) && (!text || mem_read_string(to, FLAG_VALUE_MAX, text));
	default:
		return false;
	}
}

/* False: the flag cannot be read. The table's last entry has no name. */
static bool flag_read(const uint8_t *entry, struct vm_flag *to)
{
	uint64_t name, value, type = 0;
	uint32_t bits;

	memcpy(&name, entry + table.name, sizeof(name));
	memcpy(&value, entry + table.value, sizeof(value));
	memcpy(&bits, entry + table.bits, sizeof(bits));
	memcpy(&type, entry + table.type, table.named_types ? sizeof(type) : sizeof(uint32_t));
	to->origin = bits & ORIGIN_MASK ?: BRAID_SETTING_DEFAULT;
	return name && mem_read_string(to->name, sizeof(to->name), name) &&
	       value_print(to->value, type_of(type), value);
}

void flags_each(void (*each)(const struct vm_flag *f))
{
	uint32_t at_once = table.first ? MEM_READ_MAX / table.size : 0, count;
	uint8_t block[MEM_READ_MAX];
	struct vm_flag flag;

	for (uint32_t i = 0; i < table.count; i += count) {
		count = table.count - i < at_once ? table.count - i : at_once;
		if (!mem_read(block, table.first + (uint64_t)i * table.size, (size_t)count * table.size))
			return;
		for (uint32_t k = 0; k < count; k++)
			if (flag_read(block + (size_t)k * table.size, &flag))
				each(&flag);
	}
}
