// SPDX-License-Identifier: Apache-2.0
/* Tests of what the format promises to other programs: schemas of other writers, the description in docs/, varints. */
#include <ctype.h>

#include "unit/trace_fixture.h"

Suite *test_trace_format(void);

/* ---- other writers' schemas ---- */

static uint8_t *put_bytes(uint8_t *p, const void *bytes, size_t len)
{
	memcpy(p, bytes, len);
	return p + len;
}

/* Fields in another order, of other types, and new fields; a new kind on whose time the later deltas build. */
static const char newer_schema[] = "32 sample mood:str weight:u time_ns:t extra:us node:s cpu:u thread:n\n"
				   "42 finish time_ns:t\n"
				   "60 wonder time_ns:t what:dd\n"
				   "3 process pid:u process:str comm:str\n";
static const uint8_t newer_records[] = {
	0x80 | 12 << 2,
	2,
	'h',
	'i',
	5,
	/* weight 5 */ 200,
	1,
	/* time 100 */ 1,
	9,
	9,
	/* node -> */ 8,
	2,
	6,
	60,
	4,
	/* time +50 */ 100,
	1,
	2,
	2,
	60,
	6,
	/* time +1 */ 2,
	1,
	4,
	4,
	/* a value that a yet newer writer adds */ 1,
	1,
	0x80 | 5 << 2,
	0,
	1,
	/* time +1 */ 2,
	0,
	2,
	42,
	1,
	2, /* another name: not the known kind */
	3,
	7,
	44,
	/* a string now */ 2,
	'x',
	'y',
	2,
	'o',
	'k',
	99,
	3,
	1,
	2,
	3, /* not in the schema */
};

START_TEST(newer_schema_is_read_by_name)
{
	struct fixture_file f = {0};
	struct fixture_text got;

	fixture_schema(&f, newer_schema);
	fixture_block(&f, BRAID_BLOCK_EVENTS, newer_records, sizeof(newer_records));
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert_str_eq(got.text,
			 "sample time_ns=100 thread=4 cpu=2 node=4 weight=5 vthread=0 event=0 span=0 text=\"\"\n"
			 "sample time_ns=152 thread=5 cpu=0 node=1 weight=1 vthread=0 event=0 span=0 text=\"\"\n"
			 "process process=0 pid=44 parent=0 start_ns=0 comm=\"ok\" exe=\"\" cgroup=\"\"\n");
	ck_assert_uint_eq(got.damage.unknown_records, 7);
	ck_assert_uint_eq(got.damage.bad_records, 0);
	ck_assert(got.damage.no_index);
	free(got.text);
}
END_TEST

START_TEST(schemas_that_are_none)
{
	static const char *const bad[] = {
		"0 zero a:u\n",
		"128 far a:u\n",
		"32 sample\n32 sample\n",
		"32 sample time_ns\n",
		"32 sample time_ns:q\n",
		"32  sample\n",
		"32 sample time_ns:u",
		"sample\n",
		"32 Sample\n",
		"99999999999 a b:u\n",
		"32 sample cpu:u cpu:u\n",
		"40 a0123456789012345678901234567890123456789 b:u\n",
		("50 many a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u "
		 "a:u a:u a:u a:u a:u a:u a:u a:u a:u a:u\n"),
	};
	struct trace_schema *schema = malloc(sizeof(*schema));
	char text[TRACE_SCHEMA_MAX];
	int len = trace_schema_text(text, sizeof(text));

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(trace_schema_parse(schema, bad[i], strlen(bad[i])) == -EINVAL, "accepted: %s", bad[i]);
	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(trace_schema_parse(schema, text, (size_t)len), 0);
	for (uint32_t kind = 0; kind < TRACE_KINDS; kind++) {
		const struct trace_layout *own = trace_layout(kind);

		ck_assert(schema->layouts[kind].defined == (own != NULL));
		ck_assert(!schema->layouts[kind].newer);
		if (own)
			ck_assert_uint_eq(schema->layouts[kind].count, own->count);
	}
	ck_assert_int_eq(trace_schema_text(text, 100), -ENOSPC);
	free(schema);
}
END_TEST

/* ---- the description ---- */

#define DOC "docs/trace-format.md"

START_TEST(description_lists_every_field)
{
	char text[TRACE_SCHEMA_MAX + 1], *save = NULL, want[80];
	size_t len;
	char *doc = (char *)fixture_load(DOC, &len);
	int text_len = trace_schema_text(text, TRACE_SCHEMA_MAX);

	doc[len] = 0;
	ck_assert_int_gt(text_len, 0);
	text[text_len] = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		ck_assert_msg(strstr(doc, line), DOC " does not have the schema's line: %s", line);
	for (uint32_t kind = 0; kind < TRACE_KINDS; kind++) {
		const struct trace_layout *l = trace_layout(kind);
		char *section, *next;

		if (!l)
			continue;
		snprintf(want, sizeof(want), "\n### %u %s\n", kind, l->name);
		section = strstr(doc, want);
		ck_assert_msg(section, DOC " has no section%s", want);
		next = strstr(section + 4, "\n##");
		for (unsigned i = 0; i < l->count; i++) {
			char *at;

			snprintf(want, sizeof(want), "| `%s` |", l->fields[i].name);
			at = strstr(section, want);
			ck_assert_msg(at && (!next || at < next), DOC ": %s lacks %s", l->name, want);
		}
	}
	free(doc);
}
END_TEST

/* The example's bytes are in lines "0000  42 52 ...  text". */
static size_t doc_example(const char *doc, uint8_t *out, size_t capacity)
{
	const char *line = strstr(doc, "\n0000  ");
	size_t n = 0;

	ck_assert_ptr_nonnull(line);
	for (line++; isxdigit((unsigned char)*line); line = strchr(line, '\n') + 1) {
		unsigned byte, used;

		for (const char *at = line + 5; sscanf(at, " %2x%n", &byte, (int *)&used) == 1 && at < line + 53;
		     at += used) {
			ck_assert_uint_lt(n, capacity);
			out[n++] = (uint8_t)byte;
		}
	}
	return n;
}

START_TEST(description_example_is_right)
{
	struct fixture_file f = {0};
	struct fixture_text got;
	struct braid_block head;
	uint8_t bytes[1024];
	size_t len, n;
	char *doc = (char *)fixture_load(DOC, &len), *printed;

	doc[len] = 0;
	n = doc_example(doc, bytes, sizeof(bytes));
	ck_assert_uint_gt(n, sizeof(head));
	memcpy(&head, bytes, sizeof(head));
	ck_assert_uint_eq(n, sizeof(head) + head.stored_bytes);
	ck_assert_int_eq(trace_block_check(bytes), 0);
	fixture_own_schema(&f);
	f.bytes = realloc(f.bytes, f.len + n);
	memcpy(f.bytes + f.len, bytes, n);
	f.len += n;
	ck_assert_int_eq(fixture_read_file(&f, &got), 0);
	ck_assert_uint_ge(got.records, 3);
	ck_assert_uint_eq(got.damage.bad_blocks + got.damage.bad_records, 0);
	ck_assert_int_gt(asprintf(&printed, "```\n%s```", got.text), 0);
	ck_assert_msg(strstr(doc, printed), DOC " does not say what its example holds:\n%s", got.text);
	free(printed);
	free(got.text);
	free(doc);
}
END_TEST

/* ---- varints ---- */

START_TEST(varints)
{
	static const uint64_t values[] = {0,	   1,	    127,	128,	   16383,     16384,
					  2097151, 2097152, UINT32_MAX, INT64_MAX, UINT64_MAX};
	uint8_t buf[VARINT_MAX_BYTES];
	uint64_t v;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		uint8_t *end = varint_put(buf, values[i]);

		ck_assert_uint_le((size_t)(end - buf), sizeof(buf));
		ck_assert_ptr_eq(varint_get(buf, end, &v), end);
		ck_assert_uint_eq(v, values[i]);
		for (uint8_t *cut = buf; cut < end; cut++)
			ck_assert_ptr_null(varint_get(buf, cut, &v));
		ck_assert_uint_eq(zigzag_decode(zigzag_encode(values[i])), values[i]);
	}
	memset(buf, 0xff, sizeof(buf));
	ck_assert_ptr_null(varint_get(buf, buf + 10, &v));
	buf[9] = 2;
	ck_assert_ptr_null(varint_get(buf, buf + 10, &v));
	buf[9] = 1;
	ck_assert_ptr_eq(varint_get(buf, buf + 10, &v), buf + 10);
	ck_assert_uint_eq(zigzag_encode((uint64_t)-1), 1);
	ck_assert_uint_eq(zigzag_encode(1), 2);
	put_bytes(buf, "\x80\x00", 2); /* longer than needed is allowed */
	ck_assert_ptr_eq(varint_get(buf, buf + 2, &v), buf + 2);
	ck_assert_uint_eq(v, 0);
}
END_TEST

/* ---- decoders of their own ---- */

/* Short bodies, mostly of small numbers, some of which are no record. */
static size_t draw_body(uint8_t *body)
{
	size_t len = (size_t)lrand48() % 24;

	for (size_t i = 0; i < len; i++)
		body[i] = (uint8_t)(lrand48() % 4 ? lrand48() % 0x80 : lrand48());
	return len;
}

static void assert_same(const struct trace_rec *a, const struct trace_rec *b)
{
	char text[2][1024] = {{0}};
	FILE *out[2] = {fmemopen(text[0], sizeof(text[0]), "w"), fmemopen(text[1], sizeof(text[1]), "w")};

	MUST(trace_rec_print(out[0], a) == 0 && trace_rec_print(out[1], b) == 0);
	fclose(out[0]);
	fclose(out[1]);
	MUST(strcmp(text[0], text[1]) == 0);
}

/* The decoders of frequent kinds are those of this program's own schema, and do what the one of all kinds does. */
START_TEST(frequent_kinds_are_decoded_as_all)
{
	static const uint32_t kinds[] = {TRACE_NODE, TRACE_SAMPLE};
	const struct trace_schema *own = &trace_schema_own()->schema;
	static struct trace_schema slow;
	static struct trace_delta deltas[2];
	struct trace_pairs pairs = {0};
	unsigned good = 0;

	ck_assert_int_eq(trace_schema_own()->err, 0);
	slow = *own;
	for (uint32_t kind = 0; kind < TRACE_KIND_LIMIT; kind++) {
		ck_assert_uint_eq(own->layouts[kind].frequent, kind == TRACE_NODE || kind == TRACE_SAMPLE);
		slow.layouts[kind].frequent = false;
	}
	srand48(7);
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t kind = kinds[i % 2];
		struct trace_rec a, b;
		bool newer[2] = {false, false};
		uint8_t body[24];
		size_t len = draw_body(body);
		int got = trace_rec_decode(own, &deltas[0], kind, body, body + len, &a, &pairs, &newer[0]);

		MUST(trace_rec_decode(&slow, &deltas[1], kind, body, body + len, &b, &pairs, &newer[1]) == got);
		MUST(memcmp(&deltas[0], &deltas[1], sizeof(deltas[0])) == 0);
		MUST(got != 1 || newer[0] == newer[1]);
		if (got == 1)
			assert_same(&a, &b);
		else /* after a bad record, ids are nearly all out of range */
			memset(deltas, 0, sizeof(deltas));
		good += got == 1;
	}
	ck_assert_uint_gt(good, 20000);
	ck_assert_uint_lt(good, 199000);
	free(pairs.pairs);
}
END_TEST

Suite *test_trace_format(void)
{
	Suite *suite = suite_create("trace_format");
	TCase *tc = tcase_create("trace_format");

	tcase_add_test(tc, varints);
	tcase_add_test(tc, frequent_kinds_are_decoded_as_all);
	tcase_add_test(tc, newer_schema_is_read_by_name);
	tcase_add_test(tc, schemas_that_are_none);
	tcase_add_test(tc, description_lists_every_field);
	tcase_add_test(tc, description_example_is_right);
	suite_add_tcase(suite, tc);
	return suite;
}
