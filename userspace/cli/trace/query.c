// SPDX-License-Identifier: Apache-2.0
/* `braid query`: questions in SQL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <query/query.h>
#include <util/log.h>
#include <util/quantity.h>

#include "cli/cli.h"
#include "cli/common.h"

#define MEMORY_BYTES (512ULL << 20)
#define SQL_BYTES_MAX (1U << 20)

struct query_options {
	const char *args[2]; /* FILE and SQL */
	unsigned count;
	const char *sql_file, *named;
	enum query_format format;
	uint64_t memory_bytes;
	bool schema, list;
};

enum { OPT_FORMAT = 0x200, OPT_NAMED, OPT_LIST, OPT_SCHEMA, OPT_MEMORY };

static const struct argp_option options[] = {
	{"file", 'f', "SQL-FILE", 0, "Take the question from SQL-FILE; -: from standard input", 0},
	{"named", OPT_NAMED, "NAME", 0, "Ask a ready question, see --list", 0},
	{"list", OPT_LIST, 0, 0, "List the ready questions", 0},
	{"schema", OPT_SCHEMA, 0, 0, "Print the tables and views with their columns", 0},
	{"format", OPT_FORMAT, "FORMAT", 0, "table (the default), csv (RFC 4180), tsv or json", 0},
	{"memory", OPT_MEMORY, "SIZE", 0, "Let the question use SIZE of memory (default 512M)", 0},
	{0},
};

static const char doc[] =
	"Asks a trace a question in SQL. SQLite reads the trace itself: nothing is copied, and nothing else can be read or "
	"written.\vExamples:\n"
	"  braid query 'SELECT function, self, total FROM methods ORDER BY self DESC LIMIT 10'\n"
	"  braid query braid.trace \"SELECT class, sum(weight_ns) AS ns FROM lock GROUP BY class\"\n"
	"  braid query --named gc-pauses braid.trace\n"
	"  braid query --format csv -f question.sql braid.trace > answer.csv\n"
	"  braid query --list\n"
	"  braid query --schema\n"
	"\n"
	"Times are nanoseconds since the recording's start. A condition on time_ns makes the scan of samples and events "
	"shorter. A stack's frames are in the table frames, the innermost with depth 0.";

static enum query_format parse_format(struct argp_state *state, const char *arg)
{
	static const char *const names[] = {
		[QUERY_TABLE] = "table", [QUERY_CSV] = "csv", [QUERY_TSV] = "tsv", [QUERY_JSON] = "json"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(arg, names[i]) == 0)
			return (enum query_format)i;
	argp_error(state, "--format: unknown format '%s'; use table, csv, tsv or json", arg);
	return QUERY_TABLE;
}

static bool is_named(const char *name)
{
	char *sql = query_named(name);

	free(sql);
	return sql != NULL;
}

/* FILE and SQL, or one of them: without another source of SQL, one argument is SQL. */
static void check_arguments(struct argp_state *state, struct query_options *o)
{
	bool elsewhere = o->sql_file || o->named;

	if (o->sql_file && o->named)
		argp_error(state, "--file and --named cannot be used together");
	if (o->schema || o->list)
		return;
	if (o->named && !is_named(o->named))
		argp_error(state, "there is no ready question '%s'; `braid query --list` lists them", o->named);
	if (elsewhere && o->count > 1)
		argp_error(state, "unexpected argument '%s'; the question is already there", o->args[1]);
	if (!elsewhere && !o->count)
		argp_error(state, "no question; give SQL, or --named NAME of `braid query --list`");
	if (!elsewhere && o->count == 1 && access(o->args[0], F_OK) == 0)
		argp_error(state, "no question about %s; give SQL, or --named NAME of `braid query --list`",
			   o->args[0]);
	if (!elsewhere && o->count == 1) {
		o->args[1] = o->args[0];
		o->args[0] = NULL;
	}
	if (!o->args[0])
		o->args[0] = DEFAULT_TRACE;
}

static error_t query_parse(int key, char *arg, struct argp_state *state)
{
	struct query_options *o = state->input;

	switch (key) {
	case 'f':
		o->sql_file = arg;
		return 0;
	case OPT_NAMED:
		o->named = arg;
		return 0;
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_SCHEMA:
		o->schema = true;
		return 0;
	case OPT_FORMAT:
		o->format = parse_format(state, arg);
		return 0;
	case OPT_MEMORY:
		if (size_parse(arg, &o->memory_bytes) || o->memory_bytes < 1 << 20)
			argp_error(state, "--memory: '%s' is not a size of at least 1M", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->count == 2)
			argp_error(state, "unexpected argument '%s'; quote the SQL", arg);
		o->args[o->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		check_arguments(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* All of a file, to be freed; NULL, with an error printed, if it cannot be read. */
static char *read_sql(const char *path)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *sql = in ? calloc(1, SQL_BYTES_MAX + 1) : NULL;
	size_t length = sql ? fread(sql, 1, SQL_BYTES_MAX, in) : 0;
	const char *why = NULL;

	if (!sql || ferror(in))
		why = strerror(errno);
	else if (length == SQL_BYTES_MAX)
		why = "it is longer than 1 MiB";
	else if (strlen(sql) != length)
		why = "it is no text";
	if (in && in != stdin)
		fclose(in);
	if (!why)
		return sql;
	log_error("cannot read %s: %s", path, why);
	free(sql);
	return NULL;
}

static char *find_sql(const struct query_options *o)
{
	if (o->sql_file)
		return read_sql(o->sql_file);
	return o->named ? query_named(o->named) : strdup(o->args[1]);
}

static bool ask(const struct loaded *l, const struct query_options *o, const char *sql)
{
	const struct query_input in = {.an = l->analysis, .reader = l->reader, .file_bytes = l->source.bytes};
	struct query *q;
	int err = query_open(&q, &in, o->memory_bytes);

	err = err ?: query_run(q, stdout, sql, o->format);
	if (err)
		log_error("cannot query %s: %s", l->path, err < 0 ? strerror(-err) : query_why(q));
	query_close(q);
	return common_output_close(stdout, NULL, 0) && !err;
}

int cmd_query(int argc, char **argv)
{
	static const struct argp argp = {options, query_parse, "[FILE] [SQL]", doc, NULL, 0, 0};
	struct query_options o = {.memory_bytes = MEMORY_BYTES};
	int status = EXIT_FAILURE;
	struct loaded l;
	char *sql;

	if (common_parse(&argp, argc, argv, &o))
		return EXIT_FAILURE;
	if (o.list)
		query_list(stdout);
	if (o.schema && query_schema(stdout))
		return EXIT_FAILURE;
	if (o.list || o.schema)
		return common_output_close(stdout, NULL, 0) ? EXIT_SUCCESS : EXIT_FAILURE;
	sql = find_sql(&o);
	if (sql && common_load_analysis(&l, o.args[0], NULL)) {
		status = common_status(&l, ask(&l, &o, sql));
		common_unload(&l);
	}
	free(sql);
	return status;
}
