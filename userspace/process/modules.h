// SPDX-License-Identifier: Apache-2.0
/* ELF images that are mapped somewhere: identity, unwind table in the kernel, symbols. Shared by all processes. */
#ifndef BRAID_COLLECT_MODULES_H
#define BRAID_COLLECT_MODULES_H

#include "record/session.h"

#include "symbol/symbol.h"

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
	int fd;	       /* kept open until symbols and lines were read */
	int debug_fd;  /* a debug file that a server has sent, or -1 */
	bool asked;    /* the servers */
	pid_t seen_in; /* a process that maps it, for the separate debug file's whereabouts */
};

/* What /proc/PID/maps or a PERF_RECORD_MMAP2 says of a mapping. */
struct mapping_fact {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	const char *path;
};

int modules_new(struct modules **out, struct session *s);
void modules_free(struct modules *m);

/* The module behind a mapping of process `pid`, made known to the trace and the kernel on first sight. NULL: out of
 * memory. */
struct module *modules_get(struct modules *m, pid_t pid, const struct mapping_fact *fact);

/* Opens the file behind a mapping: an fd, or -1 and errno. */
int module_open(pid_t pid, const struct mapping_fact *fact);

/* address - bias = ELF virtual address, for a mapping of this module. */
uint64_t module_bias(const struct module *module, const struct mapping_fact *fact);

/* Trace id of the symbol around an ELF virtual address, 0 when there is none. */
uint32_t modules_symbol(struct modules *m, struct module *module, uint64_t vaddr);

/*
 * A JVM has bound a native method to the function at an ELF virtual address, which is called `name` from now on if the
 * module does not say how: what the module says, "" if it does not.
 */
const char *modules_bind(struct modules *m, struct module *module, uint64_t vaddr, const char *name);

/* Are names and lines also to be looked for at the end of the recording? */
bool modules_late_names(const struct modules *m);
/*
 * When the symbols of a module were stripped: asks the debuginfod servers for them, for at most limit_ns. True when the
 * symbols of its addresses may be others now. To be done when nothing is sampled any more.
 */
bool modules_ask_servers(struct module *module, uint64_t limit_ns);
/*
 * The source lines at an ELF virtual address, as scopes of a frame, which stay until the next call: how many. One
 * module's debug information is kept at a time.
 */
uint32_t modules_lines(struct modules *m, struct module *module, uint64_t vaddr, const struct trace_scope **scopes);
void modules_lines_done(struct modules *m);

/* Reads the kernel's symbols, which takes a tenth of a second: to be done before anything is recorded. */
void modules_load_kernel(struct modules *m);

/* The same for a kernel address; *module_id is the kernel's module. */
uint32_t modules_kernel_symbol(struct modules *m, uint64_t address, uint32_t *module_id);

/* ---- lines.c ---- */

struct module_lines;
struct module_lines *module_lines_new(void);
void module_lines_free(struct module_lines *ml);
uint32_t module_lines_find(struct module_lines *ml, struct session *s, const struct module *module, uint64_t vaddr,
			   const struct trace_scope **scopes);

#endif
