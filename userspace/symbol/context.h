// SPDX-License-Identifier: Apache-2.0
/*
 * Finds what an ELF file says about the requests that threads serve, see <braid/context.h>. modules.c reads it once for
 * each file; process/contexts.c derives from it where a process has the variables.
 */
#ifndef BRAID_SYMBOL_CONTEXT_H
#define BRAID_SYMBOL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTEXT_SLOTS 4

/* What the dynamic linker stores in a slot of the global offset table. */
enum context_slot_kind {
	CONTEXT_TPOFF,	/* the offset from the thread pointer */
	CONTEXT_DESC,	/* a descriptor: a function, and its argument */
	CONTEXT_MODULE, /* the number of the module, and the offset in its block */
};

struct context_slot {
	uint64_t address;
	enum context_slot_kind kind;
	bool own; /* its symbol is local: the offset in the block is that of the definition */
};

struct context_symbols {
	bool defined;	     /* the TLS variable; otherwise the file only refers to it */
	uint64_t offset;     /* of a defined one, in the module's block */
	int64_t main_offset; /* the same from the thread pointer, if this file is the main program */
	uint64_t headers;    /* address of the program headers, by which the main program is recognized */
	uint64_t end;	     /* of the file's addresses */
	uint64_t table;	     /* of virtual threads; 0: none */
	uint32_t slot_count;
	struct context_slot slots[CONTEXT_SLOTS];
};

/* NULL when the file neither defines nor uses the variables. */
struct context_symbols *context_symbols_read(int fd);

#endif
