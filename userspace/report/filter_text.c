// SPDX-License-Identifier: Apache-2.0
/* Describes in a report what a filter has selected. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

/* Separates the conditions, all of which hold. */
static void part(FILE *out, bool *any, const char *text)
{
	fprintf(out, "%s%s", *any ? "; " : "", text);
	*any = true;
}

static void text_ids(FILE *out, bool *any, const char *what, const uint32_t *ids, size_t count)
{
	if (count)
		part(out, any, what);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%u", i ? " or " : " ", ids[i]);
}

/* Text of the command line may hold any characters. */
static void text_quoted(FILE *out, const char *text)
{
	size_t len = strlen(text);
	char *clean = malloc(len + 1);

	if (clean)
		fprintf(out, "'%.*s'", (int)text_clean(clean, text, len), clean);
	free(clean);
}

static void text_words(FILE *out, bool *any, const char *what, const char *const *words, size_t count)
{
	if (count)
		part(out, any, what);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? " or " : " ", out);
		text_quoted(out, words[i]);
	}
}

static void text_patterns(FILE *out, bool *any, const char *what, const struct pattern *p, size_t count)
{
	if (count)
		part(out, any, what);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? " or " : " ", out);
		text_quoted(out, p[i].text);
	}
}

static void text_seconds(FILE *out, bool *any, const char *what, const struct analysis *an, uint64_t at_ns)
{
	uint64_t ns = analysis_since(an, at_ns);
	char date[MOMENT_TEXT];

	part(out, any, what);
	fprintf(out, " %" PRIu64 ".%06" PRIu64 " s", ns / 1000000000, ns / 1000 % 1000000);
	if (an->start_realtime_ns)
		fprintf(out, " (%s)", moment_date(date, an->start_realtime_ns + ns, 3));
}

static void text_likes(FILE *out, bool *any, const struct filter *f)
{
	if (f->likes.count)
		part(out, any, "span whose");
	for (size_t i = 0; i < f->likes.count; i++) {
		fprintf(out, "%s%s is like ", i ? " or " : " ", f->likes.at[i].key);
		text_quoted(out, f->likes.at[i].pattern);
	}
}

static void text_length(FILE *out, bool *any, const struct span_length *l)
{
	char least[QUANTITY_TEXT], most[QUANTITY_TEXT];

	part(out, any, "span of");
	if (l->least_ns)
		fprintf(out, " at least %s", duration_text(least, l->least_ns));
	if (l->most_ns != UINT64_MAX)
		fprintf(out, "%s at most %s", l->least_ns ? " and" : "", duration_text(most, l->most_ns));
}

void filter_text(FILE *out, const struct analysis *an)
{
	const struct filter *f = an->filter;
	bool any = false;

	text_ids(out, &any, "pid", f->pids.at, f->pids.count);
	text_ids(out, &any, "tid", f->tids.at, f->tids.count);
	text_words(out, &any, "named", f->comms.at, f->comms.count);
	text_words(out, &any, "control group", f->cgroups.at, f->cgroups.count);
	text_words(out, &any, "span from", &f->pair, f->pair != NULL);
	text_words(out, &any, "calls of", &f->calls, f->calls != NULL);
	text_words(out, &any, "calls of", &f->function, f->function != NULL);
	if (f->spans.count)
		part(out, &any, "span");
	for (size_t i = 0; i < f->spans.count; i++)
		fprintf(out, "%s%016" PRIx64, i ? " or " : " ", f->spans.at[i]);
	for (size_t i = 0; i < f->attributes.count; i++) {
		if (i || f->spans.count)
			fputs(" or", out);
		else
			part(out, &any, "span with");
		putc(' ', out);
		text_quoted(out, f->attributes.at[i].text);
	}
	text_likes(out, &any, f);
	if (f->has_length)
		text_length(out, &any, &f->length);
	if (f->traces.count)
		part(out, &any, "trace");
	for (size_t i = 0; i < f->traces.count; i++)
		fprintf(out, "%s%016" PRIx64 "%016" PRIx64, i ? " or " : " ", f->traces.at[i].hi, f->traces.at[i].lo);
	if (f->has_from)
		text_seconds(out, &any, "from", an, an->from_ns);
	if (f->has_to)
		text_seconds(out, &any, "to", an, an->to_ns);
	text_patterns(out, &any, "stacks with", f->include.at, f->include.count);
	text_patterns(out, &any, "stacks without", f->exclude.at, f->exclude.count);
	if (f->norm)
		part(out, &any, "names normalized");
}

void filter_json(struct json *j, const char *key, const struct analysis *an)
{
	char *text = NULL;
	size_t size;
	FILE *out = filter_is_set(an->filter) ? open_memstream(&text, &size) : NULL;

	if (out) {
		filter_text(out, an);
		fclose(out);
	}
	if (text)
		json_string(j, key, text);
	else
		json_null(j, key);
	free(text);
}
