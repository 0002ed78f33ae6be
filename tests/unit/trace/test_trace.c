// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the record codec, the writer and the reader on whole files. test_trace_damage.c tests damage,
 * test_trace_format.c the format itself.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "unit/trace_fixture.h"

Suite *test_trace(void);

/* ---- one record of every kind ---- */

static const struct trace_line lines[] = {{0, 534}, {5, 535}, {9, 12}};
static const struct trace_scope scopes[] = {{70000, 12}, {3, -1}};

/* Definitions are in the order of their groups, as a file has them. */
static const struct {
	struct trace_rec rec;
	const char *text;
} all_kinds[] = {
	{{.kind = TRACE_INFO, .info = {S("host.kernel"), S("Linux \"6.1\"\n")}},
	 "info key=\"host.kernel\" value=\"Linux \\\"6.1\\\"\\n\""},
	{{.kind = TRACE_CLOCK, .clock = {1000, 2000, UINT64_MAX}},
	 "clock monotonic_ns=1000 boottime_ns=2000 realtime_ns=18446744073709551615"},
	{{.kind = TRACE_PROCESS, .process = {1, 4321, 2, 99, S("java"), S("/usr/bin/java"), S("/web")}},
	 "process process=1 pid=4321 parent=2 start_ns=99 comm=\"java\" exe=\"/usr/bin/java\" cgroup=\"/web\""},
	{{.kind = TRACE_THREAD, .thread = {7, 1, 4322, 11, TRACE_THREAD_JAVA, 5, S("main"), S("system")}},
	 "thread thread=7 process=1 tid=4322 ns_tid=11 flags=0x1 start_ns=5 name=\"main\" group=\"system\""},
	{{.kind = TRACE_MODULE, .module = {2, TRACE_MODULE_VDSO, S("[vdso]"), S("00ff")}},
	 "module module=2 kind=1 path=\"[vdso]\" build_id=\"00ff\""},
	{{.kind = TRACE_MAPPING, .mapping = {1, 2, 0x7f0000001000, 0x7f0000002000, 0x3000, 0x7f0000000000, 77}},
	 "mapping process=1 module=2 start=0x7f0000001000 end=0x7f0000002000 file_offset=0x3000 bias=0x7f0000000000 "
	 "time_ns=77"},
	{{.kind = TRACE_SYMBOL, .symbol = {9, 2, 0x1234, 64, S("_ZN3fooEv")}},
	 "symbol symbol=9 module=2 address=0x1234 size=64 name=\"_ZN3fooEv\""},
	{{.kind = TRACE_JVM,
	  .jvm = {1, 2, 0x30010200, 3, 0x11, 0x22, 0x33, 0x44, S("OpenJDK"), S("17.0.1"), S("17"), S("a.Main x")}},
	 "jvm process=1 start=2 jvmti_version=0x30010200 layout_flags=0x3 caps_got_lo=0x11 caps_got_hi=0x22 "
	 "caps_refused_lo=0x33 caps_refused_hi=0x44 vm_name=\"OpenJDK\" vm_version=\"17.0.1\" java_version=\"17\" "
	 "command=\"a.Main x\""},
	{{.kind = TRACE_METHOD, .method = {5, 1, 0x1001, S("a.B"), S("run"), S("()V"), S("B.java"), 2}},
	 "method method=5 process=1 modifiers=0x1001 class_name=\"a.B\" name=\"run\" signature=\"()V\" "
	 "source=\"B.java\" version=2"},
	{{.kind = TRACE_PLACE, .place = {3, S("_Z1fv"), S("src/f.cc")}},
	 "place place=3 name=\"_Z1fv\" file=\"src/f.cc\""},
	{{.kind = TRACE_VTHREAD, .vthread = {9, 1, 5000000000, S("v1")}},
	 "vthread vthread=9 process=1 number=5000000000 name=\"v1\""},
	{{.kind = TRACE_NAME, .name = {3, S("byte[]")}}, "name name=3 text=\"byte[]\""},
	{{.kind = TRACE_SPAN, .span = {4, 1, 0xfedcba9876543210, 0x11, UINT64_MAX}},
	 "span span=4 process=1 trace_hi=0xfedcba9876543210 trace_lo=0x11 span_id=0xffffffffffffffff"},
	{{.kind = TRACE_RESOURCE, .resource = {1, 3, 4}}, "resource process=1 key=3 value=4"},
	{{.kind = TRACE_ATTRIBUTE, .attribute = {4, 5, 3}}, "attribute span=4 key=5 value=3"},
	{{.kind = TRACE_SETTING, .setting = {1, 5, 3, 4}}, "setting process=1 origin=5 key=3 value=4"},
	{{.kind = TRACE_LINES, .lines = {5, 3, lines}}, "lines method=5 lines=[0:534,5:535,9:12]"},
	{{.kind = TRACE_CODE, .code = {8, 1, TRACE_CODE_STUB, 6, 4, 321, 1, 0x7fff0000, 512, 66, S("Interpreter")}},
	 "code code=8 process=1 kind=1 method=6 tier=4 compile_id=321 is_osr=1 address=0x7fff0000 size=512 load_ns=66 "
	 "name=\"Interpreter\""},
	{{.kind = TRACE_FRAME, .frame = {4, 15, 1, 1, 0xffffffff81000000, 2, 9, 8, 2, scopes}},
	 "frame frame=4 kind=15 process=1 exact=1 address=0xffffffff81000000 module=2 symbol=9 code=8 "
	 "scopes=[70000:12,3:-1]"},
	{{.kind = TRACE_NODE, .node = {.node = 3, .parent = 2, .frame = 4}}, "node node=3 parent=2 frame=4"},
	{{.kind = TRACE_SAMPLE, .sample = {123456789, 7, 1, 3, 2, 9, 4, 5, S("fd=3")}},
	 "sample time_ns=123456789 thread=7 cpu=1 node=3 weight=2 vthread=9 event=4 span=5 text=\"fd=3\""},
	{{.kind = TRACE_PROCESS_STATE, .process_state = {1, 2, 2}}, "process_state time_ns=1 process=2 what=2"},
	{{.kind = TRACE_CODE_LOAD, .code_load = {5, 1, 0x7fff0000, 512, 4, 321, 1}},
	 "code_load time_ns=5 process=1 address=0x7fff0000 size=512 tier=4 compile_id=321 replay=1"},
	{{.kind = TRACE_CODE_UNLOAD, .code_unload = {6, 1, 0x7fff0000}},
	 "code_unload time_ns=6 process=1 address=0x7fff0000"},
	{{.kind = TRACE_LOSS, .loss = {8, 1, S("ring"), S("sample"), 1000}},
	 "loss time_ns=8 process=1 hop=\"ring\" kind=\"sample\" count=1000"},
	{{.kind = TRACE_STAT, .stat = {9, 1, S("methods"), UINT64_MAX}},
	 "stat time_ns=9 process=1 key=\"methods\" value=18446744073709551615"},
	{{.kind = TRACE_NOTICE, .notice = {10, 1, 2, S("a\x1b[31mb\xc2\x9b")}},
	 "notice time_ns=10 process=1 severity=2 text=\"a\\x1b[31mb\\xc2\\x9b\""},
	{{.kind = TRACE_END, .end = {UINT64_MAX}}, "end time_ns=18446744073709551615"},
	{{.kind = TRACE_JVM_EVENT,
	  .jvm_event = {11, 3, 1, 7, 5000, 3, 4, 16, UINT64_MAX, 99, 0x11, 5, 6, 8, 9, 2, S("t"), 4, 9}},
	 "jvm_event time_ns=11 kind=3 process=1 thread=7 duration_ns=5000 node=3 name=4 value=16 "
	 "weight=18446744073709551615 number=99 flags=0x11 detail=5 vthread=6 other=8 other_node=9 source=2 "
	 "text=\"t\" span=4 other_vthread=9"},
};
#define ALL_KINDS (sizeof(all_kinds) / sizeof(all_kinds[0]))

/* Every kind by its literal text: a wrong offset in the table would cancel out in a round trip. */
START_TEST(every_kind_survives)
{
	char *path = fixture_path(), *want = NULL;
	struct trace_writer *w;
	struct fixture_text got;
	size_t want_len, kinds = 0;
	FILE *f = open_memstream(&want, &want_len);

	for (uint32_t kind = 0; kind < TRACE_KINDS; kind++)
		kinds += trace_layout(kind) != NULL;
	ck_assert_uint_eq(kinds, ALL_KINDS);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (size_t i = 0; i < ALL_KINDS; i++) {
		fixture_put(w, all_kinds[i].rec);
		fprintf(f, "%s\n", all_kinds[i].text);
	}
	fclose(f);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(fixture_read(path, &got), 0);
	ck_assert_str_eq(got.text, want);
	ck_assert(!got.damage.no_index && !got.damage.truncated && !got.damage.missing_blocks);
	ck_assert_uint_eq(got.damage.bad_blocks + got.damage.bad_records + got.damage.unknown_records, 0);
	ck_assert_uint_eq(got.damage.skipped_bytes, 0);
	unlink(path);
	free(path);
	free(got.text);
	free(want);
}
END_TEST

/* ---- edge values in every field ---- */

#define EDGE_PAIRS 4000
#define EDGE_STRING 70000

struct edge {
	uint32_t pairs[EDGE_PAIRS][2];
	char string[EDGE_STRING];
};

static void edge_set(struct trace_rec *rec, const struct trace_field *f, unsigned pattern, const struct edge *edge)
{
	static const uint64_t numbers[] = {0,	       UINT64_MAX, 1, 0, 0x8000000000000000, 0x7fffffffffffffff,
					   0x80000000, 127};
	static const uint32_t counts[] = {0, EDGE_PAIRS, 1, 0, 2, 63, 64, 3};
	static const uint32_t lengths[] = {0, EDGE_STRING, 1, 0, 127, 128, 7, 9};
	char *at = (char *)rec + f->offset;
	uint32_t narrow = pattern == 1 ? UINT32_MAX : (uint32_t)numbers[pattern];

	if (f->type == TRACE_TYPE_STR) {
		struct trace_str s = {edge->string, lengths[pattern]};

		memcpy(at, &s, sizeof(s));
	} else if (f->type >= TRACE_TYPE_US) {
		const void *pairs = edge->pairs;

		memcpy(at, &pairs, sizeof(pairs));
		memcpy((char *)rec + f->count_offset, &counts[pattern], sizeof(counts[pattern]));
	} else if (f->size == sizeof(numbers[0])) {
		memcpy(at, &numbers[pattern], sizeof(numbers[0]));
	} else {
		memcpy(at, &narrow, sizeof(narrow));
	}
}

static int compare_lines(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Sorts the lines of a text, which it cuts into strings. Returns their number. */
static size_t lines_sorted(char *text, char ***out)
{
	char **at = NULL;
	size_t count = 0;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (count % 1024 == 0)
			at = realloc(at, (count + 1024) * sizeof(*at));
		at[count++] = line;
	}
	qsort(at, count, sizeof(*at), compare_lines);
	*out = at;
	return count;
}

/* The same lines in any order: events come in the order of their times, which make no sense here. */
static void assert_same_lines(char *got, char *want)
{
	char **g, **w;
	size_t count = lines_sorted(got, &g);

	ck_assert_uint_eq(count, lines_sorted(want, &w));
	for (size_t i = 0; i < count; i++)
		ck_assert(strcmp(g[i], w[i]) == 0);
	free(g);
	free(w);
}

/* Every kind with every pattern before and after every other kind, and with mixed patterns within the record. */
START_TEST(edge_values_survive)
{
	char *path = fixture_path(), *want[2] = {NULL, NULL}, *both;
	struct edge *edge = calloc(1, sizeof(*edge));
	struct trace_writer *w;
	struct fixture_text got;
	size_t len[2];
	FILE *f[2] = {open_memstream(&want[0], &len[0]), open_memstream(&want[1], &len[1])};

	memset(edge->string, 'x', EDGE_STRING);
	for (unsigned i = 0; i < EDGE_PAIRS; i++) {
		edge->pairs[i][0] = i % 5 ? i * 7 : UINT32_MAX - i;
		edge->pairs[i][1] = i % 3 ? i : UINT32_MAX - i;
	}
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (uint32_t kind = 0; kind < TRACE_KINDS; kind++) {
		const struct trace_layout *l = trace_layout(kind);

		for (unsigned turn = 0; l && turn < 24; turn++) {
			struct trace_rec rec = {.kind = kind};

			for (unsigned i = 0; i < l->count; i++)
				edge_set(&rec, &l->fields[i], (turn < 8 ? turn : turn * 5 + i * 3) % 8, edge);
			fixture_put(w, rec);
			ck_assert_int_eq(trace_rec_print(f[kind >= TRACE_FIRST_EVENT], &rec), 0);
		}
		/* A block of definitions overtakes the events put before it, so the file gets one block of each. */
		if (kind == TRACE_FIRST_EVENT - 1)
			ck_assert_int_eq(trace_writer_flush(w), 0);
	}
	fclose(f[0]);
	fclose(f[1]);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(fixture_read(path, &got), 0);
	ck_assert_int_gt(asprintf(&both, "%s%s", want[0], want[1]), 0);
	ck_assert_uint_eq(got.len, len[0] + len[1]);
	assert_same_lines(got.text, both);
	ck_assert_uint_eq(got.damage.bad_records + got.damage.bad_blocks, 0);
	unlink(path);
	free(path);
	free(edge);
	free(want[0]);
	free(want[1]);
	free(both);
	free(got.text);
}
END_TEST

/* ---- blocks ---- */

static void put_mixed(struct trace_writer *w)
{
	fixture_sample(w, 1010, 1);
	fixture_sample(w, 1020, 1);
	fixture_put(w, (struct trace_rec){.kind = TRACE_JVM_EVENT,
					  .jvm_event = {.time_ns = 1005, .duration_ns = 20, .kind = 1}});
	fixture_sample(w, 1030, 1);
	fixture_put(w, (struct trace_rec){.kind = TRACE_SAMPLE, .sample = {.time_ns = 1035, .event = 7, .weight = 1}});
	fixture_put(w, (struct trace_rec){.kind = TRACE_STAT, .stat = {.time_ns = 1036, .key = S("methods")}});
	fixture_sample(w, 1040, 1);
	ck_assert_int_eq(trace_writer_flush(w), 0);
	fixture_sample(w, 1050, 1);
	fixture_put(w, (struct trace_rec){.kind = TRACE_END, .end = {1060}});
}

/* The times at which events began, in the order in which they come. */
static void assert_times(struct trace_reader *r, const uint64_t *times)
{
	struct trace_rec rec;

	while (trace_reader_next(r, &rec) == 1)
		ck_assert_uint_eq(rec.sample.time_ns, *times++); /* the first field of all these kinds */
	ck_assert_uint_eq(*times, 0);
	ck_assert(!trace_is_damaged(trace_reader_damage(r)));
}

/* Blocks of samples come among the events that were written with them, and can be left out alone. */
START_TEST(samples_come_among_events)
{
	static const uint64_t all[] = {1010, 1020, 1005, 1030, 1035, 1036, 1040, 1050, 1060, 0},
			      late[] = {1005, 1035, 1036, 1050, 1060, 0}, bounded[] = {1050, 1060, 0};
	char *path = fixture_path();
	struct trace_writer *w;
	struct trace_reader *r;
	uint64_t from_ns, to_ns;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	put_mixed(w);
	ck_assert_uint_eq(trace_writer_samples(w), 5);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_reader_open(&r, path, NULL), 0);
	assert_times(r, all);
	trace_reader_left_out(r, &from_ns, &to_ns);
	ck_assert_uint_eq(from_ns + to_ns, 0);
	trace_reader_rewind(r);
	trace_reader_samples_between(r, 1041, 2000);
	assert_times(r, late);
	trace_reader_left_out(r, &from_ns, &to_ns);
	ck_assert_uint_eq(from_ns, 1010);
	ck_assert_uint_eq(to_ns, 1040);
	trace_reader_rewind(r);
	trace_reader_between(r, 1041, 2000);
	assert_times(r, bounded);
	trace_reader_rewind(r);
	assert_times(r, all);
	trace_reader_close(r);
	unlink(path);
	free(path);
}
END_TEST

#define MANY 700000U

/* Definitions and events of several blocks each; an event's node must be known before the event is read. */
START_TEST(deltas_restart_with_every_block)
{
	char *path = fixture_path();
	struct trace_writer *w;
	struct trace_reader *r;
	struct trace_rec rec;
	uint32_t nodes = 0, samples = 0;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		struct trace_node node = {.node = i + 1, .parent = i * 7919U % (i + 1), .frame = i % 1000};

		fixture_put(w, (struct trace_rec){.kind = TRACE_NODE, .node = node});
		fixture_sample(w, 1000000ULL * i + i * 2654435761U % 900000, i + 1);
	}
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_reader_open(&r, path, NULL), 0);
	while (trace_reader_next(r, &rec) == 1) {
		if (rec.kind == TRACE_NODE) {
			MUST(rec.node.node == nodes + 1);
			MUST(rec.node.parent == nodes * 7919U % (nodes + 1));
			MUST(rec.node.frame == nodes % 1000);
			nodes++;
			continue;
		}
		MUST(rec.sample.time_ns == 1000000ULL * samples + samples * 2654435761U % 900000);
		MUST(rec.sample.node == samples + 1);
		MUST(rec.sample.node <= nodes);
		samples++;
	}
	ck_assert_uint_eq(nodes, MANY);
	ck_assert_uint_eq(samples, MANY);
	ck_assert(!trace_reader_damage(r)->no_index);
	trace_reader_close(r);
	unlink(path);
	free(path);
}
END_TEST

struct block_at {
	uint64_t offset;
	struct braid_block head;
};

static size_t blocks_of(const uint8_t *bytes, size_t len, struct block_at *out, size_t capacity)
{
	size_t n = 0;

	for (size_t at = 0; at < len; n++) {
		ck_assert_uint_lt(n, capacity);
		out[n].offset = at;
		memcpy(&out[n].head, bytes + at, sizeof(out[n].head));
		at += sizeof(out[n].head) + out[n].head.stored_bytes;
		ck_assert_uint_le(at, len);
	}
	return n;
}

/* Reads the index according to the description, since the reader does not need it. */
START_TEST(index_lists_all_blocks)
{
	char *path = fixture_path();
	struct trace_writer *w;
	struct block_at blocks[16];
	uint8_t *bytes, *raw = malloc(BRAID_BLOCK_RAW_MAX);
	const uint8_t *p, *end;
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	uint64_t offset = 0, v[4];
	size_t len, n;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (unsigned i = 0; i < 3; i++) {
		fixture_put(w, all_kinds[2].rec);
		fixture_sample(w, 5000 + i, 0);
		fixture_sample(w, 4000 + i, 0);
		ck_assert_int_eq(trace_writer_flush(w), 0);
	}
	ck_assert_int_eq(trace_writer_flush(w), 0); /* nothing to do */
	ck_assert_int_eq(trace_writer_close(w), 0);
	bytes = fixture_load(path, &len);
	n = blocks_of(bytes, len, blocks, 16);
	ck_assert_uint_eq(n, 8);
	ck_assert_uint_eq(blocks[7].head.kind, BRAID_BLOCK_INDEX);
	ck_assert_int_eq(trace_block_unpack(zstd, NULL, NULL, bytes + blocks[7].offset, raw), 0);
	p = raw;
	end = raw + blocks[7].head.raw_bytes;
	for (unsigned i = 0; i < 7; i++) {
		for (unsigned k = 0; k < 4; k++)
			ck_assert_ptr_nonnull(p = varint_get(p, end, &v[k]));
		offset += v[0];
		ck_assert_uint_eq(offset, blocks[i].offset);
		ck_assert_uint_eq(v[1], blocks[i].head.kind);
		ck_assert_uint_eq(v[2], blocks[i].head.kind == BRAID_BLOCK_DEFS ? 0 : blocks[i].head.time_min_ns);
		ck_assert_uint_eq(v[2] + v[3], blocks[i].head.time_max_ns);
		ck_assert_uint_eq(blocks[i].head.sequence, i);
	}
	ck_assert_ptr_eq(p, end);
	ck_assert_uint_eq(blocks[4].head.time_min_ns, 4001);
	ck_assert_uint_eq(blocks[4].head.time_max_ns, 5001);
	ck_assert_uint_eq(blocks[3].head.time_max_ns, 0);
	ZSTD_freeDCtx(zstd);
	free(raw);
	free(bytes);
	unlink(path);
	free(path);
}
END_TEST

static void tap_count(void *ctx, const struct trace_rec *rec)
{
	uint32_t *seen = ctx;

	seen[0]++;
	seen[1] = seen[1] * 31 + rec->kind;
}

START_TEST(tap_sees_what_is_put_in_order)
{
	char *path = fixture_path();
	uint32_t seen[2] = {0, 0};
	struct trace_writer *w;
	struct trace_rec wrong = {.kind = TRACE_KINDS};

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	trace_writer_tap(w, tap_count, seen);
	fixture_sample(w, 1, 0);
	fixture_put(w, all_kinds[2].rec);
	ck_assert_int_eq(trace_writer_put(w, &wrong), -EINVAL);
	ck_assert_uint_eq(seen[0], 2);
	ck_assert_uint_eq(seen[1], TRACE_SAMPLE * 31 + TRACE_PROCESS);
	ck_assert_int_eq(trace_writer_close(w), 0);
	unlink(path);
	free(path);
}
END_TEST

/* ---- sizes ---- */

static size_t size_of(struct trace_delta *delta, const struct trace_rec *rec)
{
	uint8_t buf[256];
	size_t bound;

	ck_assert_int_eq(trace_rec_bound(rec, &bound), 0);
	ck_assert_uint_le(bound, sizeof(buf));
	return (size_t)(trace_rec_encode(delta, rec, buf) - buf);
}

START_TEST(usual_records_are_small)
{
	struct trace_delta *d = calloc(1, sizeof(*d));
	struct trace_scope scope = {300, 40};
	struct trace_rec sample = {.kind = TRACE_SAMPLE, .sample = {5000000000000, 20, 1, 50000, 1, 0}};
	struct trace_rec node = {.kind = TRACE_NODE, .node = {.node = 50000, .parent = 49999, .frame = 9000}};
	struct trace_rec frame = {.kind = TRACE_FRAME, .frame = {9000, 1, 1, 0, 0x7fd210001000, 0, 0, 700, 1, &scope}};

	size_of(d, &sample);
	size_of(d, &node);
	size_of(d, &frame);
	sample.sample.time_ns += 1003009;
	sample.sample.node += 9;
	ck_assert_uint_le(size_of(d, &sample), 7);
	sample.sample.time_ns += 1003009;
	sample.sample.node -= 30000;
	ck_assert_uint_le(size_of(d, &sample), 9);
	sample.sample.time_ns += 10100200;
	sample.sample.node += 30000;
	sample.sample.thread = 2000;
	ck_assert_uint_le(size_of(d, &sample), 11);
	node.node.node++;
	node.node.parent++;
	node.node.frame++;
	ck_assert_uint_le(size_of(d, &node), 2);
	node.node.node++;
	node.node.parent -= 3000;
	node.node.frame -= 3000;
	ck_assert_uint_le(size_of(d, &node), 6);
	frame.frame.frame++;
	frame.frame.address += 0x123456;
	ck_assert_uint_le(size_of(d, &frame), 15 + 5);
	free(d);
}
END_TEST

/* ---- refusals ---- */

static int put_on(struct trace_writer *w, struct trace_rec rec)
{
	return trace_writer_put(w, &rec);
}

START_TEST(what_cannot_be_coded_is_refused)
{
	static const char *const not_utf8[] = {
		"\x80",	   "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
		"abc\xc3", "\xe2\x82", "\xf0\x9f\x98",
	};
	char *path = fixture_path(), *big = calloc(1, BRAID_BLOCK_RAW_MAX + 1);
	struct trace_writer *w;
	struct fixture_text got;

	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = 0}), -EINVAL);
	ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = TRACE_SETTING + 1}), -EINVAL);
	ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = UINT32_MAX}), -EINVAL);
	ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = TRACE_INFO, .info = {.key = {NULL, 1}}}), -EINVAL);
	ck_assert_int_eq(
		put_on(w, (struct trace_rec){.kind = TRACE_INFO, .info = {.value = {big, BRAID_BLOCK_RAW_MAX}}}),
		-EINVAL);
	ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = TRACE_INFO, .info = {.value = {big, UINT32_MAX}}}),
			 -EINVAL);
	ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = TRACE_LINES, .lines = {1, 1, NULL}}), -EINVAL);
	ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = TRACE_FRAME,
						      .frame = {.scope_count = UINT32_MAX, .scopes = scopes}}),
			 -EINVAL);
	for (size_t i = 0; i < sizeof(not_utf8) / sizeof(not_utf8[0]); i++) {
		struct trace_str s = {not_utf8[i], (uint32_t)strlen(not_utf8[i])};

		ck_assert_int_eq(put_on(w, (struct trace_rec){.kind = TRACE_INFO, .info = {s, S("")}}), -EINVAL);
	}
	/* The longest string that fits; the records before and after it stay. */
	ck_assert_int_eq(
		put_on(w, (struct trace_rec){.kind = TRACE_INFO, .info = {S("big"), {big, BRAID_BLOCK_RAW_MAX - 64}}}),
		0);
	fixture_put(w, (struct trace_rec){.kind = TRACE_INFO, .info = {S("\xf0\x9f\x98\x80 8 bytes\xc3\xa9"), S("")}});
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(fixture_read(path, &got), 0);
	ck_assert_uint_eq(got.records, 2);
	unlink(path);
	free(path);
	free(big);
	free(got.text);
}
END_TEST

START_TEST(only_traces_are_written_over)
{
	char *path = fixture_path(), old[64];
	struct trace_writer *w, *second;
	struct stat st;
	size_t len;

	ck_assert_int_eq(trace_writer_open(&w, "/nowhere/at/all"), -ENOENT);
	ck_assert_ptr_null(w);
	ck_assert_int_eq(trace_writer_open(&w, "/tmp"), -EISDIR);
	ck_assert_int_eq(trace_writer_open(&w, "/tmp/"), -EISDIR);
	ck_assert_int_eq(trace_writer_open(&w, "/dev/zero"), -EEXIST);
	fixture_store(path, "my thesis", 9);
	ck_assert_int_eq(trace_writer_open(&w, path), -EEXIST);
	fixture_store(path, "short", 5);
	ck_assert_int_eq(trace_writer_open(&w, path), -EEXIST);
	free(fixture_load(path, &len));
	ck_assert_uint_eq(len, 5);
	unlink(path);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(trace_writer_open(&second, path), -EBUSY);
	fixture_sample(w, 1, 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	ck_assert_uint_lt(trace_writer_bytes(w), (uint64_t)st.st_size);
	ck_assert_int_eq(trace_writer_close(w), 0);
	fixture_store(path, "", 0);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_writer_close(NULL), 0);
	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	unlink(path);
	free(path);
}
END_TEST

Suite *test_trace(void)
{
	Suite *suite = suite_create("trace");
	TCase *tc = tcase_create("trace");

	tcase_add_test(tc, every_kind_survives);
	tcase_add_test(tc, edge_values_survive);
	tcase_add_test(tc, samples_come_among_events);
	tcase_add_test(tc, deltas_restart_with_every_block);
	tcase_add_test(tc, index_lists_all_blocks);
	tcase_add_test(tc, tap_sees_what_is_put_in_order);
	tcase_add_test(tc, usual_records_are_small);
	tcase_add_test(tc, what_cannot_be_coded_is_refused);
	tcase_add_test(tc, only_traces_are_written_over);
	suite_add_tcase(suite, tc);
	return suite;
}
