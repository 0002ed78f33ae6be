// SPDX-License-Identifier: Apache-2.0
/* Tests of traces that are truncated, damaged, forged or of other programs. */
#include <xxhash.h>

#include "unit/trace_fixture.h"

Suite *test_trace_damage(void);

/* ---- a small file of which every byte gets its turn ---- */

#define SMALL_BLOCKS 8 /* schema, three of definitions and samples each, index */

struct small {
	char *path;
	uint8_t *bytes;
	size_t len;
	size_t ends[SMALL_BLOCKS];
	uint16_t kinds[SMALL_BLOCKS];
	uint64_t records[SMALL_BLOCKS]; /* in each block */
	char *texts[SMALL_BLOCKS];
};

static void small_make(struct small *s)
{
	struct trace_writer *w;
	size_t at = 0;

	s->path = fixture_path();
	ck_assert_int_eq(trace_writer_open(&w, s->path), 0);
	for (unsigned i = 0; i < 3; i++) {
		fixture_put(w, (struct trace_rec){.kind = TRACE_INFO, .info = {S("key"), S("value")}});
		fixture_put(w, (struct trace_rec){.kind = TRACE_NODE, .node = {i + 1, i, i + 5}});
		for (unsigned k = 0; k < 3 + i; k++)
			fixture_sample(w, 1000000 * i + 999 * k, i + 1);
		ck_assert_int_eq(trace_writer_flush(w), 0);
	}
	ck_assert_int_eq(trace_writer_close(w), 0);
	s->bytes = fixture_load(s->path, &s->len);
	for (unsigned b = 0; b < SMALL_BLOCKS; b++) {
		struct braid_block head;

		memcpy(&head, s->bytes + at, sizeof(head));
		at += sizeof(head) + head.stored_bytes;
		s->ends[b] = at;
		s->kinds[b] = head.kind;
		s->records[b] = head.kind == BRAID_BLOCK_DEFS	   ? 2
				: head.kind == BRAID_BLOCK_SAMPLES ? 3 + (b - 1) / 2
								   : 0;
	}
	ck_assert_uint_eq(at, s->len);
}

static void small_free(struct small *s)
{
	unlink(s->path);
	free(s->path);
	free(s->bytes);
}

/* Whether a block goes on with the zstd frame of a lost one. */
static bool small_follows(const struct small *s, unsigned lost, unsigned b)
{
	return lost < b && s->kinds[lost] == BRAID_BLOCK_DEFS && s->kinds[b] == BRAID_BLOCK_DEFS;
}

/* The records of all blocks except a lost one (SMALL_BLOCKS: none is) and those that follow it. */
static uint64_t small_records_without(const struct small *s, unsigned lost)
{
	uint64_t n = 0;

	for (unsigned b = 0; b < SMALL_BLOCKS; b++)
		n += b == lost || (lost < SMALL_BLOCKS && small_follows(s, lost, b)) ? 0 : s->records[b];
	return n;
}

/* How many blocks follow a lost one; *bytes are those of them. */
static unsigned small_following(const struct small *s, unsigned lost, size_t *bytes)
{
	unsigned n = 0;

	*bytes = 0;
	for (unsigned b = lost + 1; b < SMALL_BLOCKS; b++)
		if (small_follows(s, lost, b)) {
			*bytes += s->ends[b] - s->ends[b - 1];
			n++;
		}
	return n;
}

START_TEST(cut_at_every_byte)
{
	struct small s;

	small_make(&s);
	for (size_t len = 0; len <= s.len; len++) {
		struct fixture_text got;
		uint64_t want = 0;
		bool at_border = false;
		int err;

		for (unsigned b = 0; b < SMALL_BLOCKS; b++) {
			want += s.ends[b] <= len ? s.records[b] : 0;
			at_border |= s.ends[b] == len;
		}
		fixture_store(s.path, s.bytes, len);
		err = fixture_read(s.path, &got);
		if (len < 8) {
			ck_assert_int_eq(err, -EMEDIUMTYPE);
			continue;
		}
		ck_assert_int_eq(err, 0);
		ck_assert_msg(got.records == want, "cut at %zu of %zu: %lu records, not %lu", len, s.len,
			      (unsigned long)got.records, (unsigned long)want);
		ck_assert_msg(got.damage.truncated == !at_border, "cut at %zu", len);
		ck_assert(got.damage.no_index == (len < s.len));
		ck_assert_uint_eq(got.damage.bad_blocks + got.damage.bad_records, 0);
		free(got.text);
	}
	small_free(&s);
}
END_TEST

static void flip_check(struct small *s, size_t at, uint8_t mask)
{
	struct fixture_text got;
	struct trace_damage *d = &got.damage;
	unsigned block = 0, following;
	size_t bytes;

	while (s->ends[block] <= at)
		block++;
	following = small_following(s, block, &bytes);
	s->bytes[at] ^= mask;
	fixture_store(s->path, s->bytes, s->len);
	s->bytes[at] ^= mask;
	ck_assert_msg(fixture_read(s->path, &got) == 0, "byte %zu flipped: not taken for a trace", at);
	ck_assert_msg(got.records == small_records_without(s, block), "byte %zu (block %u) flipped: %lu records of %lu",
		      at, block, (unsigned long)got.records, (unsigned long)small_records_without(s, block));
	ck_assert_msg(d->skipped_bytes == bytes + s->ends[block] - (block ? s->ends[block - 1] : 0),
		      "byte %zu: %lu skipped", at, (unsigned long)d->skipped_bytes);
	ck_assert_msg(d->missing_blocks || d->truncated || d->no_index, "byte %zu flipped: not noticed", at);
	ck_assert(d->no_index == (block == SMALL_BLOCKS - 1));
	ck_assert_uint_eq(d->bad_records + d->unknown_records, 0);
	ck_assert_uint_ge(d->bad_blocks, following);
	ck_assert_uint_le(d->bad_blocks, following + 1);
	free(got.text);
}

START_TEST(every_byte_flipped)
{
	struct small s;

	small_make(&s);
	for (size_t at = 0; at < s.len; at++) {
		flip_check(&s, at, 0xff);
		flip_check(&s, at, (uint8_t)(1U << (at % 8)));
	}
	small_free(&s);
}
END_TEST

START_TEST(removed_and_inserted_bytes)
{
	struct small s;
	uint8_t *bytes;
	struct fixture_text got;
	/* As long as the reader's search window, so that the magic is across the border of two windows. */
	size_t gap = (256UL << 10) - 3;

	small_make(&s);
	for (size_t at = 0; at < s.len; at += 7) {
		unsigned block = 0;

		while (s.ends[block] <= at)
			block++;
		bytes = malloc(s.len);
		memcpy(bytes, s.bytes, at);
		memcpy(bytes + at, s.bytes + at + 1, s.len - at - 1);
		fixture_store(s.path, bytes, s.len - 1);
		ck_assert_int_eq(fixture_read(s.path, &got), 0);
		ck_assert_uint_eq(got.records, small_records_without(&s, block));
		free(got.text);
		free(bytes);
	}
	for (unsigned b = 0; b < SMALL_BLOCKS; b++) {
		bytes = calloc(1, s.len + gap);
		memcpy(bytes, s.bytes, s.ends[b]);
		memcpy(bytes + s.ends[b] + gap, s.bytes + s.ends[b], s.len - s.ends[b]);
		fixture_store(s.path, bytes, s.len + gap);
		ck_assert_int_eq(fixture_read(s.path, &got), 0);
		ck_assert_uint_eq(got.records, small_records_without(&s, SMALL_BLOCKS));
		ck_assert_uint_eq(got.damage.skipped_bytes, gap);
		ck_assert(!got.damage.missing_blocks && !got.damage.truncated);
		free(got.text);
		free(bytes);
	}
	small_free(&s);
}
END_TEST

START_TEST(block_left_out)
{
	struct small s;
	struct fixture_text got;

	small_make(&s);
	for (unsigned b = 1; b < SMALL_BLOCKS; b++) {
		uint8_t *bytes = malloc(s.len);
		size_t gone = s.ends[b] - s.ends[b - 1];

		memcpy(bytes, s.bytes, s.ends[b - 1]);
		memcpy(bytes + s.ends[b - 1], s.bytes + s.ends[b], s.len - s.ends[b]);
		fixture_store(s.path, bytes, s.len - gone);
		ck_assert_int_eq(fixture_read(s.path, &got), 0);
		ck_assert_uint_eq(got.records, small_records_without(&s, b));
		ck_assert(got.damage.missing_blocks == (b < SMALL_BLOCKS - 1));
		ck_assert(got.damage.no_index == (b == SMALL_BLOCKS - 1));
		free(got.text);
		free(bytes);
	}
	small_free(&s);
}
END_TEST

/* ---- files that are no traces, or not ours to read ---- */

static int open_of(const char *path, const char **why)
{
	struct trace_reader *r = (struct trace_reader *)&r;
	int err;

	*why = NULL;
	err = trace_reader_open(&r, path, why);
	ck_assert_ptr_nonnull(*why);
	if (err)
		ck_assert_ptr_null(r);
	trace_reader_close(r);
	return err;
}

START_TEST(foreign_files)
{
	char *path = fixture_path(), *junk = calloc(1, 9UL << 20);
	const char *why;

	ck_assert_int_eq(open_of(path, &why), -ENOENT);
	fixture_store(path, "", 0);
	ck_assert_int_eq(open_of(path, &why), -EMEDIUMTYPE);
	ck_assert_str_eq(why, "the file is empty");
	fixture_store(path, "PERFILE2 and what follows it", 28);
	ck_assert_int_eq(open_of(path, &why), -EMEDIUMTYPE);
	ck_assert_str_eq(why, "no trace header");
	for (size_t i = 0; i < 9UL << 20; i++)
		junk[i] = BRAID_BLOCK_MAGIC[i % 8 * (i % 640 > 500)];
	fixture_store(path, junk + 1, (9UL << 20) - 1);
	ck_assert_int_eq(open_of(path, &why), -EMEDIUMTYPE);
	ck_assert_int_eq(open_of("/tmp", &why), -EMEDIUMTYPE);
	ck_assert_int_eq(open_of("/dev/null", &why), -EMEDIUMTYPE);
	ck_assert_str_eq(why, "not a regular file");
	trace_reader_close(NULL);
	unlink(path);
	free(path);
	free(junk);
}
END_TEST

/* Sets a block's checksum according to the description: zeros in its place, header and payload together. */
static void checksum_set(uint8_t *block, size_t len)
{
	uint64_t sum;

	memset(block + 48, 0, 8);
	sum = XXH3_64bits(block, len);
	memcpy(block + 48, &sum, sizeof(sum));
}

/* A mebibyte of one-byte records in a hundred bytes: a reader refuses it, and no writer produces it. */
START_TEST(bomb)
{
	uint8_t *raw = malloc(BRAID_BLOCK_RAW_MAX), *back = malloc(BRAID_BLOCK_RAW_MAX);
	uint8_t *block = malloc(TRACE_BLOCK_MAX);
	struct braid_block head = {.kind = BRAID_BLOCK_EVENTS};
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	ZSTD_DCtx *unpacker = ZSTD_createDCtx();
	uint64_t sum;

	ck_assert(raw && back && block && packer && unpacker);
	memset(raw, 0x80, BRAID_BLOCK_RAW_MAX);
	for (size_t size = 1; size <= BRAID_BLOCK_RAW_MAX; size += size < 8192 ? 511 : 104729) {
		long bytes = trace_block_pack(packer, NULL, &head, &(struct trace_payload){raw, size, NULL}, block);

		ck_assert_int_gt(bytes, 0);
		ck_assert_int_eq(trace_block_check(block), 0);
		ck_assert_uint_le(size, BRAID_BLOCK_RAW_FREE + (size_t)bytes * BRAID_BLOCK_RATIO_MAX);
		ck_assert_int_eq(trace_block_unpack(unpacker, NULL, NULL, block, back), 0);
		ck_assert_mem_eq(raw, back, size);
	}
	head.raw_bytes = BRAID_BLOCK_RAW_MAX;
	head.stored_bytes = (uint32_t)ZSTD_compressCCtx(packer, block + sizeof(head), TRACE_STORED_MAX, raw,
							BRAID_BLOCK_RAW_MAX, 1);
	ck_assert_uint_lt(head.stored_bytes, 1000);
	head.checksum = 0;
	memcpy(block, &head, sizeof(head));
	sum = XXH3_64bits(block, sizeof(head) + head.stored_bytes);
	memcpy(block + offsetof(struct braid_block, checksum), &sum, sizeof(sum));
	ck_assert_int_eq(trace_block_check(block), -EBADMSG);
	ZSTD_freeCCtx(packer);
	ZSTD_freeDCtx(unpacker);
	free(raw);
	free(back);
	free(block);
}
END_TEST

#define HEADS 20000
#define CLAIMED 900000U

/* Headers side by side, each of which claims what follows as its block: it is not all read for each of them. */
START_TEST(headers_side_by_side)
{
	struct braid_block head;
	struct fixture_text got;
	struct small s;
	size_t len;
	uint8_t *bytes;

	small_make(&s);
	len = s.len + HEADS * sizeof(head) + CLAIMED;
	bytes = calloc(len, 1);
	memcpy(bytes, s.bytes, s.len);
	memcpy(&head, s.bytes, sizeof(head));
	head.stored_bytes = head.raw_bytes = CLAIMED;
	for (size_t i = 0; i < HEADS; i++)
		memcpy(bytes + s.len + i * sizeof(head), &head, sizeof(head));
	fixture_store(s.path, bytes, len);
	ck_assert_int_eq(fixture_read(s.path, &got), 0);
	ck_assert_uint_eq(got.records, small_records_without(&s, SMALL_BLOCKS));
	ck_assert_uint_eq(got.damage.skipped_bytes, len - s.len);
	ck_assert_uint_lt(got.damage.bad_blocks, 100);
	free(got.text);
	free(bytes);
	small_free(&s);
}
END_TEST

START_TEST(newer_version)
{
	struct small s;
	const char *why;
	struct fixture_text got;
	unsigned following;
	size_t bytes;

	small_make(&s);
	following = small_following(&s, 1, &bytes);
	s.bytes[8] = BRAID_TRACE_VERSION + 1;
	fixture_store(s.path, s.bytes, s.len);
	/* Not a newer version, but a damaged header. */
	ck_assert_int_eq(open_of(s.path, &why), 0);
	checksum_set(s.bytes, s.ends[0]);
	fixture_store(s.path, s.bytes, s.len);
	ck_assert_int_eq(open_of(s.path, &why), -EPROTONOSUPPORT);
	ck_assert_ptr_nonnull(strstr(why, "newer version"));
	s.bytes[8] = BRAID_TRACE_VERSION;
	checksum_set(s.bytes, s.ends[0]);
	/* A newer block in the middle is skipped. */
	s.bytes[s.ends[0] + 8] = BRAID_TRACE_VERSION + 1;
	checksum_set(s.bytes + s.ends[0], s.ends[1] - s.ends[0]);
	fixture_store(s.path, s.bytes, s.len);
	ck_assert_int_eq(fixture_read(s.path, &got), 0);
	ck_assert_uint_eq(got.damage.bad_blocks, 1 + following);
	ck_assert_uint_eq(got.records, small_records_without(&s, 1));
	free(got.text);
	/* An unknown kind of block is skipped and is no damage. */
	s.bytes[s.ends[0] + 8] = BRAID_TRACE_VERSION;
	checksum_set(s.bytes + s.ends[0], s.ends[1] - s.ends[0]);
	s.bytes[s.ends[1] + 12] = 77;
	checksum_set(s.bytes + s.ends[1], s.ends[2] - s.ends[1]);
	fixture_store(s.path, s.bytes, s.len);
	ck_assert_int_eq(fixture_read(s.path, &got), 0);
	ck_assert_uint_eq(got.damage.bad_blocks, 0);
	ck_assert_uint_eq(got.records, small_records_without(&s, 2));
	free(got.text);
	small_free(&s);
}
END_TEST

/* In version 1, every block stands alone. */
START_TEST(older_version)
{
	static const uint8_t info[] = {TRACE_INFO, 3, 2, 'a', 'b'};
	struct fixture_file f = {0};
	struct fixture_text got;

	fixture_own_schema(&f);
	for (unsigned i = 0; i < 2; i++) {
		size_t at = f.len;

		fixture_block(&f, BRAID_BLOCK_DEFS, info, sizeof(info));
		f.bytes[at + 8] = 1;
		checksum_set(f.bytes + at, f.len - at);
	}
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert(!trace_is_damaged(&got.damage));
	ck_assert_str_eq(got.text, "info key=\"ab\" value=\"\"\ninfo key=\"ab\" value=\"\"\n");
	free(got.text);
}
END_TEST

/* ---- forged blocks: the checksum is right, the content is not ---- */

START_TEST(forged_sizes)
{
	struct fixture_file f = {0};
	struct fixture_text got;
	uint8_t *zeros = calloc(1, BRAID_BLOCK_RAW_MAX);
	size_t at[5], n = 0;
	uint32_t v;

	fixture_own_schema(&f);
	for (; n < 4; n++) {
		at[n] = f.len;
		/* unknown kinds, each empty: no records, no error */
		fixture_block(&f, BRAID_BLOCK_DEFS, zeros, BRAID_BLOCK_RAW_MAX);
	}
	at[n] = f.len;
	v = 100; /* a frame of 1 MiB with a stated size of 100 bytes */
	memcpy(f.bytes + at[0] + 20, &v, 4);
	checksum_set(f.bytes + at[0], at[1] - at[0]);
	v = UINT32_MAX;
	memcpy(f.bytes + at[1] + 20, &v, 4);
	checksum_set(f.bytes + at[1], at[2] - at[1]);
	v = UINT32_MAX;
	memcpy(f.bytes + at[2] + 16, &v, 4);
	memset(f.bytes + at[3] + 60, 0xaa, 8); /* no zstd frame any more */
	checksum_set(f.bytes + at[3], at[4] - at[3]);
	at[0] = f.len;
	fixture_block(&f, BRAID_BLOCK_DEFS, zeros, 100);
	v = 200; /* a frame of 100 bytes with a stated size of 200 */
	memcpy(f.bytes + at[0] + 20, &v, 4);
	checksum_set(f.bytes + at[0], f.len - at[0]);
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert_uint_eq(got.damage.bad_blocks, 5);
	ck_assert_uint_eq(got.records, 0);
	free(got.text);
	free(zeros);
}
END_TEST

struct forged {
	const char *what;
	uint8_t raw[24];
	size_t len;
	uint64_t bad, unknown;
};

/* A valid record is before and after each one. */
static const struct forged forged[] = {
	{"varint cut off", {TRACE_INFO, 2, 0x80, 0x80}, 4, 1, 0},
	{"varint of 71 bits", {TRACE_PROCESS_STATE, 11, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, 13, 1, 0},
	{"string beyond the record", {TRACE_INFO, 3, 3, 'a', 'b'}, 5, 1, 0},
	{"string of 2^63 bytes", {TRACE_INFO, 10, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1}, 12, 1, 0},
	{"string that is no UTF-8", {TRACE_INFO, 3, 2, 0xc3, 0x28}, 5, 1, 0},
	{"second half of a character beyond the string", {TRACE_INFO, 4, 1, 0xc3, 1, 0xa9}, 6, 1, 0},
	{"array of more than the record holds", {TRACE_LINES, 4, 2, 2, 2, 2}, 6, 1, 0},
	{"array of 2^60", {TRACE_LINES, 10, 2, 128, 128, 128, 128, 128, 128, 128, 128, 16}, 12, 1, 0},
	{"array with a cut pair", {TRACE_LINES, 4, 2, 1, 2, 0x80}, 6, 1, 0},
	{"negative line", {TRACE_LINES, 4, 2, 1, 2, 1}, 6, 1, 0},
	{"byte code index of 33 bits",
	 {0x80 | 15 << 2 | 2, 0, 0, 0, 0, 0, 0, 0, 1, 5, 128, 128, 128, 128, 32, 0},
	 16,
	 1,
	 0},
	{"method of 33 bits", {0x80 | 15 << 2 | 2, 0, 0, 0, 0, 0, 0, 0, 1, 128, 128, 128, 128, 16, 2, 0}, 16, 1, 0},
	{"thread of 33 bits", {0x80 | 5 << 2, 128, 128, 128, 128, 32}, 6, 1, 0},
	{"an event among definitions", {0x80 | 1 << 2 | 3, 0, 33, 1, 1}, 2, 0, 0},
	{"id below zero", {TRACE_MODULE, 1, 3}, 3, 1, 0},
	{"kind 0", {0, 2, 1, 1}, 4, 0, 1},
	{"kind 127", {127, 0}, 2, 0, 1},
	{"bytes behind the last field", {TRACE_END, 3, 2, 0, 0}, 5, 0, 1},
};

START_TEST(forged_records)
{
	static const uint8_t good[] = {TRACE_INFO, 4, 1, 'k', 1, 'v'};
	const struct forged *x = &forged[_i];
	struct fixture_file f = {0};
	struct fixture_text got;
	uint8_t raw[64];
	char *at;

	memcpy(raw, good, sizeof(good));
	memcpy(raw + sizeof(good), x->raw, x->len);
	memcpy(raw + sizeof(good) + x->len, good, sizeof(good));
	fixture_own_schema(&f);
	fixture_block(&f, BRAID_BLOCK_DEFS, raw, 2 * sizeof(good) + x->len);
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert_msg(got.damage.bad_records == x->bad, "%s: %lu bad records", x->what,
		      (unsigned long)got.damage.bad_records);
	ck_assert_msg(got.damage.unknown_records == x->unknown, "%s: %lu unknown records", x->what,
		      (unsigned long)got.damage.unknown_records);
	at = strstr(got.text, "info key=\"k\" value=\"v\"\n");
	ck_assert_msg(at && strstr(at + 1, "info key=\"k\" value=\"v\"\n"), "%s: neighbours lost", x->what);
	free(got.text);
}
END_TEST

START_TEST(heads_that_do_not_fit)
{
	static const uint8_t heads[][4] = {
		{TRACE_INFO, 3, 0, 0}, {0xff}, {TRACE_INFO, 0x80}, {TRACE_INFO}, {1, 255, 255, 255}};
	static const size_t lens[] = {4, 1, 2, 1, 4};

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct fixture_file f = {0};
		struct fixture_text got;

		fixture_own_schema(&f);
		fixture_block(&f, BRAID_BLOCK_DEFS, heads[i], lens[i]);
		fixture_block(&f, BRAID_BLOCK_DEFS, "\x01\x00", 2);
		ck_assert_int_eq(fixture_read_file(&f, &got), 0);
		ck_assert_uint_eq(got.damage.bad_records, 1);
		ck_assert_uint_eq(got.records, 1);
		free(got.text);
	}
}
END_TEST

/* A schema that cannot be read, and blocks whose schema is not in the file. */
START_TEST(schema_lost)
{
	static const uint8_t info[] = {TRACE_INFO, 4, 1, 'k', 1, 'v'};
	struct fixture_file f = {0};
	struct fixture_text got;
	uint16_t own;

	fixture_own_schema(&f);
	own = f.schema;
	f.len = 0;
	fixture_schema(&f, "this is no schema\n");
	f.schema = own;
	fixture_block(&f, BRAID_BLOCK_DEFS, info, sizeof(info));
	f.schema = (uint16_t)(own + 1);
	fixture_block(&f, BRAID_BLOCK_DEFS, info, sizeof(info));
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert_uint_eq(got.records, 1);
	ck_assert_uint_eq(got.damage.bad_blocks, 2);
	free(got.text);
}
END_TEST

Suite *test_trace_damage(void)
{
	Suite *suite = suite_create("trace_damage");
	TCase *tc = tcase_create("trace_damage");

	tcase_add_test(tc, cut_at_every_byte);
	tcase_add_test(tc, every_byte_flipped);
	tcase_add_test(tc, removed_and_inserted_bytes);
	tcase_add_test(tc, block_left_out);
	tcase_add_test(tc, foreign_files);
	tcase_add_test(tc, headers_side_by_side);
	tcase_add_test(tc, newer_version);
	tcase_add_test(tc, older_version);
	tcase_add_test(tc, bomb);
	tcase_add_test(tc, forged_sizes);
	tcase_add_loop_test(tc, forged_records, 0, sizeof(forged) / sizeof(forged[0]));
	tcase_add_test(tc, heads_that_do_not_fit);
	tcase_add_test(tc, schema_lost);
	suite_add_tcase(suite, tc);
	return suite;
}
