// SPDX-License-Identifier: Apache-2.0
/* Tests of blocks of definitions that go on with the zstd frame of an earlier one. */
#include <xxhash.h>

#include "trace/chain.h"
#include "unit/trace_fixture.h"

Suite *test_chain(void);

#define BLOCKS_MAX 600

struct chain_file {
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
static void file_make(struct chain_file *f, unsigned blocks, unsigned first)
{
	struct trace_writer *w;

	*f = (struct chain_file){.path = fixture_path()};
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

static void file_free(struct chain_file *f)
{
	unlink(f->path);
	free(f->path);
	free(f->bytes);
}

/* All names are read, by a reader and when it begins again. */
static void check_whole(const struct chain_file *f, uint64_t names)
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

/* The number of names that are read; *damage is what was not. */
static uint64_t names_read(const struct chain_file *f, struct trace_damage *damage)
{
	struct fixture_text got;

	fixture_store(f->path, f->bytes, f->len);
	ck_assert_int_eq(fixture_read(f->path, &got), 0);
	*damage = got.damage;
	free(got.text);
	return got.records;
}

/* Blocks: the schema, definitions, index. What goes on with a frame takes less than what begins one. */
START_TEST(goes_on)
{
	struct chain_file f, alone;

	file_make(&f, 4, 1000);
	ck_assert_uint_eq(f.count, 6);
	ck_assert_uint_eq(f.heads[1].continues, 0);
	for (size_t i = 2; i < 5; i++)
		ck_assert_uint_eq(f.heads[i].continues, f.heads[i - 1].checksum);
	check_whole(&f, 1300);
	file_make(&alone, 1, 100);
	ck_assert_uint_lt(f.heads[4].stored_bytes, alone.heads[1].stored_bytes / 2);
	file_free(&f);
	file_free(&alone);
}
END_TEST

/* After 64 blocks another frame begins, so that damage does not take everything behind it. */
START_TEST(begins_again)
{
	struct chain_file f;

	file_make(&f, 130, 1000);
	for (size_t i = 1; i <= 130; i++)
		ck_assert_uint_eq(f.heads[i].continues, i % 64 == 1 ? 0 : f.heads[i - 1].checksum);
	check_whole(&f, 1000 + 129 * 100);
	file_free(&f);
}
END_TEST

/* What a damaged block would have been followed by is left out and counted, until a frame begins. */
START_TEST(damaged_block)
{
	struct chain_file f;
	struct trace_damage damage;

	file_make(&f, 67, 1000);
	f.bytes[f.at[3] + 100] ^= 1;
	ck_assert_uint_eq(names_read(&f, &damage), 1000 + 100 + 3 * 100);
	ck_assert_uint_eq(damage.bad_blocks, 62);
	file_free(&f);
}
END_TEST

/* A recorder that is killed leaves everything in front of the block that it was writing. */
START_TEST(cut_file)
{
	struct chain_file f;
	struct trace_damage damage;

	file_make(&f, 4, 1000);
	f.len = f.at[4] + 100;
	ck_assert_uint_eq(names_read(&f, &damage), 1200);
	ck_assert(damage.truncated);
	ck_assert_uint_eq(damage.bad_blocks, 0);
	file_free(&f);
}
END_TEST

/* The block that it continues is missing. */
START_TEST(missing_block)
{
	struct chain_file f;
	struct trace_damage damage;

	file_make(&f, 3, 1000);
	memmove(f.bytes + f.at[1], f.bytes + f.at[2], f.len - f.at[2]);
	f.len -= f.at[2] - f.at[1];
	ck_assert_uint_eq(names_read(&f, &damage), 0);
	ck_assert_uint_eq(damage.bad_blocks, 2);
	ck_assert_uint_eq(damage.missing_blocks, 1);
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

#define RAW_BYTES 20000U

/* Both ends of a chain. */
struct ends {
	struct trace_chain to, from;
	ZSTD_CCtx *packer;
	ZSTD_DCtx *unpacker;
	uint64_t noise;
	uint8_t raw[RAW_BYTES], back[RAW_BYTES + 1], out[TRACE_BLOCK_BOUND(RAW_BYTES)];
	struct braid_block head;
};

static struct ends *ends_new(void)
{
	struct ends *e = calloc(1, sizeof(*e));

	e->packer = ZSTD_createCCtx();
	e->unpacker = ZSTD_createDCtx();
	e->head.kind = BRAID_BLOCK_DEFS;
	e->noise = 88172645463325252ULL;
	return e;
}

/* No two blocks resemble each other, and none has to be padded. */
static const uint8_t *ends_noise(struct ends *e)
{
	for (size_t i = 0; i < RAW_BYTES; i++) {
		e->noise ^= e->noise << 13;
		e->noise ^= e->noise >> 7;
		e->noise ^= e->noise << 17;
		e->raw[i] = (uint8_t)(e->noise & 0x3f);
	}
	return e->raw;
}

static void ends_pack(struct ends *e, const uint8_t *raw)
{
	const struct trace_payload payload = {raw, RAW_BYTES, NULL};

	ck_assert_int_gt(trace_block_pack(e->packer, &e->to, &e->head, &payload, e->out), 0);
	ck_assert_int_eq(trace_block_check(e->out), 0);
}

static int ends_unpack(struct ends *e)
{
	return trace_block_unpack(e->unpacker, NULL, &e->from, e->out, e->back);
}

static void ends_free(struct ends *e)
{
	chain_free(&e->to);
	chain_free(&e->from);
	ZSTD_freeCCtx(e->packer);
	ZSTD_freeDCtx(e->unpacker);
	free(e);
}

/* A full disk: the part of the block that fits does not continue what has been removed again. */
START_TEST(broken)
{
	struct ends *e = ends_new();

	ends_pack(e, ends_noise(e));
	ck_assert_uint_eq(e->to.last, e->head.checksum);
	chain_break(&e->to);
	ends_pack(e, ends_noise(e));
	ck_assert_uint_eq(e->head.continues, 0);
	ck_assert_int_eq(ends_unpack(e), 0);
	ck_assert_mem_eq(e->back, e->raw, RAW_BYTES);
	ends_pack(e, ends_noise(e));
	ck_assert_uint_ne(e->head.continues, 0);
	chain_break(&e->from);
	ck_assert_int_eq(ends_unpack(e), -EBADMSG);
	ends_free(e);
}
END_TEST

/* What has to be padded has a frame of its own, and so has the next block. */
START_TEST(padded)
{
	static const uint8_t zeros[RAW_BYTES];
	struct ends *e = ends_new();

	for (unsigned i = 0; i < 6; i++) {
		ends_pack(e, i == 2 || i == 3 ? zeros : ends_noise(e));
		ck_assert_int_eq(e->head.continues == 0, i == 0 || (i >= 2 && i <= 4));
		ck_assert_uint_ge(e->head.stored_bytes, (RAW_BYTES - BRAID_BLOCK_RAW_FREE) / BRAID_BLOCK_RATIO_MAX);
		ck_assert_int_eq(ends_unpack(e), 0);
		ck_assert_mem_eq(e->back, i == 2 || i == 3 ? zeros : e->raw, RAW_BYTES);
	}
	ends_free(e);
}
END_TEST

/* A reader's memory is bounded, whatever a frame asks for. */
START_TEST(window)
{
	struct ends *e = ends_new();

	for (int log = BRAID_BLOCK_WINDOW_LOG; log <= BRAID_BLOCK_WINDOW_LOG + 1; log++) {
		ZSTD_inBuffer in = {ends_noise(e), RAW_BYTES, 0};
		ZSTD_outBuffer out = {e->out + sizeof(e->head), sizeof(e->out) - sizeof(e->head), 0};

		ZSTD_CCtx_reset(e->packer, ZSTD_reset_session_and_parameters);
		ZSTD_CCtx_setParameter(e->packer, ZSTD_c_windowLog, log);
		ck_assert_uint_eq(ZSTD_compressStream2(e->packer, &out, &in, ZSTD_e_flush), 0);
		e->head = (struct braid_block){.version = BRAID_TRACE_VERSION,
					       .kind = BRAID_BLOCK_DEFS,
					       .stored_bytes = (uint32_t)out.pos,
					       .raw_bytes = RAW_BYTES};
		memcpy(e->out, &e->head, sizeof(e->head));
		ck_assert_int_eq(ends_unpack(e), log > BRAID_BLOCK_WINDOW_LOG ? -EBADMSG : 0);
	}
	ends_free(e);
}
END_TEST

/* A payload that unpacks to more or less than the header says. */
START_TEST(wrong_size)
{
	struct ends *e = ends_new();

	for (int more = -1; more <= 1; more++) {
		chain_break(&e->to);
		ends_pack(e, ends_noise(e));
		e->head.raw_bytes = (uint32_t)((int)RAW_BYTES - more);
		memcpy(e->out, &e->head, sizeof(e->head));
		ck_assert_int_eq(ends_unpack(e), more ? -EBADMSG : 0);
	}
	ends_free(e);
}
END_TEST

/* ---- version 2 ---- */

/* Adds a block of definitions as version 2 has it. Returns its checksum. */
static uint64_t put_former(struct fixture_file *f, const void *raw, size_t bytes, const void *by, size_t by_bytes,
			   uint64_t dictionary)
{
	struct braid_block head = {.version = BRAID_TRACE_DICTIONARIES,
				   .kind = BRAID_BLOCK_DEFS,
				   .schema = f->schema,
				   .raw_bytes = (uint32_t)bytes,
				   .sequence = f->sequence++,
				   .dictionary = dictionary};
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	uint8_t *at;

	f->bytes = realloc(f->bytes, f->len + TRACE_BLOCK_BOUND(bytes));
	at = f->bytes + f->len;
	memcpy(head.magic, BRAID_BLOCK_MAGIC, sizeof(head.magic));
	head.stored_bytes = (uint32_t)ZSTD_compress_usingDict(packer, at + sizeof(head), ZSTD_COMPRESSBOUND(bytes), raw,
							      bytes, by, by_bytes, 3);
	memcpy(at, &head, sizeof(head));
	head.checksum = XXH3_64bits(at, sizeof(head) + head.stored_bytes);
	memcpy(at, &head, sizeof(head));
	f->len += sizeof(head) + head.stored_bytes;
	ZSTD_freeCCtx(packer);
	return head.checksum;
}

/* Each block is an info without a value. The last one has the dictionary, or asks for one that is not there. */
START_TEST(dictionaries_of_version_2)
{
	static const uint8_t first[] = {TRACE_INFO, 10, 9, 'd', 'i', 'c', 't', 'i', 'o', 'n', 'a', 'r'};
	struct fixture_file f = {0};
	struct fixture_text got;
	uint64_t sum;

	fixture_own_schema(&f);
	sum = put_former(&f, first, sizeof(first), NULL, 0, 0);
	put_former(&f, first, sizeof(first), first, sizeof(first), sum);
	put_former(&f, first, sizeof(first), first, sizeof(first), sum + _i);
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert_uint_eq(got.records, _i ? 2 : 3);
	ck_assert_uint_eq(got.damage.bad_blocks, _i ? 1 : 0);
	free(got.text);
}
END_TEST

Suite *test_chain(void)
{
	Suite *s = suite_create("trace_chain");
	TCase *files = tcase_create("files"), *blocks = tcase_create("blocks"), *former = tcase_create("former");

	tcase_add_test(files, goes_on);
	tcase_add_test(files, begins_again);
	tcase_add_test(files, damaged_block);
	tcase_add_test(files, cut_file);
	tcase_add_test(files, missing_block);
	tcase_add_test(files, empty_block);
	suite_add_tcase(s, files);
	tcase_add_test(blocks, broken);
	tcase_add_test(blocks, padded);
	tcase_add_test(blocks, window);
	tcase_add_test(blocks, wrong_size);
	suite_add_tcase(s, blocks);
	tcase_add_loop_test(former, dictionaries_of_version_2, 0, 2);
	suite_add_tcase(s, former);
	return s;
}
