// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes what is made of a trace: reports, and files for other tools. The first byte chooses which, the rest is what
 * forge.h makes a file of. Definitions and events need not fit together: each takes what it can.
 */
#include <analyze/analysis.h>
#include <export/export.h>
#include <export/stack_table.h>
#include <export/timed.h>
#include <jfr/jfr.h>
#include <report/report.h>
#include <trace/trace.h>
#include <views/views.h>

#include "forge.h"
#include "input.h"

#define CHUNK_BYTES 4096 /* some chunks; each repeats all types */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int jfr_some(FILE *out, struct timed_source *s)
{
	return jfr_write_chunks(out, s, CHUNK_BYTES);
}

static int collapsed_some(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate)
{
	const struct collapsed_options o = {.annotate = annotate, .threads = true, .lines = true};

	(void)unit;
	return collapsed_write(out, t->an, &t->an->samples, &o);
}

static const struct {
	int (*timed)(FILE *out, struct timed_source *s);
	int (*stacks)(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate);
	void (*report)(FILE *out, const struct views *v, const struct report_source *source, unsigned top);
	int (*code)(FILE *out, struct analysis *an, uint32_t process, bool annotate);
} uses[] = {{.timed = jfr_some},     {.timed = heatmap_write},	   {.timed = firefox_write},
	    {.timed = chrome_write}, {.timed = perfetto_write},	   {.stacks = pprof_write},
	    {.stacks = otlp_write},  {.stacks = speedscope_write}, {.stacks = collapsed_some},
	    {.stacks = hprof_write}, {.report = report_text},	   {.report = report_json},
	    {.code = perf_map_write}};

#define PROCESSES_MAX 16 /* whose code is written */
#define USES (sizeof(uses) / sizeof(uses[0]))

static void write_timed(size_t use, struct trace_reader *r, const struct analysis *an)
{
	const struct timed_options all = {
		.path = "/dev/shm/fuzz", .own_stacks = uses[use].timed == jfr_some || uses[use].timed == heatmap_write};
	struct timed_source s;
	int err = timed_open(&s, r, an, &all);

	must(err == 0, "no stream");
	err = uses[use].timed(nowhere(), &s);
	must(err == 0 || err == -EFBIG, "not exported");
	timed_close(&s);
}

static void write_stacks(size_t use, const struct analysis *an)
{
	static const struct profile_unit unit = {.name = "samples", .unit = UNIT_COUNT};
	struct stack_table t;

	must(stack_table_new(&t, an, &an->samples, 0) == 0, "no table");
	must(uses[use].stacks(nowhere(), &t, &unit, true) == 0, "not exported");
	stack_table_free(&t);
}

static void write_report(size_t use, struct trace_reader *r, const struct analysis *an)
{
	const struct report_source source = {
		.damage = trace_reader_damage(r), .bytes = trace_reader_bytes(r), .lines = true, .path = "fuzz"};
	struct views *v = NULL;

	must(views_new(&v, an) == 0, "no views");
	uses[use].report(nowhere(), v, &source, REPORT_TOP);
	views_free(v);
}

static void write_code(size_t use, struct analysis *an)
{
	for (size_t i = 0; i < an->a->codes.count && i < PROCESSES_MAX; i++) {
		const struct code_row *c = table_row(&an->a->codes, i);

		must(uses[use].code(nowhere(), an, c->process, true) == 0, "not exported");
	}
}

static void write_any(size_t use, struct trace_reader *r, struct analysis *an)
{
	if (uses[use].timed)
		write_timed(use, r, an);
	else if (uses[use].stacks)
		write_stacks(use, an);
	else if (uses[use].code)
		write_code(use, an);
	else
		write_report(use, r, an);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct filter everything;
	static struct memory_file file;
	static struct forged f;
	struct analysis *an = NULL;
	struct analyzer *a = NULL;
	struct trace_reader *r;
	struct trace_rec rec;

	if (size < 2 || size > FORGE_MAX)
		return 0;
	forge(&f, data + 1, size - 1);
	memory_file_set(&file, f.bytes, f.size);
	must(trace_reader_open(&r, file.path, NULL) == 0, "no trace");
	must(analyzer_new(&a) == 0, "no analyzer");
	while (trace_reader_next(r, &rec) == 1)
		must(analyzer_feed(a, &rec) == 0, "record not taken");
	must(analysis_new(&an, a, &everything) == 0, "no analysis");
	write_any(data[0] % USES, r, an);
	analysis_free(an);
	analyzer_free(a);
	trace_reader_close(r);
	return 0;
}
