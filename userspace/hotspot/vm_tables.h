// SPDX-License-Identifier: Apache-2.0
/* What a HotSpot JVM says of itself in its data (gHotSpotVMStructs, arrays of names), read from outside. */
#ifndef BRAID_HOTSPOT_VM_TABLES_H
#define BRAID_HOTSPOT_VM_TABLES_H

#include <braid/layout.h>
#include <braid/vm_tables.h>

#include <sys/types.h>

/* The ELF addresses of the tables' variables in a library; 0 where it exports none of that name. */
int vm_symbols_find(int fd, uint64_t at[VM_SYMBOLS]);

/*
 * vm_tables_read() in a process whose library is mapped with `bias`. -EAGAIN when the process has not come that far:
 * its loader has not relocated the library, whose pointers lead to addresses below `bias`, or not initialised it.
 */
int vm_process_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct vm_field *fields,
		    size_t field_count, struct vm_type *types, size_t type_count);

/* What the agent would say of the JVM's layout. What the JVM has made so far is in it, see vm_statics_read(). */
int vm_layout_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct braid_layout *l,
		   struct braid_statics *v);

/* Looks again: true when everything has come to exist. */
bool vm_statics_read(pid_t pid, const struct braid_statics *v, struct braid_layout *l);

/* An array of `count` C strings: NULL where one cannot be read. 0, or -EAGAIN, as above. */
int vm_strings_read(pid_t pid, uint64_t bias, uint64_t address, size_t count, char **to);

#endif
