// SPDX-License-Identifier: Apache-2.0
#include "chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX (1U << 20)
#define HAS_BITMAP 0x10U /* stackChunkOopDesc::FLAG_HAS_BITMAP */

struct chunk {
	struct reach *g;
	uint64_t stack;	    /* address of its first word */
	uint32_t sp, words; /* those from sp on are in use */
	bool has_bitmap;
	uint8_t *bytes;	  /* the words */
	uint64_t *bitmap; /* behind them: a bit for each place of a reference */
	uint32_t places;  /* of references in a word */
};

/* False: what it says of itself cannot be. */
static bool head_read(struct chunk *s, const struct class *k, uint64_t chunk)
{
	const struct klasses *c = s->g->classes;
	const struct vm *vm = s->g->vm;
	uint8_t flags = 0;

	if (!c->chunk_sp || !c->chunk_words || !copy_peek(vm->copy, chunk + c->chunk_sp, &s->sp, sizeof(s->sp)) ||
	    !copy_peek(vm->copy, chunk + c->chunk_words, &s->words, sizeof(s->words)))
		return false;
	if (c->chunk_flags && !copy_peek(vm->copy, chunk + c->chunk_flags, &flags, sizeof(flags)))
		return false;
	s->stack = chunk_frames(k, chunk);
	s->has_bitmap = flags & HAS_BITMAP;
	s->places = 8 / vm_reference_bytes(vm);
	return s->words <= WORDS_MAX && s->sp <= s->words && 8ULL * s->words <= vm->heap_high - s->stack;
}

static bool place_is_set(const struct chunk *s, uint32_t place)
{
	return s->bitmap[place / 64] >> place % 64 & 1;
}

/* The bitmap has a bit for each narrow reference, or for each word, from the first word of the stack on. */
static void marked_each(const struct chunk *s, chunk_fn fn, void *ctx)
{
	uint32_t wide = vm_reference_bytes(s->g->vm);

	for (uint32_t p = s->sp * s->places; p < s->words * s->places; p++)
		if (place_is_set(s, p))
			fn(ctx, vm_reference(s->g->vm, s->bytes + (size_t)p * wide));
}

/* Whether an object of a known class is there. */
static bool is_object(const struct reach *g, uint64_t address)
{
	uint8_t header[16];

	return marks_cover(&g->marks, address) && copy_peek(g->vm->copy, address, header, sizeof(header)) &&
	       pair_find(&g->classes->of_klass, vm_klass(g->vm, header), 0);
}

/* Frames have addresses, and what compiled code has not decoded: narrow references. */
static void possible_each(const struct chunk *s, chunk_fn fn, void *ctx)
{
	const struct vm *vm = s->g->vm;

	for (uint32_t i = s->sp; i < s->words; i++) {
		const uint8_t *at = s->bytes + 8ULL * i;
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		if (is_object(s->g, word)) {
			fn(ctx, word);
			continue;
		}
		for (uint32_t half = 0; s->places > 1 && half < 2; half++) {
			uint64_t object = vm_reference(vm, at + 4ULL * half);

			if (object && is_object(s->g, object))
				fn(ctx, object);
		}
	}
}

int chunk_each(struct reach *g, const struct class *k, uint64_t chunk, chunk_fn fn, void *ctx)
{
	struct chunk s = {.g = g};
	uint64_t stack, bitmap;

	if (!head_read(&s, k, chunk)) {
		g->bad++;
		return 0;
	}
	if (!reach_charge(g, chunk_bytes(g->vm, s.words)))
		return 0;
	stack = 8ULL * s.words;
	bitmap = s.has_bitmap ? chunk_bitmap_bytes(g->vm, s.words) : 0;
	s.bytes = malloc(stack + bitmap + 8);
	if (!s.bytes)
		return -ENOMEM;
	s.bitmap = (uint64_t *)(void *)(s.bytes + stack);
	if (copy_read(g->vm->copy, s.stack, s.bytes, stack + bitmap))
		g->bad++;
	else if (s.has_bitmap)
		marked_each(&s, fn, ctx);
	else
		possible_each(&s, fn, ctx);
	free(s.bytes);
	return 0;
}
