// SPDX-License-Identifier: Apache-2.0
#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "info.h"

#define CELL 64
#define WIDTH 12
#define STACK_WIDTH 120

static double change_of(const struct diff_row *row)
{
	return row->amount[DIFF_AFTER] - row->amount[DIFF_BEFORE];
}

/* ---- text ---- */

/* A number without its sign, right-aligned. */
static const char *number_cell(char to[CELL], const struct diff_report *r, bool share, double value)
{
	char text[QUANTITY_TEXT];
	double size = fabs(value);

	if (share)
		snprintf(to, CELL, "%*.2f %%", WIDTH - 2, 100 * size);
	else if (r->unit == UNIT_NS)
		snprintf(to, CELL, "%s", duration_cell(text, WIDTH, (uint64_t)size));
	else if (r->unit == UNIT_BYTES)
		snprintf(to, CELL, "%*s", WIDTH, size_text(text, (uint64_t)size));
	else
		snprintf(to, CELL, "%*.0f", WIDTH, size);
	return to;
}

/* "+9.8 %", "new", "gone" */
static const char *relative(char to[CELL], double before, double after)
{
	if (before <= 0)
		snprintf(to, CELL, "%s", after > 0 ? "new" : "");
	else if (after <= 0)
		snprintf(to, CELL, "gone");
	else
		snprintf(to, CELL, "%+.1f %%", 100 * (after - before) / before);
	return to;
}

/* Of a stack, the innermost methods that fit. */
static void print_name(FILE *out, const struct diff_report *r, const char *name)
{
	size_t size = strlen(name);
	const char *from = name + (size > STACK_WIDTH ? size - STACK_WIDTH : 0);

	if (!r->options->stacks || from == name) {
		fputs(name, out);
		return;
	}
	from = strchr(from, ';') ?: strrchr(name, ';') ?: name - 1;
	fprintf(out, "...;%s", from + 1);
}

/* "method" and "methods", "class" and "classes" */
static const char *rows_called(char to[CELL], const struct diff_report *r)
{
	size_t size = strlen(r->row);

	snprintf(to, CELL, "%s%s", r->row, size && r->row[size - 1] == 's' ? "es" : "s");
	return to;
}

static void print_row(FILE *out, const struct diff_report *r, const struct diff_row *row)
{
	char change[CELL], before[CELL], after[CELL], part[CELL];
	double d = change_of(row);

	fprintf(out, "  %c%s %10s %s %s", d < 0 ? '-' : '+', number_cell(change, r, r->options->normalise, d),
		relative(part, row->amount[DIFF_BEFORE], row->amount[DIFF_AFTER]),
		number_cell(before, r, r->options->normalise, row->amount[DIFF_BEFORE]),
		number_cell(after, r, r->options->normalise, row->amount[DIFF_AFTER]));
	if (r->all)
		fprintf(out, " %8.1f %%", 100 * row->chance);
	fputs("  ", out);
	print_name(out, r, row->name);
	putc('\n', out);
}

static void print_rows(FILE *out, const struct diff_report *r)
{
	size_t count = r->all ? r->diff->rows.count : r->diff->significant;

	fprintf(out, "  %13s %10s %12s %12s%s  %s\n", "change", "", "before", "after", r->all ? "     chance" : "",
		r->row);
	for (size_t i = 0; i < count && i < r->top; i++)
		print_row(out, r, &r->diff->rows.at[i]);
	text_more(out, 2, count, r->top);
}

static void print_totals(FILE *out, const struct diff_report *r)
{
	const double *total = r->diff->total, *interrupts = r->diff->interrupts;
	char before[CELL], after[CELL], part[CELL], was[QUANTITY_TEXT], is[QUANTITY_TEXT];

	fprintf(out, "  %-12s %12s %12s\n", "", "before", "after");
	if (r->duration_ns[DIFF_BEFORE] && r->duration_ns[DIFF_AFTER]) /* imported traces may have none */
		fprintf(out, "  %-12s %s %s\n", "duration", duration_cell(was, WIDTH, r->duration_ns[DIFF_BEFORE]),
			duration_cell(is, WIDTH, r->duration_ns[DIFF_AFTER]));
	fprintf(out, "  %-12s %s %s  %s\n", r->what, number_cell(before, r, false, total[DIFF_BEFORE]),
		number_cell(after, r, false, total[DIFF_AFTER]), relative(part, total[DIFF_BEFORE], total[DIFF_AFTER]));
	if (interrupts[DIFF_BEFORE] > 0 || interrupts[DIFF_AFTER] > 0)
		fprintf(out, "  %-12s %s %s  not compared\n", "interrupts",
			number_cell(before, r, false, interrupts[DIFF_BEFORE]),
			number_cell(after, r, false, interrupts[DIFF_AFTER]));
}

/* What is left out because one side cannot have it. */
static void print_limits(FILE *out, const struct diff_report *r)
{
	const struct diff_options *o = r->options;
	char min[QUANTITY_TEXT];

	if (o->in_java)
		fputs("  only samples of threads in Java code, and their frames of Java: one side has no others\n",
		      out);
	else if (o->java)
		fputs("  only frames of Java: one side has no others\n", out);
	if (o->min_ns)
		fprintf(out, "  only times of at least %s: one side has no shorter ones\n",
			duration_text(min, o->min_ns));
}

void diff_text(FILE *out, const struct diff_report *r)
{
	const struct diff *d = r->diff;
	char rows[CELL];

	rows_called(rows, r);
	fprintf(out, "%s of %s%s in %s and in %s%s\n", r->what, rows, r->options->total ? " and what they call" : "",
		r->path[DIFF_BEFORE], r->path[DIFF_AFTER],
		r->options->normalise ? ", as shares, with the median one the same" : "");
	print_totals(out, r);
	print_limits(out, r);
	if (d->significant)
		fprintf(out,
			"\n%zu of %" PRIu64 " %s differ by more than chance (at the %.0f %% level, for all of them "
			"together)\n",
			d->significant, d->methods, rows, 100 * DIFF_LEVEL);
	else
		fprintf(out, "\nNone of %" PRIu64 " %s differs by more than chance, at the %.0f %% level\n", d->methods,
			rows, 100 * DIFF_LEVEL);
	if (d->significant || (r->all && d->rows.count))
		print_rows(out, r);
}

/* ---- JSON ---- */

static void json_side(struct json *j, const char *key, const struct diff_report *r, int side)
{
	json_open(j, key, '{');
	json_string(j, "file", r->path[side]);
	json_seconds_if(j, r->duration_ns[side], "duration_s", r->duration_ns[side]);
	json_decimal(j, "total", r->diff->total[side]);
	json_decimal(j, "interrupts", r->diff->interrupts[side]);
	json_close(j, '}');
}

static void json_row(struct json *j, const struct diff_report *r, const struct diff_row *row)
{
	json_open(j, NULL, '{');
	json_string(j, r->row, row->name);
	json_string(j, "kind", domain_name(row->domain));
	json_decimal(j, "before", row->amount[DIFF_BEFORE]);
	json_decimal(j, "after", row->amount[DIFF_AFTER]);
	json_decimal(j, "change", change_of(row));
	json_decimal(j, "error", row->error);
	json_decimal(j, "chance", row->chance);
	json_bool(j, "differs", row->chance <= DIFF_LEVEL);
	json_close(j, '}');
}

void diff_json(FILE *out, const struct diff_report *r)
{
	static const char *const units[] = {[UNIT_COUNT] = "count", [UNIT_NS] = "ns", [UNIT_BYTES] = "bytes"};
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_side(&j, "before", r, DIFF_BEFORE);
	json_side(&j, "after", r, DIFF_AFTER);
	json_string(&j, "what", r->what);
	json_string(&j, "unit", r->options->normalise ? "share" : units[r->unit]);
	json_string(&j, "rows_are", r->row);
	json_bool(&j, "with_callees", r->options->total);
	json_bool(&j, "only_java_frames", r->options->java);
	json_bool(&j, "only_in_java", r->options->in_java);
	json_number(&j, "min_ns", r->options->min_ns);
	json_decimal(&j, "level", DIFF_LEVEL);
	json_number(&j, "methods", r->diff->methods);
	json_number(&j, "differ", r->diff->significant);
	json_open(&j, "rows", '[');
	for (size_t i = 0; i < r->diff->rows.count && i < r->top; i++)
		if (r->all || r->diff->rows.at[i].chance <= DIFF_LEVEL)
			json_row(&j, r, &r->diff->rows.at[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
}
