// SPDX-License-Identifier: Apache-2.0
/* Questions in SQL: what the tables say, what limits a scan, and what a question may not do. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <query/query.h>
#include <query/texts.h>

#include "unit/events_fixture.h"
#include "unit/run.h"

Suite *test_query(void);

#define MEMORY (64U << 20)

static char path[] = "/tmp/braid-test-query-XXXXXX";
static struct run run;
static struct trace_reader *reader;
static struct query *query;

/* The synthetic trace with events of all kinds, in a file, as samples are read from it. */
static void open_query(void)
{
	struct trace_writer *w;
	struct trace_rec rec;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	unlink(path);
	ck_assert_int_eq(trace_writer_open(&w, path), 0);
	for (size_t i = 0; i < SYNTHETIC_COUNT; i++) {
		ck_assert_int_eq(trace_writer_put(w, &synthetic[i]), 0);
		if (i % 3 == 0) /* blocks of few samples, which a range of time leaves out */
			ck_assert_int_eq(trace_writer_flush(w), 0);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		ck_assert_int_eq(trace_writer_put(w, &more[i]), 0);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		ck_assert_int_eq(trace_writer_put(w, &events[i]), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	ck_assert_int_eq(trace_reader_open(&reader, path, NULL), 0);
	ck_assert_int_eq(analyzer_new(&run.a), 0);
	while (trace_reader_next(reader, &rec) == 1)
		ck_assert_int_eq(analyzer_feed(run.a, &rec), 0);
	run_analyze(&run, NULL);
	ck_assert_int_eq(
		query_open(&query, &(struct query_input){.an = run.an, .reader = reader, .file_bytes = 1234}, MEMORY),
		0);
}

static void close_query(void)
{
	query_close(query);
	run_free(&run);
	trace_reader_close(reader);
	unlink(path);
}

static char *answer(const char *sql, enum query_format format, int expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = query_run(query, out, sql, format);

	fclose(out);
	ck_assert_msg(err == expected, "%s: %d %s", sql, err, err ? query_why(query) : "");
	return text;
}

static void says(const char *sql, enum query_format format, const char *expected)
{
	char *text = answer(sql, format, 0);

	ck_assert_msg(strcmp(text, expected) == 0, "%s: %s", sql, text);
	free(text);
}

#define TSV(sql, expected) says(sql, QUERY_TSV, expected)

/* The question is refused, and the reason has `why`. */
static void refused(const char *sql, const char *why)
{
	free(answer(sql, QUERY_CSV, 1));
	ck_assert_msg(strstr(query_why(query), why) != NULL, "%s: %s", sql, query_why(query));
}

START_TEST(samples_and_frames)
{
	TSV("SELECT count(*), sum(weight), min(time_ns), max(time_ns) FROM samples",
	    "count(*)\tsum(weight)\tmin(time_ns)\tmax(time_ns)\n19\t19\t1000000\t181000000\n");
	TSV("SELECT t.name, count(*) n FROM samples s JOIN threads t USING (thread_id) GROUP BY 1 ORDER BY n DESC",
	    "name\tn\nmain\t10\nworker;x\t6\nhttp nio 8080\t3\n");
	TSV("SELECT depth, function, class, method, file, line, kind, domain FROM frames WHERE stack_id = 4",
	    "depth\tfunction\tclass\tmethod\tfile\tline\tkind\tdomain\n"
	    "0\tdo_syscall_64\t\t\t\t\tkernel\tkernel\n"
	    "1\tdemo.Util.inline\tdemo.Util\tinline\tUtil.java\t30\tinlined\tjava\n"
	    "2\tdemo.Main.work\tdemo.Main\twork\tMain.java\t12\tC2\tjava\n"
	    "3\tdemo.Main.main\tdemo.Main\tmain\tMain.java\t\tinterpreted\tjava\n"
	    "4\t__libc_start_main\t\t\t\t\tnative\tnative\n");
	TSV("SELECT function FROM frames WHERE stack_id = 4 AND depth = 1", "function\ndemo.Util.inline\n");
	TSV("SELECT count(*) FROM frames WHERE stack_id = 4711", "count(*)\n0\n");
	TSV("SELECT cause, sum(weight) FROM profile JOIN stacks USING (stack_id) GROUP BY 1 ORDER BY 1",
	    "cause\tsum(weight)\ncomplete\t16\nno_cfi\t2\n");
	TSV("SELECT pid, java_version, agent FROM jvms JOIN processes USING (process_id)",
	    "pid\tjava_version\tagent\n100\t17.0.15\tattach\n");
}
END_TEST

/* The methods of the report. */
START_TEST(methods_view)
{
	for (size_t i = 0; i < run.v->methods.count; i++) {
		const struct method_view *m = &run.v->methods.at[i];
		char sql[256], expected[64];

		if (m->domain == DOMAIN_INCOMPLETE)
			continue;
		snprintf(sql, sizeof(sql), "SELECT self, total FROM methods WHERE function = '%s'", m->name);
		snprintf(expected, sizeof(expected), "self\ttotal\n%lu\t%lu\n", (unsigned long)m->self,
			 (unsigned long)m->total);
		TSV(sql, expected);
	}
	TSV("SELECT sum(self) FROM methods WHERE domain != 'incomplete'", "sum(self)\n18\n");
}
END_TEST

/*
 * Conditions that the tables evaluate select the same rows as those that SQLite evaluates: `+` keeps them from the
 * table.
 */
START_TEST(limits_lose_no_rows)
{
	static const char *const conditions[] = {
		"time_ns >= 51000000",
		"time_ns > 51000000",
		"time_ns < 51e6",
		"time_ns <= 51000000.5",
		"time_ns BETWEEN 20000000 AND 61000000",
		"time_ns = 51000000",
		"time_ns > 1e300",
		"time_ns < -9223372036854775808",
		"time_ns > NULL",
		"thread_id = 1",
		"thread_id = 1.5",
		"thread_id = 4294967297",
		"thread_id = 'x'",
		"thread_id IN (1, 3)",
		"stack_id = 3",
		"stack_id = -1",
		"thread_id = 1 AND stack_id = 3 AND time_ns > 15000000",
	};
	static const char *const tables[] = {"samples", "events", "lock", "offcpu", "alloc"};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
			char limited[256], plain[512] = "", *of_limited, *of_plain;

			snprintf(limited, sizeof(limited), "SELECT count(*), sum(time_ns) FROM %s WHERE %s", tables[t],
				 conditions[i]);
			snprintf(plain, sizeof(plain), "SELECT count(*), sum(time_ns) FROM %s WHERE ", tables[t]);
			for (const char *c = conditions[i]; *c; c++) {
				bool column =
					(c == conditions[i] || c[-1] == ' ') &&
					(strncmp(c, "time_ns", 7) == 0 || strstr(c, "_id") == c + (*c == 't' ? 6 : 5));

				snprintf(plain + strlen(plain), sizeof(plain) - strlen(plain), "%s%c",
					 column ? "+" : "", *c);
			}
			of_limited = answer(limited, QUERY_TSV, 0);
			of_plain = answer(plain, QUERY_TSV, 0);
			ck_assert_msg(strcmp(of_limited, of_plain) == 0, "%s: %s, but %s: %s", limited, of_limited,
				      plain, of_plain);
			free(of_limited);
			free(of_plain);
		}
}
END_TEST

/* Every kind has a table, whose sums are the report's. */
START_TEST(kinds_are_the_reports)
{
	size_t seen = 0;

	for (uint32_t k = 0; k < BRAID_JVM_EVENTS; k++) {
		const struct kind_view *v = &run.v->events->kinds[k];
		char sql[256], expected[128];

		if (!kind_of(k))
			continue;
		snprintf(sql, sizeof(sql), "SELECT count(*) AS n, coalesce(sum(weight%s), 0) AS w FROM \"%s\"%s",
			 kind_of(k)->unit == UNIT_NS	  ? "_ns"
			 : kind_of(k)->unit == UNIT_BYTES ? "_bytes"
							  : "",
			 jvm_event_name(k), k == BRAID_JVM_OFFCPU ? " WHERE NOT is_idle AND count = 1" : "");
		snprintf(expected, sizeof(expected), "n\tw\n%lu\t%lu\n", (unsigned long)v->count,
			 (unsigned long)v->weight);
		TSV(sql, expected);
		seen += v->count != 0;
	}
	ck_assert_uint_ge(seen, 10);
}
END_TEST

/* Fields have the names that their kinds give them, with units. */
START_TEST(fields_by_kind)
{
	TSV("SELECT class, weight_ns, owner_vthread_id, owner_stack_id, is_parked FROM lock WHERE duration_ns = 1000000",
	    "class\tweight_ns\towner_vthread_id\towner_stack_id\tis_parked\ndemo.Queue\t1000000\t\t\t0\n");
	TSV("SELECT late_ns, site FROM safepoint_stop", "late_ns\tsite\n2000000\t<script>alert(1)</script>.run\n");
	TSV("SELECT operation, to_safepoint_ns, duration_ns FROM safepoint",
	    "operation\tto_safepoint_ns\tduration_ns\nCleanup\t2000000\t6000000\n");
	TSV("SELECT level, is_osr, is_failed, size_bytes FROM compile ORDER BY time_ns LIMIT 4",
	    "level\tis_osr\tis_failed\tsize_bytes\n4\t0\t0\t512\n3\t0\t0\t256\n3\t1\t0\t256\n4\t0\t1\t0\n");
	/* What one end of a pause says of its length and of the heap is not known. */
	TSV("SELECT duration_ns, before_bytes, after_bytes, not_ended FROM gc_pause",
	    "duration_ns\tbefore_bytes\tafter_bytes\tnot_ended\n5000000\t3145728\t1048576\t0\n\t\t\t1\n");
	TSV("SELECT count(*), sum(waker_vthread_id), sum(waker_stack_id) FROM wait",
	    "count(*)\tsum(waker_vthread_id)\tsum(waker_stack_id)\n0\t\t\n");
	TSV("SELECT sum(release_ns) FROM jni_critical", "sum(release_ns)\n\n");
}
END_TEST

START_TEST(formats)
{
	const char *sql = "SELECT 1 AS a, NULL AS b, 'x,\"y' AS \"c,d\", '' AS e, 1.5 AS f, char(27) || 'z' AS g";

	says(sql, QUERY_CSV, "a,b,\"c,d\",e,f,g\r\n1,,\"x,\"\"y\",\"\",1.5,\033z\r\n");
	says(sql, QUERY_TSV, "a\tb\tc,d\te\tf\tg\n1\t\tx,\"y\t\t1.5\t?z\n");
	says(sql, QUERY_JSON, "[{\"a\":1,\"b\":null,\"c,d\":\"x,\\\"y\",\"e\":\"\",\"f\":1.5,\"g\":\"\\u001bz\"}]\n");
	says("SELECT 'long text' AS a, -7 AS number UNION ALL SELECT 'x' || char(10), 12345678", QUERY_TABLE,
	     "a            number\nlong text        -7\nx?         12345678\n");
	says("SELECT 1 AS a WHERE 0", QUERY_TABLE, "a\n");
	says("SELECT 1 AS a WHERE 0", QUERY_JSON, "[]\n");
	says("SELECT -9223372036854775807 AS a, 1e400 AS b", QUERY_JSON, "[{\"a\":-9223372036854775807,\"b\":null}]\n");
}
END_TEST

/* A trace's names cannot steer a terminal. */
START_TEST(names_are_clean)
{
	char *text =
		answer("SELECT value FROM facts WHERE \"key\" = 'record.command' UNION ALL SELECT class FROM alloc",
		       QUERY_CSV, 0);

	ck_assert_ptr_null(strchr(text, '\033'));
	ck_assert_ptr_nonnull(strstr(text, "java demo.Main ?[2J"));
	free(text);
}
END_TEST

START_TEST(questions_only_read)
{
	static const char *const forbidden[] = {
		"ATTACH '/etc/passwd' AS p",
		"CREATE TABLE t(a)",
		"CREATE TEMP TABLE t(a)",
		"INSERT INTO samples VALUES (1)",
		"DELETE FROM samples",
		"UPDATE samples SET cpu = 1",
		"DROP TABLE samples",
		"DROP VIEW methods",
		"PRAGMA journal_mode = WAL",
		"PRAGMA temp_store_directory = '/etc'",
		"VACUUM INTO '/tmp/braid-never'",
		"BEGIN",
		"SAVEPOINT a",
		"REINDEX",
		"ANALYZE",
		"DETACH main",
		"CREATE VIRTUAL TABLE x USING braid(samples)",
	};

	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		free(answer(forbidden[i], QUERY_CSV, 1));
	refused("ATTACH '/etc/passwd' AS p", "only reads");
	refused("SELECT load_extension('/tmp/x.so')", "load_extension");
	refused("SELECT readfile('/etc/passwd')", "no such function");
	refused("SELECT writefile('/tmp/braid-never', 'x')", "no such function");
	refused("SELECT * FROM fsdir('/')", "no such table");
	refused("SELECT 1; SELECT 2", "one SELECT");
	refused("SELECT 1; DROP TABLE samples", "one SELECT");
	refused(" -- nothing\n", "no SELECT");
	refused("", "no SELECT");
	refused("SELECT \"no such column\" FROM samples", "no such column");
	refused("SELEC 1", "syntax error");
	TSV("SELECT 1 AS a; -- done\n ", "a\n1\n");
	TSV("SELECT name FROM pragma_table_info('losses')", "name\nhop\nkind\ncount\n");
}
END_TEST

/* Memory has a limit, and sorting goes to files. */
START_TEST(memory_is_bounded)
{
	char *text;

	refused("SELECT length(group_concat(hex(zeroblob(1000000)), '')) FROM samples, samples", "too big");
	refused("WITH RECURSIVE n(i, t) AS (VALUES (1, zeroblob(15000000)) UNION ALL SELECT i + 1, zeroblob(15000000 + i) FROM n) "
		"SELECT count(DISTINCT t) FROM n",
		"memory");
	text = answer("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
		      "SELECT i, hex(randomblob(500)) AS t FROM n ORDER BY t LIMIT 1",
		      QUERY_TSV, 0);
	free(text);
}
END_TEST

START_TEST(ready_questions)
{
	struct query_text t;
	unsigned ready = 0;
	int length;

	for (size_t i = 0; query_text_get(i, &t); i++) {
		char name[64], *sql;

		snprintf(name, sizeof(name), "%.*s", t.name_length, t.name);
		ck_assert_ptr_nonnull(query_text_about(&t, 0, &length));
		if (t.view) {
			char all[128];

			snprintf(all, sizeof(all), "SELECT * FROM \"%s\"", name);
			free(answer(all, QUERY_CSV, 0));
			continue;
		}
		sql = query_named(name);
		free(answer(sql, QUERY_CSV, 0));
		free(sql);
		ready++;
	}
	ck_assert_uint_ge(ready, 20);
	ck_assert_ptr_null(query_named("no-such"));
	ck_assert_ptr_null(query_named("methods\n"));
	ck_assert_ptr_null(query_named("sample_frames"));
}
END_TEST

/* The schema that people read has what SQLite knows, in this order: tables and views with all columns. */
START_TEST(schema_is_whole)
{
	char *schema = NULL, *columns, *line, *rest;
	size_t size;
	FILE *out = open_memstream(&schema, &size);

	ck_assert_int_eq(query_schema(out), 0);
	fclose(out);
	columns = answer("SELECT t.name AS t, c.name AS c FROM sqlite_schema AS t, pragma_table_info(t.name) AS c",
			 QUERY_TSV, 0);
	strtok_r(columns, "\n", &rest);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		char *column = strchr(line, '\t') + 1, head[64], row[64];
		const char *table, *end, *at;

		column[-1] = '\0';
		snprintf(head, sizeof(head), "\n%s%s", line,
			 strstr(line, "methods") || strcmp(line, "intervals") == 0 || strcmp(line, "sample_frames") == 0
				 ? " (view): "
				 : ": ");
		table = strncmp(schema, head + 1, strlen(head + 1)) == 0 ? schema : strstr(schema, head);
		ck_assert_msg(table != NULL, "no '%s'", head);
		end = strstr(table + 1, "\n\n");
		snprintf(row, sizeof(row), "\n  %s ", column);
		at = strstr(table + 1, row);
		if (!at || at > end) {
			snprintf(row, sizeof(row), "\n  \"%s\" ", column);
			at = strstr(table + 1, row);
		}
		ck_assert_msg(at && at < end, "%s has no %s", line, column);
	}
	free(columns);
	free(schema);
}
END_TEST

/* The page names every table, view and ready question, with what --list says of it. */
START_TEST(page_is_whole)
{
	char *page = calloc(1, 1 << 16), *tables, *line, *rest;
	FILE *in = fopen("docs/query.md", "r");
	struct query_text t;

	ck_assert_ptr_nonnull(in);
	ck_assert_uint_gt(fread(page, 1, (1 << 16) - 1, in), 1000);
	fclose(in);
	tables = answer("SELECT name FROM sqlite_schema", QUERY_TSV, 0);
	strtok_r(tables, "\n", &rest);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		char name[64];

		snprintf(name, sizeof(name), "`%s`", line);
		ck_assert_msg(strstr(page, name) != NULL, "%s", name);
	}
	for (size_t i = 0; query_text_get(i, &t); i++) {
		char row[256];
		int length;
		const char *about = query_text_about(&t, 0, &length);

		snprintf(row, sizeof(row), "| `%.*s` | %.*s |\n", t.name_length, t.name, length, about);
		ck_assert_msg(t.view || strstr(page, row), "%s", row);
	}
	free(tables);
	free(page);
}
END_TEST

Suite *test_query(void)
{
	Suite *s = suite_create("query");
	TCase *t = tcase_create("query");

	tcase_add_checked_fixture(t, open_query, close_query);
	tcase_add_test(t, samples_and_frames);
	tcase_add_test(t, methods_view);
	tcase_add_test(t, limits_lose_no_rows);
	tcase_add_test(t, kinds_are_the_reports);
	tcase_add_test(t, fields_by_kind);
	tcase_add_test(t, formats);
	tcase_add_test(t, names_are_clean);
	tcase_add_test(t, questions_only_read);
	tcase_add_test(t, memory_is_bounded);
	tcase_add_test(t, ready_questions);
	tcase_add_test(t, schema_is_whole);
	tcase_add_test(t, page_is_whole);
	suite_add_tcase(s, t);
	return s;
}
