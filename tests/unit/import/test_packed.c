// SPDX-License-Identifier: Apache-2.0
/* Tests of imports of packed files: by which packer, in parts, cut, damaged, and ones that ask for much. */
#include <import/input.h>
#include <zstd.h>

#include "import_fixture.h"

Suite *test_packed(void);

typedef VEC(uint8_t) packed_bytes;

static void add_bytes(packed_bytes *to, const void *bytes, size_t size)
{
	ck_assert_int_eq(VEC_RESERVE(to, size), 0);
	memcpy(to->at + to->count, bytes, size);
	to->count += size;
}

static void add_gzip(packed_bytes *to, const void *bytes, size_t size)
{
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes, .avail_in = (unsigned)size};

	ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
	ck_assert_int_eq(VEC_RESERVE(to, deflateBound(&z, size)), 0);
	z.next_out = to->at + to->count;
	z.avail_out = (unsigned)deflateBound(&z, size);
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	to->count += z.total_out;
	deflateEnd(&z);
}

static void add_zstd(packed_bytes *to, const void *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size), got;
	ZSTD_CCtx *z = ZSTD_createCCtx();

	ck_assert_int_eq(VEC_RESERVE(to, room), 0);
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	got = ZSTD_compress2(z, to->at + to->count, room, bytes, size);
	ck_assert(!ZSTD_isError(got));
	to->count += got;
	ZSTD_freeCCtx(z);
}

typedef void (*packer)(packed_bytes *to, const void *bytes, size_t size);

static const packer packers[] = {add_gzip, add_zstd};

static struct imported import_packed(packed_bytes *packed)
{
	struct imported i = import_bytes(packed->at, packed->count, IMPORT_DETECT);

	free(packed->at);
	*packed = (packed_bytes){0};
	return i;
}

static void must_be_refused(packed_bytes *packed, const char *why)
{
	struct imported i = import_packed(packed);

	ck_assert_int_eq(i.err, -EBADMSG);
	ck_assert_msg(strstr(i.result.refused, why), "%s", i.result.refused);
}

/* ---- whole files ---- */

START_TEST(every_packer)
{
	static const uint8_t to_skip[] = {0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9};
	const char first[] = "main;a 2\n", second[] = "main;b 1\n";

	for (size_t p = 0; p < 2; p++) {
		packed_bytes packed = {0};
		struct imported i;

		if (packers[p] == add_zstd)
			add_bytes(&packed, to_skip, sizeof(to_skip));
		packers[p](&packed, first, strlen(first));
		packers[p](&packed, "", 0);
		packers[p](&packed, second, strlen(second));
		i = import_packed(&packed);
		must_have(&i, false, false, "main;a 2\nmain;b 1\n");
	}
}
END_TEST

/* Lines, and parts of them, on the borders of everything that is read or unpacked at once. */
START_TEST(a_large_file)
{
	for (size_t p = 0; p < 2; p++) {
		packed_bytes text = {0}, packed = {0};
		uint64_t weight = 0;
		struct imported i;

		for (unsigned n = 0; n < 60000; n++) {
			char line[64];

			weight += n % 977 + 1;
			add_bytes(&text, line,
				  (size_t)snprintf(line, sizeof(line), "main;f%u;g%u %u\n", n * 7919 % 300,
						   n * 104729 % 301, n % 977 + 1));
		}
		packers[p](&packed, text.at, text.count);
		free(text.at);
		i = import_packed(&packed);
		ck_assert_msg(!i.err, "%s", i.result.refused);
		ck_assert_uint_eq(i.result.samples, weight);
		import_free(&i);
	}
}
END_TEST

/* The first bytes of a profile may be of any field: Go's begin with the time. */
START_TEST(a_profile)
{
	static const uint8_t profile[] = {0x48, 7,   0x0a, 4,	8,    1,   16,	 2,   0x22, 6,	 8,   1,   0x22, 2,
					  8,	1,   0x2a, 4,	8,    1,   16,	 3,   0x12, 6,	 10,  1,   1,	 18,
					  1,	5,   0x32, 0,	0x32, 7,   's',	 'a', 'm',  'p', 'l', 'e', 's',	 0x32,
					  5,	'c', 'o',  'u', 'n',  't', 0x32, 4,   'm',  'a', 'i', 'n'};
	struct imported i = import_bytes(profile, sizeof(profile), IMPORT_DETECT);

	must_have(&i, false, false, "main 5\n");
	for (size_t p = 0; p < 2; p++) {
		packed_bytes packed = {0};

		packers[p](&packed, profile, sizeof(profile));
		i = import_packed(&packed);
		must_have(&i, false, false, "main 5\n");
		packers[p](&packed, profile, sizeof(profile));
		packed.count -= 2;
		must_be_refused(&packed, "ends early, behind byte");
	}
}
END_TEST

/* ---- damage ---- */

/* Whatever is missing, what is there is imported, and it is said that something is missing. */
START_TEST(cut_anywhere)
{
	for (size_t p = 0; p < 2; p++) {
		packed_bytes packed = {0};
		size_t last;

		packers[p](&packed, "main;a 2\n", 9);
		last = packed.count;
		packers[p](&packed, "main;b 1\n", 9);
		for (size_t bytes = 1; bytes < packed.count; bytes++) {
			struct imported i = import_bytes(packed.at, bytes, IMPORT_DETECT);

			if (bytes < last && i.err) {
				ck_assert_int_eq(i.err, -EBADMSG);
				continue;
			}
			ck_assert_msg(!i.err, "%zu bytes: %s", bytes, i.result.refused);
			ck_assert_uint_eq(i.result.samples, i.result.samples < 3 ? 2 : 3);
			ck_assert_int_eq(strncmp(i.result.damage, "1 packed rest", 13) == 0, bytes != last);
			ck_assert_msg(bytes == last || strstr(i.result.damage, "ends early, behind byte"),
				      "%zu bytes: %s", bytes, i.result.damage);
			import_free(&i);
		}
		free(packed.at);
	}
}
END_TEST

START_TEST(damaged)
{
	for (size_t p = 0; p < 2; p++) {
		packed_bytes packed = {0};
		struct imported i;

		packers[p](&packed, "main;a 2\n", 9);
		add_bytes(&packed, "no part", 7);
		i = import_packed(&packed);
		ck_assert_msg(!i.err, "%s", i.result.refused);
		ck_assert_ptr_nonnull(strstr(i.result.damage, "1 packed rest is left out; it is packed by"));
		ck_assert_ptr_nonnull(strstr(i.result.damage, "damaged at byte"));
		ck_assert_uint_eq(i.result.samples, 2);
		import_free(&i);
		add_bytes(&packed, p ? "\x28\xb5\x2f\xfdxxxxxxxx" : "\x1f\x8bxxxxxxxxxx", 12);
		must_be_refused(&packed, "damaged at byte");
	}
}
END_TEST

START_TEST(packed_twice)
{
	for (size_t p = 0; p < 2; p++) {
		packed_bytes once = {0}, twice = {0};

		packers[p](&once, "main;a 2\n", 9);
		packers[p](&twice, once.at, once.count);
		free(once.at);
		must_be_refused(&twice, p ? "packed twice; unpack it once with zstd -d"
					  : "packed twice; unpack it once with gzip -d");
	}
}
END_TEST

/* A few bytes that would become gigabytes. */
START_TEST(bombs)
{
	size_t size = 64UL << 20;
	char *lines = malloc(size);

	memset(lines, 'x', size);
	for (size_t at = 0; at + 100 < size; at += 100)
		memcpy(lines + at, "main;a 2\n", 9);
	for (size_t p = 0; p < 2; p++) {
		packed_bytes packed = {0};
		struct imported i;

		packers[p](&packed, lines, size);
		i = import_packed(&packed);
		ck_assert_msg(!i.err, "%s", i.result.refused);
		ck_assert_msg(
			strstr(i.result.damage, "it is packed more than 100 times smaller, so the rest is refused"),
			"%s", i.result.damage);
		ck_assert_uint_lt(i.result.samples, 2UL * size / 100 / 2);
		import_free(&i);
		packers[p](&packed, "\x0a\4\x08\1\x10\2\x32\xff\xff\xff\x1f", 11);
		packers[p](&packed, lines, size);
		must_be_refused(&packed, "is packed more than 100 times smaller");
	}
	free(lines);
}
END_TEST

/* A window that a frame asks for is memory. */
START_TEST(a_large_window)
{
	static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8, 1, 0, 0};
	packed_bytes packed = {0};

	add_bytes(&packed, frame, sizeof(frame));
	must_be_refused(&packed, "needs a window of more than 128 MiB");
}
END_TEST

Suite *test_packed(void)
{
	Suite *s = suite_create("packed");
	TCase *tc = tcase_create("packed");

	tcase_add_test(tc, every_packer);
	tcase_add_test(tc, a_large_file);
	tcase_add_test(tc, a_profile);
	tcase_add_test(tc, cut_anywhere);
	tcase_add_test(tc, damaged);
	tcase_add_test(tc, packed_twice);
	tcase_add_test(tc, bombs);
	tcase_add_test(tc, a_large_window);
	suite_add_tcase(s, tc);
	return s;
}
