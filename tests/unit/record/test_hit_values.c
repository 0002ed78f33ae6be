// SPDX-License-Identifier: Apache-2.0
/* Tests of the values that samples of hit events have: as text, and found by their sample. */
#include "record/hit_values.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *test_hit_values(void);

static struct braid_event_hit event;
static struct probe_spec spec;
static char text[HIT_VALUES_TEXT];

static void setup(void)
{
	event = (struct braid_event_hit){.hdr.size = offsetof(struct braid_event_hit, bytes)};
	spec = (struct probe_spec){0};
}

static void add(const char *name, uint8_t operand, uint8_t flags, enum braid_hit_value what, const void *bytes,
		size_t size)
{
	struct probe_field *f = &spec.field[spec.fields++];
	size_t at = event.hdr.size - offsetof(struct braid_event_hit, bytes);

	f->term = (struct braid_hit_term){.operand = operand, .flags = flags};
	strcpy(f->name, name);
	event.bytes[at] = (uint8_t)what;
	memcpy(&event.bytes[at + 1], bytes, size);
	event.hdr.size += 1 + (uint32_t)size;
	event.count++;
}

static void add_number(const char *name, uint8_t flags, uint64_t value)
{
	add(name, BRAID_HIT_NUMBER, flags, BRAID_VALUE_NUMBER, &value, sizeof(value));
}

START_TEST(values_have_names)
{
	add_number("fd", BRAID_HIT_SIGNED, (uint64_t)-1);
	add_number("bytes", 0, UINT64_MAX);
	add_number("flags", BRAID_HIT_HEX, 0x80000);
	add_number("mode", BRAID_HIT_HEX, 0xffff);
	add("arg0", BRAID_HIT_ARGUMENT, BRAID_HIT_HEX, BRAID_VALUE_NUMBER, (uint32_t[]){0xffffff9c, 0}, 8);
	add("arg1", BRAID_HIT_ARGUMENT, BRAID_HIT_HEX, BRAID_VALUE_NUMBER, (uint32_t[]){0x10000, 0}, 8);
	add("arg2", BRAID_HIT_ARGUMENT, BRAID_HIT_HEX, BRAID_VALUE_NUMBER, (uint32_t[]){0, 0x7fff}, 8);
	add("path", BRAID_HIT_USER, 0, BRAID_VALUE_TEXT, "/a b\\\"\x1b[1m", 11);
	add("long", BRAID_HIT_STRING, 0, BRAID_VALUE_CUT, "abc", 4);
	add("gone", BRAID_HIT_POINTED, 0, BRAID_VALUE_NONE, "", 0);
	add("arg5", BRAID_HIT_ARGUMENT, 0, BRAID_VALUE_NONE, "", 0); /* the probe has fewer */
	add("empty", BRAID_HIT_DYNAMIC, 0, BRAID_VALUE_TEXT, "", 1);
	hit_values_text(&spec, &event, text);
	ck_assert_str_eq(text, "fd=-1 bytes=18446744073709551615 flags=0x80000 mode=65535 arg0=-100 arg1=65536 "
			       "arg2=0x7fff00000000 path=\"/a b\\\\\\\"?[1m\" "
			       "long=\"abc\"... gone=? empty=\"\"");
}
END_TEST

START_TEST(text_is_limited)
{
	char quotes[BRAID_VALUE_TEXT_MAX] = "";

	memset(quotes, '"', sizeof(quotes) - 1);
	for (int i = 0; i < 7; i++)
		add("quotes", BRAID_HIT_USER, 0, BRAID_VALUE_TEXT, quotes, sizeof(quotes));
	hit_values_text(&spec, &event, text);
	ck_assert_uint_eq(strlen(text), HIT_VALUES_TEXT - 1);
	ck_assert_str_eq(text + HIT_VALUES_TEXT - 4, "...");
}
END_TEST

/* Any sizes, counts and bytes. */
START_TEST(events_that_cannot_be)
{
	unsigned seed = 3;

	for (int i = 0; i < 16; i++)
		add_number("n", 0, 1);
	for (int i = 0; i < 20000; i++) {
		for (size_t at = 0; at < sizeof(event.bytes); at++)
			event.bytes[at] = (uint8_t)(rand_r(&seed) % (rand_r(&seed) % 2 ? 4 : 256));
		event.hdr.size = (uint32_t)rand_r(&seed) % (2 * sizeof(event));
		event.count = (uint32_t)rand_r(&seed) % 64;
		hit_values_text(&spec, &event, text);
		ck_assert_uint_lt(strlen(text), HIT_VALUES_TEXT);
	}
}
END_TEST

START_TEST(samples_find_their_values)
{
	struct hit_values *v = NULL;

	ck_assert_ptr_null(hit_values_of(v, 1, 100));
	for (uint32_t i = 0; i < 3 * HIT_VALUES; i++) {
		event.tid = i % 3;
		event.hdr.time_ns = 100 + i;
		event.event = i;
		hit_values_keep(&v, &event);
		ck_assert_uint_eq(hit_values_of(v, i % 3, 100 + i)->event, i);
		ck_assert_ptr_null(hit_values_of(v, 7, 100 + i));
	}
	ck_assert_ptr_nonnull(hit_values_of(v, 2 * HIT_VALUES % 3, 100 + 2 * HIT_VALUES));
	ck_assert_ptr_null(hit_values_of(v, (2 * HIT_VALUES - 1) % 3, 100 + 2 * HIT_VALUES - 1));
	free(v);
}
END_TEST

Suite *test_hit_values(void)
{
	Suite *s = suite_create("hit values");
	TCase *tc = tcase_create("values");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, values_have_names);
	tcase_add_test(tc, text_is_limited);
	tcase_add_test(tc, events_that_cannot_be);
	tcase_add_test(tc, samples_find_their_values);
	suite_add_tcase(s, tc);
	return s;
}
