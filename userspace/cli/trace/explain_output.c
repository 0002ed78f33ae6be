// SPDX-License-Identifier: Apache-2.0
/* What `braid explain` prints of a stretch. */
#include <util/log.h>

#include "explain.h"

static int print_one(const struct explain_options *o, struct timeline *tl, const struct stretch *s)
{
	struct explain *e;
	int err = explain_new(&e, tl, s);

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
	int err = explain_new(&before, tl, against) ?: explain_new(&after, tl, s);

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

/* A change of a lock or a method that is not there is a mistake; of a kind of time there may be none. */
static bool check_what_if(const struct what_if *wi, const struct what_if *program)
{
	for (size_t i = 0; i < wi->count; i++)
		if (!wi->changes[i].matched_ns && !program->changes[i].matched_ns && !wi->changes[i].states) {
			log_error(
				"--what-if: no time of the stretch or the program is a lock's or a method's, and no kind of time is called "
				"'%s'; `braid explain` without it shows the names",
				wi->changes[i].target);
			return false;
		}
	return true;
}

static int print_what_if(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok)
{
	const struct wall *w = tl->wall;
	const struct thread_row *t = table_row(&w->an->a->threads, w->threads.at[s->thread].thread);
	struct what_if program = o->what_if;
	struct predictions p = {.stretch = &o->what_if, .thread = wall_thread_name(w, s->thread)};
	struct stretch life;
	int err = what_if_replay(&o->what_if, tl, s);

	if (!err && what_if_program(w, t->process, &life)) {
		err = what_if_replay(&program, tl, &life);
		p.program = &program;
		p.main = wall_thread_name(w, life.thread);
	}
	*ok = !err && check_what_if(&o->what_if, &program);
	if (*ok)
		(o->json ? what_if_json : what_if_text)(stdout, &p);
	return err;
}

int explain_print(struct explain_options *o, struct timeline *tl, const struct stretch *s, bool *ok)
{
	return o->what_if.count ? print_what_if(o, tl, s, ok) : print_one(o, tl, s);
}
