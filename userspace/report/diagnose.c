// SPDX-License-Identifier: Apache-2.0
#include "diagnose.h"

#include <stdlib.h>
#include <string.h>

#include <util/json.h>
#include <util/quantity.h>
#include <util/style.h>

/* ---- commands ---- */

static void shell_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";

	if (*word && word[strspn(word, plain)] == '\0') {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	putc('\'', out);
}

/* A rule's command, with the path of the trace, quoted for a shell if it needs to be. */
static void text_look(FILE *out, const struct rule *r, const char *path)
{
	const char *file = strstr(r->look, "FILE");

	fprintf(out, "%.*s", (int)(file - r->look), r->look);
	shell_word(out, path);
	fputs(file + strlen("FILE"), out);
}

/* ---- text ---- */

#define NAMED 5 /* findings, the worst included, of which a summary has the names */

static const char *level_style(const struct finding *f)
{
	static const enum style styles[] = {
		[LEVEL_LOW] = STYLE_FAINT, [LEVEL_MEDIUM] = STYLE_WARN, [LEVEL_HIGH] = STYLE_BAD};

	return style(styles[finding_level(f)]);
}

static void text_finding(FILE *out, const struct finding *f, size_t number, const char *path)
{
	fprintf(out, "\n%2zu. %s%s%s %s%s%s\n    %s\n", number, level_style(f), finding_level_name(f),
		style(STYLE_PLAIN), style(STYLE_HEAD), f->rule->id, style(STYLE_PLAIN), f->sentence);
	if (f->cause)
		fprintf(out, "    likely because of: %s\n", f->cause->id);
	for (size_t i = 0; i < f->evidence.count; i++)
		fprintf(out, "      %s\n", f->evidence.at[i]);
	fprintf(out, "    %slook closer: ", style(STYLE_FAINT));
	text_look(out, f->rule, path);
	fprintf(out, "%s\n", style(STYLE_PLAIN));
}

static void text_unchecked(FILE *out, const struct diagnosis *d)
{
	if (!d->unchecked.count)
		return;
	fputs("\nNot checked, because it was not recorded\n", out);
	for (size_t i = 0; i < d->unchecked.count; i++) {
		const struct rule *r = d->unchecked.at[i];
		bool again = false;

		for (size_t k = 0; k < i && !again; k++)
			again = strcmp(d->unchecked.at[k]->needs, r->needs) == 0;
		if (again)
			continue;
		fprintf(out, "  needs %s:", *r->needs ? r->needs : "a newer braid record");
		for (size_t k = i; k < d->unchecked.count; k++)
			if (strcmp(d->unchecked.at[k]->needs, r->needs) == 0)
				fprintf(out, " %s", d->unchecked.at[k]->id);
		putc('\n', out);
	}
}

size_t diagnosis_line_count(const struct diagnosis *d)
{
	return d->findings.count ? 2 : 1;
}

void diagnosis_lines(FILE *out, const struct diagnosis *d, const char *path)
{
	const struct finding *worst = d->findings.at;
	size_t others;

	if (!d->findings.count) {
		fprintf(out, "  suspicious nothing, by %u rules", d->checked);
		if (d->unchecked.count) {
			fputs("; others need more events: braid diagnose ", out);
			shell_word(out, path);
		}
		putc('\n', out);
		return;
	}
	others = d->findings.count - 1;
	fprintf(out, "  suspicious %s%s%s %s\n             %s", level_style(worst), worst->rule->id, style(STYLE_PLAIN),
		worst->sentence, style(STYLE_FAINT));
	text_look(out, worst->rule, path);
	for (size_t i = 1; i <= others && i < NAMED; i++)
		fprintf(out, "%s%s", i == 1 ? "; also " : ", ", d->findings.at[i].rule->id);
	if (others >= NAMED)
		fprintf(out, " and %zu more", others - NAMED + 1);
	if (others) {
		fputs(": braid diagnose ", out);
		shell_word(out, path);
	}
	fprintf(out, "%s\n", style(STYLE_PLAIN));
}

void diagnosis_text(FILE *out, const struct diagnosis *d, const char *path)
{
	if (d->findings.count)
		fprintf(out, "%zu finding%s of %u rules, the worst first\n", d->findings.count,
			plural(d->findings.count), d->checked);
	else
		fprintf(out, "Nothing found by %u rules\n", d->checked);
	for (size_t i = 0; i < d->findings.count; i++)
		text_finding(out, &d->findings.at[i], i + 1, path);
	text_unchecked(out, d);
}

void rules_text(FILE *out)
{
	for (int id = RULE_NONE + 1; id < RULES; id++) {
		const struct rule *r = &diagnose_rules[id];

		fprintf(out, "%s%s\n  from %g %s: %s\n", id > RULE_NONE + 1 ? "\n" : "", r->id, r->threshold, r->what,
			r->because);
		fprintf(out, "  needs %s\n", *r->needs ? r->needs : "nothing");
	}
}

/* ---- JSON ---- */

static void json_look(struct json *j, const struct rule *r, const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (memory)
		text_look(memory, r, path);
	if (memory && fclose(memory) == 0)
		json_string(j, "look", text);
	else
		json_null(j, "look");
	free(text);
}

static void json_finding(struct json *j, const struct finding *f, const char *path)
{
	json_open(j, NULL, '{');
	json_string(j, "rule", f->rule->id);
	json_string(j, "level", finding_level_name(f));
	json_number(j, "severity", f->severity);
	json_string(j, "sentence", f->sentence);
	json_decimal(j, "measure", f->measure);
	json_string(j, "unit", f->rule->what);
	json_decimal(j, "threshold", f->rule->threshold);
	if (f->cause)
		json_string(j, "because_of", f->cause->id);
	else
		json_null(j, "because_of");
	json_open(j, "evidence", '[');
	for (size_t i = 0; i < f->evidence.count; i++)
		json_string(j, NULL, f->evidence.at[i]);
	json_close(j, ']');
	json_look(j, f->rule, path);
	json_close(j, '}');
}

void diagnosis_json(FILE *out, const struct diagnosis *d, const char *path)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_number(&j, "checked", d->checked);
	json_open(&j, "findings", '[');
	for (size_t i = 0; i < d->findings.count; i++)
		json_finding(&j, &d->findings.at[i], path);
	json_close(&j, ']');
	json_open(&j, "unchecked", '[');
	for (size_t i = 0; i < d->unchecked.count; i++) {
		json_open(&j, NULL, '{');
		json_string(&j, "rule", d->unchecked.at[i]->id);
		json_string(&j, "needs", d->unchecked.at[i]->needs);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
}

void rules_json(FILE *out)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '[');
	for (int id = RULE_NONE + 1; id < RULES; id++) {
		const struct rule *r = &diagnose_rules[id];

		json_open(&j, NULL, '{');
		json_string(&j, "rule", r->id);
		json_decimal(&j, "threshold", r->threshold);
		json_string(&j, "unit", r->what);
		json_string(&j, "reason", r->because);
		json_string(&j, "needs", r->needs);
		json_string(&j, "look", r->look);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	putc('\n', out);
}
