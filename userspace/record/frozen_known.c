// SPDX-License-Identifier: Apache-2.0
#include "frozen_known.h"

#include "util/vec.h"

#include <stdlib.h>
#include <string.h>

#define STACKS 128U /* a power of two */
#define PARTS_MAX 2048U
#define TOP_AT 8U	 /* its return address, behind its frame pointer: see virtual.h */
#define BYTES_MAX 32768U /* of the parts of a stack */

/* What a walk has read at once. */
struct part {
	uint32_t at; /* from the chunk's address */
	uint32_t size;
};

struct stack {
	uint64_t top; /* the return address of its first frame */
	uint32_t at, bytes;
	uint32_t node; /* 0: this one is not known */
	VEC(struct part) parts;
	VEC(uint8_t) read; /* what the parts had, one behind the other */
};

struct frozen_known {
	uint32_t fields;
	struct stack stacks[STACKS];
	struct stack *noted; /* NULL: the stack that is walked cannot be known */
};

struct frozen_known *frozen_known_new(uint32_t fields)
{
	struct frozen_known *k = calloc(1, sizeof(*k));

	if (k)
		k->fields = fields;
	return k;
}

void frozen_known_free(struct frozen_known *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < STACKS; i++) {
		free(k->stacks[i].parts.at);
		free(k->stacks[i].read.at);
	}
	free(k);
}

/* Where a part of the chunk was copied to; NULL: it was not. */
static const uint8_t *copied(const struct frozen_known *k, const struct virtual_chunk *c, uint32_t at, uint32_t size)
{
	uint64_t frames = c->at - c->chunk;

	if (size <= k->fields && at <= k->fields - size)
		return c->fields + at;
	if (at >= frames && size <= c->bytes && at - frames <= c->bytes - size)
		return c->frames + (at - frames);
	return NULL;
}

static bool is_same(const struct frozen_known *k, const struct stack *s, const struct virtual_chunk *c)
{
	const uint8_t *before = s->read.at;

	for (size_t i = 0; i < s->parts.count; before += s->parts.at[i++].size) {
		const struct part *p = &s->parts.at[i];
		const uint8_t *now = copied(k, c, p->at, p->size);

		if (!now || memcmp(now, before, p->size) != 0)
			return false;
	}
	return true;
}

uint32_t frozen_known_node(struct frozen_known *k, const struct virtual_chunk *c)
{
	uint64_t top = 0, at = c->at - c->chunk;
	struct stack *s;

	k->noted = NULL;
	if (at > UINT32_MAX || c->bytes < TOP_AT + sizeof(top))
		return 0;
	memcpy(&top, c->frames + TOP_AT, sizeof(top));
	s = &k->stacks[((top ^ at << 20 ^ c->bytes) * 0x9e3779b97f4a7c15ULL) >> 40 & (STACKS - 1)];
	if (s->node && s->top == top && s->at == at && s->bytes == c->bytes && is_same(k, s, c))
		return s->node;
	s->top = top;
	s->at = (uint32_t)at;
	s->bytes = c->bytes;
	s->node = 0;
	s->parts.count = s->read.count = 0;
	k->noted = s;
	return 0;
}

static bool note(struct stack *s, const uint8_t *from, uint32_t at, uint32_t size)
{
	if (s->parts.count >= PARTS_MAX || s->read.count + size > BYTES_MAX || VEC_RESERVE(&s->read, size) ||
	    VEC_PUSH(&s->parts, ((struct part){.at = at, .size = size})))
		return false;
	memcpy(s->read.at + s->read.count, from, size);
	s->read.count += size;
	return true;
}

void frozen_known_note(struct frozen_known *k, const struct virtual_chunk *c, uint64_t address, uint32_t size)
{
	uint32_t at = (uint32_t)(address - c->chunk);
	const uint8_t *from = address >= c->chunk && address - c->chunk <= UINT32_MAX ? copied(k, c, at, size) : NULL;

	if (k->noted && (!from || !note(k->noted, from, at, size)))
		k->noted = NULL;
}

void frozen_known_end(struct frozen_known *k, uint32_t node)
{
	if (k->noted && k->noted->parts.count)
		k->noted->node = node;
	k->noted = NULL;
}
