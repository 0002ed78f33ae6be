// SPDX-License-Identifier: Apache-2.0
#include "holders.h"

#include "allocated.h"
#include "names.h"
#include "util/compare.h"
#include "util/pair_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 200U /* in the bytes of a class; a share of them has a standard error of 3.5 % at most */
#define STEPS 16U   /* of a way, at each end, that distinguish it from others */

/* Objects of a way that one stack has allocated. */
struct stack_of_way {
	size_t holder; /* index */
	uint32_t trace;
	uint64_t objects;
};

struct search {
	struct hprof_holders *f;
	struct hprof_paths *paths;
	struct hprof *h;
	bool *of_class; /* by class */
	VEC(struct stack_of_way) stacks;
};

/* ---- ways ---- */

static uint64_t hash_link(struct hprof *h, uint64_t hash, uint32_t from, uint32_t to)
{
	enum hprof_anchor anchor;
	char text[HPROF_TEXT];

	if (h->dump.classes.at[hprof_class_at(h, from)].is_array) /* whatever the index is */
		return pair_hash(hash, 1);
	hprof_link_text(h, from, to, text, &anchor);
	for (const char *c = text; *c; c++)
		hash = pair_hash(hash, (uint8_t)*c);
	return hash;
}

/* Nodes of a list or tree count as one, however many lead to the object. */
static uint64_t key_of(struct hprof *h, const struct hprof_path *path)
{
	uint32_t last = HPROF_NONE;
	uint64_t key = 0;

	for (size_t i = 0; i < path->count; i = hprof_path_next(path, i, STEPS)) {
		uint32_t class = hprof_class_at(h, path->places[i]);

		if (class == last && class != h->dump.class_class)
			continue;
		key = pair_hash(key, class);
		if (i)
			key = hash_link(h, key, path->places[i - 1], path->places[i]);
		last = class;
	}
	return key;
}

/* The index of the holder with this key, a new one if there is none; -ENOMEM. */
static ssize_t holder_of(struct hprof_holders *f, uint64_t key, uint32_t place)
{
	for (size_t i = 0; i < f->list.count; i++)
		if (f->list.at[i].key == key)
			return (ssize_t)i;
	if (VEC_PUSH(&f->list, ((struct hprof_holder){.key = key, .place = place})))
		return -ENOMEM;
	return (ssize_t)f->list.count - 1;
}

static ssize_t find_holder(struct search *s, uint32_t place)
{
	struct hprof_path path;
	ssize_t holder = hprof_path_find(s->paths, place, &path);

	if (holder)
		return holder;
	holder = holder_of(s->f, key_of(s->h, &path), place);
	hprof_path_free(&path);
	return holder;
}

/* ---- objects ---- */

static int look_at(struct search *s, uint32_t place, uint64_t points)
{
	ssize_t holder = find_holder(s, place);

	if (holder < 0)
		return (int)holder;
	s->f->points += points;
	s->f->list.at[holder].points += points;
	return 0;
}

static int look_at_traced(struct search *s, uint32_t place, uint64_t points)
{
	uint32_t trace = hprof_allocated_by(s->h, hprof_object_at(s->h, place));
	ssize_t holder = find_holder(s, place);

	(void)points;
	if (holder < 0)
		return (int)holder;
	s->f->traced++;
	s->f->list.at[holder].traced++;
	for (size_t i = 0; i < s->stacks.count; i++)
		if (s->stacks.at[i].holder == (size_t)holder && s->stacks.at[i].trace == trace) {
			s->stacks.at[i].objects++;
			return 0;
		}
	return VEC_PUSH(&s->stacks, ((struct stack_of_way){(size_t)holder, trace, 1}));
}

/* What the object counts as; 0: it is not of the class. */
static uint64_t bytes_of(const struct search *s, uint32_t place)
{
	return s->of_class[hprof_class_at(s->h, place)] ? hprof_bytes_at(s->h, place) : 0;
}

/* 0: the dump does not have its stack, either. */
static uint64_t traced_of(const struct search *s, uint32_t place)
{
	return bytes_of(s, place) && hprof_allocated_by(s->h, hprof_object_at(s->h, place));
}

/* The points from `from` on, `size` long: one in each stretch, where no pattern in the heap has them. */
static uint64_t points_in(uint64_t stretch, uint64_t from, uint64_t size)
{
	uint64_t points = 0;

	for (uint64_t i = from / stretch; i <= (from + size - 1) / stretch; i++) {
		uint64_t at = i * stretch + pair_hash(i, stretch) % stretch;

		points += at >= from && at < from + size;
	}
	return points;
}

/* Looks at the objects that have one of about POINTS points. */
static int each_point(struct search *s, uint64_t total, uint64_t (*of)(const struct search *, uint32_t),
		      int (*look)(struct search *, uint32_t, uint64_t))
{
	uint64_t stretch = (total + POINTS - 1) / POINTS, seen = 0;
	int err = 0;

	for (uint32_t p = 1; p <= s->h->graph.held && !err; p++) {
		uint64_t size = of(s, p), points = size ? points_in(stretch, seen, size) : 0;

		seen += size;
		if (points)
			err = look(s, p, points);
	}
	return err;
}

static void take_stacks(struct search *s)
{
	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct stack_of_way *w = &s->stacks.at[i];
		struct hprof_holder *holder = &s->f->list.at[w->holder];

		if (w->objects <= holder->of_trace)
			continue;
		holder->trace = w->trace;
		holder->of_trace = w->objects;
	}
}

static int by_points(const void *x, const void *y)
{
	const struct hprof_holder *a = x, *b = y;
	int c = compare_u64(b->points, a->points);

	c = c ?: compare_u64(b->traced, a->traced);
	return c ?: compare_u64(a->place, b->place);
}

static int find(struct search *s, const char *class_name)
{
	char name[HPROF_NAME];
	uint64_t traced = 0;
	int err;

	for (uint32_t c = 0; c < s->h->dump.classes.count; c++)
		s->of_class[c] = strcmp(hprof_class_text(&s->h->dump, c, name), class_name) == 0;
	for (uint32_t p = 1; p <= s->h->graph.held; p++) {
		s->f->held.objects += bytes_of(s, p) > 0;
		s->f->held.bytes += bytes_of(s, p);
		traced += traced_of(s, p);
	}
	err = each_point(s, s->f->held.bytes, bytes_of, look_at);
	return err ?: each_point(s, traced, traced_of, look_at_traced);
}

int hprof_holders_find(struct hprof_holders *f, struct hprof_paths *paths, const char *class_name)
{
	struct search s = {.f = f, .paths = paths, .h = paths->h};
	int err;

	*f = (struct hprof_holders){0};
	s.of_class = calloc(s.h->dump.classes.count + 1, sizeof(*s.of_class));
	if (!s.of_class)
		return -ENOMEM;
	err = find(&s, class_name);
	if (!err)
		take_stacks(&s);
	VEC_SORT(&f->list, by_points);
	free(s.stacks.at);
	free(s.of_class);
	return err;
}

void hprof_holders_free(struct hprof_holders *f)
{
	free(f->list.at);
	*f = (struct hprof_holders){0};
}
