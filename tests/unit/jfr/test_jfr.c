// SPDX-License-Identifier: Apache-2.0
/* Tests of JFR files: their numbers, names and structure. That the JDK reads them is an integration test's. */
#include <string.h>

#include <jfr/bytes.h>
#include <jfr/jfr.h>
#include <jfr/names.h>
#include <jfr/types.h>

#include "unit/stream_fixture.h"

Suite *test_jfr(void);

/* ---- numbers and names ---- */

static const struct {
	uint64_t value;
	size_t length;
} numbers[] = {
	{0, 1},		 {0x7f, 1},	 {0x80, 2}, {0x3fff, 2}, {0x4000, 3}, {UINT32_MAX, 5}, {(1ULL << 56) - 1, 8},
	{1ULL << 56, 9}, {UINT64_MAX, 9}};

static uint64_t take_number(const uint8_t *bytes, size_t *at)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 9; i++) {
		uint8_t byte = bytes[(*at)++];

		value |= (uint64_t)(i == 8 ? byte : byte & 0x7f) << 7 * i;
		if (byte < 0x80)
			break;
	}
	return value;
}

START_TEST(numbers_have_nine_bytes_at_most)
{
	struct bytes b = {0};
	size_t at = 0;

	bytes_put_number(&b, numbers[_i].value);
	ck_assert_uint_eq(b.count, numbers[_i].length);
	ck_assert_uint_eq(take_number(b.at, &at), numbers[_i].value);
	ck_assert_uint_eq(at, b.count);
	bytes_free(&b);
}
END_TEST

/* The size counts its own bytes. */
START_TEST(sizes_count_themselves)
{
	static const size_t lengths[] = {0, 1, 126, 127, 128, 16381, 16382, 16383, 2097148, 2097149, 2097150};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct bytes body = {.at = calloc(1, lengths[i] + 1), .count = lengths[i]}, b = {0};
		size_t at = 0;

		bytes_put_sized(&b, &body);
		ck_assert_uint_eq(take_number(b.at, &at), b.count);
		ck_assert_uint_eq(b.count - at, lengths[i]);
		bytes_free(&body);
		bytes_free(&b);
	}
}
END_TEST

static const struct {
	const char *name, *internal;
} names[] = {{"java.lang.String", "java/lang/String"},
	     {"byte[]", "[B"},
	     {"int[][]", "[[I"},
	     {"java.lang.String[][]", "[[Ljava/lang/String;"},
	     {"demo.Main$$Lambda/0x00007f0a", "demo/Main$$Lambda+0x00007f0a"},
	     {"byte", "byte"},
	     {"[]", "[L;"},
	     {"[stub", "(stub"},
	     {"", ""}};

START_TEST(classes_are_named_as_in_class_files)
{
	char *internal = jfr_class_name(names[_i].name, strlen(names[_i].name));

	ck_assert_str_eq(internal, names[_i].internal);
	free(internal);
}
END_TEST

START_TEST(methods_end_behind_the_last_dot)
{
	ck_assert_uint_eq(jfr_class_length("demo.Main.work"), 9);
	ck_assert_uint_eq(jfr_class_length("work"), 0);
	ck_assert_uint_eq(jfr_class_length(""), 0);
}
END_TEST

/* ---- chunks ---- */

/* Closes the file. */
static uint8_t *written_from(struct stream_file f, size_t chunk_bytes, const struct timed_options *options,
			     size_t *size)
{
	struct timed_source s;
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);

	ck_assert_int_eq(timed_open(&s, f.reader, f.an, options), 0);
	ck_assert_int_eq(jfr_write_chunks(out, &s, chunk_bytes), 0);
	fclose(out);
	timed_close(&s);
	stream_close(&f);
	return (uint8_t *)bytes;
}

static uint8_t *written(size_t chunk_bytes, const struct timed_options *options, size_t *size)
{
	return written_from(stream_open(NULL), chunk_bytes, options, size);
}

static uint64_t take_be(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

/* What a chunk has, by type. Its events fill it without a gap. */
static void count_events(const uint8_t *chunk, uint64_t size, uint64_t *by_type)
{
	size_t at = 68;

	while (at < size) {
		size_t begin = at, next = begin + take_number(chunk, &at);
		uint64_t type = take_number(chunk, &at);

		ck_assert_uint_gt(next, at);
		ck_assert_uint_lt(type, 256);
		ck_assert(type != JFR_METADATA || begin == take_be(chunk + 24, 8));
		ck_assert(type != JFR_CHECKPOINT || begin == take_be(chunk + 16, 8));
		by_type[type]++;
		at = next;
	}
	ck_assert_uint_eq(at, size);
}

static size_t count_chunks(const uint8_t *bytes, size_t size, uint64_t *by_type)
{
	uint64_t last_end = 0;
	size_t chunks = 0;

	for (size_t at = 0; at < size; chunks++) {
		const uint8_t *chunk = bytes + at;
		uint64_t length = take_be(chunk + 8, 8), start_ns = take_be(chunk + 48, 8);

		ck_assert_mem_eq(chunk, "FLR\0\0\2\0\0", 8);
		ck_assert_uint_le(length, size - at);
		ck_assert_uint_eq(take_be(chunk + 32, 8), START_REALTIME_NS + start_ns - START_NS);
		ck_assert_uint_eq(take_be(chunk + 56, 8), 1000000000);
		ck_assert_uint_eq(take_be(chunk + 64, 4), 1);
		ck_assert_uint_eq(start_ns, chunks ? last_end : START_NS);
		last_end = start_ns + take_be(chunk + 40, 8);
		count_events(chunk, length, by_type);
		at += length;
	}
	ck_assert_uint_eq(by_type[JFR_METADATA], chunks);
	ck_assert_uint_eq(by_type[JFR_CHECKPOINT], chunks);
	return chunks;
}

/* Chunks of any size have the same events; only facts are in each of them. */
START_TEST(chunks_are_whole)
{
	static const size_t sizes[] = {1U << 24, 500, 1};
	static const struct timed_options all = {.own_stacks = true};
	uint64_t by_type[256] = {0};
	size_t size, chunks;
	uint8_t *bytes = written(sizes[_i], &all, &size);

	chunks = count_chunks(bytes, size, by_type);
	ck_assert_uint_eq(chunks > 1, _i > 0);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_EXECUTION_SAMPLE], 11);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_NATIVE_SAMPLE], 8);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_HIT], 2);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_ALLOCATION], 4);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_JVM_INFORMATION], chunks);
	free(bytes);
}
END_TEST

START_TEST(events_can_be_chosen)
{
	static const struct timed_options allocations = {.own_stacks = true, .kind = BRAID_JVM_ALLOC};
	uint64_t by_type[256] = {0};
	size_t size;
	uint8_t *bytes = written(1U << 24, &allocations, &size);

	count_chunks(bytes, size, by_type);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_ALLOCATION], 4);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_EXECUTION_SAMPLE], 0);
	free(bytes);
}
END_TEST

#define LOAD(ms, of, total) JVM_OF(of, AT(ms), .kind = BRAID_JVM_CPU_LOAD, .value = 40, .weight = 10, .number = total)

/* The JDK's event needs the machine's load in the same interval; what has none is shown as recorded. */
START_TEST(loads_of_jvms_have_that_of_the_machine)
{
	static const struct trace_rec loads[] = {LOAD(10, 0, 200), LOAD(10, 1, 200), LOAD(10, 2, 200),
						 LOAD(20, 1, 200), LOAD(30, 0, 0),   LOAD(30, 1, 0)};
	static const struct stream_part parts[] = {STREAM_PART(loads)};
	static const struct timed_options all = {.own_stacks = true};
	static const uint8_t user[] = {0x3e, 0x4c, 0xcc, 0xcd}; /* 0.2f */
	uint64_t by_type[256] = {0};
	size_t size;
	uint8_t *bytes = written_from(stream_open_with(NULL, parts, 1), 1U << 24, &all, &size);

	count_chunks(bytes, size, by_type);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_CPU_LOAD], 2);
	ck_assert_uint_eq(by_type[JFR_FIRST_EVENT + JFR_NAMED_EVENTS + BRAID_JVM_CPU_LOAD], 4);
	ck_assert_ptr_nonnull(memmem(bytes, size, user, sizeof(user)));
	free(bytes);
}
END_TEST

/* The name of every kind's type, and no field twice. */
START_TEST(types_of_kinds)
{
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++) {
		struct jfr_event_type type;
		char name[JFR_KIND_NAME];

		if (!kind_of(kind))
			continue;
		jfr_kind_type(kind, &type, name);
		ck_assert_str_eq(type.name, name);
		ck_assert_mem_eq(name, "braid.", 6);
		ck_assert_ptr_null(strchr(name, '_'));
		for (size_t i = 0; type.fields[i].name; i++)
			for (size_t k = 0; k < i; k++)
				ck_assert_str_ne(type.fields[i].name, type.fields[k].name);
	}
}
END_TEST

Suite *test_jfr(void)
{
	Suite *s = suite_create("jfr");
	TCase *tc = tcase_create("jfr");

	tcase_add_loop_test(tc, numbers_have_nine_bytes_at_most, 0, sizeof(numbers) / sizeof(numbers[0]));
	tcase_add_test(tc, sizes_count_themselves);
	tcase_add_loop_test(tc, classes_are_named_as_in_class_files, 0, sizeof(names) / sizeof(names[0]));
	tcase_add_test(tc, methods_end_behind_the_last_dot);
	tcase_add_loop_test(tc, chunks_are_whole, 0, 3);
	tcase_add_test(tc, events_can_be_chosen);
	tcase_add_test(tc, loads_of_jvms_have_that_of_the_machine);
	tcase_add_test(tc, types_of_kinds);
	suite_add_tcase(s, tc);
	return s;
}
