// SPDX-License-Identifier: Apache-2.0
/* A heap dump as JSON. Addresses are strings: not every reader of JSON has numbers of 64 bits. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <hprof/allocated.h>
#include <hprof/names.h>
#include <hprof/tables.h>

#include "hprof.h"
#include <util/json.h>

#define STEPS_SHOWN 500 /* of a path, at each end */

static void address(struct json *j, const char *key, uint64_t id)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, id);
	json_string(j, key, text);
}

static void object(struct json *j, struct hprof_report *r, uint32_t place)
{
	char text[HPROF_TEXT], class[HPROF_NAME];

	address(j, "address", hprof_id_at(r->h, place));
	json_string(j, "object", hprof_object_text(r->h, place, text));
	json_string(j, "class", hprof_class_text(&r->h->dump, hprof_class_at(r->h, place), class));
	json_number(j, "bytes", hprof_bytes_at(r->h, place));
	json_number_if(j, place <= r->h->graph.held, "retained_bytes",
		       place <= r->h->graph.held ? hprof_retained_at(r->h, place) : 0);
}

static void sum(struct json *j, const char *key, const struct hprof_sum *s)
{
	json_open(j, key, '{');
	json_number(j, "objects", s->objects);
	json_number(j, "bytes", s->bytes);
	json_close(j, '}');
}

static void head(struct json *j, const struct hprof_report *r)
{
	json_string(j, "file", r->path);
	json_string(j, "version", r->h->dump.items.version);
	json_seconds(j, "dumped_s", r->h->dump.items.time_ms * 1000000);
	sum(j, "held", &r->h->held);
	sum(j, "weakly", &r->h->weakly);
	sum(j, "unreachable", &r->h->garbage);
	json_number(j, "dangling_references", r->h->dangling);
	json_number(j, "duplicate_addresses", r->h->dump.duplicates);
}

/* ---- paths ---- */

static void stack(struct json *j, const struct hprof_report *r, const char *key, uint32_t trace)
{
	uint32_t frames = hprof_frames(r->h, trace);
	char text[HPROF_TEXT];

	json_open(j, key, '[');
	for (uint32_t f = 0; f < frames; f++)
		json_string(j, NULL, hprof_frame_text(r->h, trace, f, text));
	json_close(j, ']');
}

static void root(struct json *j, struct hprof_report *r, uint32_t place)
{
	const struct hprof_thread *thread = hprof_thread_of(r->h, hprof_object_at(r->h, place));
	const struct hprof_root_of *found;
	const char *kind = hprof_root_kind(r->h, place, &found);
	char text[HPROF_TEXT];

	json_open(j, "root", '{');
	json_string(j, "kind", kind ? kind : "unknown");
	if (thread) {
		json_string(j, "thread", hprof_object_text(r->h, place, text));
		stack(j, r, "stack", thread->trace);
	}
	json_close(j, '}');
}

static void path(struct json *j, struct hprof_report *r, const struct hprof_path *p)
{
	char text[HPROF_TEXT];
	enum hprof_anchor anchor;

	if (p->count)
		root(j, r, p->places[0]);
	json_open(j, "path", '[');
	for (size_t i = 0, last = 0; i < p->count; last = i, i = hprof_path_next(p, i, STEPS_SHOWN)) {
		json_open(j, NULL, '{');
		if (i != last + 1 && i)
			json_number(j, "omitted_before", i - last - 1);
		if (i)
			json_string(j, "by", hprof_link_text(r->h, p->places[i - 1], p->places[i], text, &anchor));
		object(j, r, p->places[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static int holder(struct json *j, struct hprof_report *r, const struct hprof_holder *f)
{
	struct hprof_path p;
	int err = hprof_path_find(&r->paths, f->place, &p);

	if (err)
		return err;
	json_open(j, NULL, '{');
	json_number(j, "points", f->points);
	path(j, r, &p);
	json_number(j, "with_stack", f->traced);
	if (f->traced) {
		json_open(j, "allocated", '{');
		json_number(j, "objects", f->of_trace);
		stack(j, r, "stack", f->trace);
		json_close(j, '}');
	}
	json_close(j, '}');
	hprof_path_free(&p);
	return 0;
}

int hprof_holders_json(FILE *out, struct hprof_report *r, const char *class_name, const struct hprof_holders *f)
{
	struct json j = {.out = out};
	int err = 0;

	json_open(&j, NULL, '{');
	head(&j, r);
	json_string(&j, "class", class_name);
	sum(&j, "of_class", &f->held);
	json_number(&j, "points", f->points);
	json_number(&j, "with_stack", f->traced);
	json_open(&j, "holders", '[');
	for (size_t i = 0; i < f->list.count && i < r->rows && !err; i++)
		err = holder(&j, r, &f->list.at[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	putc('\n', out);
	return err;
}

int hprof_path_json(FILE *out, struct hprof_report *r, uint32_t number)
{
	struct json j = {.out = out};
	uint32_t place = graph_u32(&r->h->graph.place)[number];
	struct hprof_path p = {0};
	int err = place ? hprof_path_find(&r->paths, place, &p) : 0;

	if (err)
		return err;
	json_open(&j, NULL, '{');
	address(&j, "address", hprof_objects(&r->h->dump)[number].id);
	json_string(&j, "held", !place ? "no" : place > r->h->graph.held ? "weakly" : "yes");
	if (place)
		path(&j, r, &p);
	if (hprof_allocated_by(r->h, number))
		stack(&j, r, "allocated_by", hprof_allocated_by(r->h, number));
	json_close(&j, '}');
	putc('\n', out);
	hprof_path_free(&p);
	return 0;
}

/* ---- suspects ---- */

static void groups(struct json *j, struct hprof_report *r, const struct hprof_suspect *s)
{
	char name[HPROF_NAME];

	json_open(j, "below", '[');
	for (unsigned i = 0; i < s->group_count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "class", hprof_class_text(&r->h->dump, s->groups[i].class, name));
		json_number(j, "objects", s->groups[i].objects);
		json_number(j, "retained_bytes", s->groups[i].bytes);
		address(j, "largest", hprof_id_at(r->h, s->groups[i].largest));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static int sites(struct json *j, struct hprof_report *r, size_t suspect)
{
	struct hprof_allocated a;
	int err = hprof_allocated_below(&a, r->h, &r->suspects, suspect);

	if (err)
		return err;
	json_open(j, "allocated", '[');
	for (size_t i = 0; i < a.sites.count; i++) {
		json_open(j, NULL, '{');
		json_number(j, "objects", a.sites.at[i].objects);
		json_number(j, "bytes", a.sites.at[i].bytes);
		stack(j, r, "stack", a.sites.at[i].trace);
		json_close(j, '}');
	}
	json_close(j, ']');
	hprof_allocated_free(&a);
	return 0;
}

static int suspects(struct json *j, struct hprof_report *r)
{
	struct hprof_path p;
	int err = 0;

	json_open(j, "suspects", '[');
	for (size_t i = 0; i < r->suspects.list.count && !err; i++) {
		const struct hprof_suspect *s = &r->suspects.list.at[i];

		err = hprof_path_find(&r->paths, s->retainer, &p);
		if (err)
			break;
		json_open(j, NULL, '{');
		json_number(j, "share_bytes", s->share);
		json_bool(j, "common_holder", s->place);
		json_number(j, "linked_objects", s->chained);
		groups(j, r, s);
		path(j, r, &p);
		hprof_path_free(&p);
		err = sites(j, r, i);
		json_close(j, '}');
	}
	json_close(j, ']');
	return err;
}

/* ---- tables ---- */

static int biggest(struct json *j, struct hprof_report *r)
{
	struct hprof_places places;
	int err = hprof_biggest(r->h, r->rows, &places);

	if (err)
		return err;
	json_open(j, "biggest", '[');
	for (size_t i = 0; i < places.count; i++) {
		json_open(j, NULL, '{');
		object(j, r, places.at[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
	hprof_places_free(&places);
	return 0;
}

static int classes(struct json *j, struct hprof_report *r)
{
	char name[HPROF_NAME];
	size_t count;
	uint32_t *list = hprof_classes_by_retained(r->h, &count);

	if (!list)
		return -ENOMEM;
	json_open(j, "classes", '[');
	for (size_t i = 0; i < count && i < r->rows; i++) {
		const struct hprof_class *c = &r->h->dump.classes.at[list[i]];

		json_open(j, NULL, '{');
		json_string(j, "class", hprof_class_text(&r->h->dump, list[i], name));
		address(j, "loader", c->loader);
		json_number(j, "objects", c->objects);
		json_number(j, "bytes", c->bytes);
		json_number(j, "retained_bytes", c->retained);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(list);
	return 0;
}

/* One list: each object comes after the one above it, which has one level less. */
static int tree(struct json *j, struct hprof_report *r)
{
	struct hprof_tree t;
	struct hprof_tree_row row;
	int err = hprof_tree_begin(&t, r->h, r->levels, r->rows), got = 0;

	json_open(j, "dominators", '[');
	while (!err && (got = hprof_tree_next(&t, &row)) > 0) {
		json_open(j, NULL, '{');
		json_number(j, "level", row.depth);
		if (row.place) {
			object(j, r, row.place);
		} else {
			json_number(j, "smaller_objects", row.rest.objects);
			json_number(j, "retained_bytes", row.rest.bytes);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
	hprof_tree_end(&t);
	return err ? err : got;
}

int hprof_by_root_json(FILE *out, const struct hprof_report *r, const struct hprof_by_root *b)
{
	static const char *const kinds[] = {[HPROF_BY_THREAD] = "thread",
					    [HPROF_BY_CLASS] = "static",
					    [HPROF_BY_KIND] = "other",
					    [HPROF_BY_SEVERAL] = "several"};
	struct json j = {.out = out};
	char text[HPROF_TEXT];

	json_open(&j, NULL, '{');
	head(&j, r);
	json_open(&j, "roots", '[');
	for (size_t i = 0; i < b->rows.count && i < r->rows; i++) {
		const struct hprof_by_root_row *row = &b->rows.at[i];

		json_open(&j, NULL, '{');
		json_string(&j, "kind", kinds[row->kind]);
		if (row->place)
			json_string(&j, "name", hprof_object_text(r->h, row->place, text));
		else if (row->root)
			json_string(&j, "name", row->root);
		else
			json_null(&j, "name");
		if (row->place)
			address(&j, "address", hprof_id_at(r->h, row->place));
		json_number(&j, "retained_bytes", row->sum.bytes);
		json_number(&j, "objects", row->sum.objects);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_number(&j, "roots_in_all", b->rows.count);
	json_close(&j, '}');
	putc('\n', out);
	return 0;
}

int hprof_json(FILE *out, struct hprof_report *r)
{
	struct json j = {.out = out};
	int err;

	json_open(&j, NULL, '{');
	head(&j, r);
	err = suspects(&j, r);
	err = err ? err : biggest(&j, r);
	err = err ? err : classes(&j, r);
	err = err ? err : tree(&j, r);
	json_close(&j, '}');
	putc('\n', out);
	return err;
}
