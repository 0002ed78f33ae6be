// SPDX-License-Identifier: Apache-2.0
/* Tests of blocks of definitions that have an earlier one as dictionary. */
#include "trace/dictionary.h"
#include "unit/trace_fixture.h"

Suite *test_dictionary(void);

#define BLOCKS_MAX 600

struct dictionary_file {
	char *path;
	uint8_t *bytes;
	size_t len, count;
	size_t at[BLOCKS_MAX];
	struct braid_block heads[BLOCKS_MAX];
};

/* Names of a hundred classes, which come again in each block. */
static void put_names(struct trace_writer *w, unsigned block, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char text[64];
		unsigned id = block * 10000 + i + 1, class = i % 100 + 1;
		int len = snprintf(text, sizeof(text), "com.example.Pass%08x%08x.visit%u", class * 2654435761U,
				   class * 2246822519U, id % 9973);

		fixture_put(w, (struct trace_rec){.kind = TRACE_NAME, .name = {id, {text, (uint32_t)len}}});
	}
	ck_assert_int_eq(trace_writer_flush(w), 0);
}

/* Writes the names of `blocks` blocks, the first of which has `first` of them, and the others 100. */
static void file_make(struct dictionary_file *f, unsigned blocks, unsigned first)
{
	struct trace_writer *w;

	*f = (struct dictionary_file){.path = fixture_path()};
	ck_assert_int_eq(trace_writer_open(&w, f->path), 0);
	for (unsigned i = 0; i < blocks; i++)
		put_names(w, i, i ? 100 : first);
	ck_assert_int_eq(trace_writer_close(w), 0);
	f->bytes = fixture_load(f->path, &f->len);
	for (size_t at = 0; at < f->len; f->count++) {
		ck_assert_uint_lt(f->count, BLOCKS_MAX);
		f->at[f->count] = at;
		memcpy(&f->heads[f->count], f->bytes + at, sizeof(f->heads[0]));
		at += sizeof(f->heads[0]) + f->heads[f->count].stored_bytes;
	}
}

static void file_free(struct dictionary_file *f)
{
	unlink(f->path);
	free(f->path);
	free(f->bytes);
}

/* All names are read, by a reader and when it begins again. */
static void check_whole(const struct dictionary_file *f, uint64_t names)
{
	struct trace_reader *r;
	struct trace_rec rec;

	ck_assert_int_eq(trace_reader_open(&r, f->path, NULL), 0);
	for (unsigned round = 0; round < 2; round++) {
		uint64_t count = 0;

		while (trace_reader_next(r, &rec) == 1)
			count++;
		ck_assert_uint_eq(count, names);
		ck_assert(!trace_is_damaged(trace_reader_damage(r)));
		trace_reader_rewind(r);
	}
	trace_reader_close(r);
}

/* Blocks: the schema, definitions, index. What is packed with a dictionary takes less than alone. */
START_TEST(serves_later_blocks)
{
	struct dictionary_file f, alone;

	file_make(&f, 4, 1000);
	ck_assert_uint_eq(f.count, 6);
	ck_assert_uint_eq(f.heads[1].dictionary, 0);
	for (size_t i = 2; i < 5; i++)
		ck_assert_uint_eq(f.heads[i].dictionary, f.heads[1].checksum);
	check_whole(&f, 1300);
	file_make(&alone, 4, 100); /* none is large enough */
	for (size_t i = 1; i < 5; i++)
		ck_assert_uint_eq(alone.heads[i].dictionary, 0);
	check_whole(&alone, 400);
	ck_assert_uint_lt(f.heads[3].stored_bytes, alone.heads[3].stored_bytes);
	file_free(&f);
	file_free(&alone);
}
END_TEST

/* A block that is too large for one leaves it to a later one. */
START_TEST(is_not_too_large)
{
	struct dictionary_file f;

	file_make(&f, 3, 9000);
	ck_assert_uint_gt(f.heads[1].raw_bytes, BRAID_BLOCK_DICTIONARY_MAX);
	ck_assert_uint_eq(f.heads[2].dictionary, 0);
	check_whole(&f, 9200);
	file_free(&f);
}
END_TEST

/* After 256 blocks another one stands alone, so that damage does not take everything behind it. */
START_TEST(is_renewed)
{
	struct dictionary_file f;
	size_t alone = 0;

	file_make(&f, 300, 1000);
	for (size_t i = 2; i <= 300; i++)
		alone += !f.heads[i].dictionary;
	ck_assert_uint_eq(f.heads[257].dictionary, f.heads[1].checksum);
	ck_assert_uint_eq(f.heads[258].dictionary, 0);
	ck_assert_uint_ge(alone, 1);
	check_whole(&f, 1000 + 299 * 100);
	file_free(&f);
}
END_TEST

/* Without its dictionary, a block is left out and counted. */
START_TEST(damaged_dictionary)
{
	struct dictionary_file f;
	struct fixture_text got;

	file_make(&f, 4, 1000);
	f.bytes[f.at[1] + 100] ^= 1;
	fixture_store(f.path, f.bytes, f.len);
	ck_assert_int_eq(fixture_read(f.path, &got), 0);
	ck_assert_uint_eq(got.records, 0);
	ck_assert_uint_eq(got.damage.bad_blocks, 4);
	free(got.text);
	file_free(&f);
}
END_TEST

/* What a forged file can have. */
START_TEST(empty_block)
{
	struct fixture_file f = {0};
	struct fixture_text got;

	fixture_own_schema(&f);
	fixture_block(&f, BRAID_BLOCK_DEFS, "", 0);
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert_uint_eq(got.damage.bad_blocks + got.damage.bad_records, 0);
	free(got.text);
}
END_TEST

/* A full disk: the part of the block that fits does not refer to what has been removed again. */
START_TEST(forgotten)
{
	struct trace_dictionary d = {0};
	uint8_t raw[20000] = {1}, out[TRACE_BLOCK_BOUND(sizeof(raw))], back[sizeof(raw)];
	const struct trace_payload payload = {raw, sizeof(raw), NULL};
	struct braid_block head = {.kind = BRAID_BLOCK_DEFS};
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	ZSTD_DCtx *unpacker = ZSTD_createDCtx();

	ck_assert_int_gt(trace_block_pack(packer, &d, &head, &payload, out), 0);
	ck_assert_uint_eq(d.block, head.checksum);
	dictionary_forget(&d);
	ck_assert_int_gt(trace_block_pack(packer, &d, &head, &payload, out), 0);
	ck_assert_uint_eq(head.dictionary, 0);
	ck_assert_int_eq(trace_block_unpack(unpacker, NULL, out, back), 0);
	head.dictionary = 0;
	ck_assert_int_gt(trace_block_pack(packer, &d, &head, &payload, out), 0);
	ck_assert_uint_ne(head.dictionary, 0);
	ck_assert_int_eq(trace_block_unpack(unpacker, NULL, out, back), -EBADMSG);
	dictionary_free(&d);
	ZSTD_freeCCtx(packer);
	ZSTD_freeDCtx(unpacker);
}
END_TEST

Suite *test_dictionary(void)
{
	Suite *s = suite_create("trace_dictionary");
	TCase *tc = tcase_create("trace_dictionary");

	tcase_add_test(tc, serves_later_blocks);
	tcase_add_test(tc, is_not_too_large);
	tcase_add_test(tc, is_renewed);
	tcase_add_test(tc, damaged_dictionary);
	tcase_add_test(tc, empty_block);
	tcase_add_test(tc, forgotten);
	suite_add_tcase(s, tc);
	return s;
}
