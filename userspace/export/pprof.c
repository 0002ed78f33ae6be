// SPDX-License-Identifier: Apache-2.0
/*
 * pprof's profile format, as `go tool pprof` and its web page read it. A file is one protobuf message. Messages that
 * follow each other are merged into one, so the file is written in small ones: memory does not grow with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/spans.h>

#include "proto/pprof.pb-c.h"
#include "protobuf_out.h"
#include "stack_table.h"

#define LABELS 7

struct pprof {
	FILE *out;
	struct stack_table *table;
	bool annotate;
	struct strpool strings; /* numbers are those of the string_table, which begins with the empty string */
	bool failed;		/* without memory */
	VEC(uint64_t) path;
	Pprof__Label label[LABELS]; /* of the thread whose stacks are written, and behind these, of a stack */
	size_t labels;
};

static void put(struct pprof *w, const Pprof__Profile *part)
{
	protobuf_put(w->out, &part->base);
}

static int64_t text(struct pprof *w, const char *s)
{
	uint32_t id = strpool_add(&w->strings, s, strlen(s));

	w->failed |= id == STRPOOL_FAILED;
	return id;
}

/* ---- what the numbers are ---- */

static Pprof__ValueType value_type(struct pprof *w, const char *name, enum kind_unit unit)
{
	Pprof__ValueType v = PPROF__VALUE_TYPE__INIT;

	v.type = text(w, name);
	v.unit = text(w, profile_unit_word(unit));
	return v;
}

static void put_head(struct pprof *w, const struct profile_unit *u)
{
	const struct analysis *an = w->table->an;
	Pprof__ValueType of = value_type(w, u->name, u->unit), cpu = value_type(w, "cpu", UNIT_NS);
	Pprof__ValueType *types[] = {&of, &cpu};
	Pprof__Profile head = PPROF__PROFILE__INIT;

	head.n_sample_type = u->period_ns ? 2 : 1;
	head.sample_type = types;
	head.time_nanos = (int64_t)an->start_realtime_ns;
	head.duration_nanos = (int64_t)an->duration_ns;
	if (u->period_ns) {
		head.period_type = &cpu;
		head.period = (int64_t)u->period_ns;
	}
	put(w, &head);
}

/* ---- frames: a function and a location for each label ---- */

/* Says that names are known, so that pprof does not look for files and symbols itself. */
static void put_mapping(struct pprof *w)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping m = PPROF__MAPPING__INIT;

	m.id = 1;
	m.filename = text(w, "braid");
	m.has_functions = m.has_filenames = m.has_line_numbers = m.has_inline_frames = true;
	part.n_mapping = 1;
	part.mapping = (Pprof__Mapping *[]){&m};
	put(w, &part);
}

static void put_frame(struct pprof *w, uint64_t id, const struct tree_label *label)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Line line = PPROF__LINE__INIT;
	char name[FRAME_NAME_MAX];

	stack_table_name(label, w->annotate, name);
	function.id = location.id = line.function_id = id;
	function.name = text(w, name); /* without a system_name: pprof would cut names that equal it */
	function.filename = text(w, label->file);
	location.mapping_id = 1;
	line.line = label->line;
	location.n_line = 1;
	location.line = (Pprof__Line *[]){&line};
	part.n_function = part.n_location = 1;
	part.function = (Pprof__Function *[]){&function};
	part.location = (Pprof__Location *[]){&location};
	put(w, &part);
}

/* ---- stacks ---- */

static Pprof__Label label_text(struct pprof *w, const char *key, const char *value)
{
	Pprof__Label l = PPROF__LABEL__INIT;

	l.key = text(w, key);
	l.str = text(w, value);
	return l;
}

static Pprof__Label label_number(struct pprof *w, const char *key, uint32_t value)
{
	Pprof__Label l = PPROF__LABEL__INIT;

	l.key = text(w, key);
	l.num = value;
	return l;
}

/* Makes the labels of the samples of a thread. */
static void thread_labels(struct pprof *w, uint32_t thread)
{
	const struct analysis *an = w->table->an;
	const struct process_row *p = stack_table_process(w->table, thread);
	const struct thread_row *t = thread == ROW_NONE ? NULL : table_row(&an->a->threads, thread);
	char process[PROCESS_LABEL_MAX];

	w->labels = 0;
	w->label[w->labels++] = label_text(w, "thread", analysis_thread_name(an, thread));
	if (t && !t->virtual)
		w->label[w->labels++] = label_number(w, "tid", t->tid);
	if (p) {
		w->label[w->labels++] = label_text(w, "process", analysis_label(an, t->process, process));
		w->label[w->labels++] = label_number(w, "pid", p->pid);
	}
}

/* Makes the labels of one stack, and returns the number of all. */
static size_t stack_labels(struct pprof *w, const struct thread_stack *s)
{
	const struct span_row *span = spans_get(w->table->an->a, s->span);
	const char *kind = stack_table_kind(w->table);
	size_t labels = w->labels;
	char id[SPANS_ID_TEXT];

	if (*kind)
		w->label[labels++] = label_text(w, "kind", kind);
	if (!span)
		return labels;
	if (span->trace_hi || span->trace_lo)
		w->label[labels++] = label_text(w, "trace", spans_trace_text(id, span->trace_hi, span->trace_lo));
	w->label[labels++] = label_text(w, "span", spans_id_text(id, span->span_id));
	return labels;
}

static int put_stack(struct pprof *w, const struct thread_stack *s, uint64_t period_ns)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	Pprof__Label *at[LABELS];
	int64_t values[2];

	w->path.count = 0;
	if (stack_table_path(w->table, s->node))
		return -ENOMEM;
	for (size_t i = 0; i < w->table->path.count; i++)
		if (VEC_PUSH(&w->path, w->table->path.at[i] + 1ULL))
			return -ENOMEM;
	values[0] = profile_value(s->weight, 1);
	values[1] = profile_value(s->weight, period_ns);
	sample.n_location_id = w->path.count;
	sample.location_id = w->path.at;
	sample.n_value = period_ns ? 2 : 1;
	sample.value = values;
	sample.n_label = stack_labels(w, s);
	for (size_t i = 0; i < sample.n_label; i++)
		at[i] = &w->label[i];
	sample.label = at;
	part.n_sample = 1;
	part.sample = (Pprof__Sample *[]){&sample};
	put(w, &part);
	return 0;
}

static void put_strings(struct pprof *w)
{
	for (size_t i = 0; i <= w->strings.strings.count; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;

		part.n_string_table = 1;
		part.string_table = (char *[]){(char *)(uintptr_t)strpool_get(&w->strings, (uint32_t)i)};
		put(w, &part);
	}
}

int pprof_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate)
{
	struct pprof w = {.out = out, .table = t, .annotate = annotate};
	int err = 0;

	put_head(&w, unit);
	put_mapping(&w);
	for (size_t i = 0; i < t->tree->labels.count; i++)
		put_frame(&w, i + 1, &t->tree->labels.at[i]);
	for (size_t i = 0; i < t->stacks.count && !err; i++) {
		if (!i || t->stacks.at[i].thread != t->stacks.at[i - 1].thread)
			thread_labels(&w, t->stacks.at[i].thread);
		err = put_stack(&w, &t->stacks.at[i], unit->period_ns);
	}
	put_strings(&w);
	err = w.failed ? -ENOMEM : err;
	strpool_free(&w.strings);
	free(w.path.at);
	return err;
}
