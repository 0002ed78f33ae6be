// SPDX-License-Identifier: Apache-2.0
/* Tests of imported profiles of pprof's: which values are samples, and what a small file may ask for. */
#include "import_fixture.h"

#include "proto/pprof.pb-c.h"

Suite *test_pprof(void);

static struct imported import_profile(const Pprof__Profile *p)
{
	size_t size = pprof__profile__get_packed_size(p);
	uint8_t *bytes = malloc(size);
	struct imported i;

	ck_assert_uint_eq(pprof__profile__pack(p, bytes), size);
	i = import_bytes(bytes, size, IMPORT_PPROF);
	free(bytes);
	return i;
}

/* ---- names ---- */

#define LONG_NAME 60000U

/* A function with a long name, which a location has so many times, and which labels name as their thread. */
static struct imported import_names(size_t lines, size_t samples)
{
	char name[LONG_NAME + 1],
		*texts[] = {(char[]){""}, (char[]){"thread"}, name, (char[]){"samples"}, (char[]){"count"}};
	Pprof__Line line = PPROF__LINE__INIT, **of_lines = calloc(lines, sizeof(*of_lines));
	Pprof__Sample sample = PPROF__SAMPLE__INIT, **of_samples = calloc(samples, sizeof(*of_samples));
	Pprof__Function function = PPROF__FUNCTION__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
	Pprof__Label label = PPROF__LABEL__INIT;
	Pprof__Profile p = PPROF__PROFILE__INIT;
	struct imported i;

	memset(name, 'n', LONG_NAME);
	name[LONG_NAME] = '\0';
	line.function_id = function.id = location.id = label.key = 1;
	function.name = label.str = 2;
	type.type = 3;
	type.unit = 4;
	for (size_t k = 0; k < lines; k++)
		of_lines[k] = &line;
	for (size_t k = 0; k < samples; k++)
		of_samples[k] = &sample;
	location.n_line = lines;
	location.line = of_lines;
	sample.n_value = sample.n_label = 1;
	sample.value = (int64_t[]){1};
	sample.label = (Pprof__Label *[]){&label};
	p.n_sample_type = p.n_function = p.n_location = 1;
	p.sample_type = (Pprof__ValueType *[]){&type};
	p.function = (Pprof__Function *[]){&function};
	p.location = (Pprof__Location *[]){&location};
	p.n_string_table = sizeof(texts) / sizeof(texts[0]);
	p.string_table = texts;
	p.n_sample = samples;
	p.sample = of_samples;
	i = import_profile(&p);
	free(of_lines);
	free(of_samples);
	return i;
}

/* A long name costs what it takes each time that a line or a label refers to it. */
START_TEST(names_that_come_again)
{
	struct imported good = import_names(100, 100), lines = import_names(1000, 1), labels = import_names(1, 1000);

	ck_assert_msg(!good.err, "%s", good.result.refused);
	ck_assert_uint_eq(good.an->samples.quality.total, 100);
	import_free(&good);
	ck_assert_int_eq(lines.err, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(lines.result.refused, "has names that come again"));
	ck_assert_int_eq(labels.err, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(labels.result.refused, "has names that come again"));
}
END_TEST

/* ---- values ---- */

/* Times in ns, with a period of 10 ms. */
static struct imported import_times(int64_t first, int64_t second)
{
	char *texts[] = {(char[]){""}, (char[]){"cpu"}, (char[]){"nanoseconds"}};
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
	Pprof__Sample samples[2] = {PPROF__SAMPLE__INIT, PPROF__SAMPLE__INIT};
	Pprof__Profile p = PPROF__PROFILE__INIT;

	type.type = 1;
	type.unit = 2;
	samples[0].n_value = samples[1].n_value = 1;
	samples[0].value = &first;
	samples[1].value = &second;
	p.n_sample_type = 1;
	p.sample_type = (Pprof__ValueType *[]){&type};
	p.period_type = &type;
	p.period = 10 * (int64_t)MS;
	p.n_string_table = 3;
	p.string_table = texts;
	p.n_sample = 2;
	p.sample = (Pprof__Sample *[]){&samples[0], &samples[1]};
	return import_profile(&p);
}

/* Times that are no numbers of periods would not be exact as samples, and small ones would be none. */
START_TEST(times_are_exact)
{
	struct imported whole = import_times(10 * MS, 20 * MS), odd = import_times(4 * MS, 14 * MS);

	ck_assert_msg(!whole.err, "%s", whole.result.refused);
	ck_assert_uint_eq(whole.an->samples.quality.total, 3);
	ck_assert_uint_eq(analyzer_frequency(whole.a), 100);
	import_free(&whole);
	ck_assert_msg(!odd.err, "%s", odd.result.refused);
	ck_assert_uint_eq(odd.an->samples.quality.total, 0);
	ck_assert_uint_eq(odd.a->hits.count, 1);
	ck_assert_str_eq(strpool_get(&odd.a->strings, odd.a->hits.at[0].name), "cpu (nanoseconds)");
	ck_assert_uint_eq(odd.an->hits[0].quality.total, 18 * MS);
	import_free(&odd);
}
END_TEST

Suite *test_pprof(void)
{
	Suite *s = suite_create("pprof");
	TCase *tc = tcase_create("pprof");

	tcase_add_test(tc, names_that_come_again);
	tcase_add_test(tc, times_are_exact);
	suite_add_tcase(s, tc);
	return s;
}
