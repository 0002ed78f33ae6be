// SPDX-License-Identifier: Apache-2.0
/* Which thread `braid explain --thread` means. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/vthreads.h>
#include <util/log.h>

#include "explain.h"

struct candidate {
	uint32_t thread; /* index of wall->threads */
	uint64_t number;
};

struct search {
	struct wall *w;
	const char *text;	     /* the name or the number of a thread */
	const struct window *window; /* NULL: any time of it */
	VEC(struct candidate) found;
	struct u64map by_number;       /* to found's index + 1: the last one */
	const struct wall_thread *out; /* one that is left out, as its process executed another program then; or NULL */
};

static bool is_meant(const struct search *s, const char *name, uint64_t number)
{
	char *end;
	uint64_t wanted = strtoull(s->text, &end, 10);

	if (*s->text >= '0' && *s->text <= '9' && !*end)
		return number == wanted;
	return strcmp(name, s->text) == 0;
}

static bool is_then(const struct search *s, const struct wall_thread *t)
{
	return !s->window || (t->start_ns < s->window->to_ns && t->end_ns > s->window->from_ns);
}

/* A process can execute any number of programs, one after the other. */
#define PROGRAMS_MAX 256

/* Whether a process executed the program of the thread `later` after that of `earlier`. */
static bool executed_after(const struct wall *w, uint32_t earlier, uint32_t later)
{
	uint32_t from = ((const struct thread_row *)table_row(&w->an->a->threads, earlier))->process;
	const struct thread_row *t = table_row(&w->an->a->threads, later);
	const struct process_row *p = analysis_process(w->an, t->process), *before;

	for (unsigned i = 0; i < PROGRAMS_MAX && p->parent; i++, p = before) {
		before = analysis_process(w->an, p->parent);
		if (before->pid != p->pid)
			return false;
		if (p->parent == from)
			return true;
	}
	return false;
}

static int take_found(struct search *s, uint32_t thread, uint64_t number)
{
	uint32_t *known = u64map_put(&s->by_number, number);
	struct candidate *same = known && *known ? &s->found.at[*known - 1] : NULL;

	if (!known)
		return -ENOMEM;
	if (same && executed_after(s->w, thread, same->thread)) {
		s->out = &s->w->threads.at[thread];
		return 0;
	}
	if (same && executed_after(s->w, same->thread, thread)) {
		s->out = &s->w->threads.at[same->thread];
		same->thread = thread;
		return 0;
	}
	*known = (uint32_t)s->found.count + 1;
	return VEC_PUSH(&s->found, ((struct candidate){thread, number}));
}

static int find_os_threads(struct search *s)
{
	const struct wall *w = s->w;
	int err = 0;

	for (uint32_t i = 0; i < w->an->a->threads.count && !err; i++) {
		const struct thread_row *t = table_row(&w->an->a->threads, i);
		const struct wall_thread *life = &w->threads.at[w->leader[i]];
		size_t n = s->found.count;

		if (is_meant(s, analysis_thread_name(w->an, i), t->tid) && life->life_ns && is_then(s, life) &&
		    !(n && s->found.at[n - 1].thread == w->leader[i]))
			err = take_found(s, w->leader[i], t->tid);
	}
	return err;
}

static int find_vthread(void *ctx, const struct wall_thread *t)
{
	struct search *s = ctx;
	const struct vthread_row *v = vthreads_get(s->w->an->a, t->vthread);
	uint32_t thread = (uint32_t)s->w->threads.count;

	if (!v || !is_meant(s, strpool_get(&s->w->an->a->strings, v->name), v->number) || !is_then(s, t))
		return 0;
	return (s->found.count ? 0 : wall_add_vthread(s->w, t))
		       ?: VEC_PUSH(&s->found, ((struct candidate){thread, v->number}));
}

static int find_all(struct search *s)
{
	int err = find_os_threads(s);

	return err ?: s->found.count ? 0 : wall_each_vthread(s->w, find_vthread, s);
}

static void say_programs(const struct search *s, const char *path)
{
	const char *name = wall_thread_name(s->w, s->found.at[0].thread);

	log_warning("%s: thread %" PRIu64 " executed more than one program: this is its life as '%s'; --from and --to "
		    "choose the one before, as '%s'",
		    path, s->found.at[0].number, name, analysis_thread_name(s->w->an, s->out->thread));
}

static void say_several(const struct search *s, const char *path)
{
	char numbers[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < s->found.count && i < 8; i++)
		used += (size_t)snprintf(numbers + used, sizeof(numbers) - used, "%s%" PRIu64, i ? ", " : "",
					 s->found.at[i].number);
	log_error("%s has %zu threads '%s'; give one of their ids: %s", path, s->found.count, s->text, numbers);
}

int explain_find_thread(struct wall *w, const char *path, const char *thread, const struct window *window,
			uint32_t *found)
{
	struct search s = {.w = w, .text = thread, .window = window};
	int err = find_all(&s);

	if (!err && !s.found.count && window) {
		s.window = NULL;
		err = find_all(&s);
	}
	*found = !err && s.found.count == 1 ? s.found.at[0].thread : ROW_NONE;
	if (*found != ROW_NONE && s.out)
		say_programs(&s, path);
	else if (!err && s.found.count > 1)
		say_several(&s, path);
	else if (!err && !s.found.count)
		log_error("%s has no times of a thread '%s'; `braid report --wall %s` lists those that it has, and "
			  "`braid record -e offcpu` records them",
			  path, thread, path);
	free(s.found.at);
	u64map_free(&s.by_number);
	return err;
}
