// SPDX-License-Identifier: Apache-2.0
#include "stack_sums.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "util/compare.h"
#include "util/pages.h"
#include "util/varint.h"

/* Fresh sums are packed when they are this many and a quarter of the packed ones: packing takes a pass over all. */
#define FRESH_LEAST 65536U
#define FRESH_SHARE 4U

#define PACKED_MAX (5 * VARINT_MAX_BYTES)
#define PACKED_MOSTLY 6U /* nearly all take less */

/* Nearly all differ in the first half. */
static int compare_keys(const struct stack_sum *p, const struct stack_sum *q)
{
	int c = compare_u64((uint64_t)p->thread << 32 | p->stack, (uint64_t)q->thread << 32 | q->stack);

	return c ?: compare_u64((uint64_t)p->xframe << 32 | p->leaf, (uint64_t)q->xframe << 32 | q->leaf);
}

/* ---- packed ---- */

enum { OTHER_THREAD = 1, OTHER_FRAME = 2, STACK_SHIFT = 2 };

/* A sum is coded by its difference to the one in front of it; `front` is 0 for the first one. */
static uint8_t *pack(uint8_t *p, const struct stack_sum *front, const struct stack_sum *s)
{
	bool thread = s->thread != front->thread, frame = s->xframe != front->xframe || s->leaf != front->leaf;
	uint64_t stack = thread ? s->stack : s->stack - front->stack;

	p = varint_put(p, stack << STACK_SHIFT | (thread ? OTHER_THREAD : 0) | (frame ? OTHER_FRAME : 0));
	if (thread)
		p = varint_put(p, s->thread - front->thread);
	if (frame) {
		p = varint_put(p, s->xframe);
		p = varint_put(p, s->leaf);
	}
	return varint_put(p, s->weight);
}

static const uint8_t *take(const uint8_t *p, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	return p ? varint_get(p, end, number) : NULL;
}

/* *s is the one in front, and becomes the one at p. */
static const uint8_t *unpack(const uint8_t *p, const uint8_t *end, struct stack_sum *s)
{
	uint64_t head, number;

	p = take(p, end, &head);
	if (head & OTHER_THREAD) {
		p = take(p, end, &number);
		s->thread += (uint32_t)number;
		s->stack = 0;
	}
	s->stack += (uint32_t)(head >> STACK_SHIFT);
	if (head & OTHER_FRAME) {
		p = take(p, end, &number);
		s->xframe = (uint32_t)number;
		p = take(p, end, &number);
		s->leaf = (uint32_t)number;
	}
	return take(p, end, &s->weight);
}

/* Puts one behind the others, which must not be greater. */
static int append(struct stack_sums_packed *to, const struct stack_sum *one)
{
	if (to->count && compare_keys(&to->last, one) == 0) {
		to->last.weight = add_saturating(to->last.weight, one->weight);
		return 0;
	}
	if (to->count) {
		if (VEC_RESERVE(&to->bytes, PACKED_MAX))
			return -ENOMEM;
		to->bytes.count = (size_t)(pack(to->bytes.at + to->bytes.count, &to->front, &to->last) - to->bytes.at);
		to->front = to->last;
	}
	to->last = *one;
	to->count++;
	return 0;
}

/* The next one of those that are packed. */
static bool next_packed(struct stack_sums_cursor *c)
{
	const struct stack_sums_packed *p = &c->of->packed;
	const uint8_t *next;

	if (c->packed == p->count)
		return false;
	if (++c->packed == p->count) {
		c->at = p->last;
		return true;
	}
	next = unpack(p->bytes.at + c->byte, p->bytes.at + p->bytes.count, &c->at);
	c->byte = (size_t)(next - p->bytes.at);
	return true;
}

/* ---- fresh ---- */

#define KEY_BYTES 16U

static uint8_t key_byte(const struct stack_sum *s, unsigned byte)
{
	const uint32_t least_first[] = {s->leaf, s->xframe, s->stack, s->thread};

	return (uint8_t)(least_first[byte / 4] >> byte % 4 * 8);
}

static void sort_by_byte(const struct stack_sum *from, struct stack_sum *to, size_t count, unsigned byte)
{
	size_t at[256] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[key_byte(&from[i], byte)]++;
	for (unsigned b = 0; b < 256; b++) {
		size_t n = at[b];

		at[b] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[at[key_byte(&from[i], byte)]++] = from[i];
}

/* Radix sort: there are millions, and only few bytes of their keys differ. */
static int sort_fresh(struct stack_sums *s)
{
	struct stack_sum *from = s->fresh.at, *to, differ = {0};
	size_t count = s->fresh.count;

	to = pages_alloc((count + 1) * sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++) {
		differ.thread |= from[0].thread ^ from[i].thread;
		differ.stack |= from[0].stack ^ from[i].stack;
		differ.xframe |= from[0].xframe ^ from[i].xframe;
		differ.leaf |= from[0].leaf ^ from[i].leaf;
	}
	for (unsigned byte = 0; byte < KEY_BYTES; byte++) {
		struct stack_sum *sorted = to;

		if (!key_byte(&differ, byte))
			continue;
		sort_by_byte(from, to, count, byte);
		to = from;
		from = sorted;
	}
	if (from != s->fresh.at) {
		s->fresh.at = from;
		s->fresh.room = count + 1;
	}
	free(to);
	return 0;
}

/* Empty, with room for what most will take. */
static int packed_begin(struct stack_sums_packed *p, size_t bytes)
{
	*p = (struct stack_sums_packed){.bytes = {.at = pages_alloc(bytes), .room = bytes}};
	return p->bytes.at ? 0 : -ENOMEM;
}

/* Packs the fresh ones together with those that are packed. */
static int merge(struct stack_sums *s)
{
	struct stack_sums_packed merged;
	struct stack_sums_cursor c;
	bool more;
	size_t i = 0;
	int err = packed_begin(&merged, s->packed.bytes.count + s->fresh.count * PACKED_MOSTLY + PACKED_MAX);

	if (!err)
		err = sort_fresh(s);
	stack_sums_begin(&c, s);
	more = next_packed(&c);
	while (!err && (more || i < s->fresh.count)) {
		if (more && (i == s->fresh.count || compare_keys(&c.at, &s->fresh.at[i]) <= 0)) {
			err = append(&merged, &c.at);
			more = next_packed(&c);
		} else {
			err = append(&merged, &s->fresh.at[i++]);
		}
	}
	if (err) {
		free(merged.bytes.at);
		return err;
	}
	free(s->packed.bytes.at);
	s->packed = merged;
	s->fresh.count = 0;
	return 0;
}

static size_t fresh_most(const struct stack_sums *s)
{
	return FRESH_LEAST + s->packed.count / FRESH_SHARE;
}

/* Room for as many fresh ones as there will be: growing would copy them. */
static int begin_fresh(struct stack_sums *s)
{
	size_t room = fresh_most(s);

	if (room <= s->fresh.room)
		return 0;
	free(s->fresh.at);
	s->fresh.at = pages_alloc(room * sizeof(*s->fresh.at));
	s->fresh.room = s->fresh.at ? room : 0;
	return s->fresh.at ? 0 : -ENOMEM;
}

/* ---- the interface ---- */

int stack_sums_add(struct stack_sums *s, const struct stack_sum *one)
{
	if (!s->fresh.count && (!s->packed.count || compare_keys(&s->packed.last, one) <= 0))
		return append(&s->packed, one);
	if (s->fresh.count >= fresh_most(s) && (merge(s) || begin_fresh(s)))
		return -ENOMEM;
	return VEC_PUSH(&s->fresh, *one);
}

int stack_sums_order(struct stack_sums *s)
{
	int err = s->fresh.count ? merge(s) : 0;

	if (err)
		return err;
	free(s->fresh.at);
	memset(&s->fresh, 0, sizeof(s->fresh));
	return 0;
}

void stack_sums_free(struct stack_sums *s)
{
	free(s->packed.bytes.at);
	free(s->fresh.at);
	memset(s, 0, sizeof(*s));
}

void stack_sums_begin(struct stack_sums_cursor *c, const struct stack_sums *s)
{
	*c = (struct stack_sums_cursor){.of = s};
}

const struct stack_sum *stack_sums_next(struct stack_sums_cursor *c)
{
	if (next_packed(c))
		return &c->at;
	return c->fresh < c->of->fresh.count ? &c->of->fresh.at[c->fresh++] : NULL;
}

size_t stack_sums_count(const struct stack_sums *s)
{
	return s->packed.count + s->fresh.count;
}
