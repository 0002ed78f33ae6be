// SPDX-License-Identifier: Apache-2.0
#include "import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/analyzer.h>
#include <braid/ring.h>
#include <jfr/chunk.h>
#include <util/text.h>

#include "perf_header.h"
#include "reader.h"
#include "version.h"

static const struct {
	const char *name;
	int (*read)(struct reader *r);
} formats[IMPORT_FORMATS] = {
	[IMPORT_COLLAPSED] = {"collapsed", collapsed_read},
	[IMPORT_PERF] = {"perf", perf_script_read},
	[IMPORT_PPROF] = {"pprof", pprof_read},
	[IMPORT_JFR] = {"jfr", jfr_read},
};

enum import_format import_format_named(const char *name)
{
	for (unsigned f = 0; f < IMPORT_FORMATS; f++)
		if (formats[f].name && strcmp(formats[f].name, name) == 0)
			return (enum import_format)f;
	return IMPORT_FORMATS;
}

/* ---- which format ---- */

/* Files that are known, but not read. */
static const struct {
	const char *magic, *why;
} others[] = {
	{"PERFILE2", "is perf's own file; its text can be imported: perf script -i FILE -F +pid | braid import -"},
	{"2ELIFREP", "is perf's own file, of a machine with another order of bytes; print it there with perf script"},
	{BRAID_BLOCK_MAGIC, "is a trace of braid already"},
	{"JAVA PROFILE", "is a heap dump; `braid heap FILE` reads it"},
	{"SQLite format 3", "is a database; sqlite3 reads it"},
	{"\x1f\x8b", "is packed twice; unpack it once with gzip -d"},
	{"\x28\xb5\x2f\xfd", "is packed twice; unpack it once with zstd -d"},
	{"{", "is JSON, which is not imported; use a collapsed, pprof or JFR file of the same tool"},
	{"<", "is HTML or XML, which is not imported; use a collapsed, pprof or JFR file of the same tool"},
};

static bool is_text(struct trace_str bytes)
{
	for (size_t i = 0; i < bytes.len && i < 4096; i++)
		if ((unsigned char)bytes.str[i] < '\t')
			return false;
	return true;
}

static enum import_format detect_binary(struct trace_str bytes)
{
	if (bytes.len > sizeof(JFR_MAGIC) && memcmp(bytes.str, JFR_MAGIC, sizeof(JFR_MAGIC)) == 0)
		return IMPORT_JFR;
	if (!is_text(bytes) && pprof_begins(bytes))
		return IMPORT_PPROF;
	return IMPORT_FORMATS;
}

static enum import_format detect_text(struct trace_str bytes)
{
	while (bytes.len) {
		struct trace_str line = str_line(&bytes), number;
		struct perf_header h;
		uint64_t weight;

		if (!line.len || *line.str == '#')
			continue;
		if (!bytes.len && line.len > INPUT_PEEK / 2) /* a stack so long that its number is not in sight */
			return memchr(line.str, ';', line.len) ? IMPORT_COLLAPSED : IMPORT_FORMATS;
		number = str_part(line, (size_t)(str_last(line, ' ') + 1), line.len);
		if (str_ends(number, "\r"))
			number.len--;
		if (perf_header_take(&h, line))
			return IMPORT_PERF;
		return str_number(&number, &weight) && !number.len ? IMPORT_COLLAPSED : IMPORT_FORMATS;
	}
	return IMPORT_FORMATS;
}

static int detect(struct input *in, enum import_format *format)
{
	struct trace_str bytes;
	int err = input_peek(in, &bytes);

	if (err)
		return err;
	if (!bytes.len)
		return input_refuse(in, -EBADMSG, "%s", in->file.gave_up ? in->file.why : "is empty");
	*format = detect_binary(bytes);
	if (*format != IMPORT_FORMATS)
		return 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (str_begins(bytes, others[i].magic))
			return input_refuse(in, -EBADMSG, "%s", others[i].why);
	*format = is_text(bytes) ? detect_text(bytes) : IMPORT_FORMATS;
	if (*format == IMPORT_FORMATS)
		return input_refuse(in, -EBADMSG, "is in no format that is known; name it with --from-format");
	return 0;
}

/* ---- what a trace says of itself ---- */

static void put_facts(struct reader *r, const char *path)
{
	struct builder *b = &r->b;

	builder_info(b, IMPORT_FACT_FORMAT, str_of(r->format));
	builder_info(b, IMPORT_FACT_FILE, str_of(strcmp(path, "-") == 0 ? "-" : text_base_name(path)));
	builder_info(b, IMPORT_FACT_BY, str_of(r->made_by));
	builder_info(b, IMPORT_FACT_CLOCK, str_of(r->timed ? r->clock : IMPORT_NO_CLOCK));
	builder_info(b, IMPORT_FACT_BRAID, str_of(BRAID_VERSION));
	if (*r->left_out)
		builder_notice(b, BRAID_NOTICE_INFO, "not imported: %s", r->left_out);
	for (size_t i = 0; i < r->loss_count; i++) {
		const struct reader_loss *l = &r->losses[i];

		builder_not_imported(b, l->kind, l->count);
		builder_notice(b, BRAID_NOTICE_WARNING, "the imported file is damaged: %s", l->first);
	}
	builder_finish(b, r->timed);
}

static void say_damage(const struct reader *r, struct import_result *result)
{
	size_t used = 0;

	for (size_t i = 0; i < r->loss_count && used < sizeof(result->damage); i++) {
		const struct reader_loss *l = &r->losses[i];

		used += (size_t)snprintf(result->damage + used, sizeof(result->damage) - used,
					 "%s%" PRIu64 " %s%s left out; %s", i ? "; " : "", l->count, l->kind,
					 l->count == 1 ? " is" : "s are", l->first);
	}
}

int import_file(struct trace_writer *w, const char *path, enum import_format format, struct import_result *result,
		bool *writing)
{
	struct reader *r = calloc(1, sizeof(*r));
	int err = r ? input_open(&r->in, path) : -ENOMEM;

	*result = (struct import_result){0};
	*writing = false;
	if (!r)
		return err;
	builder_init(&r->b, w);
	if (!err && format == IMPORT_DETECT)
		err = detect(&r->in, &format);
	if (!err)
		err = formats[format].read(r);
	if (!err && r->in.file.gave_up)
		reader_lose(r, "packed rest", 1, "it %s", r->in.file.why);
	if (!err && !r->b.begun)
		err = r->loss_count
			      ? input_refuse(&r->in, -EBADMSG, "has no samples that can be read: %s",
					     r->losses[0].first)
			      : input_refuse(&r->in, -EBADMSG, "has neither samples nor events that are imported");
	if (!err) {
		put_facts(r, path);
		err = r->b.err;
	}
	*writing = err && err == r->b.err && err != -ENOMEM && err != -E2BIG;
	snprintf(result->refused, sizeof(result->refused), "%s", r->in.why);
	snprintf(result->format, sizeof(result->format), "%s", r->format);
	result->samples = r->b.weight;
	result->events = r->b.hits + r->b.events;
	say_damage(r, result);
	input_close(&r->in);
	builder_free(&r->b);
	free(r->frames.at);
	u64map_free(&r->stacks_of);
	free(r->left.at);
	strpool_free(&r->left_names);
	free(r);
	return err;
}
