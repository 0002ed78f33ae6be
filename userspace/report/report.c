// SPDX-License-Identifier: Apache-2.0
/* The order of the report's sections, as text and as JSON, and the sections about samples. `braid report` calls it. */
#include <inttypes.h>
#include <string.h>

#include <braid/ring.h>

#include "dump.h"
#include "events.h"
#include "info.h"

/* ---- text ---- */

void text_methods(FILE *out, const struct views *v, unsigned top)
{
	uint64_t all = v->an->samples.quality.total;

	if (!v->methods.count)
		return;
	fputs("\nHot methods\n", out);
	text_code(out, v);
	fprintf(out, "  %7s  %7s %10s  %-11s  %s\n", "self", "total", "samples", "kind", "name");
	for (size_t i = 0; i < v->methods.count && i < top; i++) {
		const struct method_view *m = &v->methods.at[i];

		fprintf(out, "  %6.2f%%  %6.2f%% %10" PRIu64 "  %-11s  %s\n", percent(m->self, all),
			percent(m->total, all), m->self, kind_name(m->kind), m->name);
	}
	text_more(out, 2, v->methods.count, top);
}

void text_lines(FILE *out, const struct views *v, unsigned top)
{
	fprintf(out, "\nHot lines\n  %7s %10s  %s\n", "self", "samples", "line and name");
	for (size_t i = 0; i < v->lines.count && i < top; i++) {
		const struct line_view *l = &v->lines.at[i];

		fprintf(out, "  %6.2f%% %10" PRIu64 "  %s:%u  %s\n", percent(l->self, v->an->samples.quality.total),
			l->self, source_name(l->file), l->line, l->name);
	}
	text_more(out, 2, v->lines.count, top);
}

void text_threads(FILE *out, const struct views *v, unsigned top)
{
	if (!v->threads.count)
		return;
	fputs("\nThreads\n", out);
	text_run_states(out, v);
	fprintf(out, "  %7s %10s  %15s  %4s  %s\n", "share", "samples", "pid/tid", "java", "name");
	for (size_t i = 0; i < v->threads.count && i < top; i++) {
		const struct thread_view *t = &v->threads.at[i];
		char ids[32];

		if (t->tid)
			snprintf(ids, sizeof(ids), "%u/%u", t->pid, t->tid);
		else /* a group of virtual threads, or an unknown thread */
			snprintf(ids, sizeof(ids), "%u/-", t->pid);
		fprintf(out, "  %6.2f%% %10" PRIu64 "  %15s  %4s  %s\n",
			percent(t->weight, v->an->samples.quality.total), t->weight, ids, t->java ? "yes" : "no",
			t->name);
	}
	text_more(out, 2, v->threads.count, top);
}

void report_text(FILE *out, const struct views *v, const struct report_source *source, unsigned top)
{
	report_summary(out, v, source);
	putc('\n', out);
	text_recording(out, v);
	text_jvms(out, v);
	text_methods(out, v, top);
	if (source->lines)
		text_lines(out, v, top);
	text_threads(out, v, top);
	text_hits(out, v, top);
	text_natives(out, v, top);
	text_gc(out, v, top);
	text_events(out, v, top);
	text_dumps(out, v);
	text_quality(out, v);
	text_losses(out, v);
	text_notices(out, v);
	text_file(out, v, source);
}

/* ---- JSON ---- */

static void json_recording(struct json *j, const struct views *v)
{
	const struct analyzer *a = v->an->a;

	json_open(j, "recording", '{');
	for (size_t i = 0; i < a->infos.count; i++) {
		const struct info_row *row = &a->infos.at[i];

		json_string(j, strpool_get(&a->strings, row->key), strpool_get(&a->strings, row->value));
	}
	json_close(j, '}');
	json_open(j, "processes", '[');
	for (size_t i = 0; i < v->processes.count; i++) {
		json_open(j, NULL, '{');
		json_number(j, "pid", v->processes.at[i].pid);
		json_string(j, "name", v->processes.at[i].comm);
		json_cgroup(j, v->an, v->processes.at[i].process);
		json_number(j, "samples", v->processes.at[i].weight);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_methods(struct json *j, const struct views *v, unsigned top)
{
	json_open(j, "methods", '[');
	for (size_t i = 0; i < v->methods.count && i < top; i++) {
		const struct method_view *m = &v->methods.at[i];

		json_open(j, NULL, '{');
		json_string(j, "name", m->name);
		json_string(j, "kind", kind_name(m->kind));
		json_number(j, "self", m->self);
		json_number(j, "total", m->total);
		json_open(j, "kinds", '{');
		for (int k = 0; k < KIND_COUNT; k++)
			if (m->kind_weight[k])
				json_number(j, kind_name((enum stack_kind)k), m->kind_weight[k]);
		json_close(j, '}');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_lines(struct json *j, const struct views *v, unsigned top)
{
	json_open(j, "lines", '[');
	for (size_t i = 0; i < v->lines.count && i < top; i++) {
		const struct line_view *l = &v->lines.at[i];

		json_open(j, NULL, '{');
		json_string(j, "name", l->name);
		json_string(j, "file", l->file);
		json_number(j, "line", l->line);
		json_number(j, "self", l->self);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_threads(struct json *j, const struct views *v, unsigned top)
{
	json_open(j, "threads", '[');
	for (size_t i = 0; i < v->threads.count && i < top; i++) {
		const struct thread_view *t = &v->threads.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", t->pid);
		json_number(j, "tid", t->tid);
		json_bool(j, "java", t->java);
		json_string(j, "name", t->name);
		json_number(j, "samples", t->weight);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_states(struct json *j, const struct views *v)
{
	json_open(j, "jvm_states", '[');
	for (int i = 0; i < RUN_STATES; i++) {
		if (!v->states[i].samples)
			continue;
		json_open(j, NULL, '{');
		json_string(j, "state", run_state_key((enum run_state)i));
		json_number(j, "samples", v->states[i].samples);
		json_number(j, "in_kernel", v->states[i].kernel);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_notices(struct json *j, const struct views *v)
{
	json_open(j, "notices", '[');
	for (size_t i = 0; i < v->notices.count; i++) {
		const struct notice_view *n = &v->notices.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", n->pid);
		json_string(j, "severity", n->severity == BRAID_NOTICE_INFO ? "info" : "warning");
		json_string(j, "text", n->text);
		json_number(j, "times", n->times);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void report_json(FILE *out, const struct views *v, const struct report_source *source, unsigned top)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{');
	info_members(&j, v, source);
	json_recording(&j, v);
	json_methods(&j, v, top);
	if (source->lines)
		json_lines(&j, v, top);
	json_states(&j, v);
	json_threads(&j, v, top);
	json_hits(&j, v, top);
	json_natives(&j, v, top);
	json_gc(&j, v, top);
	json_events(&j, v, top);
	json_dumps(&j, v);
	json_notices(&j, v);
	json_close(&j, '}');
	putc('\n', out);
}
