// SPDX-License-Identifier: Apache-2.0
/* Tests of times and sizes on command lines and in messages. */
#include <check.h>
#include <errno.h>
#include <stdint.h>

#include <util/quantity.h>

Suite *test_quantity(void);

struct quantity {
	const char *text;
	uint64_t value;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(times_are_read)
{
	static const struct quantity good[] = {
		{"1.5s", 1500000000},
		{"500ms", 500000000},
		{"20us", 20000},
		{"20\u00b5s", 20000},
		{"20\u03bcs", 20000},
		{"7ns", 7},
		{"1m", 60000000000},
		{".25s", 250000000},
		{"0", 0},
		{"0.0", 0},
		{"0ms", 0},
		{"0.000000001s", 1},
		{"1.5h", 5400000000000},
	};
	static const char *const bad[] = {"",	 "x",	"1x", "-1s",  "1.5.2s", ".", "1e3s", "9999999999999999999s",
					  " 1s", "1 s", "1S", "2h30", "1s "};
	static const struct quantity bare[] = {{"1.5", 1500000000}, {"10", 10000000000}, {".25", 250000000}};
	uint64_t ns;

	for (size_t i = 0; i < COUNT(good); i++) {
		ck_assert_msg(duration_parse(good[i].text, &ns) == 0 && ns == good[i].value, "%s", good[i].text);
		ck_assert_msg(duration_parse_unit(good[i].text, &ns) == 0 && ns == good[i].value, "%s", good[i].text);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		ck_assert_msg(duration_parse(bad[i], &ns) == -EINVAL, "%s", bad[i]);
		ck_assert_msg(duration_parse_unit(bad[i], &ns) == -EINVAL, "%s", bad[i]);
	}
	for (size_t i = 0; i < COUNT(bare); i++) {
		ck_assert_msg(duration_parse(bare[i].text, &ns) == 0 && ns == bare[i].value, "%s", bare[i].text);
		ck_assert_msg(duration_parse_unit(bare[i].text, &ns) == -EDOM, "%s", bare[i].text);
	}
}
END_TEST

START_TEST(sizes_are_read)
{
	static const struct quantity good[] = {{"0", 0},
					       {"17", 17},
					       {"17B", 17},
					       {"512k", 512 << 10},
					       {"512K", 512 << 10},
					       {"512KiB", 512 << 10},
					       {"2m", 2 << 20},
					       {"2MiB", 2 << 20},
					       {"3g", 3221225472U},
					       {"3GiB", 3221225472U},
					       {"17179869183G", UINT64_MAX - (1 << 30) + 1}};
	static const char *const bad[] = {"", "k", "-1", "1.5m", "1kb", "1 k", "17179869184G", "18446744073709551616"};
	uint64_t bytes;

	for (size_t i = 0; i < COUNT(good); i++)
		ck_assert_msg(size_parse(good[i].text, &bytes) == 0 && bytes == good[i].value, "%s", good[i].text);
	for (size_t i = 0; i < COUNT(bad); i++)
		ck_assert_msg(size_parse(bad[i], &bytes) == -EINVAL, "%s", bad[i]);
}
END_TEST

START_TEST(texts_have_fitting_units)
{
	static const struct quantity times[] = {{"0 ns", 0},
						{"999 ns", 999},
						{"1.50 \u00b5s", 1500},
						{"38.11 \u00b5s", 38110},
						{"2.25 ms", 2250000},
						{"3600.00 s", 3600000000000}};
	static const struct quantity sizes[] = {
		{"0 B", 0}, {"1023 B", 1023}, {"138.67 KiB", 142000}, {"1.50 MiB", 3 << 19}, {"16.00 EiB", UINT64_MAX}};
	char buf[QUANTITY_TEXT];

	for (size_t i = 0; i < COUNT(times); i++)
		ck_assert_str_eq(duration_text(buf, times[i].value), times[i].text);
	ck_assert_str_eq(duration_cell(buf, 10, 1500), "   1.50 \u00b5s");
	ck_assert_str_eq(duration_cell(buf, 10, 1500000), "   1.50 ms");
	for (size_t i = 0; i < COUNT(sizes); i++)
		ck_assert_str_eq(size_text(buf, sizes[i].value), sizes[i].text);
	ck_assert_str_eq(duration_cell(buf, 10, 1500), "   1.50 \u00b5s");
	ck_assert_str_eq(duration_cell(buf, 10, 2250000), "   2.25 ms");
	ck_assert_str_eq(plural(0), "s");
	ck_assert_str_eq(plural(1), "");
	ck_assert_str_eq(plural(2), "s");
}
END_TEST

START_TEST(whole_parts_fit)
{
	ck_assert_uint_eq(whole_part(-1.5), 0);
	ck_assert_uint_eq(whole_part(2.75), 2);
	ck_assert_uint_eq(whole_part(2.05e25), UINT64_MAX);
	ck_assert_uint_eq(whole_part(0.0 / 0.0), 0);
}
END_TEST

Suite *test_quantity(void)
{
	Suite *s = suite_create("quantity");
	TCase *tc = tcase_create("quantity");

	tcase_add_test(tc, times_are_read);
	tcase_add_test(tc, sizes_are_read);
	tcase_add_test(tc, texts_have_fitting_units);
	tcase_add_test(tc, whole_parts_fit);
	suite_add_tcase(s, tc);
	return s;
}
