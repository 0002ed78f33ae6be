// SPDX-License-Identifier: Apache-2.0
/*
 * The sections of the text report. report.c calls them. Names are printable already: the analyzer's string pools
 * replace other bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>
#include <braid/ring.h>

#include "info.h"

void text_more(FILE *out, int indent, size_t count, unsigned shown)
{
	if (count > shown)
		fprintf(out, "%*sand %zu more\n", indent, "", count - shown);
}

/* ---- recording ---- */

static const struct {
	const char *key;
	const char *label;
} facts[] = {
	{"record.target", "target"},
	{"record.command", "command"},
	{"record.braid", "braid"},
	{"host.name", "host"},
	{"host.kernel", "kernel"},
	{"host.machine", "machine"},
	{"host.cpus", "CPUs"},
	{"record.event", "event"},
	{"record.events", "events"},
	{"record.period", "period"},
	{"record.frequency_hz", "frequency"},
	{"record.choices", "recorded"},
	{"record.offcpu_filter", "of offcpu"},
	{IMPORT_FACT_FORMAT, "imported"},
	{IMPORT_FACT_FILE, "from"},
	{IMPORT_FACT_BY, "made by"},
	{IMPORT_FACT_CLOCK, "clock"},
	{IMPORT_FACT_BRAID, "by braid"},
};

static bool fact_shown(const char *key)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (strcmp(facts[i].key, key) == 0)
			return true;
	/* the interval is one of the event configuration's figures */
	return strcmp(key, "record.duration_ns") == 0 || strcmp(key, "record.alloc_interval") == 0 ||
	       strcmp(key, WINDOW_FROM) == 0 || strcmp(key, WINDOW_TO) == 0;
}

static int compare_strings(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* INFO keys that no line above shows, in alphabetical order. */
static void other_facts(FILE *out, const struct analyzer *a)
{
	const char **keys = calloc(a->infos.count + 1, sizeof(*keys));
	size_t count = 0;

	for (size_t i = 0; keys && i < a->infos.count; i++) {
		const char *key = strpool_get(&a->strings, a->infos.at[i].key);

		if (!fact_shown(key))
			keys[count++] = key;
	}
	if (count)
		qsort(keys, count, sizeof(*keys), compare_strings);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  %-10s %s\n", keys[i], analyzer_info(a, keys[i]));
	free(keys);
}

/* Of a recording of which the trace has only a part: which one. */
static void text_part(FILE *out, const struct analysis *an)
{
	const struct filter all = {0};
	char from[QUANTITY_TEXT], to[QUANTITY_TEXT];
	struct window w;

	if (!*analyzer_info(an->a, WINDOW_FROM) && !*analyzer_info(an->a, WINDOW_TO))
		return;
	if (analysis_window(&w, an->a, &all))
		return;
	fprintf(out, "  %-10s from %s to %s of it\n", "part", duration_text(from, analysis_since(an, w.from_ns)),
		duration_text(to, w.to_ns == UINT64_MAX ? an->duration_ns : analysis_since(an, w.to_ns)));
}

#define PROCESSES_SHOWN 20U

void text_recording(FILE *out, const struct views *v)
{
	const struct analysis *an = v->an;
	char buf[QUANTITY_TEXT], date[MOMENT_TEXT];

	fputs("Recording\n", out);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *value = analyzer_info(an->a, facts[i].key);

		if (*value)
			fprintf(out, "  %-10s %s%s\n", facts[i].label, value,
				strcmp(facts[i].label, "frequency") == 0 ? " Hz" : "");
	}
	text_agentless(out, an);
	if (an->start_realtime_ns)
		fprintf(out, "  %-10s %s\n", "began", moment_date(date, an->start_realtime_ns, 3));
	fprintf(out, "  %-10s %s\n", "duration",
		analysis_has_duration(an) ? duration_text(buf, an->duration_ns) : "not recorded");
	text_part(out, an);
	fprintf(out, "  %-10s %" PRIu64 " in %" PRIu64 " stack%s\n", "samples", an->samples.quality.total,
		an->distinct_stacks, plural(an->distinct_stacks));
	if (filter_is_set(an->filter)) {
		fprintf(out, "  %-10s ", "filter");
		filter_text(out, an);
		putc('\n', out);
	}
	other_facts(out, an->a);
	if (!v->processes.count)
		return;
	fprintf(out, "\nProcesses (%zu with samples)\n  %7s %10s %8s  %s\n", v->processes.count, "share", "samples",
		"pid", "name");
	for (size_t i = 0; i < v->processes.count && i < PROCESSES_SHOWN; i++) {
		const struct process_view *p = &v->processes.at[i];
		char label[PROCESS_LABEL_MAX];

		fprintf(out, "  %6.2f%% %10" PRIu64 " %8u  %s\n", percent(p->weight, an->samples.quality.total),
			p->weight, p->pid, analysis_label(an, p->process, label));
	}
	text_more(out, 2, v->processes.count, PROCESSES_SHOWN);
	text_resources(out, an->a);
}

/* ---- JVMs ---- */

static const char *start_sentence(uint32_t start)
{
	if (start == BRAID_START_ONLOAD)
		return "there from the start";
	return start == BRAID_START_ATTACH ? "attached to the running JVM" : "none: native profile only";
}

static void text_refused(FILE *out, const struct jvm_row *row)
{
	bool any = false;

	for (unsigned bit = 0; bit < CAPABILITY_COUNT; bit++) {
		if (!(row->refused[bit / 64] >> (bit % 64) & 1))
			continue;
		fprintf(out, "%s%s", any ? ", " : "    refused    ", capability_name(bit));
		any = true;
	}
	if (any)
		putc('\n', out);
}

void text_jvms(FILE *out, const struct views *v)
{
	const struct strpool *s = &v->an->a->strings;

	if (v->jvms.count == 0)
		return;
	fputs("\nJVMs\n", out);
	for (size_t i = 0; i < v->jvms.count; i++) {
		const struct jvm_view *j = &v->jvms.at[i];
		const struct jvm_row *r = j->row;

		fprintf(out, "  pid %u  %s %s (Java %s)\n", j->pid,
			r->vm_name ? strpool_get(s, r->vm_name) : "unknown VM", strpool_get(s, r->vm_version),
			r->java_version ? strpool_get(s, r->java_version) : "unknown");
		if (r->command)
			fprintf(out, "    command    %s\n", strpool_get(s, r->command));
		text_chosen_flags(out, v->an->a, analysis_process(v->an, j->process)->settings);
		if (!*analyzer_info(v->an->a, IMPORT_FACT_FORMAT))
			fprintf(out, "    agent      %s\n", start_sentence(r->start));
		fprintf(out, "    methods    %" PRIu64 "\n", j->methods);
		if (r->start)
			fprintf(out, "    code loads %" PRIu64 "\n", j->code_loads);
		if (events_recorded_of(v->an, j->process, BRAID_EVENT_TYPE_GC))
			fprintf(out, "    GC pauses  %" PRIu64 "\n", j->gc_pauses);
		if (events_recorded_of(v->an, j->process, BRAID_EVENT_TYPE_THREAD))
			fprintf(out, "    threads    %" PRIu64 " started, %" PRIu64 " ended\n", j->threads_started,
				j->threads_ended);
		if (j->classes_unloaded)
			fprintf(out, "    classes    %" PRIu64 " unloaded\n", j->classes_unloaded);
		text_refused(out, r);
	}
}

/* ---- quality, loss, notices, file ---- */

static void text_quality_row(FILE *out, const char *name, const struct quality *q)
{
	fprintf(out, "  %-16s %10" PRIu64 " sample%s", name, q->total, plural(q->total));
	if (q->total)
		fprintf(out, "%*s %9" PRIu64 " complete %7.2f%%", q->total == 1 ? 2 : 1, "",
			q->by_cause[CAUSE_COMPLETE], percent(q->by_cause[CAUSE_COMPLETE], q->total));
	putc('\n', out);
}

static void text_named(FILE *out, int width, const char *kind, uint64_t frames, uint64_t named)
{
	fprintf(out, " %*" PRIu64 " %s", width, frames, kind);
	if (frames)
		fprintf(out, " %.2f%% named", percent(named, frames));
	putc(',', out);
}

static void text_virtual_threads(FILE *out, const struct analysis *an)
{
	uint64_t unidentified = analysis_stat(an, 0, "bpf_vthread_unidentified", 0);

	if (an->a->vthreads_seen)
		fprintf(out, "  %-16s %10" PRIu64 " samples of %" PRIu64 "\n", "virtual threads", an->a->vthread_weight,
			an->a->vthreads_seen);
	if (unidentified)
		fprintf(out, "  %-16s %10" PRIu64 " stacks of virtual threads that could not be identified\n", "",
			unidentified);
}

void text_quality(FILE *out, const struct views *v)
{
	const struct analysis *an = v->an;
	const struct frame_counts *f = &an->frames;

	fputs("\nStack quality\n", out);
	text_quality_row(out, "all threads", &an->samples.quality);
	if (an->java.total || !agentless_any(an))
		text_quality_row(out, "Java threads", &an->java);
	else
		fprintf(out, "  %-16s not known: there was no agent to name them\n", "Java threads");
	text_virtual_threads(out, an);
	fprintf(out, "  %-16s", "frames");
	text_named(out, 10, "Java", f->java, f->java_named);
	text_named(out, 0, "native", f->native, f->native_named);
	fprintf(out, " %" PRIu64 " kernel\n", f->kernel);
	if (an->samples.quality.total == an->samples.quality.by_cause[CAUSE_COMPLETE])
		return;
	fprintf(out, "  %-16s %10s %10s\n", "incomplete", "all", "Java");
	for (uint32_t c = CAUSE_COMPLETE + 1; c < CAUSE_COUNT; c++)
		if (an->samples.quality.by_cause[c])
			fprintf(out, "  %-16s %10" PRIu64 " %10" PRIu64 "  %s\n", cause_name(c),
				an->samples.quality.by_cause[c], an->java.by_cause[c], cause_sentence(c));
}

void text_losses(FILE *out, const struct views *v)
{
	fputs("\nLoss\n", out);
	if (v->losses.count == 0)
		fputs(v->an->a->ended ? "  nothing lost\n"
				      : "  nothing lost in what was written; the recording did not end in order\n",
		      out);
	for (size_t i = 0; i < v->losses.count; i++) {
		const struct loss_view *l = &v->losses.at[i];

		fprintf(out, "  %-10s %-16s %10" PRIu64 "\n", l->hop, l->kind, l->count);
	}
}

void text_notices(FILE *out, const struct views *v)
{
	if (v->notices.count == 0)
		return;
	fputs("\nNotices\n", out);
	for (size_t i = 0; i < v->notices.count; i++) {
		const struct notice_view *n = &v->notices.at[i];

		fputs(n->severity == BRAID_NOTICE_INFO ? "  " : "  warning: ", out);
		if (n->pid)
			fprintf(out, "pid %u: ", n->pid);
		fputs(n->text, out);
		if (n->times > 1)
			fprintf(out, " (%" PRIu64 " times)", n->times);
		putc('\n', out);
	}
}

static void text_damage(FILE *out, uint64_t count, const char *what, const char *how)
{
	if (count)
		fprintf(out, "  damaged: %" PRIu64 " %s%s %s\n", count, what, plural(count), how);
}

void text_file(FILE *out, const struct views *v, const struct report_source *source)
{
	const struct trace_damage *d = source->damage;
	uint64_t newer;

	if (!d)
		return;
	newer = d->unknown_records + v->an->a->newer;
	fprintf(out, "\nFile\n  %" PRIu64 " bytes, %s\n", source->bytes,
		v->an->a->ended ? "recording ended in order"
				: "recording did not end in order: its last part is missing");
	text_damage(out, d->bad_blocks, "block", "left out");
	text_damage(out, d->missing_blocks, "block", "missing");
	text_damage(out, d->skipped_bytes, "byte", "skipped");
	text_damage(out, d->bad_records + v->an->a->ignored, "record", "left out");
	if (d->truncated)
		fputs("  truncated: the file ends inside a block\n", out);
	if (newer)
		fprintf(out, "  newer than this program: %" PRIu64 " record%s not understood\n", newer, plural(newer));
}

void info_text(FILE *out, const struct views *v, const struct report_source *source)
{
	text_recording(out, v);
	text_jvms(out, v);
	text_quality(out, v);
	text_losses(out, v);
	text_notices(out, v);
	text_file(out, v, source);
}
