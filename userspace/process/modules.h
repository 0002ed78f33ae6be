// SPDX-License-Identifier: Apache-2.0
/*
 * ELF files that processes map: identity, unwind table on the kernel side, symbols and lines. Processes share them. The
 * rooms process/, jvm/ and record/ look addresses up here; files of other users are opened within module_budget.h.
 */
#ifndef BRAID_PROCESS_MODULES_H
#define BRAID_PROCESS_MODULES_H

#include "hotspot/vm_tables.h"
#include "proc/procfs.h"
#include "sink/sink.h"
#include "symbol/symbol.h"

struct kernel_side;
struct modules;

#define MODULE_SEGMENTS 8

struct module {
	uint32_t id;
	uint32_t kind;	/* enum trace_module_kind */
	uint32_t table; /* in the kernel side's `tables`, or BRAID_NO_TABLE */
	char build_id[41];
	char *path;
	/* PT_LOAD segments, from which the bias of a mapping follows. */
	uint32_t segment_count;
	struct {
		uint64_t offset;
		uint64_t address;
		uint64_t size;
	} segments[MODULE_SEGMENTS];
	struct symbols *symbols;
	bool symbols_tried;
	int fd;		     /* open until symbols and lines are read */
	int debug_fd;	     /* a debug file from a server, or -1 */
	bool queried;	     /* the servers have been queried */
	pid_t seen_in;	     /* a process that maps it, to find the separate debug file */
	struct share *share; /* what pays for it; NULL: not counted; see module_budget.h */
	bool foreign;	     /* a file of a user whose files are limited */
	bool is_libjvm;
	struct context_symbols *context; /* NULL: it has no variables of symbol/context.h */
	uint64_t vm[VM_SYMBOLS];	 /* of a libjvm.so: addresses of its tables, see vm_symbols_find() */
	/* Of module_load.c: what is still to be read, and what was not read as its user had no room. */
	bool wants_table, wants_symbols;
	bool left_out;
	uint64_t turn;
	struct module *prev, *next;
};

/* `lines`: native frames get source lines. */
int modules_new(struct modules **out, struct sink *sink, struct kernel_side *kernel, bool lines);
/* Sets the processes that losses are counted for. */
struct process;
struct processes;
void modules_count_for(struct modules *m, struct processes *processes);
void modules_free(struct modules *m);

/*
 * The module behind a mapping of a process, defined in the trace and on the kernel side at first sight. NULL
 * without memory. A file that other users can write, or that may not be the mapped one, is a separate module for each
 * user whose processes map it. So no user's file defines names for another user's process.
 */
struct module *modules_get(struct modules *m, const struct process *process, const struct mapping_fact *fact);

/* address - bias = ELF virtual address, for a mapping of this module. */
uint64_t module_bias(const struct module *module, const struct mapping_fact *fact);

/* The trace's id of the symbol at an ELF virtual address; 0: none. */
uint32_t modules_symbol(struct modules *m, struct module *module, uint64_t vaddr);

/* The trace's id of a function that is known from elsewhere. Each call defines a new one. */
uint32_t modules_symbol_named(struct modules *m, const struct module *module, const struct symbol *symbol);

/*
 * A JVM has bound a native method to the function at an ELF virtual address. The function gets the name `name` unless
 * the module has one.
 */
void modules_bind(struct modules *m, struct module *module, uint64_t vaddr, const char *name);
/* The module's own name of the function at that address; "": it has none, or its symbols are still being read. */
const char *module_function(const struct module *module, uint64_t vaddr);

/* A thread reads files from here on; see module_load.h. */
struct sources;
void modules_start(struct modules *m, struct sources *sources);
/* To be called at each tick. */
void modules_tick(struct modules *m);
/* Waits a moment for files that are being read: samples in them cannot be walked or named yet. */
void modules_wait(struct modules *m);
/* Whether there are still some. */
bool modules_reading(const struct modules *m);
/* Another number means that some have been read since, or never will be. */
uint64_t modules_results(const struct modules *m);
/* To be called when sampling has ended. From here on, files are read at once. */
void modules_finish(struct modules *m);

/* True when names and lines are also looked up at the end of the recording. */
bool modules_deferred_names(const struct modules *m);
/*
 * Asks the debuginfod servers for the symbols of a stripped module, for at most limit_ns. True when its symbols may
 * have changed. To be called when sampling has ended.
 */
bool modules_query_servers(struct module *module, uint64_t limit_ns);
/*
 * The source lines at an ELF virtual address, as scopes of a frame that are valid until the next call; returns their
 * number. One module's debug information is kept at a time.
 */
uint32_t modules_lines(struct modules *m, struct module *module, uint64_t vaddr, const struct trace_scope **scopes);
void modules_lines_done(struct modules *m);

/* Defines the kernel's module, which has to be the first. */
void modules_add_kernel(struct modules *m);

/* Its id. */
uint32_t modules_kernel(const struct modules *m);
/* The trace's id of the kernel's function at this address, for which the kernel is asked. */
uint32_t modules_kernel_symbol(struct modules *m, uint64_t address);

/* ---- lines.c ---- */

struct module_lines;
struct module_lines *module_lines_new(void);
void module_lines_free(struct module_lines *ml);
uint32_t module_lines_find(struct module_lines *ml, struct sink *sink, const struct module *module, uint64_t vaddr,
			   const struct trace_scope **scopes);

#endif
