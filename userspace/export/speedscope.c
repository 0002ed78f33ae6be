// SPDX-License-Identifier: Apache-2.0
/* speedscope's file format: frames once, then a profile for each thread with stacks as lists of frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/json.h>
#include <util/utf8.h>
#include "stack_table.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frames(struct json *j, const struct tree *tree, bool annotate)
{
	json_open(j, "shared", '{');
	json_open(j, "frames", '[');
	for (size_t i = 0; i < tree->labels.count; i++) {
		const struct tree_label *l = &tree->labels.at[i];
		char name[FRAME_NAME_MAX];

		stack_table_name(l, annotate, name);
		json_open(j, NULL, '{');
		json_string(j, "name", name);
		if (*l->file)
			json_string(j, "file", l->file);
		if (l->line)
			json_number(j, "line", l->line);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

/* ---- a profile ---- */

struct writer {
	struct json json;
	struct stack_table *table;
	uint64_t scale;	  /* of weights to numbers of the file */
	const char *unit; /* one of the format's */
	size_t profiles;  /* written so far */
	size_t heaviest;  /* of them, which the viewer opens with */
	uint64_t heaviest_sum;
};

static int put_stack(struct writer *w, uint32_t node)
{
	if (stack_table_path(w->table, node))
		return -ENOMEM;
	json_open(&w->json, NULL, '[');
	for (size_t i = w->table->path.count; i-- > 0;)
		json_number(&w->json, NULL, w->table->path.at[i]);
	json_close(&w->json, ']');
	return 0;
}

#define IDS_MAX 48 /* of the text behind a thread's name */

static void put_name(struct writer *w, uint32_t thread)
{
	const struct analysis *an = w->table->an;
	const struct thread_row *t = thread == ROW_NONE ? NULL : table_row(&an->a->threads, thread);
	const struct process_row *p = stack_table_process(w->table, thread);
	const char *own = analysis_thread_name(an, thread);
	char name[512 + IDS_MAX];
	size_t n = utf8_from_modified(name, sizeof(name) - IDS_MAX, own, strlen(own));

	if (p && t->virtual)
		snprintf(name + n, IDS_MAX, " (virtual, pid %u)", p->pid);
	else if (p)
		snprintf(name + n, IDS_MAX, " (pid %u, tid %u)", p->pid, t->tid);
	json_string(&w->json, "name", name);
}

/* The stacks of one thread, which begin at `from` and end before `to`. */
static int put_thread(struct writer *w, size_t from, size_t to)
{
	uint64_t sum = 0;
	int err = 0;

	json_open(&w->json, NULL, '{');
	json_string(&w->json, "type", "sampled");
	put_name(w, w->table->stacks.at[from].thread);
	json_string(&w->json, "unit", w->unit);
	json_open(&w->json, "samples", '[');
	for (size_t i = from; i < to && !err; i++)
		err = put_stack(w, w->table->stacks.at[i].node);
	json_close(&w->json, ']');
	json_open(&w->json, "weights", '[');
	for (size_t i = from; i < to; i++) {
		json_number(&w->json, NULL, (uint64_t)profile_value(w->table->stacks.at[i].weight, w->scale));
		sum = add_saturating(sum, (uint64_t)profile_value(w->table->stacks.at[i].weight, w->scale));
	}
	json_close(&w->json, ']');
	json_number(&w->json, "startValue", 0);
	json_number(&w->json, "endValue", sum);
	json_close(&w->json, '}');
	if (sum > w->heaviest_sum) {
		w->heaviest = w->profiles;
		w->heaviest_sum = sum;
	}
	w->profiles++;
	return err;
}

int speedscope_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate)
{
	struct writer w = {.json.out = out,
			   .table = t,
			   .scale = unit->period_ns ?: 1,
			   .unit = unit->period_ns	      ? "nanoseconds"
				   : unit->unit == UNIT_COUNT ? "none"
							      : profile_unit_word(unit->unit)};
	int err = 0;

	json_open(&w.json, NULL, '{');
	json_string(&w.json, "$schema", SCHEMA);
	json_string(&w.json, "exporter", "braid");
	json_string(&w.json, "name", unit->name);
	put_frames(&w.json, t->tree, annotate);
	json_open(&w.json, "profiles", '[');
	for (size_t from = 0, to; from < t->stacks.count && !err; from = to) {
		for (to = from + 1; to < t->stacks.count && t->stacks.at[to].thread == t->stacks.at[from].thread;)
			to++;
		err = put_thread(&w, from, to);
	}
	json_close(&w.json, ']');
	json_number(&w.json, "activeProfileIndex", w.heaviest);
	json_close(&w.json, '}');
	putc('\n', out);
	return err;
}
