// SPDX-License-Identifier: Apache-2.0
/* Tests of imports: small files that ask for much. */
#include <import/jfr_chunk.h>

#include "import_fixture.h"

Suite *test_import_bounds(void);

static uint8_t *varint(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

/* A field of bytes: its number, and then `length` bytes that follow. */
static uint8_t *field(uint8_t *to, unsigned number, size_t length)
{
	return varint(varint(to, number << 3 | 2), length);
}

/* A location with that many functions, and as many samples there, of six bytes each. */
static struct imported import_deep(unsigned lines, unsigned samples)
{
	uint8_t *bytes = malloc(64 + lines * 2UL + samples * 6UL), *to = bytes;
	struct imported i;

	to = field(to, 1, 0);
	to = field(to, 4, 2 + lines * 2UL);
	to = varint(varint(to, 1 << 3), 1);
	for (unsigned n = 0; n < lines; n++)
		to = field(to, 4, 0);
	for (unsigned n = 0; n < samples; n++) {
		to = field(to, 2, 4);
		to = varint(varint(varint(varint(to, 1 << 3), 1), 2 << 3), 1);
	}
	i = import_bytes(bytes, (size_t)(to - bytes), IMPORT_PPROF);
	free(bytes);
	return i;
}

START_TEST(more_frames_than_bytes)
{
	struct imported good = import_deep(100, 100), bad = import_deep(1000, 100000);

	ck_assert_msg(!good.err, "%s", good.result.refused);
	import_free(&good);
	ck_assert_int_eq(bad.err, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(bad.result.refused, "frames for each of its bytes"));
}
END_TEST

/* A long text costs what it takes each time that something refers to it. */
START_TEST(texts_that_come_again)
{
	uint8_t data[3 + 1000];
	char buffer[JFR_TEXT_MAX];
	struct jfr_chunk c = {.data = data, .size = sizeof(data), .work = 100};
	struct jfr_value text = {.set = true, .pooled = true, .number = 1};

	memset(varint(varint(data, 5), 1000), 'x', 1000);
	ck_assert_int_eq(VEC_PUSH(&c.types, (struct jfr_declared){.form = JFR_TEXT}), 0);
	ck_assert_int_eq(VEC_PUSH(&c.entries, 0), 0);
	*u64map_put(&c.types.at[0].of, 1) = 1;
	ck_assert_uint_eq(jfr_text(&c, &text, buffer).len, 1000);
	ck_assert_uint_eq(jfr_text(&c, &text, buffer).len, 0);
	jfr_chunk_close(&c);
}
END_TEST

Suite *test_import_bounds(void)
{
	Suite *s = suite_create("import_bounds");
	TCase *tc = tcase_create("import_bounds");

	tcase_add_test(tc, more_frames_than_bytes);
	tcase_add_test(tc, texts_that_come_again);
	suite_add_tcase(s, tc);
	return s;
}
