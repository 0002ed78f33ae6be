// SPDX-License-Identifier: Apache-2.0
/* The page (web/) and its data as JSON, escaped so that no name can break out of it. */
#include "html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>
#include <report/events.h>

#include "page.h"

extern const char html_blob_start[], html_blob_end[], live_html_blob_start[], live_html_blob_end[];

#define DATA_MARK "@BRAID_DATA@"
#define SUSPECTS_SHOWN 10

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

/* Weights as a flat list of thread, node, weight. */
static int html_weights(struct page *p, const struct profile *profile, const struct tree *t, const uint32_t *place)
{
	size_t count = 0;
	struct cell *cells = calloc(stack_sums_count(&profile->sums) + 1, sizeof(*cells));
	int err = cells ? 0 : -ENOMEM;
	const struct stack_sum *s;
	struct stack_sums_cursor c;

	for (stack_sums_begin(&c, &profile->sums); !err && (s = stack_sums_next(&c)); count++) {
		err = page_thread(p, s->thread, &cells[count].thread);
		cells[count].place = place[tree_node_of(t, s)];
		cells[count].weight = s->weight;
	}
	if (!err)
		qsort(cells, count, sizeof(*cells), compare_cells);
	json_open(&p->j, "samples", '[');
	for (size_t i = 0; i < count && !err;) {
		const struct cell *first = &cells[i];
		uint64_t weight = 0;

		for (; i < count && compare_cells(first, &cells[i]) == 0; i++)
			weight = add_saturating(weight, cells[i].weight);
		json_number(&p->j, NULL, first->thread);
		json_number(&p->j, NULL, first->place);
		json_number(&p->j, NULL, weight);
	}
	json_close(&p->j, ']');
	free(cells);
	return err;
}

/* Why stacks are not whole: causes and weights. */
static void html_incomplete(struct json *j, const struct quality *q)
{
	json_open(j, "incomplete", '[');
	for (uint32_t c = CAUSE_COMPLETE + 1; c < CAUSE_COUNT; c++)
		if (q->by_cause[c]) {
			json_open(j, NULL, '[');
			json_string(j, NULL, cause_name(c));
			json_number(j, NULL, q->by_cause[c]);
			json_close(j, ']');
		}
	json_close(j, ']');
}

int page_graph(struct page *p, const struct profile *profile, const struct page_source *from, const char *name,
	       const char *unit)
{
	static const struct tree_options options = {.labels = TREE_METHODS, .kinds = true};
	uint32_t *place = NULL;
	struct tree *t;
	int err = tree_new(&t, p->an, profile, &options);

	if (!err && !(place = calloc(t->nodes.count + 1, sizeof(*place))))
		err = -ENOMEM;
	if (!err) {
		json_open(&p->j, NULL, '{');
		json_string(&p->j, "name", name);
		json_string(&p->j, "unit", unit);
		json_number(&p->j, "total", profile->quality.total);
		json_number(&p->j, "complete", profile->quality.by_cause[CAUSE_COMPLETE]);
		html_incomplete(&p->j, &profile->quality);
		err = page_tree(&p->j, t, place) ?: html_weights(p, profile, t, place);
		if (p->sources)
			err = err ?: page_sources(&p->j, p->an, profile);
		if (from)
			err = err ?: html_times(p, profile, from, t, place);
		json_close(&p->j, '}');
	}
	free(place);
	tree_free(t);
	return err;
}

const char *page_unit(enum kind_unit unit)
{
	static const char *const units[] = {[UNIT_COUNT] = "events", [UNIT_NS] = "ns", [UNIT_BYTES] = "bytes"};

	return units[unit];
}

static int html_kind(struct page *p, uint32_t kind)
{
	struct profile profile;
	int err = events_profile(p->an, kind, &profile);

	if (!err && stack_sums_count(&profile.sums))
		err = page_graph(p, &profile, &(struct page_source){.kind = kind}, kind_of(kind)->title,
				 page_unit(kind_of(kind)->unit));
	profile_free(&profile);
	return err;
}

static int html_hits(struct page *p, const struct hit_view *hit)
{
	const struct page_source from = {.samples = hit->event->samples.at, .count = hit->event->samples.count};

	return page_graph(p, hit->profile, &from, hit->name, "samples");
}

/* The samples come first, unless there are only other events. */
static int html_graphs(struct page *p, const struct views *v, const struct wall *wall)
{
	const char *event = analyzer_info(p->an->a, "record.event");
	const struct page_source samples = {.samples = p->an->a->samples.at, .count = p->an->a->samples.count};
	bool others = v->hits.events.count;
	int err = 0;

	json_open(&p->j, "graphs", '[');
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++)
		others = others || (kind_of(kind) && kind_of(kind)->graph && v->events->kinds[kind].weight);
	if (p->an->samples.quality.total || !others)
		err = page_graph(p, &p->an->samples, &samples, *event ? event : "samples", "samples");
	for (size_t i = 0; i < v->hits.events.count && !err; i++)
		if (v->hits.events.at[i].event && stack_sums_count(&v->hits.events.at[i].profile->sums))
			err = html_hits(p, &v->hits.events.at[i]);
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS && !err; kind++)
		if (kind_of(kind) && kind_of(kind)->graph && v->events->kinds[kind].weight)
			err = html_kind(p, kind);
	err = err ?: page_wakers(p, wall);
	json_close(&p->j, ']');
	return err;
}

/* For each row of threads the number of its first life, plus one; 0: it has none. */
static uint32_t *lives_of_rows(const struct analyzer *a, const struct event_views *events)
{
	uint32_t *of = calloc(a->threads.count + 1, sizeof(*of));

	for (size_t i = 0; of && i < events->lives.count; i++) {
		uint32_t row = events->lives.at[i].thread;

		if (row < a->threads.count && !of[row])
			of[row] = (uint32_t)i + 1;
	}
	return of;
}

/* The time from which the page knows what a thread did. A thread that began in the recording did not exist before. */
static void html_known(struct page *p, uint32_t row, const struct life_view *life)
{
	const struct analyzer *a = p->an->a;
	const uint64_t *seen = row == ROW_NONE ? NULL : table_get(&a->seen, a->threads.ids[row]);

	json_number(&p->j, "known_us", seen ? analysis_since(p->an, *seen) / 1000 : 0);
	json_bool(&p->j, "began", life && life->started_ns);
	if (life && life->ended_ns)
		json_number(&p->j, "ended_us", analysis_since(p->an, life->ended_ns) / 1000);
}

static int html_threads(struct page *p, const struct views *v)
{
	const struct analysis *an = p->an;
	uint32_t *lives = lives_of_rows(an->a, v->events);

	if (!lives)
		return -ENOMEM;
	json_open(&p->j, "threads", '[');
	for (size_t i = 0; i < p->rows.count; i++) {
		uint32_t row = p->rows.at[i];
		const struct thread_row *t = row == ROW_NONE ? NULL : table_row(&an->a->threads, row);
		const struct process_row *process = analysis_process(an, t ? t->process : 0);
		char label[PROCESS_LABEL_MAX];

		json_open(&p->j, NULL, '{');
		json_number(&p->j, "pid", t ? process->pid : 0);
		json_number(&p->j, "tid", t ? t->tid : 0);
		json_bool(&p->j, "java", t && (t->flags & TRACE_THREAD_JAVA));
		json_string(&p->j, "name", analysis_thread_name(an, row));
		json_string(&p->j, "process", analysis_label(an, t ? t->process : 0, label));
		html_known(p, row, t && lives[row] ? &v->events->lives.at[lives[row] - 1] : NULL);
		json_close(&p->j, '}');
	}
	json_close(&p->j, ']');
	free(lives);
	return 0;
}

void page_kinds(struct json *j)
{
	json_open(j, "kinds", '[');
	for (int k = 0; k < KIND_COUNT; k++)
		json_string(j, NULL, kind_name((enum stack_kind)k));
	json_close(j, ']');
}

struct report_page {
	const struct views *views;
	const struct page_request *request;
};

static void html_live(struct json *j, const struct page_live *live)
{
	json_open(j, "live", '{');
	json_number(j, "generation", live->generation);
	json_bool(j, "growing", live->growing);
	json_close(j, '}');
}

/* The flame graphs, and what there is by time. */
static int html_views(struct page *p, const struct views *v)
{
	struct wall *wall;
	int err = wall_new(&wall, p->an);

	err = err ?: html_graphs(p, v, wall);
	err = err ?: html_lanes(p, wall) ?: html_timeline(p) ?: html_explain(p, wall);
	wall_free(wall);
	return err;
}

static int html_data(FILE *out, const void *of)
{
	const struct report_page *report = of;
	const struct views *v = report->views;
	struct page p;
	int err = page_init(&p, v->an, report->request);

	if (err)
		return err;
	p.j.out = out;
	p.from_ns = v->an->from_ns > v->an->start_ns ? v->an->from_ns : v->an->start_ns;
	p.to_ns = add_saturating(v->an->start_ns, analysis_end_ns(v->an));
	if (p.to_ns <= p.from_ns)
		p.to_ns = p.from_ns + 1;
	for (size_t i = 0; i < v->threads.count && !err; i++) { /* only threads with samples, the heaviest first */
		uint32_t number;

		err = page_thread(&p, v->threads.at[i].row, &number);
	}
	json_open(&p.j, NULL, '{');
	page_about(&p.j, v, report->request->titles[0]);
	if (report->request->source_link)
		json_string(&p.j, "source_link", report->request->source_link);
	if (report->request->live)
		html_live(&p.j, report->request->live);
	page_kinds(&p.j);
	json_leaks(&p.j, v, SUSPECTS_SHOWN);
	err = err ?: html_views(&p, v) ?: html_threads(&p, v);
	json_close(&p.j, '}');
	page_free(&p);
	return err;
}

struct page_frame page_frame(bool live)
{
	const char *start = live ? live_html_blob_start : html_blob_start;
	size_t size = (size_t)(live ? live_html_blob_end - live_html_blob_start : html_blob_end - html_blob_start);
	const char *mark = memmem(start, size, DATA_MARK, strlen(DATA_MARK)), *after = mark + strlen(DATA_MARK);

	return (struct page_frame){.before = start,
				   .before_bytes = (size_t)(mark - start),
				   .after = after,
				   .after_bytes = size - (size_t)(after - start)};
}

int page_write(FILE *out, int (*data)(FILE *out, const void *of), const void *of)
{
	const struct page_frame frame = page_frame(false);
	int err;

	fwrite(frame.before, 1, frame.before_bytes, out);
	err = data(out, of);
	fwrite(frame.after, 1, frame.after_bytes, out);
	return err;
}

int report_page_data(FILE *out, const struct views *v, const struct page_request *request)
{
	return html_data(out, &(struct report_page){v, request});
}

int report_html(FILE *out, const struct views *v, const struct page_request *request)
{
	return page_write(out, html_data, &(struct report_page){v, request});
}
