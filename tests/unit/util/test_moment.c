// SPDX-License-Identifier: Apache-2.0
/* Tests of points in a recording's time on command lines. */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <util/moment.h>

Suite *test_moment(void);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND_NS 1000000000ULL
#define HOUR_S 3600ULL
#define DAY_S (24 * HOUR_S)
#define MIDNIGHT_S 1795824000ULL /* 2026-11-28T00:00:00Z */

static char *zone_before;

/* Two hours east of Greenwich, and three in summer. */
static void zone_set(void)
{
	const char *now = getenv("TZ");

	zone_before = now ? strdup(now) : NULL;
	setenv("TZ", "TST-2TDT,M3.5.0,M10.5.0", 1);
	tzset();
}

static void zone_restore(void)
{
	if (zone_before)
		setenv("TZ", zone_before, 1);
	else
		unsetenv("TZ");
	free(zone_before);
	tzset();
}

START_TEST(times_are_read)
{
	static const struct moment_case {
		const char *text;
		struct moment is;
	} good[] = {
		{"1.5", {MOMENT_SINCE_START, 1500000000}},
		{"500ms", {MOMENT_SINCE_START, 500000000}},
		{"12:30", {MOMENT_OF_DAY, (12 * HOUR_S + 30 * 60) * SECOND_NS}},
		{"00:00:05.25", {MOMENT_OF_DAY, 5250000000}},
	};
	static const char *const bad[] = {"", "x", "-1", "12:30:05x", "12:30Z", "25:00"};
	struct moment m;

	for (size_t i = 0; i < COUNT(good); i++)
		ck_assert_msg(moment_parse(good[i].text, &m) == 0 && m.kind == good[i].is.kind && m.ns == good[i].is.ns,
			      "%s", good[i].text);
	for (size_t i = 0; i < COUNT(bad); i++)
		ck_assert_msg(moment_parse(bad[i], &m) == -EINVAL, "%s", bad[i]);
}
END_TEST

START_TEST(dates_are_read)
{
	static const struct {
		const char *text;
		uint64_t seconds;
	} good[] = {
		{"2026-11-28T00:00Z", MIDNIGHT_S},
		{"2026-11-28 12:30:05Z", MIDNIGHT_S + 12 * HOUR_S + 30 * 60 + 5},
		{"2026-11-28T12:30:05", MIDNIGHT_S + 10 * HOUR_S + 30 * 60 + 5},
		{"2026-11-28T00:00+01:00", MIDNIGHT_S - HOUR_S},
		/* A date alone is its midnight, in the same zones. */
		{"2026-11-28", MIDNIGHT_S - 2 * HOUR_S},
		{"2026-11-28Z", MIDNIGHT_S},
		{"2026-11-28+01:00", MIDNIGHT_S - HOUR_S},
		{"2026-11-28-0130", MIDNIGHT_S + HOUR_S + 30 * 60},
		{"2026-07-28", MIDNIGHT_S - 123 * DAY_S - 3 * HOUR_S},
		{"1970-01-02", DAY_S - 2 * HOUR_S},
	};
	static const char *const bad[] = {"2026-11",	   "2026-13-01",    "2026-11-32",	"2026-11-28T",
					  "2026-11-28 ",   "2026-11-28T12", "2026-11-28x",	"2026-11-28Zx",
					  "2026-11-28+01", "2026-11-28 Z",  "2026-11-28T12:3x", "1960-01-01"};
	struct moment m;

	for (size_t i = 0; i < COUNT(good); i++)
		ck_assert_msg(moment_parse(good[i].text, &m) == 0 && m.kind == MOMENT_DATE &&
				      m.ns == good[i].seconds * SECOND_NS,
			      "%s", good[i].text);
	for (size_t i = 0; i < COUNT(bad); i++)
		ck_assert_msg(moment_parse(bad[i], &m) == -EINVAL, "%s", bad[i]);
}
END_TEST

/* A recording from 23:30 on of one day until 00:30 of the next. */
START_TEST(times_are_in_the_recording)
{
	const uint64_t start_ns = (MIDNIGHT_S - 2 * HOUR_S - 1800) * SECOND_NS, lasted_ns = HOUR_S * SECOND_NS;
	static const struct {
		const char *text;
		int64_t since_s;
	} at[] = {{"90", 90},
		  {"23:40", 600},
		  {"00:10", 2400},
		  {"01:10", -80400},
		  {"2026-11-28", 1800},
		  {"2026-11-28T00:10", 2400},
		  {"2026-11-27Z", -77400},
		  {"2026-11-27", -77400 - 7200}};
	struct moment m;
	int64_t since_ns;

	for (size_t i = 0; i < COUNT(at); i++) {
		ck_assert_int_eq(moment_parse(at[i].text, &m), 0);
		ck_assert_int_eq(moment_since(&m, start_ns, lasted_ns, &since_ns), 0);
		ck_assert_msg(since_ns == at[i].since_s * (int64_t)SECOND_NS, "%s: %lld", at[i].text,
			      (long long)since_ns);
		ck_assert_int_eq(moment_since(&m, 0, lasted_ns, &since_ns),
				 m.kind == MOMENT_SINCE_START ? 0 : -ENODATA);
	}
}
END_TEST

Suite *test_moment(void)
{
	Suite *s = suite_create("moment");
	TCase *tc = tcase_create("moment");

	tcase_add_checked_fixture(tc, zone_set, zone_restore);
	tcase_add_test(tc, times_are_read);
	tcase_add_test(tc, dates_are_read);
	tcase_add_test(tc, times_are_in_the_recording);
	suite_add_tcase(s, tc);
	return s;
}
