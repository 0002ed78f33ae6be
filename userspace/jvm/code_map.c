// SPDX-License-Identifier: Apache-2.0
#include "jvm/code_map.h"

#include <braid/frame.h>
#include <braid/ring.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void code_free(struct code *c)
{
	if (!c)
		return;
	free(c->name);
	free(c->scopes);
	free(c);
}

void code_map_free(struct code_map *m)
{
	for (size_t i = 0; i < m->count; i++)
		code_free(m->by_address[i]);
	free(m->by_address);
	*m = (struct code_map){0};
}

/* The first index whose code begins behind `address`. */
static size_t upper_bound(const struct code_map *m, uint64_t address)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (m->by_address[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int code_map_add(struct code_map *m, struct code *c)
{
	size_t at = upper_bound(m, c->address);

	if (m->count == m->capacity) {
		size_t capacity = m->capacity ? m->capacity * 2 : 1024;
		struct code **bigger = realloc(m->by_address, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		m->by_address = bigger;
		m->capacity = capacity;
	}
	if (!c->name) /* methods replace each other; stubs may nest: a blob, and the routines in it */
		for (size_t i = at; i-- > 0 && c->address - m->by_address[i]->address < m->widest;) {
			struct code *old = m->by_address[i];

			if (!old->name && !old->unload_ns && old->address + old->size > c->address)
				old->unload_ns = c->load_ns;
		}
	memmove(m->by_address + at + 1, m->by_address + at, (m->count - at) * sizeof(c));
	m->by_address[at] = c;
	m->count++;
	if (c->size > m->widest)
		m->widest = c->size;
	return 0;
}

/* Is `c` a better answer than `best` for something that ran at time_ns? */
static bool better(const struct code *c, const struct code *best, uint64_t time_ns)
{
	bool now = c->load_ns <= time_ns || c->replay, best_now;

	if (!best)
		return true;
	best_now = best->load_ns <= time_ns || best->replay;
	if (now != best_now)
		return now;
	if (!now)
		return c->load_ns < best->load_ns;
	return c->name && best->name ? c->size < best->size : c->load_ns > best->load_ns;
}

/* Can it be the code of a frame with this id? Stubs have none, whatever a frame in them says. */
static bool has_id(const struct code *c, uint32_t id)
{
	return !id || c->name || !c->compile_id || braid_code_id(c->compile_id) == id;
}

/*
 * Unloads are told late, and never early; but what is said of a time behind an unload was not meant to be this code. An
 * id that agrees may outweigh an unload that was told of the code before this one, for a moment only: ids return.
 */
#define UNLOAD_DOUBT_NS 100000000ULL

static bool is_over(const struct code *c, uint32_t id, uint64_t time_ns)
{
	uint64_t doubt_ns = id && c->compile_id ? UNLOAD_DOUBT_NS : 0;

	return c->unload_ns && c->unload_ns + doubt_ns < time_ns;
}

struct code *code_map_find(const struct code_map *m, uint64_t pc, uint32_t id, uint64_t time_ns)
{
	struct code *best = NULL;

	for (size_t i = upper_bound(m, pc); i-- > 0;) {
		struct code *c = m->by_address[i];

		if (pc - c->address >= m->widest)
			break;
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

		if (c->unload_ns && c->unload_ns < time_ns)
			code_free(c);
		else
			m->by_address[kept++] = c;
	}
	m->count = kept;
}

/* ---- scopes ---- */

bool code_add_scopes(struct code *c, const void *rows, size_t bytes, uint32_t count)
{
	const uint8_t *p = rows;
	size_t left = bytes;
	uint8_t *all;

	for (uint32_t i = 0; i < count; i++) {
		struct braid_scope_row row;

		if (left < sizeof(row))
			return false;
		memcpy(&row, p, sizeof(row));
		if (row.depth > (left - sizeof(row)) / sizeof(struct braid_scope))
			return false;
		p += sizeof(row) + row.depth * sizeof(struct braid_scope);
		left -= sizeof(row) + row.depth * sizeof(struct braid_scope);
	}
	all = realloc(c->scopes, c->scope_bytes + (bytes - left));
	if (!all)
		return false;
	memcpy(all + c->scope_bytes, rows, bytes - left);
	c->scopes = all;
	c->scope_bytes += bytes - left;
	c->rows_missing -= count < c->rows_missing ? count : c->rows_missing;
	return true;
}

uint32_t code_scopes_at(const struct code *c, uint64_t offset, bool exact, const struct braid_scope **out)
{
	const uint8_t *p = c->scopes, *end = c->scopes + c->scope_bytes;

	/* A row's pc is a return address: it speaks for the call that ends there. An exact pc is within the next one.
	 */
	while (p < end) {
		const struct braid_scope_row *row = (const void *)p;

		if (row->pc_offset >= offset + exact) {
			*out = (const void *)(row + 1);
			return row->depth;
		}
		p += sizeof(*row) + row->depth * sizeof(struct braid_scope);
	}
	return 0;
}
