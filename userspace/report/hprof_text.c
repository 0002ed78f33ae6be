// SPDX-License-Identifier: Apache-2.0
/* A heap dump as text: suspects first, then the tables. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hprof/allocated.h>
#include <hprof/names.h>
#include <hprof/tables.h>
#include <util/moment.h>
#include <util/quantity.h>

#include "events.h"
#include "hprof.h"

#define STEPS_SHOWN 16 /* of a path, at each end */
#define FRAMES_SHOWN 64
#define SITES_SHOWN 3 /* of a suspect */
#define SITE_FRAMES_SHOWN 12

static double share(const struct hprof *h, uint64_t bytes)
{
	return percent(bytes, h->held.bytes);
}

/* ---- the head ---- */

static void other_objects(FILE *out, const struct hprof_sum *sum, const char *what)
{
	char size[QUANTITY_TEXT];

	if (sum->objects)
		fprintf(out, "  %" PRIu64 " more object%s, %s: %s\n", sum->objects, plural(sum->objects),
			size_text(size, sum->bytes), what);
}

static void head(FILE *out, const struct hprof_report *r)
{
	const struct hprof *h = r->h;
	char size[QUANTITY_TEXT], date[MOMENT_TEXT];

	fprintf(out, "%s: %" PRIu64 " object%s held, %s; dumped %s (HPROF %s)\n", r->path, h->held.objects,
		plural(h->held.objects), size_text(size, h->held.bytes),
		moment_date(date, h->dump.items.time_ms * 1000000, 0), h->dump.items.version);
	other_objects(out, &h->weakly, "only soft, weak and phantom references and finalizers lead to them");
	other_objects(out, &h->garbage, "nothing that the dump has leads to them");
}

/* ---- paths ---- */

/* The last place of the path that says much: a static field, or a thread's stack. Returns `buf`. */
static const char *anchor_text(struct hprof_report *r, const struct hprof_path *path, char buf[HPROF_TEXT])
{
	char link[HPROF_TEXT], object[HPROF_TEXT];
	const struct hprof_root_of *root;
	enum hprof_anchor anchor;
	const char *kind = path->count ? hprof_root_kind(r->h, path->places[0], &root) : NULL;

	snprintf(buf, HPROF_TEXT, "%s", kind ? kind : "?");
	if (!path->count)
		return buf;
	snprintf(buf, HPROF_TEXT, "%s", hprof_object_text(r->h, path->places[0], object));
	for (size_t i = 1; i < path->count && i < STEPS_SHOWN; i++) {
		hprof_link_text(r->h, path->places[i - 1], path->places[i], link, &anchor);
		if (anchor == HPROF_ANCHOR_STATIC)
			snprintf(buf, HPROF_TEXT, "%s", link);
		else if (anchor == HPROF_ANCHOR_LOCAL)
			snprintf(buf, HPROF_TEXT, "%.*s, %.*s", HPROF_TEXT / 2 - 2,
				 hprof_object_text(r->h, path->places[i - 1], object), HPROF_TEXT / 2 - 2, link);
	}
	return buf;
}

static void step(FILE *out, struct hprof_report *r, const struct hprof_path *path, size_t i)
{
	char size[QUANTITY_TEXT], text[HPROF_TEXT], link[HPROF_TEXT];
	uint32_t place = path->places[i];
	enum hprof_anchor anchor;

	fprintf(out, "    %11s  ", place > r->h->graph.held ? "-" : size_text(size, hprof_retained_at(r->h, place)));
	if (i)
		fprintf(out, "%s: ", hprof_link_text(r->h, path->places[i - 1], place, link, &anchor));
	fprintf(out, "%s 0x%" PRIx64 "\n", hprof_object_text(r->h, place, text), hprof_id_at(r->h, place));
}

static void path_steps(FILE *out, struct hprof_report *r, const struct hprof_path *path)
{
	const struct hprof_root_of *root;
	const char *kind = path->count ? hprof_root_kind(r->h, path->places[0], &root) : NULL;

	fprintf(out, "    %11s  from the root (%s)\n", "retained", kind ? kind : "?");
	for (size_t i = 0, next; i < path->count; i = next) {
		step(out, r, path, i);
		next = hprof_path_next(path, i, STEPS_SHOWN);
		if (next != i + 1)
			fprintf(out, "    %11s  %zu more\n", "", next - i - 1);
	}
}

static void frames(FILE *out, const struct hprof_report *r, uint32_t trace)
{
	uint32_t count = hprof_frames(r->h, trace);
	char text[HPROF_TEXT];

	for (uint32_t f = 0; f < count && f < FRAMES_SHOWN; f++)
		fprintf(out, "    %s\n", hprof_frame_text(r->h, trace, f, text));
	text_more(out, 4, count, FRAMES_SHOWN);
}

static void stack(FILE *out, struct hprof_report *r, const struct hprof_path *path)
{
	const struct hprof_thread *thread =
		path->count ? hprof_thread_of(r->h, hprof_object_at(r->h, path->places[0])) : NULL;
	char text[HPROF_TEXT];

	if (!thread || !hprof_frames(r->h, thread->trace))
		return;
	fprintf(out, "\nStack of %s\n", hprof_object_text(r->h, path->places[0], text));
	frames(out, r, thread->trace);
}

static void allocated_by(FILE *out, const struct hprof_report *r, uint32_t number)
{
	uint32_t trace = hprof_allocated_by(r->h, number);

	if (!trace)
		return;
	fputs("\nAllocated by\n", out);
	frames(out, r, trace);
}

int hprof_path_text(FILE *out, struct hprof_report *r, uint32_t number)
{
	uint32_t place = graph_u32(&r->h->graph.place)[number];
	char size[QUANTITY_TEXT], own[QUANTITY_TEXT], text[HPROF_TEXT];
	struct hprof_path path;
	int err;

	if (!place) {
		fprintf(out, "0x%" PRIx64 ": nothing that the dump has leads to it\n",
			hprof_objects(&r->h->dump)[number].id);
		return 0;
	}
	err = hprof_path_find(&r->paths, place, &path);
	if (err)
		return err;
	fprintf(out, "%s 0x%" PRIx64 ": ", hprof_object_text(r->h, place, text), hprof_id_at(r->h, place));
	if (place > r->h->graph.held)
		fprintf(out, "%s; only soft, weak and phantom references and finalizers lead to it\n",
			size_text(own, hprof_bytes_at(r->h, place)));
	else
		fprintf(out, "%s, and with all that is held by it alone %s\n",
			size_text(own, hprof_bytes_at(r->h, place)), size_text(size, hprof_retained_at(r->h, place)));
	path_steps(out, r, &path);
	stack(out, r, &path);
	hprof_path_free(&path);
	allocated_by(out, r, number);
	return 0;
}

/* ---- the objects of a class ---- */

static void holder_stack(FILE *out, const struct hprof_report *r, const struct hprof_holder *holder)
{
	uint32_t count = hprof_frames(r->h, holder->trace);
	char text[HPROF_TEXT];

	if (!holder->traced)
		return;
	fprintf(out, "    %11s  by, %" PRIu64 " of the %" PRIu64 " that have their stack\n", "allocated",
		holder->of_trace, holder->traced);
	for (uint32_t f = 0; f < count && f < SITE_FRAMES_SHOWN; f++)
		fprintf(out, "    %11s  %s\n", "", hprof_frame_text(r->h, holder->trace, f, text));
	if (count > SITE_FRAMES_SHOWN)
		fprintf(out, "    %11s  %" PRIu32 " more\n", "", count - SITE_FRAMES_SHOWN);
}

int hprof_holders_text(FILE *out, struct hprof_report *r, const char *class_name, const struct hprof_holders *f)
{
	char size[QUANTITY_TEXT];

	head(out, r);
	fprintf(out,
		"\n%s: %" PRIu64 " object%s held, %s; the ways to those that have one of %" PRIu64
		" points in these bytes\n",
		class_name, f->held.objects, plural(f->held.objects), size_text(size, f->held.bytes), f->points);
	for (size_t i = 0; i < f->list.count && i < r->rows; i++) {
		const struct hprof_holder *holder = &f->list.at[i];
		struct hprof_path path;
		int err = hprof_path_find(&r->paths, holder->place, &path);

		if (err)
			return err;
		fprintf(out, "\n%6.1f%% of the points, for example\n", percent(holder->points, f->points));
		path_steps(out, r, &path);
		hprof_path_free(&path);
		holder_stack(out, r, holder);
	}
	if (f->list.count > r->rows)
		putc('\n', out);
	text_more(out, 0, f->list.count, r->rows);
	return 0;
}

/* ---- suspects ---- */

static void what(FILE *out, struct hprof_report *r, const struct hprof_suspect *s)
{
	char text[HPROF_TEXT], name[HPROF_NAME];

	if (!s->place)
		fprintf(out, "%" PRIu64 " %s without a common holder", s->groups[0].objects,
			hprof_class_text(&r->h->dump, s->groups[0].class, name));
	else if (s->chained > 1)
		fprintf(out, "%" PRIu32 " %s, linked", s->chained,
			hprof_class_text(&r->h->dump, hprof_class_at(r->h, s->place), name));
	else
		fputs(hprof_object_text(r->h, s->place, text), out);
}

/* What the largest object of a group mostly consists of. */
static void content(FILE *out, struct hprof_report *r, const struct hprof_group *g)
{
	uint32_t place = g->largest;
	char text[HPROF_TEXT];

	for (int depth = 0; depth < 3; depth++) {
		uint64_t most = hprof_retained_at(r->h, place) / 2;
		uint32_t heavy = 0;

		for (uint32_t p = graph_u32(&r->h->below)[place]; p; p = graph_u32(&r->h->beside)[p])
			if (hprof_retained_at(r->h, p) > most) {
				most = hprof_retained_at(r->h, p);
				heavy = p;
			}
		if (!heavy)
			return;
		fprintf(out, "%s%s", depth ? " > " : "; most of the largest is ", hprof_object_text(r->h, heavy, text));
		place = heavy;
	}
}

static void groups(FILE *out, struct hprof_report *r, const struct hprof_suspect *s)
{
	char size[QUANTITY_TEXT], name[HPROF_NAME];

	for (unsigned i = 0; i < s->group_count; i++) {
		const struct hprof_group *g = &s->groups[i];

		if (i && g->bytes < s->share / 10)
			break;
		fprintf(out, "    %11s  %s %" PRIu64 " %s", size_text(size, g->bytes), s->place ? "below it" : "in",
			g->objects, hprof_class_text(&r->h->dump, g->class, name));
		content(out, r, g);
		putc('\n', out);
	}
}

static int summaries(FILE *out, struct hprof_report *r)
{
	char size[QUANTITY_TEXT], text[HPROF_TEXT];
	struct hprof_path path;

	fprintf(out, "\nLeak suspects: where at least %u %% of it come together\n", r->percent);
	if (!r->suspects.list.count)
		fputs("    none\n", out);
	for (size_t i = 0; i < r->suspects.list.count; i++) {
		const struct hprof_suspect *s = &r->suspects.list.at[i];
		int err = hprof_path_find(&r->paths, s->retainer, &path);

		if (err)
			return err;
		fprintf(out, "  %2zu  %6.2f%%  %11s  ", i + 1, share(r->h, s->share), size_text(size, s->share));
		what(out, r, s);
		fprintf(out, "; held by %s\n", anchor_text(r, &path, text));
		hprof_path_free(&path);
	}
	return 0;
}

static void site(FILE *out, const struct hprof_report *r, const struct hprof_allocated *a, const struct hprof_site *s)
{
	uint32_t count = hprof_frames(r->h, s->trace);
	char size[QUANTITY_TEXT], text[HPROF_TEXT];

	fprintf(out, "    %11s  %6.2f%%  %s\n", size_text(size, s->bytes), percent(s->bytes, a->bytes),
		hprof_frame_text(r->h, s->trace, 0, text));
	for (uint32_t f = 1; f < count && f < SITE_FRAMES_SHOWN; f++)
		fprintf(out, "    %11s  %7s  %s\n", "", "", hprof_frame_text(r->h, s->trace, f, text));
	if (count > SITE_FRAMES_SHOWN)
		fprintf(out, "    %11s  %7s  %" PRIu32 " more\n", "", "", count - SITE_FRAMES_SHOWN);
}

/* What the suspect holds, by the stacks that allocated it. */
static int sites(FILE *out, struct hprof_report *r, size_t suspect)
{
	struct hprof_allocated a;
	int err = hprof_allocated_below(&a, r->h, &r->suspects, suspect);

	if (err)
		return err;
	if (a.objects)
		fprintf(out, "    %11s  by (%" PRIu64 " of its objects ha%s their stack)\n", "allocated", a.objects,
			a.objects == 1 ? "s" : "ve");
	for (size_t i = 0; i < a.sites.count && i < SITES_SHOWN; i++)
		site(out, r, &a, &a.sites.at[i]);
	hprof_allocated_free(&a);
	return 0;
}

static int details(FILE *out, struct hprof_report *r)
{
	struct hprof_path path;

	for (size_t i = 0; i < r->suspects.list.count; i++) {
		const struct hprof_suspect *s = &r->suspects.list.at[i];
		int err = hprof_path_find(&r->paths, s->retainer, &path);

		if (err)
			return err;
		fprintf(out, "\nSuspect %zu: ", i + 1);
		what(out, r, s);
		putc('\n', out);
		groups(out, r, s);
		path_steps(out, r, &path);
		hprof_path_free(&path);
		err = sites(out, r, i);
		if (err)
			return err;
	}
	return 0;
}

/* ---- tables ---- */

static int biggest(FILE *out, struct hprof_report *r)
{
	char size[QUANTITY_TEXT], own[QUANTITY_TEXT], text[HPROF_TEXT];
	struct hprof_places places;
	int err = hprof_biggest(r->h, r->rows, &places);

	if (err)
		return err;
	fprintf(out, "\nThe objects that retain most\n    %11s  %7s  %11s  object\n", "retained", "", "own");
	for (size_t i = 0; i < places.count; i++)
		fprintf(out, "    %11s  %6.2f%%  %11s  %s 0x%" PRIx64 "\n",
			size_text(size, hprof_retained_at(r->h, places.at[i])),
			share(r->h, hprof_retained_at(r->h, places.at[i])),
			size_text(own, hprof_bytes_at(r->h, places.at[i])), hprof_object_text(r->h, places.at[i], text),
			hprof_id_at(r->h, places.at[i]));
	hprof_places_free(&places);
	return 0;
}

static int classes(FILE *out, struct hprof_report *r)
{
	char size[QUANTITY_TEXT], own[QUANTITY_TEXT], name[HPROF_NAME];
	size_t count;
	uint32_t *list = hprof_classes_by_retained(r->h, &count);

	if (!list)
		return -ENOMEM;
	fprintf(out, "\nClasses, by what their objects retain\n    %11s  %11s  %11s  class\n", "retained", "own",
		"objects");
	for (size_t i = 0; i < count && i < r->rows; i++) {
		const struct hprof_class *c = &r->h->dump.classes.at[list[i]];

		fprintf(out, "    %11s  %11s  %11" PRIu64 "  %s\n", size_text(size, c->retained),
			size_text(own, c->bytes), c->objects, hprof_class_text(&r->h->dump, list[i], name));
	}
	text_more(out, 4, count, r->rows);
	free(list);
	return 0;
}

static int tree(FILE *out, struct hprof_report *r)
{
	char size[QUANTITY_TEXT], text[HPROF_TEXT];
	struct hprof_tree t;
	struct hprof_tree_row row;
	int err = hprof_tree_begin(&t, r->h, r->levels, r->rows), got = 0;

	fprintf(out, "\nDominators: what each object alone holds, from 1 %% on\n    %11s\n", "retained");
	while (!err && (got = hprof_tree_next(&t, &row)) > 0) {
		uint64_t bytes = row.place ? hprof_retained_at(r->h, row.place) : row.rest.bytes;

		if (bytes < r->h->held.bytes / 100)
			continue;
		fprintf(out, "    %11s  %6.2f%%  %*s", size_text(size, bytes), share(r->h, bytes), 2 * (int)row.depth,
			"");
		if (row.place)
			fprintf(out, "%s 0x%" PRIx64 "\n", hprof_object_text(r->h, row.place, text),
				hprof_id_at(r->h, row.place));
		else
			fprintf(out, "%" PRIu64 " smaller\n", row.rest.objects);
	}
	hprof_tree_end(&t);
	return err ? err : got;
}

int hprof_by_root_text(FILE *out, const struct hprof_report *r, const struct hprof_by_root *b)
{
	char size[QUANTITY_TEXT], text[HPROF_TEXT];

	head(out, r);
	fprintf(out, "\nWhat roots retain\n    %11s  %7s  %11s  root\n", "retained", "", "objects");
	for (size_t i = 0; i < b->rows.count && i < r->rows; i++) {
		const struct hprof_by_root_row *row = &b->rows.at[i];

		fprintf(out, "    %11s  %6.2f%%  %11" PRIu64 "  ", size_text(size, row->sum.bytes),
			share(r->h, row->sum.bytes), row->sum.objects);
		if (row->kind == HPROF_BY_KIND)
			fprintf(out, "other objects whose root is: %s\n", row->root);
		else if (row->kind == HPROF_BY_SEVERAL)
			fputs("several of the roots\n", out);
		else
			fprintf(out, "%s 0x%" PRIx64 "\n", hprof_object_text(r->h, row->place, text),
				hprof_id_at(r->h, row->place));
	}
	text_more(out, 4, b->rows.count, r->rows);
	return 0;
}

int hprof_text(FILE *out, struct hprof_report *r)
{
	int err;

	head(out, r);
	err = summaries(out, r);
	err = err ? err : details(out, r);
	err = err ? err : biggest(out, r);
	err = err ? err : classes(out, r);
	return err ? err : tree(out, r);
}
