// SPDX-License-Identifier: Apache-2.0
/* One file with everything in it: the page (flamegraph.html) and its data as JSON, escaped so that no name can leave
 * it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "json.h"

extern const char html_blob_start[], html_blob_end[];

#define DATA_MARK "@BRAID_DATA@"

struct cell {
	uint32_t thread; /* index in the page's list */
	uint32_t place;	 /* of the node in the page's list */
	uint64_t weight;
};

static int compare_cells(const void *x, const void *y)
{
	const struct cell *p = x, *q = y;

	if (p->thread != q->thread)
		return p->thread < q->thread ? -1 : 1;
	return p->place < q->place ? -1 : p->place > q->place;
}

static int compare_ranks(const void *x, const void *y)
{
	const struct tree_label *p = x, *q = y;

	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

static int html_labels(struct json *j, const struct tree *t)
{
	struct tree_label *labels = calloc(t->labels.count + 1, sizeof(*labels));

	if (!labels)
		return -ENOMEM;
	if (t->labels.count) {
		memcpy(labels, t->labels.at, t->labels.count * sizeof(*labels));
		qsort(labels, t->labels.count, sizeof(*labels), compare_ranks);
	}
	json_open(j, "labels", '[');
	for (size_t i = 0; i < t->labels.count; i++)
		json_string(j, NULL, labels[i].text);
	json_close(j, ']');
	free(labels);
	return 0;
}

/* Parent, label and kind of every node, depth first: a node's place in the list is its number, the root is 0. */
static void html_nodes(struct json *j, const struct tree *t, uint32_t *place)
{
	uint32_t count = 0;

	json_open(j, "kinds", '[');
	for (int k = 0; k < KIND_COUNT; k++)
		json_string(j, NULL, kind_name((enum stack_kind)k));
	json_close(j, ']');
	json_open(j, "nodes", '[');
	for (uint32_t i = tree_next(t, 0); i; i = tree_next(t, i)) {
		const struct tree_node *n = &t->nodes.at[i];
		enum stack_kind kind =
			t->labels.at[n->label].domain == DOMAIN_INCOMPLETE ? KIND_INCOMPLETE : tree_kind(t, i);

		place[i] = ++count;
		json_number(j, NULL, place[n->parent]);
		json_number(j, NULL, t->labels.at[n->label].rank);
		json_number(j, NULL, (uint64_t)kind);
	}
	json_close(j, ']');
}

static void html_threads(struct json *j, const struct views *v)
{
	json_open(j, "threads", '[');
	for (size_t i = 0; i < v->threads.count; i++) {
		const struct thread_view *t = &v->threads.at[i];
		const struct thread_row *row = t->row == ROW_NONE ? NULL : table_row(&v->an->a->threads, t->row);
		const char *comm =
			strpool_get(&v->an->a->strings, analysis_process(v->an, row ? row->process : 0)->comm);

		json_open(j, NULL, '{');
		json_number(j, "pid", t->pid);
		json_number(j, "tid", t->tid);
		json_bool(j, "java", t->java);
		json_string(j, "name", t->name);
		json_string(j, "process", *comm ? comm : "[unknown]");
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Samples as a flat list of thread, node, samples. */
static int html_samples(struct json *j, const struct views *v, const uint32_t *place)
{
	const struct analyzer *a = v->an->a;
	uint32_t *index = calloc(a->threads.count + 1, sizeof(*index));
	struct cell *cells = calloc(v->an->samples.sums.count + 1, sizeof(*cells));
	size_t count = v->an->samples.sums.count;
	int err = index && cells ? 0 : -ENOMEM;

	if (err)
		goto out;
	for (size_t i = 0; i < v->threads.count; i++)
		index[v->threads.at[i].row == ROW_NONE ? a->threads.count : v->threads.at[i].row] = (uint32_t)i;
	for (size_t i = 0; i < count; i++) {
		const struct stack_sum *s = &v->an->samples.sums.at[i];

		cells[i].thread = index[s->thread == ROW_NONE ? a->threads.count : s->thread];
		cells[i].place = place[tree_node_of(v->tree, s)];
		cells[i].weight = s->weight;
	}
	qsort(cells, count, sizeof(*cells), compare_cells);
	json_open(j, "samples", '[');
	for (size_t i = 0; i < count;) {
		const struct cell *first = &cells[i];
		uint64_t weight = 0;

		for (; i < count && compare_cells(first, &cells[i]) == 0; i++)
			weight = add_saturating(weight, cells[i].weight);
		json_number(j, NULL, first->thread);
		json_number(j, NULL, first->place);
		json_number(j, NULL, weight);
	}
	json_close(j, ']');
out:
	free(index);
	free(cells);
	return err;
}

static int html_data(FILE *out, const struct views *v, const char *title)
{
	uint32_t *place = calloc(v->tree->nodes.count + 1, sizeof(*place));
	struct json j = {.out = out};
	int err;

	if (!place)
		return -ENOMEM;
	json_open(&j, NULL, '{');
	json_string(&j, "title", title);
	json_string(&j, "event", analyzer_info(v->an->a, "record.event"));
	json_seconds(&j, "duration_s", v->an->duration_ns);
	json_number(&j, "total", v->an->samples.quality.total);
	json_number(&j, "complete", v->an->samples.quality.by_cause[CAUSE_COMPLETE]);
	err = html_labels(&j, v->tree);
	html_nodes(&j, v->tree, place);
	html_threads(&j, v);
	if (!err)
		err = html_samples(&j, v, place);
	json_close(&j, '}');
	free(place);
	return err;
}

int report_html(FILE *out, const struct views *v, const char *title)
{
	size_t size = (size_t)(html_blob_end - html_blob_start);
	const char *mark = memmem(html_blob_start, size, DATA_MARK, strlen(DATA_MARK));
	size_t before = mark ? (size_t)(mark - html_blob_start) : size;
	int err;

	if (!mark)
		return -EINVAL;
	fwrite(html_blob_start, 1, before, out);
	err = html_data(out, v, title);
	fwrite(mark + strlen(DATA_MARK), 1, size - before - strlen(DATA_MARK), out);
	return err;
}
