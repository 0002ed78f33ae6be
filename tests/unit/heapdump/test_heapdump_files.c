// SPDX-License-Identifier: Apache-2.0
/* Tests of the files of heap dumps: compression, records and segments. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <heapdump/records.h>

Suite *test_heapdump_files(void);

static char dir[] = "/tmp/braid-heapdump-XXXXXX";

static const char *path_of(const char *file)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return path;
}

static size_t file_read(const char *path, uint8_t **to)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	*to = malloc((size_t)st.st_size + 1);
	ck_assert_int_eq(read(fd, *to, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
}

static void write_words(const char *file, uint32_t words)
{
	atomic_bool stop = false;
	uint32_t piece[1000];
	struct output *o;
	uint64_t bytes;

	ck_assert_int_eq(output_open(&o, path_of(file), &stop), 0);
	for (uint32_t i = 0, count; i < words; i += count) { /* pieces of many sizes */
		count = 1 + i % 1000 < words - i ? 1 + i % 1000 : words - i;
		for (uint32_t k = 0; k < count; k++)
			piece[k] = i + k;
		ck_assert_int_eq(output_write(o, piece, count * sizeof(*piece)), 0);
	}
	ck_assert_int_eq(output_close(o, true, &bytes), 0);
}

static void words_are(const uint8_t *p, size_t size, uint32_t words)
{
	ck_assert_uint_eq(size, words * sizeof(uint32_t));
	for (uint32_t i = 0, value; i < words; i++) {
		memcpy(&value, p + i * sizeof(value), sizeof(value));
		ck_assert_uint_eq(value, i);
	}
}

#define WORDS 500000U

START_TEST(compression)
{
	uint8_t *raw, *plain = malloc(WORDS * 4 + 1);
	atomic_bool stop = false;
	struct output *o;
	uint64_t bytes;
	size_t size;
	gzFile gz;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	write_words("a", WORDS);
	size = file_read(path_of("a"), &raw);
	words_are(raw, size, WORDS);
	free(raw);
	write_words("a.gz", WORDS);
	gz = gzopen(path_of("a.gz"), "rb");
	words_are(plain, (size_t)gzread(gz, plain, WORDS * 4 + 1), WORDS);
	gzclose(gz);
	write_words("a.zst", WORDS);
	size = file_read(path_of("a.zst"), &raw);
	words_are(plain, ZSTD_decompress(plain, WORDS * 4 + 1, raw, size), WORDS);
	free(raw);
	ck_assert_int_eq(output_open(&o, path_of("a"), &stop), -EEXIST);
	ck_assert_int_eq(output_open(&o, path_of("none/a"), &stop), -ENOENT);
	ck_assert_int_eq(output_open(&o, path_of("b.zst"), &stop), 0);
	ck_assert_int_eq(output_close(o, false, &bytes), 0);
	ck_assert_int_ne(access(path_of("b.zst"), F_OK), 0);
	unlink(path_of("a"));
	unlink(path_of("a.gz"));
	unlink(path_of("a.zst"));
	rmdir(dir);
	free(plain);
}
END_TEST

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Small entries share segments, a long one has its own; records lie between them, and lengths are right. */
START_TEST(segments)
{
	uint64_t entries = 0, long_bytes = 3U << 20, bytes;
	atomic_bool stop = false;
	struct output *o;
	struct records h;
	uint8_t *raw;
	size_t size, at;
	uint32_t others = 0;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(output_open(&o, path_of("h"), &stop), 0);
	ck_assert_int_eq(records_open(&h, o, 0x123456789aULL), 0);
	for (int i = 0; i < 200000; i++) {
		records_heap(&h, HPROF_ROOT_UNKNOWN, 8);
		records_u8(&h, (uint64_t)i);
		if (i == 777) {
			records_record(&h, HPROF_UTF8, 8 + 2);
			records_u8(&h, 1);
			records_u2(&h, 0x6869);
		}
		if (i == 1000) {
			records_heap(&h, HPROF_VALUES, long_bytes);
			for (uint64_t n = 0; n < long_bytes; n += 4)
				records_u4(&h, (uint32_t)n);
		}
	}
	ck_assert_int_eq(records_end(&h), 0);
	records_close(&h);
	ck_assert_int_eq(output_close(o, true, &bytes), 0);
	size = file_read(path_of("h"), &raw);
	ck_assert_uint_eq(size, bytes);
	ck_assert_str_eq((char *)raw, "JAVA PROFILE 1.0.2");
	for (at = 19 + 4 + 8; at < size; at += 9 + be32(raw + at + 5)) {
		const uint8_t *p = raw + at + 9, *end = p + be32(raw + at + 5);

		others += raw[at] != HPROF_SEGMENT;
		for (; raw[at] == HPROF_SEGMENT && p < end; entries++)
			p += 1 + (*p == HPROF_VALUES ? long_bytes : 8);
		ck_assert(raw[at] != HPROF_SEGMENT || p == end);
	}
	ck_assert_uint_eq(at, size);
	ck_assert_uint_eq(entries, 200001);
	ck_assert_uint_eq(others, 2); /* the name and the end */
	free(raw);
	unlink(path_of("h"));
	rmdir(dir);
}
END_TEST

Suite *test_heapdump_files(void)
{
	Suite *s = suite_create("heapdump_files");
	TCase *c = tcase_create("all");

	tcase_add_test(c, compression);
	tcase_add_test(c, segments);
	suite_add_tcase(s, c);
	return s;
}
