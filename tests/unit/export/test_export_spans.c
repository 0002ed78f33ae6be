// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of spans in formats of stacks: labels of pprof, links of OpenTelemetry, and sums that are those without spans.
 */
#include <export/stack_table.h>

#include "proto/otlp.pb-c.h"
#include "proto/pprof.pb-c.h"
#include "unit/stream_fixture.h"

Suite *test_export_spans(void);

#define HI 0x4bf92f3577b34da6
#define LO 0xa3ce929d0e0e4736
#define TICK(ms, node, weight, span) REC(TRACE_SAMPLE, sample, BASE_NS + (ms)*MS, 1, 0, node, weight, 0, 0, span)

/* Spans 1 and 3 are the same; 2 is of no trace. */
static const struct trace_rec in_spans[] = {
	REC(TRACE_SPAN, span, 1, 1, HI, LO, 0xabc),
	REC(TRACE_SPAN, span, 2, 1, 0, 0, 7),
	REC(TRACE_SPAN, span, 3, 1, HI, LO, 0xabc),
	TICK(15, 3, 4, 1),
	TICK(25, 3, 8, 3),
	TICK(35, 3, 16, 2),
	REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_ALLOC, .time_ns = BASE_NS + 15 * MS, .process = 1,
	    .thread = 1, .node = 3, .name = C_BYTES, .value = 100, .weight = 1000, .span = 1),
	REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_ALLOC, .time_ns = BASE_NS + 16 * MS, .process = 1,
	    .thread = 1, .node = 3, .name = C_BYTES, .value = 100, .weight = 500),
};

static struct stream_file file_with_spans(void)
{
	static const struct stream_part parts[] = {STREAM_PART(more), STREAM_PART(events), STREAM_PART(stream_pairs),
						   STREAM_PART(in_spans)};

	return stream_open_with(NULL, parts, sizeof(parts) / sizeof(parts[0]));
}

static uint64_t weight_of(const struct stack_table *t, const struct thread_stack *like, bool span)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < t->stacks.count; i++) {
		const struct thread_stack *s = &t->stacks.at[i];

		if (!like || (s->thread == like->thread && s->node == like->node && (!span || s->span == like->span)))
			weight += s->weight;
	}
	return weight;
}

/* By stack and thread, the weights are those of the profile, of samples and of all kinds of events. */
START_TEST(sums_are_the_same)
{
	uint32_t kind = (uint32_t)_i;
	struct stream_file f = file_with_spans();
	struct stack_table plain, by_span;
	struct profile of_events = {0};
	const struct profile *p = &f.an->samples;

	if (kind) {
		ck_assert_int_eq(events_profile(f.an, kind, &of_events), 0);
		p = &of_events;
	}
	ck_assert_int_eq(stack_table_new(&plain, f.an, p, 0), 0);
	ck_assert_int_eq(stack_table_spans(&by_span, f.reader, f.an, p, kind, 0), 0);
	ck_assert_msg(weight_of(&plain, NULL, false) == weight_of(&by_span, NULL, false), "%s: %llu, %llu",
		      jvm_event_name(kind), (unsigned long long)weight_of(&plain, NULL, false),
		      (unsigned long long)weight_of(&by_span, NULL, false));
	for (size_t i = 0; i < plain.stacks.count; i++)
		ck_assert_uint_eq(weight_of(&plain, &plain.stacks.at[i], false),
				  weight_of(&by_span, &plain.stacks.at[i], false));
	if (!kind || kind == BRAID_JVM_ALLOC)
		ck_assert_uint_gt(by_span.stacks.count, plain.stacks.count);
	stack_table_free(&plain);
	stack_table_free(&by_span);
	profile_free(&of_events);
	stream_close(&f);
}
END_TEST

static uint8_t *written(int (*write)(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate),
			size_t *size)
{
	static const struct profile_unit unit = {.name = "samples", .unit = UNIT_COUNT};
	struct stream_file f = file_with_spans();
	struct stack_table t;
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);

	ck_assert_int_eq(stack_table_spans(&t, f.reader, f.an, &f.an->samples, 0, 0), 0);
	ck_assert_int_eq(write(out, &t, &unit, false), 0);
	fclose(out);
	stack_table_free(&t);
	stream_close(&f);
	return (uint8_t *)bytes;
}

static const char *label_of(const Pprof__Profile *p, const Pprof__Sample *s, const char *key)
{
	for (size_t i = 0; i < s->n_label; i++)
		if (strcmp(p->string_table[s->label[i]->key], key) == 0)
			return p->string_table[s->label[i]->str];
	return "";
}

START_TEST(labels_of_pprof)
{
	size_t size;
	uint8_t *bytes = written(pprof_write, &size);
	Pprof__Profile *p = pprof__profile__unpack(NULL, size, bytes);
	int64_t in_trace = 0, without = 0, native = 0;

	ck_assert_ptr_nonnull(p);
	for (size_t i = 0; i < p->n_sample; i++) {
		const Pprof__Sample *s = p->sample[i];

		if (strcmp(label_of(p, s, "span"), "0000000000000abc") == 0) {
			ck_assert_str_eq(label_of(p, s, "trace"), "4bf92f3577b34da6a3ce929d0e0e4736");
			ck_assert_str_eq(label_of(p, s, "kind"), "inlined");
			in_trace += s->value[0];
		} else if (*label_of(p, s, "span")) {
			ck_assert_str_eq(label_of(p, s, "span"), "0000000000000007");
			ck_assert_str_eq(label_of(p, s, "trace"), "");
			without += s->value[0];
		}
		native += strcmp(label_of(p, s, "kind"), "native") == 0 ? s->value[0] : 0;
	}
	ck_assert_int_eq(in_trace, 4 + 8);
	ck_assert_int_eq(without, 16);
	ck_assert_int_gt(native, 0);
	pprof__profile__free_unpacked(p, NULL);
	free(bytes);
}
END_TEST

START_TEST(links_of_otlp)
{
	static const uint8_t trace[] = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6,
					0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36};
	static const uint8_t span[] = {0, 0, 0, 0, 0, 0, 0x0a, 0xbc};
	size_t size;
	uint8_t *bytes = written(otlp_write, &size);
	Otlp__ProfilesData *d = otlp__profiles_data__unpack(NULL, size, bytes);
	int64_t linked = 0;

	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(d->dictionary->n_link_table, 2);
	ck_assert_uint_eq(d->dictionary->link_table[0]->trace_id.len, 0);
	ck_assert_uint_eq(d->dictionary->link_table[1]->trace_id.len, sizeof(trace));
	ck_assert_mem_eq(d->dictionary->link_table[1]->trace_id.data, trace, sizeof(trace));
	ck_assert_uint_eq(d->dictionary->link_table[1]->span_id.len, sizeof(span));
	ck_assert_mem_eq(d->dictionary->link_table[1]->span_id.data, span, sizeof(span));
	for (size_t r = 0; r < d->n_resource_profiles; r++) {
		const Otlp__Profile *p = d->resource_profiles[r]->scope_profiles[0]->profiles[0];

		for (size_t i = 0; i < p->n_samples; i++) {
			ck_assert_int_le(p->samples[i]->link_index, 1);
			linked += p->samples[i]->link_index ? p->samples[i]->values[0] : 0;
		}
	}
	ck_assert_int_eq(linked, 4 + 8);
	otlp__profiles_data__free_unpacked(d, NULL);
	free(bytes);
}
END_TEST

Suite *test_export_spans(void)
{
	Suite *suite = suite_create("export_spans");
	TCase *spans = tcase_create("spans");

	tcase_add_loop_test(spans, sums_are_the_same, 0, BRAID_JVM_EVENTS);
	tcase_add_test(spans, labels_of_pprof);
	tcase_add_test(spans, links_of_otlp);
	suite_add_tcase(suite, spans);
	return suite;
}
