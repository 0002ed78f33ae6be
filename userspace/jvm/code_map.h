// SPDX-License-Identifier: Apache-2.0
/*
 * What lay where in a JVM's code cache, and when. Addresses are reused: a look-up names a time, and code that was
 * unloaded is kept until no sample of its time can arrive any more.
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
	uint64_t unload_ns; /* 0: there */
	uint32_t method;    /* the agent's id; 0 for stubs */
	uint32_t tier;
	uint32_t compile_id;
	bool is_osr;
	bool outer_only;       /* scopes, if any, know nothing of inlining */
	bool stale;	       /* lines that were told of its methods may be newer ones */
	bool replay;	       /* older than load_ns says */
	char *name;	       /* stubs */
	uint32_t trace_method; /* when the method was not the agent's to tell: trace id */
	uint32_t trace_id;     /* 0: not in the trace yet */
	uint32_t rows_missing; /* of the scopes: records that are still to come */
	uint8_t *scopes;       /* rows, packed */
	size_t scope_bytes;
	uint32_t scope_last_pc;
};

struct code_map {
	struct code **by_address; /* sorted by address, then load time */
	uint64_t *reach;	  /* of each: the highest end up to here, which bounds the search downwards */
	size_t count, capacity;
	uint64_t bytes; /* of what is in it */
};

/*
 * Takes ownership. What is still there at the same place ended at the latest when this was loaded. -ENOSPC: no JVM has
 * this much code.
 */
int code_map_add(struct code_map *m, struct code *c);

/*
 * The one that covers `pc` at time_ns; else, because records come late, the next one loaded there; NULL. `id` is what
 * the frame itself says, the low bits of the compile id: when it is not 0 no other code is meant, and records of code
 * come after the fact, so that times only choose between codes of the same id.
 */
struct code *code_map_find(const struct code_map *m, uint64_t pc, uint32_t id, uint64_t time_ns);

/* The newest one that begins at `address`. */
struct code *code_map_at(const struct code_map *m, uint64_t address);

/* Forgets what was unloaded before time_ns. */
void code_map_purge(struct code_map *m, uint64_t time_ns);

/* Appends a record's rows; false when they are not well-formed. */
bool code_add_scopes(struct code *c, const void *rows, size_t bytes, uint32_t count);

struct braid_scope;
/* The scopes at an offset into the code, innermost first: how many of them are in `to`, 0 when there are none. */
uint32_t code_scopes_at(const struct code *c, uint64_t offset, bool exact, struct braid_scope *to, uint32_t max);

/* What is kept of it. */
uint64_t code_bytes(const struct code *c);
void code_free(struct code *c);
void code_map_free(struct code_map *m);

#endif
