// SPDX-License-Identifier: Apache-2.0
/* The fields of a tracepoint's record, as its file `format` in tracefs describes them. tracepoint.c uses it. */
#ifndef BRAID_KERNEL_TRACEPOINT_FORMAT_H
#define BRAID_KERNEL_TRACEPOINT_FORMAT_H

#include <braid/hit.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds a field by name, and sets the term's operand, offset, size and sign. -ENOENT: there is no such field; -EDOM: it
 * has a type that filters cannot compare. `syscall`: the record is one of a system call, where every argument takes
 * eight bytes, whatever its type, and pointers lead into the process's memory.
 */
int tracepoint_field(const char *format, bool syscall, const char *name, struct braid_hit_term *to);

/*
 * Calls back with every field that has such a type until the callback returns false. Text that a pointer leads to is
 * one only for system calls.
 */
void tracepoint_each(const char *format, bool syscall,
		     bool (*fn)(void *ctx, const char *name, const struct braid_hit_term *field), void *ctx);

/* Lists the names of the fields, separated by commas. */
void tracepoint_fields(const char *format, char *to, size_t size);

#endif
