// SPDX-License-Identifier: Apache-2.0
/* What a HotSpot JVM says of itself in its data (gHotSpotVMStructs, arrays of names), read from outside. */
#ifndef BRAID_COLLECT_VM_TABLES_H
#define BRAID_COLLECT_VM_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The exported variables that say where the table of fields is, and how its entries are made. */
enum vm_symbol {
	VM_STRUCTS,
	VM_STRIDE,
	VM_TYPE_NAME,
	VM_FIELD_NAME,
	VM_OFFSET,
	VM_SYMBOLS,
};
extern const char *const vm_symbols[VM_SYMBOLS];

struct vm_offset {
	const char *type;
	const char *name;
	uint16_t offset;
	uint16_t found;
};

/*
 * Offsets of fields of the VM's classes: `at` are the addresses of vm_symbols in the process. -EAGAIN when the process
 * has not got that far yet: its loader has not relocated the library, whose pointers lead to addresses below `bias`.
 */
int vm_offsets_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct vm_offset *wanted, size_t count);

/* An array of `count` C strings: NULL where one cannot be read. 0, or -EAGAIN, as above. */
int vm_strings_read(pid_t pid, uint64_t bias, uint64_t address, size_t count, char **to);

#endif
