// SPDX-License-Identifier: Apache-2.0
#include "suspects.h"

#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>

#define CHAIN                                                                                                          \
	3 /* objects from one of a class to the next of the same class: nodes may alternate with what links them */

struct search {
	struct hprof *h;
	struct hprof_suspects *s;
	uint64_t *share; /* by place: of those that retain much */
	uint32_t *head;	 /* by place: the first of its chain, for those that retain much */
	const uint32_t *above;
	struct scratch shares, heads;
};

static bool is_large(const struct search *f, uint32_t place)
{
	return hprof_retained_at(f->h, place) >= f->s->least;
}

/* The first object of the chain or tree of one class that the object at `place` is in; 0: it is in none. */
static uint32_t head_of(const struct search *f, uint32_t place)
{
	uint32_t p = f->above[place];

	for (int i = 0; i < CHAIN && p; i++, p = f->above[p])
		if (f->head[p] && hprof_class_at(f->h, p) == hprof_class_at(f->h, place))
			return f->head[p];
	return is_large(f, place) ? place : 0;
}

/* The nearest object above it that has a head; 0: none. A small object between two of a chain has none. */
static uint32_t nearest(const struct search *f, uint32_t place)
{
	uint32_t p = f->above[place];

	while (p && !f->head[p])
		p = f->above[p];
	return p;
}

/* A place is before those that it dominates. */
static void find_shares(struct search *f)
{
	for (uint32_t p = 1; p <= f->h->graph.held; p++) {
		uint32_t above;

		f->head[p] = head_of(f, p);
		if (!f->head[p])
			continue;
		above = nearest(f, p);
		f->share[f->head[p]] += hprof_retained_at(f->h, p);
		if (above)
			f->share[f->head[above]] -= hprof_retained_at(f->h, p);
	}
}

static int list_places(struct search *f)
{
	for (uint32_t p = 1; p <= f->h->graph.held; p++)
		if (f->head[p] == p && f->share[p] >= f->s->least &&
		    VEC_PUSH(&f->s->list, (struct hprof_suspect){.place = p, .retainer = p, .share = f->share[p]}))
			return -ENOMEM;
	return 0;
}

/* ---- what is below a suspect ---- */

static void add_to_group(const struct search *f, struct hprof_group *of_class, uint32_t place, uint64_t bytes)
{
	struct hprof_group *g = &of_class[hprof_class_at(f->h, place)];

	g->class = hprof_class_at(f->h, place);
	g->objects++;
	g->bytes += bytes;
	if (!g->largest || hprof_retained_at(f->h, place) > hprof_retained_at(f->h, g->largest))
		g->largest = place;
}

/* Adds what is below the objects of the chain that begins at `head`, or, if it is 0, below no object. */
static uint32_t group_parts(const struct search *f, uint32_t head, struct hprof_group *of_class)
{
	uint32_t chained = 0;

	for (uint32_t p = 1; p <= f->h->graph.held; p++) {
		uint32_t above = f->above[p];

		if (f->head[p])
			chained += f->head[p] == head;
		else if (above ? head && f->head[above] == head : !head)
			add_to_group(f, of_class, p, hprof_retained_at(f->h, p));
	}
	return chained;
}

static void keep_largest(struct hprof_suspect *s, const struct hprof_group *of_class, size_t classes)
{
	for (size_t c = 0; c < classes; c++) {
		unsigned at = s->group_count;

		if (!of_class[c].objects)
			continue;
		while (at && s->groups[at - 1].bytes < of_class[c].bytes) {
			if (at < HPROF_GROUPS)
				s->groups[at] = s->groups[at - 1];
			at--;
		}
		if (at < HPROF_GROUPS)
			s->groups[at] = of_class[c];
		if (s->group_count < HPROF_GROUPS)
			s->group_count++;
	}
}

/* Classes whose objects are held by roots without anything in common. */
static int list_classes(struct search *f, const struct hprof_group *of_class, size_t classes)
{
	for (size_t c = 0; c < classes; c++) {
		struct hprof_suspect s = {.share = of_class[c].bytes, .retainer = of_class[c].largest};

		if (of_class[c].bytes < f->s->least)
			continue;
		s.groups[0] = of_class[c];
		s.group_count = 1;
		if (VEC_PUSH(&f->s->list, s))
			return -ENOMEM;
	}
	return 0;
}

static int find_groups(struct search *f)
{
	size_t classes = f->h->dump.classes.count, places = f->s->list.count;
	struct hprof_group *of_class = calloc(classes, sizeof(*of_class));
	int err;

	if (!of_class)
		return -ENOMEM;
	group_parts(f, 0, of_class);
	err = list_classes(f, of_class, classes);
	for (size_t i = 0; i < places; i++) {
		struct hprof_suspect *s = &f->s->list.at[i];

		for (size_t c = 0; c < classes; c++)
			of_class[c] = (struct hprof_group){0};
		s->chained = group_parts(f, s->place, of_class);
		keep_largest(s, of_class, classes);
	}
	free(of_class);
	return err;
}

static int by_share(const void *a, const void *b)
{
	const struct hprof_suspect *x = a, *y = b;

	return compare_u64(y->share, x->share);
}

/* The suspect that is many objects of this class, index + 1; 0: there is none. */
static uint32_t suspect_of_class(const struct hprof_suspects *s, uint32_t class)
{
	for (size_t i = 0; i < s->list.count; i++)
		if (!s->list.at[i].place && s->list.at[i].groups[0].class == class)
			return (uint32_t)i + 1;
	return 0;
}

/* The closest suspect above each place, or the place itself. A place is before those that it dominates. */
static int find_above(struct hprof_suspects *s, struct hprof *h)
{
	const uint32_t *above = graph_u32(&h->graph.above);
	int err = scratch_resize(&s->above, &h->dump.room, ((uint64_t)h->graph.held + 1) * sizeof(uint32_t));
	uint32_t *suspect = s->above.at;

	if (err)
		return err;
	for (size_t i = 0; i < s->list.count; i++)
		if (s->list.at[i].place)
			suspect[s->list.at[i].place] = (uint32_t)i + 1;
	for (uint32_t p = 1; p <= h->graph.held; p++)
		if (!suspect[p])
			suspect[p] = above[p] ? suspect[above[p]] : suspect_of_class(s, hprof_class_at(h, p));
	return 0;
}

int hprof_suspects_find(struct hprof_suspects *s, struct hprof *h, unsigned percent)
{
	struct search f = {.h = h, .s = s, .above = graph_u32(&h->graph.above)};
	uint64_t places = (uint64_t)h->graph.held + 1;
	int err;

	*s = (struct hprof_suspects){.least = h->held.bytes / 100 * percent + 1};
	err = scratch_resize(&f.shares, &h->dump.room, places * sizeof(*f.share));
	err = err ? err : scratch_resize(&f.heads, &h->dump.room, places * sizeof(*f.head));
	if (!err) {
		f.share = graph_u64(&f.shares);
		f.head = graph_u32(&f.heads);
		find_shares(&f);
		err = list_places(&f);
	}
	err = err ? err : find_groups(&f);
	VEC_SORT(&s->list, by_share);
	scratch_free(&f.shares);
	scratch_free(&f.heads);
	if (!err && h->trace_of.at)
		err = find_above(s, h);
	return err;
}

void hprof_suspects_free(struct hprof_suspects *s)
{
	free(s->list.at);
	scratch_free(&s->above);
	*s = (struct hprof_suspects){0};
}
