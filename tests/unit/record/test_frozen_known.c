// SPDX-License-Identifier: Apache-2.0
/* Tests of stacks of virtual threads that are known by what their walk has read. */
#include "record/frozen_known.h"

#include <check.h>
#include <string.h>

Suite *test_frozen_known(void);

#define FIELDS 32U
#define FRAMES 256U

/* A chunk in the heap at any address, and the copies of its parts; its frames begin `hole` bytes after its fields. */
struct copy {
	struct virtual_chunk chunk;
	uint8_t fields[FIELDS], frames[FRAMES];
};

static struct virtual_chunk *chunk_at(struct copy *c, uint64_t address, uint32_t hole)
{
	memset(c, 0, sizeof(*c));
	for (uint32_t i = 0; i < FRAMES; i++)
		c->frames[i] = (uint8_t)i;
	c->chunk = (struct virtual_chunk){.chunk = address,
					  .at = address + FIELDS + hole,
					  .fields = c->fields,
					  .frames = c->frames,
					  .bytes = FRAMES};
	return &c->chunk;
}

/* A walk that reads a field, and these bytes of the frames. */
static void walk(struct frozen_known *k, const struct virtual_chunk *c, uint32_t at, uint32_t size, uint32_t node)
{
	ck_assert_uint_eq(frozen_known_node(k, c), 0);
	frozen_known_note(k, c, c->chunk + 8, 4);
	frozen_known_note(k, c, c->at + at, size);
	frozen_known_end(k, node);
}

/* What the walk has not read may differ, and so may the chunk's address; all else may not. */
START_TEST(same_and_other)
{
	struct frozen_known *k = frozen_known_new(FIELDS);
	struct copy a, b;

	walk(k, chunk_at(&a, 0x10000, 64), 100, 16, 7);
	ck_assert_uint_eq(frozen_known_node(k, &a.chunk), 7);
	ck_assert_uint_eq(frozen_known_node(k, chunk_at(&b, 0x7f0000000000, 64)), 7);
	b.frames[99] = b.frames[116] = b.fields[12] = 1;
	ck_assert_uint_eq(frozen_known_node(k, &b.chunk), 7);

	b.frames[115]++;
	walk(k, &b.chunk, 100, 16, 8); /* in the place of the other one */
	ck_assert_uint_eq(frozen_known_node(k, &b.chunk), 8);
	b.fields[8] = 1;
	walk(k, &b.chunk, 100, 16, 9);
	ck_assert_uint_eq(frozen_known_node(k, &b.chunk), 9);
	walk(k, &a.chunk, 100, 16, 7);
	frozen_known_free(k);
}
END_TEST

/*
 * Stacks of another size, at another place in the chunk, and with another first frame are others, though none of that
 * is read.
 */
START_TEST(other_shapes)
{
	struct frozen_known *k = frozen_known_new(FIELDS);
	struct copy a, b;

	walk(k, chunk_at(&a, 0x10000, 64), 100, 16, 7);
	ck_assert_uint_eq(frozen_known_node(k, chunk_at(&b, 0x20000, 72)), 0);
	chunk_at(&b, 0x20000, 64)->bytes = FRAMES - 8;
	ck_assert_uint_eq(frozen_known_node(k, &b.chunk), 0);
	chunk_at(&b, 0x20000, 64);
	b.frames[8]++;
	ck_assert_uint_eq(frozen_known_node(k, &b.chunk), 0);
	frozen_known_free(k);
}
END_TEST

/* Not known: a walk that was not whole, one that has read what was not copied, and one that has read very much. */
START_TEST(not_to_be_known)
{
	struct frozen_known *k = frozen_known_new(FIELDS);
	struct copy a;

	walk(k, chunk_at(&a, 0x10000, 64), 100, 16, 0);
	walk(k, &a.chunk, FRAMES - 8, 16, 7);
	walk(k, &a.chunk, UINT32_MAX, 8, 7);
	ck_assert_uint_eq(frozen_known_node(k, &a.chunk), 0);
	frozen_known_note(k, &a.chunk, a.chunk.chunk - 8, 8);
	frozen_known_end(k, 7);
	ck_assert_uint_eq(frozen_known_node(k, &a.chunk), 0);
	for (uint32_t i = 0; i < 1000; i++)
		frozen_known_note(k, &a.chunk, a.chunk.at, FRAMES);
	frozen_known_end(k, 7);
	ck_assert_uint_eq(frozen_known_node(k, &a.chunk), 0);
	for (uint32_t i = 0; i < 10000; i++)
		frozen_known_note(k, &a.chunk, a.chunk.at, 1);
	frozen_known_end(k, 7);
	a.chunk.bytes = 12; /* there is no frame */
	ck_assert_uint_eq(frozen_known_node(k, &a.chunk), 0);
	frozen_known_end(k, 7);
	a.chunk.bytes = FRAMES;
	walk(k, &a.chunk, 100, 16, 9);
	ck_assert_uint_eq(frozen_known_node(k, &a.chunk), 9);
	frozen_known_free(k);
}
END_TEST

Suite *test_frozen_known(void)
{
	Suite *s = suite_create("frozen_known");
	TCase *t = tcase_create("all");

	tcase_add_test(t, same_and_other);
	tcase_add_test(t, other_shapes);
	tcase_add_test(t, not_to_be_known);
	suite_add_tcase(s, t);
	return s;
}
