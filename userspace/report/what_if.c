// SPDX-License-Identifier: Apache-2.0
/* How long a stretch would have taken, as text and as JSON. `braid explain --what-if` calls it. */
#include <inttypes.h>

#include <analyze/events.h>

#include "explain.h"
#include "info.h"

static void text_factor(FILE *out, const struct what_if_change *c)
{
	fprintf(out, "%s=", c->target);
	if (!c->part)
		fputs("0", out);
	else if (c->part == 1000 && c->whole != 1000)
		fprintf(out, "/%g", c->whole / 1000.0);
	else
		fprintf(out, "*%g", c->part / 1000.0);
}

#define UNKNOWN_SHARE 100 /* the waits are shown if they are at least 1 / UNKNOWN_SHARE of the stretch */

static bool matters(const struct what_if *wi, const struct what_if_unknown *u)
{
	return u->ns >= wi->recorded_ns / UNKNOWN_SHARE;
}

static void text_unknown(FILE *out, const struct what_if *wi, const struct analysis *an)
{
	char time[QUANTITY_TEXT];

	if (wi->unknown_ns < wi->recorded_ns / UNKNOWN_SHARE || !wi->unknown_ns)
		return;
	fprintf(out,
		"  at most, if the change makes it shorter: it is not known who ended waits of %s, which keep their length\n",
		duration_text(time, wi->unknown_ns));
	for (size_t i = 0; i < wi->unknown_count; i++) {
		const struct what_if_unknown *u = &wi->unknown[i];
		const char *object = strpool_get(&an->a->strings, u->object);

		if (!matters(wi, u))
			continue;
		fprintf(out, "    %11s  %8" PRIu64 "  %s%s%s", duration_cell(time, 11, u->ns), u->count,
			explain_phrase(u->state), *object ? " " : "", object);
		if (u->site != ROW_NONE)
			fprintf(out, " in %s", events_site_name(an, u->site));
		putc('\n', out);
	}
}

static void json_unknown(struct json *j, const struct what_if *wi, const struct analysis *an)
{
	json_seconds(j, "unknown_s", wi->unknown_ns);
	json_open(j, "unknown", '[');
	for (size_t i = 0; i < wi->unknown_count; i++) {
		const struct what_if_unknown *u = &wi->unknown[i];

		json_open(j, NULL, '{');
		json_string(j, "state", wall_key(u->state));
		json_string(j, "object", strpool_get(&an->a->strings, u->object));
		if (u->site == ROW_NONE)
			json_null(j, "site");
		else
			json_string(j, "site", events_site_name(an, u->site));
		json_seconds(j, "time_s", u->ns);
		json_number(j, "count", u->count);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void text_times(FILE *out, const struct what_if *wi)
{
	bool less = wi->predicted_ns <= wi->recorded_ns;
	uint64_t difference = less ? wi->recorded_ns - wi->predicted_ns : wi->predicted_ns - wi->recorded_ns;
	char was[QUANTITY_TEXT], is[QUANTITY_TEXT];

	fprintf(out, " would have taken %s instead of %s: %.0f%% %s\n", duration_text(is, wi->predicted_ns),
		duration_text(was, wi->recorded_ns), percent(difference, wi->recorded_ns), less ? "less" : "more");
}

void what_if_text(FILE *out, const struct predictions *p)
{
	const struct what_if *wi = p->stretch;
	char time[QUANTITY_TEXT];

	fputs(p->thread, out);
	text_times(out, wi);
	if (p->program) {
		fprintf(out, "the program, by its thread %s,", p->main);
		text_times(out, p->program);
	} else {
		fputs("the program: not known, as no time of its main thread is recorded\n", out);
	}
	for (size_t i = 0; i < wi->count; i++) {
		fputs("  ", out);
		text_factor(out, &wi->changes[i]);
		fprintf(out, " changes %s of the recorded time of %zu thread%s",
			duration_text(time, wi->changes[i].matched_ns), wi->threads, plural(wi->threads));
		if (p->program)
			fprintf(out, "; for the program, %s of %zu",
				duration_text(time, p->program->changes[i].matched_ns), p->program->threads);
		putc('\n', out);
	}
	fputs("  if everything else stays: the order in which threads get locks, what they do, their waits for a CPU\n",
	      out);
	text_unknown(out, wi, p->an);
}

static void json_prediction(struct json *j, const struct what_if *wi, const char *thread, const struct analysis *an)
{
	json_string(j, "thread", thread);
	json_seconds(j, "time_s", wi->recorded_ns);
	json_seconds(j, "predicted_s", wi->predicted_ns);
	json_number(j, "threads", wi->threads);
	json_open(j, "changes", '[');
	for (size_t i = 0; i < wi->count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "target", wi->changes[i].target);
		json_decimal(j, "factor", (double)wi->changes[i].part / wi->changes[i].whole);
		json_seconds(j, "matched_s", wi->changes[i].matched_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_unknown(j, wi, an);
}

void what_if_json(FILE *out, const struct predictions *p)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_prediction(&j, p->stretch, p->thread, p->an);
	if (p->program) {
		json_open(&j, "program", '{');
		json_prediction(&j, p->program, p->main, p->an);
		json_close(&j, '}');
	} else {
		json_null(&j, "program");
	}
	json_close(&j, '}');
	putc('\n', out);
}
