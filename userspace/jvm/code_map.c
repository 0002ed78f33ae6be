// SPDX-License-Identifier: Apache-2.0
#include "code_map.h"

#include "sink/budgets.h"

#include <braid/frame.h>
#include <braid/ring.h>

#include "util/search.h"
#include "util/varint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The number of pieces of code below an address that a search inspects. Real code nests in the hundreds at most: the
 * interpreter's code or the stubs in their blob. Code that a hostile JVM reports may all overlap.
 */
#define BELOW_MAX 1024U

void code_free(struct code *c)
{
	if (!c)
		return;
	free(c->name);
	free(c->scopes);
	free(c);
}

uint64_t code_bytes(const struct code *c)
{
	return sizeof(*c) + c->scope_bytes + (c->name ? strlen(c->name) + 1 : 0);
}

void code_map_free(struct code_map *m)
{
	for (size_t i = 0; i < m->count; i++)
		code_free(m->by_address[i]);
	free(m->by_address);
	free(m->reach);
	*m = (struct code_map){0};
}

/* The first index whose code begins after `address`. */
static size_t upper_bound(const struct code_map *m, uint64_t address)
{
	return SEARCH(i, 0, m->count, m->by_address[i]->address <= address);
}

/* The lowest index at which a search for the code around an address below `at` ends. */
static size_t lower_bound(size_t at)
{
	return at > BELOW_MAX ? at - BELOW_MAX : 0;
}

static int reserve(struct code_map *m)
{
	size_t capacity = m->capacity ? m->capacity * 2 : 1024;
	struct code **codes;
	uint64_t *reach;

	if (m->count < m->capacity)
		return 0;
	if (m->count == CODES_MAX)
		return -ENOSPC;
	codes = realloc(m->by_address, capacity * sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	m->by_address = codes;
	reach = realloc(m->reach, capacity * sizeof(*reach));
	if (!reach)
		return -ENOMEM;
	m->reach = reach;
	m->capacity = capacity;
	return 0;
}

/* Updates `reach` from `at` on, up to the first entry that needs no change. */
static void set_reach(struct code_map *m, size_t at)
{
	uint64_t reach = m->by_address[at]->address + m->by_address[at]->size;

	if (at && m->reach[at - 1] > reach)
		reach = m->reach[at - 1];
	m->reach[at++] = reach;
	for (; at < m->count && m->reach[at] < reach; at++)
		m->reach[at] = reach;
}

/* A method replaces older ones at its place. Stubs may nest: a blob, and the routines in it. */
static void replace(struct code_map *m, size_t at, const struct code *c)
{
	for (size_t i = at; i-- > lower_bound(at) && m->reach[i] > c->address;) {
		struct code *old = m->by_address[i];

		if (!old->name && !old->unload_ns && old->address + old->size > c->address)
			old->unload_ns = c->load_ns;
	}
}

int code_map_add(struct code_map *m, struct code *c)
{
	size_t at = upper_bound(m, c->address);
	int err = reserve(m);

	if (err)
		return err;
	if (!c->name)
		replace(m, at, c);
	memmove(m->by_address + at + 1, m->by_address + at, (m->count - at) * sizeof(c));
	memmove(m->reach + at + 1, m->reach + at, (m->count - at) * sizeof(*m->reach));
	m->by_address[at] = c;
	m->count++;
	m->bytes += code_bytes(c);
	set_reach(m, at);
	return 0;
}

/* Whether both are the same code, `c` as the agent reported it and `than` as it was read from memory. */
static bool knows_more(const struct code *c, const struct code *than)
{
	return c->address == than->address && c->compile_id == than->compile_id && !c->from_memory && than->from_memory;
}

/* Whether `c` is a better match than `best` for a frame at time_ns. */
static bool better(const struct code *c, const struct code *best, uint64_t time_ns)
{
	bool now = c->load_ns <= time_ns || c->replay, best_now;

	if (!best || knows_more(c, best))
		return true;
	if (knows_more(best, c))
		return false;
	best_now = best->load_ns <= time_ns || best->replay;
	if (now != best_now)
		return now;
	if (!now)
		return c->load_ns < best->load_ns;
	return c->name && best->name ? c->size < best->size : c->load_ns > best->load_ns;
}

/* Whether it can be the code of a frame with this id. Stubs have no id, whatever a frame in them contains. */
static bool has_id(const struct code *c, uint32_t id)
{
	return !id || c->name || !c->compile_id || braid_code_id(c->compile_id) == id;
}

/*
 * Unloads are reported late, never early. So code does not match a time after its unload. If the id agrees, a short
 * grace time covers an unload that was reported for the earlier code at the address. It is short because ids repeat.
 */
#define UNLOAD_DOUBT_NS 100000000ULL

static bool is_over(const struct code *c, uint32_t id, uint64_t time_ns)
{
	uint64_t doubt_ns = id && c->compile_id ? UNLOAD_DOUBT_NS : 0;

	return c->unload_ns && c->unload_ns + doubt_ns < time_ns;
}

struct code *code_map_find(const struct code_map *m, uint64_t pc, uint32_t id, uint64_t time_ns)
{
	size_t at = upper_bound(m, pc);
	struct code *best = NULL;

	for (size_t i = at; i-- > lower_bound(at) && m->reach[i] > pc;) {
		struct code *c = m->by_address[i];

		if (pc - c->address >= c->size || !has_id(c, id) || is_over(c, id, time_ns))
			continue;
		if (better(c, best, time_ns))
			best = c;
		if (!c->name && c->load_ns <= time_ns && !id) /* methods do not nest */
			break;
	}
	return best;
}

struct code *code_map_at(const struct code_map *m, uint64_t address)
{
	size_t at = upper_bound(m, address);

	if (!at || m->by_address[at - 1]->address != address)
		return NULL;
	return m->by_address[at - 1];
}

void code_map_purge(struct code_map *m, uint64_t time_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct code *c = m->by_address[i];

		if (c->unload_ns && c->unload_ns < time_ns) {
			m->bytes -= code_bytes(c);
			code_free(c);
			continue;
		}
		m->by_address[kept] = c;
		m->reach[kept] = c->address + c->size;
		if (kept && m->reach[kept - 1] > m->reach[kept])
			m->reach[kept] = m->reach[kept - 1];
		kept++;
	}
	m->count = kept;
}

/* ---- scopes ---- */

/*
 * Rows are packed as varints, in a third of their size in records: the distance to the pc of the previous row, the
 * depth, and for each scope the distance to the code's method and the byte code index.
 */
static uint8_t *row_pack(uint8_t *to, const struct code *c, const struct braid_scope_row *row,
			 const struct braid_scope *scopes, uint32_t before)
{
	to = varint_put(to, zigzag_encode((uint64_t)row->pc_offset - before));
	to = varint_put(to, row->depth);
	for (uint32_t i = 0; i < row->depth; i++) {
		struct braid_scope scope;

		memcpy(&scope, &scopes[i], sizeof(scope));
		to = varint_put(to, zigzag_encode((uint64_t)scope.method - c->method));
		to = varint_put(to, zigzag_encode((uint64_t)(int64_t)scope.bci));
	}
	return to;
}

/* Reads the row at `p`. False when the row and its scopes are not all in [p, end). */
static bool row_read(const uint8_t *p, const uint8_t *end, struct braid_scope_row *row)
{
	if ((size_t)(end - p) < sizeof(*row))
		return false;
	memcpy(row, p, sizeof(*row));
	return row->depth <= ((size_t)(end - p) - sizeof(*row)) / sizeof(struct braid_scope);
}

/* A varint of 33 bits has five bytes, so packed rows are at most a quarter longer. */
#define PACKED_MAX(bytes) ((bytes) / 4 * 5)

bool code_add_scopes(struct code *c, const void *rows, size_t bytes, uint32_t count)
{
	const uint8_t *p = rows, *end = p + bytes;
	uint32_t before = c->scope_last_pc;
	struct braid_scope_row row;
	uint8_t *all, *to;

	all = realloc(c->scopes, c->scope_bytes + PACKED_MAX(bytes) + 1);
	if (!all)
		return false;
	c->scopes = all;
	to = all + c->scope_bytes;
	for (uint32_t i = 0; i < count; i++) {
		if (!row_read(p, end, &row))
			return false;
		to = row_pack(to, c, &row, (const void *)(p + sizeof(row)), before);
		p += sizeof(row) + row.depth * sizeof(struct braid_scope);
		before = row.pc_offset;
	}
	c->scope_last_pc = before;
	c->scope_bytes = (size_t)(to - all);
	all = realloc(c->scopes, c->scope_bytes + 1);
	c->scopes = all ? all : c->scopes;
	c->rows_missing -= count < c->rows_missing ? count : c->rows_missing;
	return true;
}

/* Reads one number that row_pack() has written, so it is complete. */
static uint64_t code_number(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;
	const uint8_t *next = varint_get(*p, end, &v);

	*p = next ? next : end;
	return v;
}

uint32_t code_scopes_at(const struct code *c, uint64_t offset, bool exact, struct braid_scope *to, uint32_t max)
{
	const uint8_t *p = c->scopes, *end = c->scopes + c->scope_bytes;
	uint32_t pc = 0;

	/*
	 * A row's pc is a return address: the row is for the call that ends there. An exact pc belongs to the next row.
	 */
	while (p < end) {
		uint64_t depth;
		bool here;

		pc += (uint32_t)zigzag_decode(code_number(&p, end));
		depth = code_number(&p, end);
		here = pc >= offset + exact;
		for (uint64_t i = 0; i < depth && p < end; i++) {
			uint32_t method = c->method + (uint32_t)zigzag_decode(code_number(&p, end));
			int32_t bci = (int32_t)zigzag_decode(code_number(&p, end));

			if (here && i < max)
				to[i] = (struct braid_scope){.method = method, .bci = bci};
		}
		if (here)
			return depth < max ? (uint32_t)depth : max;
	}
	return 0;
}
