// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the tables in which a HotSpot JVM describes its own structures (gHotSpotVMStructs, arrays of names), from
 * outside. process/ and jvm/ call this.
 */
#ifndef BRAID_HOTSPOT_VM_TABLES_H
#define BRAID_HOTSPOT_VM_TABLES_H

#include <braid/layout.h>
#include <braid/vm_tables.h>

#include <sys/types.h>

/* Finds the ELF addresses of the tables' variables in a library; 0 where it does not export one. */
int vm_symbols_find(int fd, uint64_t at[VM_SYMBOLS]);

/*
 * vm_tables_read() in a process that maps the library with `bias`. -EAGAIN when the process is not ready: its loader
 * has not relocated the library, so pointers are below `bias`, or the library is not initialised.
 */
int vm_process_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct vm_field *fields,
		    size_t field_count, struct vm_type *types, size_t type_count);

/* Reads the layout as the agent would publish it, with what the JVM has created so far, see vm_statics_read(). */
int vm_layout_read(pid_t pid, uint64_t bias, const uint64_t at[VM_SYMBOLS], struct braid_layout *l,
		   struct braid_statics *v);

/* Reads the statics again. True when all of them exist. */
bool vm_statics_read(pid_t pid, const struct braid_statics *v, struct braid_layout *l);

/* Reads an array of `count` C strings; NULL where one cannot be read. 0, or -EAGAIN as above. */
int vm_strings_read(pid_t pid, uint64_t bias, uint64_t address, size_t count, char **to);

#endif
