// SPDX-License-Identifier: Apache-2.0
/* How long a stretch would have taken, as text and as JSON. `braid explain --what-if` calls it. */
#include <inttypes.h>

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
}

static void json_prediction(struct json *j, const struct what_if *wi, const char *thread)
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
}

void what_if_json(FILE *out, const struct predictions *p)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	json_prediction(&j, p->stretch, p->thread);
	if (p->program) {
		json_open(&j, "program", '{');
		json_prediction(&j, p->program, p->main);
		json_close(&j, '}');
	} else {
		json_null(&j, "program");
	}
	json_close(&j, '}');
	putc('\n', out);
}
