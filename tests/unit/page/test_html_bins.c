// SPDX-License-Identifier: Apache-2.0
/* Tests of what the page's timeline has of a lane: shares of states in equal parts of the time, and packed numbers. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <page/lanes.h>
#include <util/varint.h>

Suite *test_html_bins(void);

#define SPAN_NS 6400000ULL
#define WIDTH_NS (SPAN_NS / BINS_COARSEST + 1)
#define KEYS 64

/* The shares of each bin, of BIN_FULL, as the page reads them. */
struct unpacked {
	uint32_t shares[BINS_COARSEST + 1][KEYS];
	uint64_t bins;
};

static uint64_t number(const struct bins *b, size_t *at)
{
	uint64_t value;
	const uint8_t *next = varint_get(b->packed.bytes.at + *at, b->packed.bytes.at + b->packed.bytes.count, &value);

	ck_assert_ptr_nonnull(next);
	*at = (size_t)(next - b->packed.bytes.at);
	return value;
}

static void unpack(const struct bins *b, struct unpacked *to)
{
	memset(to, 0, sizeof(*to));
	for (size_t at = 0; at < b->packed.bytes.count;) {
		uint64_t head = number(b, &at), run = head / 8, first = to->bins;

		ck_assert_uint_gt(run, 0);
		ck_assert_uint_le(first + run, BINS_COARSEST + 1);
		for (uint64_t i = 0; i < head % 8; i++) {
			uint64_t share = number(b, &at), key = share / BIN_FULL;

			ck_assert_uint_lt(key, KEYS);
			for (uint64_t bin = first; bin < first + run; bin++)
				to->shares[bin][key] = (uint32_t)(share % BIN_FULL) + 1;
		}
		to->bins += run;
	}
}

static void make(struct bins *b, struct unpacked *to, const uint64_t (*segments)[3], size_t count)
{
	bins_init(b, 0, SPAN_NS);
	ck_assert_uint_eq(b->width_ns, WIDTH_NS);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(bins_add(b, (uint32_t)segments[i][0], segments[i][1], segments[i][2]), 0);
	ck_assert_int_eq(bins_finish(b), 0);
	unpack(b, to);
	pack_free(&b->packed);
}

START_TEST(shares)
{
	static const uint64_t segments[][3] = {
		{1, 0, WIDTH_NS / 2},				  /* half of the first bin */
		{2, WIDTH_NS / 2, WIDTH_NS * 3},		  /* the rest of it, and two more */
		{3, WIDTH_NS * 10, WIDTH_NS * 10 + 1},		  /* hardly anything, which is shown */
		{4, WIDTH_NS * 11 - WIDTH_NS / 4, WIDTH_NS * 11}, /* up to the bin's end */
		{4, WIDTH_NS * 11, WIDTH_NS * 11 + WIDTH_NS / 4}, /* and from the next one's start */
		{5, WIDTH_NS * 12, WIDTH_NS * 12},		  /* nothing */
	};
	struct unpacked u;
	struct bins b;

	make(&b, &u, segments, sizeof(segments) / sizeof(segments[0]));
	ck_assert_uint_eq(u.bins, 12);
	ck_assert(u.shares[0][1] == 8 && u.shares[0][2] == 8);
	ck_assert(u.shares[1][2] == BIN_FULL && u.shares[2][2] == BIN_FULL && !u.shares[1][1]);
	for (unsigned bin = 3; bin < 10; bin++)
		for (unsigned key = 0; key < KEYS; key++)
			ck_assert_uint_eq(u.shares[bin][key], 0);
	ck_assert(u.shares[10][3] == 1 && u.shares[10][4] == 4 && u.shares[11][4] == 4);
}
END_TEST

/* Equal bins are one run, however many they are. */
START_TEST(runs)
{
	static const uint64_t whole[][3] = {{7, 0, WIDTH_NS * 60}};
	struct unpacked u;
	struct bins b;
	uint64_t half = WIDTH_NS / 2;

	bins_init(&b, 0, SPAN_NS);
	for (uint64_t i = 0; i < 60; i++)
		ck_assert_int_eq(bins_add(&b, 7, i * WIDTH_NS, i * WIDTH_NS + half), 0);
	ck_assert_int_eq(bins_finish(&b), 0);
	ck_assert_uint_le(b.packed.bytes.count, 4);
	unpack(&b, &u);
	ck_assert(u.bins == 60 && u.shares[59][7] == 8);
	pack_free(&b.packed);

	make(&b, &u, whole, 1);
	ck_assert(u.bins == 60 && u.shares[0][7] == BIN_FULL && u.shares[59][7] == BIN_FULL);
}
END_TEST

/* A bin shows its largest states; those beyond what it can hold are one. */
START_TEST(crowded)
{
	struct unpacked u;
	struct bins b;
	uint64_t at = 0;

	bins_init(&b, 0, SPAN_NS);
	for (uint32_t key = 1; key < 60; key++, at += 500)
		ck_assert_int_eq(bins_add(&b, key, at, at + 500 - key), 0);
	ck_assert_uint_lt(at, WIDTH_NS);
	ck_assert_int_eq(bins_finish(&b), 0);
	unpack(&b, &u);
	ck_assert_uint_eq(u.bins, 1);
	for (unsigned key = 1; key < BIN_SHOWN; key++)
		ck_assert_uint_eq(u.shares[0][key], 1);
	ck_assert_uint_ge(u.shares[0][0], 1); /* 29 of them together are the largest */
	ck_assert_uint_eq(u.shares[0][BIN_SHOWN], 0);
	pack_free(&b.packed);
}
END_TEST

START_TEST(base64)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = {{"", ""},	      {"a", "YQ=="},	      {"ab", "YWI="},
		     {"abc", "YWJj"}, {"abcdef", "YWJjZGVm"}, {"\xff\xfe", "//4="}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL, want[64];
		size_t size;
		struct json j = {.out = open_memstream(&text, &size)};

		ck_assert_int_eq(pack_json(&j, "k", (const uint8_t *)cases[i].bytes, strlen(cases[i].bytes)), 0);
		fclose(j.out);
		snprintf(want, sizeof(want), "\"k\":\"%s\"", cases[i].text);
		ck_assert_str_eq(text, want);
		free(text);
	}
}
END_TEST

Suite *test_html_bins(void)
{
	Suite *s = suite_create("html_bins");
	TCase *tc = tcase_create("html_bins");

	tcase_add_test(tc, shares);
	tcase_add_test(tc, runs);
	tcase_add_test(tc, crowded);
	tcase_add_test(tc, base64);
	suite_add_tcase(s, tc);
	return s;
}
