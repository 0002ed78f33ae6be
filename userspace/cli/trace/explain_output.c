// SPDX-License-Identifier: Apache-2.0
/* What `braid explain` prints of a stretch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>
#include <util/compare.h>
#include <util/log.h>

#include "explain.h"

static int print_one(const struct explain_options *o, struct timeline *tl, const struct stretch *s)
{
	struct explain *e;
	int err = explain_new(&e, tl, s, !o->idle.none);

	if (!err && o->json)
		explain_json(stdout, e, o->top);
	else if (!err)
		explain_text(stdout, e, o->top);
	explain_free(e);
	return err;
}

int explain_print_diff(const struct explain_options *o, struct timeline *tl, const struct stretch *s,
		       const struct stretch *against, size_t typical_of)
{
	struct explain *before = NULL, *after = NULL;
	struct explain_diff d = {0};
	int err = explain_new(&before, tl, against, !o->idle.none) ?: explain_new(&after, tl, s, !o->idle.none);

	err = err ?: explain_diff_new(&d, before, after);
	d.typical_of = typical_of;
	if (!err && o->json)
		explain_diff_json(stdout, &d, o->top);
	else if (!err)
		explain_diff_text(stdout, &d, o->top);
	explain_diff_free(&d);
	explain_free(before);
	explain_free(after);
	return err;
}

/* ---- changes ---- */

#define NAMES_SHOWN 5

struct name {
	const char *text;
	uint64_t ns;
};

typedef VEC(struct name) names;

static int add_name(names *to, const char *text, uint64_t ns)
{
	size_t i = 0;

	while (i < to->count && strcmp(to->at[i].text, text) != 0)
		i++;
	if (i == to->count && VEC_PUSH(to, (struct name){.text = text}))
		return -ENOMEM;
	to->at[i].ns = add_saturating(to->at[i].ns, ns);
	return 0;
}

static int compare_names(const void *x, const void *y)
{
	const struct name *p = x, *q = y;

	return compare_u64(q->ns, p->ns) ?: strcmp(p->text, q->text);
}

/* "; locks a.B, c.D" */
static void print_names(FILE *out, names *n, const char *what)
{
	VEC_SORT(n, compare_names);
	for (size_t i = 0; i < n->count && i < NAMES_SHOWN; i++)
		fprintf(out, "%s%s", i ? ", " : what, n->at[i].text);
	if (n->count > NAMES_SHOWN)
		fprintf(out, " and %zu more", n->count - NAMES_SHOWN);
	free(n->at);
}

/* The names of the stretch: what its threads waited for, and in which methods they spent it. */
static int list_names(FILE *out, const struct explain *e)
{
	const struct analysis *an = e->wall->an;
	names locks = {0}, methods = {0};
	int err = 0;

	for (size_t i = 1; i < e->nodes.count && !err; i++) {
		const struct explain_node *n = &e->nodes.at[i];
		bool lock = n->state == WALL_MONITOR || n->state == WALL_PARKED || n->state == WALL_WAITING;

		if (lock && *n->object)
			err = add_name(&locks, n->object, n->total_ns);
		if (!err && n->site != ROW_NONE)
			err = add_name(&methods, events_site_name(an, n->site), n->total_ns);
	}
	print_names(out, &locks, "; locks: ");
	print_names(out, &methods, "; methods: ");
	return err;
}

/* A change of a lock or a method that is not there is a mistake; of a kind of time there may be none. */
static bool is_mistaken(const struct what_if *wi, const struct what_if *program, size_t i)
{
	return !wi->changes[i].matched_ns && !program->changes[i].matched_ns && !wi->changes[i].states;
}

/* *ok false: some change is of nothing, which is reported with the names that there are. */
static int check_what_if(const struct what_if *wi, const struct what_if *program, struct timeline *tl,
			 const struct stretch *s, bool *ok)
{
	struct explain *e;
	size_t i = 0, size = 0;
	char *list = NULL;
	FILE *out;
	int err;

	while (i < wi->count && !is_mistaken(wi, program, i))
		i++;
	*ok = i == wi->count;
	if (*ok)
		return 0;
	out = open_memstream(&list, &size);
	err = out ? explain_new(&e, tl, s, true) : -ENOMEM;
	if (!err) {
		err = list_names(out, e);
		explain_free(e);
	}
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err)
		log_error(
			"--what-if: neither a lock nor a method with time in the stretch or the program nor a kind of "
			"time is called '%s'%s",
			wi->changes[i].target, list);
	free(list);
	return err;
}

static int print_what_if(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok)
{
	const struct wall *w = tl->wall;
	const struct thread_row *t = table_row(&w->an->a->threads, w->threads.at[s->thread].thread);
	struct what_if program = o->what_if;
	struct predictions p = {.an = w->an, .stretch = &o->what_if, .thread = wall_thread_name(w, s->thread)};
	struct stretch life;
	int err = what_if_replay(&o->what_if, tl, s);

	if (!err && what_if_program(w, t->process, &life)) {
		err = what_if_replay(&program, tl, &life);
		p.program = &program;
		p.main = wall_thread_name(w, life.thread);
	}
	err = err ?: check_what_if(&o->what_if, &program, tl, s, ok);
	if (!err && *ok)
		(o->json ? what_if_json : what_if_text)(stdout, &p);
	return err;
}

int explain_print(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok)
{
	return o->what_if.count ? print_what_if(o, tl, s, ok) : print_one(o, tl, s);
}
