// SPDX-License-Identifier: Apache-2.0
/* `braid explain` of spans: the slowest, one with an id, and what makes one slower than another one. */
#include <inttypes.h>
#include <stdlib.h>

#include <analyze/spans.h>
#include <explain/span_choice.h>
#include <report/info.h>
#include <util/log.h>

#include "explain.h"

static void print_heading(const struct analyzer *a, const char *what, const struct span_row *span)
{
	printf("%s %016" PRIx64, what, span->span_id);
	text_attributes(stdout, a, span->attributes);
	putchar('\n');
}

/* The spans that are explained: the longest first, and one of them if it is compared. */
struct chosen {
	VEC(struct stretch) stretches;
	struct stretch against;
	size_t typical_of; /* spans, if `against` is the typical one */
};

static int choose(const struct explain_options *o, struct span_choice *c, struct chosen *to)
{
	size_t limit = o->slowest ? o->slowest : 1;
	struct stretch s;
	int err = 0;

	for (size_t i = 0; i < c->spans.count && to->stretches.count < limit && !err; i++)
		if (spans_selected(c->wall->an->a, &o->span, c->spans.at[i]->row))
			err = span_choice_stretch(c, c->spans.at[i], &s) ?: VEC_PUSH(&to->stretches, s);
	return err;
}

/* *ok false: there is none, which is reported. */
static int choose_against(const struct explain_options *o, struct span_choice *c, const char *path, struct chosen *to,
			  bool *ok)
{
	const struct span_sum *span = span_choice_find(c, to->stretches.at[0].span->span_id);
	const struct span_sum *other =
		o->diff ? span_choice_typical(c, span, &to->typical_of) : span_choice_find(c, o->against_span);

	*ok = other && other != span;
	if (*ok)
		return span_choice_stretch(c, other, &to->against);
	if (o->diff && to->typical_of > 1)
		log_error("the span %016" PRIx64 " is the typical one itself", span->row->span_id);
	else if (o->diff)
		log_error("%s has no other span like %016" PRIx64 " to compare it with", path, span->row->span_id);
	else
		log_error("%s has no times of %s span %016" PRIx64, path, other ? "another" : "the", o->against_span);
	return 0;
}

static int choose_all(const struct explain_options *o, struct span_choice *c, const char *path, struct chosen *to,
		      bool *ok)
{
	int err = choose(o, c, to);

	*ok = !err && to->stretches.count;
	if (*ok && (o->diff || o->against_text))
		return choose_against(o, c, path, to, ok);
	if (!err && !*ok)
		log_error("%s has no times of %s; `braid report --by span %s` lists its spans", path,
			  !o->slowest		      ? "this span"
			  : filter_has_span(&o->span) ? "such spans"
						      : "spans",
			  path);
	return err;
}

static int print_chosen(struct explain_options *o, struct timeline *tl, const struct chosen *c, bool *ok)
{
	const struct analyzer *a = tl->wall->an->a;
	int err = 0;

	for (size_t i = 0; !err && *ok && i < c->stretches.count; i++) {
		const struct stretch *s = &c->stretches.at[i];

		if (!o->json)
			print_heading(a, i ? "\nSpan" : "Span", s->span);
		if (!c->against.span) {
			err = explain_print(o, tl, s, ok);
			continue;
		}
		if (!o->json)
			print_heading(a, c->typical_of ? "against the typical one," : "against", c->against.span);
		err = explain_print_diff(o, tl, s, &c->against, c->typical_of);
	}
	return err;
}

int explain_print_spans(struct explain_options *o, const char *path, struct wall *w, bool *ok)
{
	static const struct filter everything;
	struct span_choice c;
	struct chosen chosen = {0};
	struct timeline *tl = NULL;
	/* One with an id is compared with all spans. */
	int err = span_choice_new(&c, w, o->span.spans.count || o->against_text ? &everything : &o->span);

	err = err ?: choose_all(o, &c, path, &chosen, ok);
	if (!err && *ok)
		err = timeline_new(&tl, w) ?: print_chosen(o, tl, &chosen, ok);
	timeline_free(tl);
	free(chosen.stretches.at);
	span_choice_free(&c);
	return err;
}
