// SPDX-License-Identifier: Apache-2.0
/*
 * The code in a JVM's code cache, by address and time. Addresses are reused, so a look-up has a time, and unloaded code
 * is kept until no sample of its time can arrive. jvm_code.c owns the map; code_cache.c reads it.
 */
#ifndef BRAID_JVM_CODE_MAP_H
#define BRAID_JVM_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code {
	uint64_t address;
	uint64_t size;
	uint64_t load_ns;
	uint64_t unload_ns; /* 0: still loaded */
	uint32_t method;    /* the agent's id; 0 for stubs */
	uint32_t tier;
	uint32_t compile_id;
	bool is_osr;
	bool outer_only;       /* its scopes, if any, lack inlining */
	bool stale;	       /* lines reported for its methods may belong to a newer version */
	bool replay;	       /* it is older than load_ns */
	bool from_memory;      /* read from the JVM's memory; its agent has not reported it */
	char *name;	       /* of stubs */
	uint32_t trace_method; /* the trace's id of a method that the agent did not report */
	uint32_t trace_id;     /* 0: not defined in the trace yet */
	uint32_t rows_missing; /* scope rows whose records are still to come */
	uint8_t *scopes;       /* packed rows */
	size_t scope_bytes;
	uint32_t scope_last_pc;
};

struct code_map {
	struct code **by_address; /* sorted by address, then load time */
	uint64_t *reach;	  /* for each entry the highest end up to it, which bounds the search downwards */
	size_t count, capacity;
	uint64_t bytes; /* of all code in it */
};

/*
 * Adds code and takes ownership. Code still at the same place ends at the latest when this was loaded. -ENOSPC: more
 * code than any JVM has.
 */
int code_map_add(struct code_map *m, struct code *c);

/*
 * The code that covers `pc` at time_ns. Records arrive late, so without such code it is the next one that was loaded
 * there; NULL: none. `id` is the low bits of the compile id that the frame contains. When it is not 0, only code with
 * that id matches, and the time only decides between codes of the same id.
 */
struct code *code_map_find(const struct code_map *m, uint64_t pc, uint32_t id, uint64_t time_ns);

/* The newest code that begins at `address`. */
struct code *code_map_at(const struct code_map *m, uint64_t address);

/* Frees code that was unloaded before time_ns. */
void code_map_purge(struct code_map *m, uint64_t time_ns);

/* Appends the rows of a record; false when they are malformed. */
bool code_add_scopes(struct code *c, const void *rows, size_t bytes, uint32_t count);

struct braid_scope;
/* Writes the scopes at an offset into the code to `to`, innermost first. Returns their number. */
uint32_t code_scopes_at(const struct code *c, uint64_t offset, bool exact, struct braid_scope *to, uint32_t max);

/* The memory that it uses. */
uint64_t code_bytes(const struct code *c);
void code_free(struct code *c);
void code_map_free(struct code_map *m);

#endif
