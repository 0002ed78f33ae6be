// SPDX-License-Identifier: Apache-2.0
/* ELF images that are mapped somewhere: identity, unwind table in the kernel, symbols. Shared by all processes. */
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
	uint32_t table; /* in the kernel's `tables`, or BRAID_NO_TABLE */
	char build_id[41];
	char *path;
	/* PT_LOAD segments, to tell a mapping's bias from its file offset. */
	uint32_t segment_count;
	struct {
		uint64_t offset;
		uint64_t address;
		uint64_t size;
	} segments[MODULE_SEGMENTS];
	struct symbols *symbols;
	bool symbols_tried;
	int fd;				/* kept open until symbols and lines were read */
	int debug_fd;			/* a debug file that a server has sent, or -1 */
	bool queried;			/* the servers */
	pid_t seen_in;			/* a process that maps it, for the separate debug file's whereabouts */
	struct module_account *account; /* which pays for what it takes, NULL: none; see module_budget.h */
	bool is_libjvm;
	uint64_t vm[VM_SYMBOLS]; /* of a libjvm: where its tables are, see vm_symbols_find() */
};

/* `lines`: native frames are to have source lines. */
int modules_new(struct modules **out, struct sink *sink, struct kernel_side *kernel, bool lines);
/* What is left out is counted for these. */
struct processes;
void modules_count_for(struct modules *m, struct processes *processes);
void modules_free(struct modules *m);

/*
 * The module behind a mapping of process `pid`, made known to the trace and the kernel on first sight. NULL: out of
 * memory. A file that others than root and the recording user can write, and one that is not certain to be the mapped
 * one, is a module of its own for each user whose processes map it: nobody's file speaks for another user's process.
 */
struct module *modules_get(struct modules *m, pid_t pid, const struct mapping_fact *fact);

/* address - bias = ELF virtual address, for a mapping of this module. */
uint64_t module_bias(const struct module *module, const struct mapping_fact *fact);

/* Trace id of the symbol around an ELF virtual address, 0 when there is none. */
uint32_t modules_symbol(struct modules *m, struct module *module, uint64_t vaddr);

/* Trace id of a function that is known from elsewhere, a new one with each call. */
uint32_t modules_symbol_named(struct modules *m, const struct module *module, const struct symbol *symbol);

/*
 * A JVM has bound a native method to the function at an ELF virtual address, which is called `name` from now on if the
 * module does not say how: what the module says, "" if it does not.
 */
const char *modules_bind(struct modules *m, struct module *module, uint64_t vaddr, const char *name);

/* Are names and lines also to be looked for at the end of the recording? */
bool modules_deferred_names(const struct modules *m);
/*
 * When the symbols of a module were stripped: asks the debuginfod servers for them, for at most limit_ns. True when the
 * symbols of its addresses may be others now. To be done when nothing is sampled any more.
 */
bool modules_query_servers(struct module *module, uint64_t limit_ns);
/*
 * The source lines at an ELF virtual address, as scopes of a frame, which stay until the next call: how many. One
 * module's debug information is kept at a time.
 */
uint32_t modules_lines(struct modules *m, struct module *module, uint64_t vaddr, const struct trace_scope **scopes);
void modules_lines_done(struct modules *m);

/* The kernel's module is to be the first. Its symbols are read when a frame wants them. */
void modules_add_kernel(struct modules *m);

/* The same for a kernel address; *module_id is the kernel's module. */
uint32_t modules_kernel_symbol(struct modules *m, uint64_t address, uint32_t *module_id);

/* ---- lines.c ---- */

struct module_lines;
struct module_lines *module_lines_new(void);
void module_lines_free(struct module_lines *ml);
uint32_t module_lines_find(struct module_lines *ml, struct sink *sink, const struct module *module, uint64_t vaddr,
			   const struct trace_scope **scopes);

#endif
