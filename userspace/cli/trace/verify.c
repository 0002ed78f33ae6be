// SPDX-License-Identifier: Apache-2.0
/* `braid verify`: whether a trace is whole. */
#include <stdlib.h>
#include <string.h>

#include <edit/edit.h>
#include <util/json.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"

struct verify_request {
	const char *file;
	bool json;
};

static const struct argp_option options[] = {
	{"json", 'j', 0, 0, "Print JSON", 0},
	{0},
};

static const char doc[] =
	"Reads a trace to its end, checks every block and every reference, and says whether all of it is there.\v"
	"Examples:\n"
	"  braid verify braid.trace\n"
	"  braid verify braid.trace && scp braid.trace colleague:\n"
	"\n"
	"The exit status is 0 if the trace is whole, and 3 if a part of it is damaged, missing or without its "
	"definitions. That a recording did not end in order is no damage. `braid info` says how complete the recording "
	"was: this command is about its file.";

static error_t verify_parse(int key, char *arg, struct argp_state *state)
{
	struct verify_request *r = state->input;

	if (key == 'j') {
		r->json = true;
		return 0;
	}
	return common_file_arg(key, arg, state, &r->file);
}

struct finding {
	const char *key, *text;
	uint64_t count;
};

#define FINDINGS_MAX 6

static size_t find(const struct trace_damage *d, struct finding f[FINDINGS_MAX])
{
	const struct finding all[FINDINGS_MAX] = {
		{"bad_blocks", "blocks that are damaged", d->bad_blocks},
		{"missing_blocks", "blocks that are missing", d->missing_blocks},
		{"skipped_bytes", "bytes that cannot be read", d->skipped_bytes},
		{"bad_records", "records that cannot be decoded", d->bad_records},
		{"unknown_records", "records of a newer version of braid", d->unknown_records},
		{"truncated", "block is cut off by the end of the file", d->truncated},
	};
	size_t n = 0;

	for (size_t i = 0; i < FINDINGS_MAX; i++)
		if (all[i].count)
			f[n++] = all[i];
	return n;
}

static uint64_t sum(const uint64_t *at, size_t from, size_t to)
{
	uint64_t n = 0;

	for (size_t i = from; i < to; i++)
		n += at[i];
	return n;
}

static void print_text(const char *path, uint64_t bytes, const struct verify_result *v, const struct trace_damage *d,
		       bool whole)
{
	struct finding f[FINDINGS_MAX];
	size_t count = find(d, f);
	char size[QUANTITY_TEXT];

	printf("%s: %s, %llu definitions, %llu events\n", path, size_text(size, bytes),
	       (unsigned long long)sum(v->records, 0, TRACE_FIRST_EVENT),
	       (unsigned long long)sum(v->records, TRACE_FIRST_EVENT, TRACE_KINDS));
	for (size_t i = 0; i < count; i++)
		printf("  %llu %s\n", (unsigned long long)f[i].count, f[i].text);
	for (unsigned i = 0; i < TRACE_ID_SPACES; i++)
		if (v->undefined[i])
			printf("  %llu ids of kind '%s' have no definition\n", (unsigned long long)v->undefined[i],
			       trace_id_space_name(i));
	if (!v->ended)
		puts("  the recording did not end in order: its last moments may be missing");
	else if (d->no_index)
		puts("  it has no index");
	puts(whole ? "The trace is whole." : "A part of the trace is damaged or missing; see braid recover.");
}

static void print_json(uint64_t bytes, const struct verify_result *v, const struct trace_damage *d, bool whole)
{
	struct json j = {.out = stdout};
	struct finding f[FINDINGS_MAX];
	size_t count = find(d, f);

	json_open(&j, NULL, '{');
	json_bool(&j, "whole", whole);
	json_number(&j, "bytes", bytes);
	json_number(&j, "definitions", sum(v->records, 0, TRACE_FIRST_EVENT));
	json_number(&j, "events", sum(v->records, TRACE_FIRST_EVENT, TRACE_KINDS));
	json_bool(&j, "ended", v->ended);
	json_bool(&j, "index", !d->no_index);
	json_open(&j, "damage", '{');
	for (size_t i = 0; i < count; i++)
		json_number(&j, f[i].key, f[i].count);
	json_close(&j, '}');
	json_open(&j, "undefined", '{');
	for (unsigned i = 0; i < TRACE_ID_SPACES; i++)
		if (v->undefined[i])
			json_number(&j, trace_id_space_name(i), v->undefined[i]);
	json_close(&j, '}');
	json_close(&j, '}');
	putchar('\n');
}

int cmd_verify(int argc, char **argv)
{
	static const struct argp argp = {options, verify_parse, "[FILE]", doc, 0, 0, 0};
	struct verify_request r = {0};
	const struct trace_damage *d;
	struct trace_reader *reader;
	struct verify_result v;
	bool whole = false;
	int err;

	if (common_parse(&argp, argc, argv, &r) || !common_open(&reader, r.file))
		return EXIT_FAILURE;
	err = edit_verify(reader, &v);
	d = trace_reader_damage(reader);
	if (err) {
		log_error("cannot read %s: %s", r.file, strerror(-err));
	} else {
		whole = !trace_is_damaged(d) && !sum(v.undefined, 0, TRACE_ID_SPACES);
		if (r.json)
			print_json(trace_reader_bytes(reader), &v, d, whole);
		else
			print_text(r.file, trace_reader_bytes(reader), &v, d, whole);
	}
	trace_reader_close(reader);
	if (err)
		return EXIT_FAILURE;
	return whole ? EXIT_SUCCESS : EXIT_DAMAGED;
}
