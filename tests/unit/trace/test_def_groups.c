// SPDX-License-Identifier: Apache-2.0
/* Tests of the order of definitions in a block. */
#include "trace/chain.h"
#include "trace/def_groups.h"
#include "trace/str.h"
#include "unit/trace_fixture.h"

Suite *test_def_groups(void);

#define METHODS 200U

/* A method with its code, a frame of it, and a stack: as they come from a recorder. */
static void put_method(struct trace_writer *w, uint32_t i)
{
	const struct trace_scope scope = {i, 7};
	char name[32];

	snprintf(name, sizeof(name), "visitNode%u", i * 2654435761U % 100000);
	fixture_put(w, (struct trace_rec){.kind = TRACE_METHOD, .method = {.method = i, .name = str_of(name)}});
	fixture_put(w,
		    (struct trace_rec){.kind = TRACE_CODE,
				       .code = {.code = i, .method = i, .address = 0x7f0000000000 + i * 2246822519U}});
	fixture_put(w, (struct trace_rec){.kind = TRACE_FRAME,
					  .frame = {.frame = i, .code = i, .scope_count = 1, .scopes = &scope}});
	fixture_put(w, (struct trace_rec){.kind = TRACE_NODE, .node = {.node = i, .parent = i - 1, .frame = i}});
}

/* What a record of these defines; 0: it is of none of these kinds. */
static uint32_t id_of(const struct trace_rec *rec)
{
	switch (rec->kind) {
	case TRACE_METHOD:
		return rec->method.method;
	case TRACE_CODE:
		return rec->code.code == rec->code.method ? rec->code.code : 0;
	case TRACE_FRAME:
		return rec->frame.frame == rec->frame.scopes[0].method ? rec->frame.frame : 0;
	case TRACE_NODE:
		return rec->node.node == rec->node.frame ? rec->node.node : 0;
	default:
		return 0;
	}
}

/* Each group is whole, in order, and behind those that it refers to. */
START_TEST(groups_in_a_file)
{
	static const uint32_t kinds[] = {TRACE_METHOD, TRACE_CODE, TRACE_FRAME, TRACE_NODE};
	char *path = fixture_path();
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_rec rec;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (uint32_t i = 1; i <= METHODS; i++)
		put_method(w, i);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_reader_open(&r, path, NULL), 0);
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		for (uint32_t i = 1; i <= METHODS; i++) {
			ck_assert_int_eq(trace_reader_next(r, &rec), 1);
			ck_assert_uint_eq(rec.kind, kinds[kind]);
			ck_assert_uint_eq(id_of(&rec), i);
		}
	ck_assert_int_eq(trace_reader_next(r, &rec), 0);
	ck_assert(!trace_is_damaged(trace_reader_damage(r)));
	trace_reader_close(r);
	unlink(path);
	free(path);
}
END_TEST

/* The unpacked payload of a file's first block of definitions. */
static struct trace_payload first_block(const char *path)
{
	struct trace_chain chain = {0};
	struct trace_payload got = {0};
	struct braid_block head;
	size_t len, at;
	uint8_t *bytes = fixture_load(path, &len), *raw;

	memcpy(&head, bytes, sizeof(head));
	at = sizeof(head) + head.stored_bytes;
	memcpy(&head, bytes + at, sizeof(head));
	ck_assert_uint_eq(head.kind, BRAID_BLOCK_DEFS);
	raw = malloc(head.raw_bytes);
	ck_assert_int_eq(trace_block_unpack(NULL, NULL, &chain, bytes + at, raw), 0);
	got.raw = raw;
	got.bytes = head.raw_bytes;
	chain_free(&chain);
	free(bytes);
	return got;
}

/* Codes for each part by itself take less than codes for all, and the payload is the same. */
START_TEST(parts_have_their_own_codes)
{
	uint8_t *out = malloc(TRACE_BLOCK_MAX), *back = malloc(BRAID_BLOCK_RAW_MAX);
	struct braid_block whole = {.kind = BRAID_BLOCK_DEFS}, parts = whole;
	struct def_groups g = {0};
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	ZSTD_DCtx *unpacker = ZSTD_createDCtx();
	char *path = fixture_path();
	struct trace_payload payload;
	struct trace_writer *w;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (uint32_t i = 1; i <= METHODS; i++)
		put_method(w, i);
	ck_assert_int_eq(trace_writer_close(w), 0);
	payload = first_block(path);
	ck_assert_int_eq(def_groups_make(&g, payload.raw, payload.bytes), 0);
	ck_assert_mem_eq(g.raw.at, payload.raw, payload.bytes); /* they already were in groups */
	ck_assert_uint_eq(g.ends[TRACE_PARTS - 1], payload.bytes);
	for (size_t i = 1; i < TRACE_PARTS; i++)
		ck_assert_uint_gt(g.ends[i], g.ends[i - 1]);
	ck_assert_int_gt(trace_block_pack(packer, NULL, &whole, &payload, out), 0);
	payload.ends = g.ends;
	ck_assert_int_gt(trace_block_pack(packer, NULL, &parts, &payload, out), 0);
	ck_assert_uint_lt(parts.stored_bytes, whole.stored_bytes);
	ck_assert_int_eq(trace_block_unpack(unpacker, NULL, NULL, out, back), 0);
	ck_assert_mem_eq(back, payload.raw, payload.bytes);
	def_groups_free(&g);
	free((void *)(uintptr_t)payload.raw);
	ZSTD_freeCCtx(packer);
	ZSTD_freeDCtx(unpacker);
	free(out);
	free(back);
	unlink(path);
	free(path);
}
END_TEST

/* What is no record stays as it is. */
START_TEST(no_records)
{
	static const uint8_t cut[] = {TRACE_NAME, 1, 0, TRACE_LINES, 200, 1};
	struct def_groups g = {0};

	ck_assert_int_eq(def_groups_make(&g, cut, sizeof(cut)), 0);
	ck_assert_mem_eq(g.raw.at, cut, sizeof(cut));
	ck_assert_uint_eq(g.ends[TRACE_PARTS - 1], sizeof(cut));
	def_groups_free(&g);
}
END_TEST

Suite *test_def_groups(void)
{
	Suite *s = suite_create("trace_def_groups");
	TCase *tc = tcase_create("trace_def_groups");

	tcase_add_test(tc, groups_in_a_file);
	tcase_add_test(tc, parts_have_their_own_codes);
	tcase_add_test(tc, no_records);
	suite_add_tcase(s, tc);
	return s;
}
