// SPDX-License-Identifier: Apache-2.0
/* Tests of formats that have tables of frames: what is read back is what the collapsed stacks of the same trace say. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <export/export.h>
#include <export/stack_table.h>

#include "proto/otlp.pb-c.h"
#include "proto/pprof.pb-c.h"
#include "unit/run.h"

Suite *test_formats(void);

#define PERIOD_NS 10000000U

typedef int write_fn(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate);

static const struct profile_unit samples = {.name = "samples", .unit = UNIT_COUNT, .period_ns = PERIOD_NS};

static char *written(write_fn *write, unsigned top, size_t *size)
{
	struct run r = run_begin(NULL);
	struct stack_table t;
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);

	run_analyze(&r, NULL);
	ck_assert_int_eq(stack_table_new(&t, r.an, &r.an->samples, top), 0);
	ck_assert_int_eq(write(out, &t, &samples, false), 0);
	fclose(out);
	stack_table_free(&t);
	run_free(&r);
	return bytes;
}

/* ---- lines as those of collapsed stacks ---- */

static struct {
	char text[16][512];
	uint64_t weight[16];
	size_t count;
} lines;

static void line_add(const char *text, uint64_t weight)
{
	size_t i = 0;

	while (i < lines.count && strcmp(lines.text[i], text) != 0)
		i++;
	ck_assert_uint_lt(i, 16);
	if (i == lines.count)
		snprintf(lines.text[lines.count++], sizeof(lines.text[0]), "%s", text);
	lines.weight[i] += weight;
}

static void frame_before(char text[512], const char *frame)
{
	char rest[512];

	snprintf(rest, sizeof(rest), "%s", text);
	snprintf(text, 512, "%.400s%s%.100s", frame, *rest ? ";" : "", rest);
}

static void check_lines(void)
{
	struct run r = run_begin(NULL);
	char *text = NULL, *save = NULL;
	size_t size, count = 0;
	FILE *out = open_memstream(&text, &size);

	run_analyze(&r, NULL);
	ck_assert_int_eq(collapsed_write(out, r.an, &r.an->samples, &(struct collapsed_options){0}), 0);
	fclose(out);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), count++) {
		char *space = strrchr(line, ' ');
		size_t i = 0;

		*space = '\0';
		while (i < lines.count && strcmp(lines.text[i], line) != 0)
			i++;
		ck_assert_msg(i < lines.count, "no stack %s", line);
		ck_assert_uint_eq(lines.weight[i], strtoull(space + 1, NULL, 10));
	}
	ck_assert_uint_eq(count, lines.count);
	free(text);
	run_free(&r);
}

/* ---- formats ---- */

START_TEST(pprof)
{
	size_t size;
	char *bytes = written(pprof_write, 0, &size);
	Pprof__Profile *p = pprof__profile__unpack(NULL, size, (uint8_t *)bytes);

	ck_assert_ptr_nonnull(p);
	ck_assert_str_eq(p->string_table[0], "");
	ck_assert_uint_eq(p->n_sample_type, 2);
	ck_assert_str_eq(p->string_table[p->sample_type[1]->unit], "nanoseconds");
	ck_assert_int_eq(p->period, PERIOD_NS);
	for (size_t i = 0; i < p->n_sample; i++) {
		const Pprof__Sample *s = p->sample[i];
		char text[512] = "";

		for (size_t k = 0; k < s->n_location_id; k++) {
			const Pprof__Location *l = p->location[s->location_id[k] - 1];
			const Pprof__Function *f = p->function[l->line[0]->function_id - 1];

			ck_assert_uint_eq(l->id, s->location_id[k]);
			frame_before(text, p->string_table[f->name]);
		}
		ck_assert_int_eq(s->value[1], s->value[0] * PERIOD_NS);
		ck_assert_str_eq(p->string_table[s->label[0]->key], "thread");
		line_add(text, (uint64_t)s->value[0]);
	}
	check_lines();
	pprof__profile__free_unpacked(p, NULL);
	free(bytes);
}
END_TEST

static void otlp_sample(const Otlp__Dictionary *d, const Otlp__Sample *s)
{
	const Otlp__Stack *stack = d->stack_table[s->stack_index];
	const Otlp__KeyValueAndUnit *name = d->attribute_table[s->attribute_indices[0]];
	char text[512] = "";

	for (size_t k = 0; k < stack->n_location_indices; k++) {
		const Otlp__Location *l = d->location_table[stack->location_indices[k]];
		const Otlp__Function *f = d->function_table[l->lines[0]->function_index];

		frame_before(text, d->string_table[f->name_strindex]);
	}
	ck_assert_str_eq(d->string_table[name->key_strindex], "thread.name");
	ck_assert_uint_eq(s->n_values, 1);
	line_add(text, (uint64_t)s->values[0]);
}

START_TEST(otlp)
{
	size_t size;
	char *bytes = written(otlp_write, 0, &size);
	Otlp__ProfilesData *p = otlp__profiles_data__unpack(NULL, size, (uint8_t *)bytes);

	ck_assert_ptr_nonnull(p);
	ck_assert_str_eq(p->dictionary->string_table[0], "");
	ck_assert_uint_eq(p->dictionary->stack_table[0]->n_location_indices, 0);
	for (size_t i = 0; i < p->n_resource_profiles; i++) {
		const Otlp__Profile *profile = p->resource_profiles[i]->scope_profiles[0]->profiles[0];

		ck_assert_int_eq(profile->period, PERIOD_NS);
		for (size_t k = 0; k < profile->n_samples; k++)
			otlp_sample(p->dictionary, profile->samples[k]);
	}
	check_lines();
	otlp__profiles_data__free_unpacked(p, NULL);
	free(bytes);
}
END_TEST

/* The heaviest stack alone; speedscope's text in full. */
START_TEST(the_heaviest)
{
	size_t size;
	char *text = written(speedscope_write, 1, &size);

	ck_assert_ptr_nonnull(strstr(text, "\"samples\":[["));
	ck_assert_ptr_null(strstr(text, "],["));
	ck_assert_ptr_nonnull(strstr(text, "\"weights\":[50000000],\"startValue\":0,\"endValue\":50000000}"));
	free(text);
}
END_TEST

START_TEST(perf_map)
{
	struct run r = run_begin(NULL);
	char *text = NULL;
	unsigned long start, bytes, end = 0;
	uint32_t process;
	size_t size, count = 0;
	FILE *out = open_memstream(&text, &size);
	char name[256];

	run_analyze(&r, NULL);
	ck_assert_int_eq(perf_map_process(r.an, &process), 0);
	ck_assert_int_eq(perf_map_write(out, r.an, process, true), 0);
	fclose(out);
	for (const char *at = text; *at; at = strchr(at, '\n') + 1, count++) {
		ck_assert_int_eq(sscanf(at, "%lx %lx %255[^\n]", &start, &bytes, name), 3);
		ck_assert_uint_ge(start, end);
		end = start + bytes;
	}
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(name, "arraycopy");
	ck_assert_uint_eq(bytes, 64);
	free(text);
	run_free(&r);
}
END_TEST

START_TEST(values_are_bounded)
{
	ck_assert_int_eq(profile_value(UINT64_MAX, 1), INT64_MAX);
	ck_assert_int_eq(profile_value(1ULL << 40, 1U << 30), INT64_MAX);
	ck_assert_int_eq(profile_value(7, 3), 21);
	ck_assert_int_eq(profile_value(7, 0), 0);
}
END_TEST

Suite *test_formats(void)
{
	Suite *s = suite_create("formats");
	TCase *t = tcase_create("formats");

	tcase_add_test(t, pprof);
	tcase_add_test(t, otlp);
	tcase_add_test(t, the_heaviest);
	tcase_add_test(t, perf_map);
	tcase_add_test(t, values_are_bounded);
	suite_add_tcase(s, t);
	return s;
}
