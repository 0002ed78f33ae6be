// SPDX-License-Identifier: Apache-2.0
#include "hits.h"

#include "definitions.h"
#include "events.h"

#include <braid/hit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- feeding ---- */

/* An analysis takes memory for each event and stack, so a file must not have events as it likes. */
#define EVENTS_MAX (4U * BRAID_HITS)

/* 0, -ENOMEM, or -E2BIG for one event too many. */
static int event_of(struct analyzer *a, uint32_t name, struct hit_event **h)
{
	uint32_t at = u64map_get(&a->hit_of, name), *fresh;

	if (!at && a->hits.count == EVENTS_MAX)
		return -E2BIG;
	if (!at) {
		fresh = u64map_put(&a->hit_of, name);
		if (!fresh || VEC_PUSH(&a->hits, (struct hit_event){.name = name}))
			return -ENOMEM;
		at = *fresh = (uint32_t)a->hits.count;
	}
	*h = &a->hits.at[at - 1];
	return 0;
}

int hits_keep_values(struct analyzer *a, struct hit_event *h, const struct sample *one, struct trace_str text)
{
	struct hit_values values = {.sample = *one};

	if (!text.len)
		return 0;
	return analyzer_keep(a, text, &values.text) ?: VEC_PUSH(&h->values, values);
}

int hits_feed(struct analyzer *a, uint32_t name, const struct sample *one, struct trace_str text)
{
	struct hit_event *h;
	int err = event_of(a, name, &h);

	if (err == -E2BIG) {
		a->ignored++;
		return 0;
	}
	err = err ?: hits_keep_values(a, h, one, text);
	if (err)
		return err;
	return a->keep_samples ? VEC_PUSH(&h->samples, *one) : sample_sums_add(&h->sums, one);
}

void hits_free(struct analyzer *a)
{
	for (size_t i = 0; i < a->hits.count; i++) {
		free(a->hits.at[i].samples.at);
		free(a->hits.at[i].values.at);
		stack_sums_free(&a->hits.at[i].sums);
	}
	free(a->hits.at);
	free(a->sampling.values.at);
	u64map_free(&a->hit_of);
}

/* ---- the analysis ---- */

static int collect(struct analysis *an, const struct hit_event *h, struct profile *to)
{
	int err = analysis_add_sums(an, to, &h->sums);

	for (size_t i = 0; i < h->samples.count && !err; i++) {
		const struct sample *s = &h->samples.at[i];

		if (analysis_selects_time(an, s->time_ns) && analysis_selects_span(an, s->span))
			err = analysis_add(an, to, s->thread, s->node, s->weight);
	}
	return err ?: profile_finish(to, an);
}

int hits_collect(struct analysis *an)
{
	const struct analyzer *a = an->a;
	int err = 0;

	an->hits = calloc(a->hits.count + 1, sizeof(*an->hits));
	if (!an->hits)
		return -ENOMEM;
	for (size_t i = 0; i < a->hits.count && !err; i++)
		err = collect(an, &a->hits.at[i], &an->hits[i]);
	return err;
}

static const char *name_of(const struct analysis *an, size_t i)
{
	const char *name = strpool_get(&an->a->strings, an->a->hits.at[i].name);

	return *name ? name : "[unknown]";
}

bool hits_named(const char *event, const char *typed)
{
	size_t length = strlen(typed);

	for (const char *at = length ? strstr(event, typed) : NULL; at; at = strstr(at + 1, typed))
		if ((at == event || at[-1] == ':') && (!at[length] || at[length] == '/' || at[length] == '{'))
			return true;
	return false;
}

int hits_by_name(const struct analyzer *a, const char *typed, const struct hit_event **out)
{
	*out = NULL;
	for (size_t i = 0; *typed && i < a->hits.count; i++) {
		const char *name = strpool_get(&a->strings, a->hits.at[i].name);

		if (strcmp(name, typed) == 0) {
			*out = &a->hits.at[i];
			return 0;
		}
	}
	for (size_t i = 0; i < a->hits.count; i++) {
		if (!hits_named(strpool_get(&a->strings, a->hits.at[i].name), typed))
			continue;
		if (*out)
			return -ENOTUNIQ;
		*out = &a->hits.at[i];
	}
	return *out ? 0 : -ENOENT;
}

const struct profile *hits_profile(const struct analysis *an, const char *typed)
{
	const struct hit_event *h;
	int err = hits_by_name(an->a, typed, &h);

	if (!err)
		return &an->hits[h - an->a->hits.at];
	return err == -ENOENT && hits_named(analyzer_info(an->a, "record.event"), typed) ? &an->samples : NULL;
}

/* ---- views ---- */

static int compare_sites(const void *x, const void *y)
{
	const struct hit_site *p = x, *q = y;
	int c = (p->samples < q->samples) - (p->samples > q->samples);

	c = c ?: strcmp(p->name, q->name);
	return c ?: (p->line > q->line) - (p->line < q->line);
}

static int compare_views(const void *x, const void *y)
{
	const struct hit_view *p = x, *q = y;
	int c = (p->profile->quality.total < q->profile->quality.total) -
		(p->profile->quality.total > q->profile->quality.total);

	return c ?: strcmp(p->name, q->name);
}

static int add_site(const struct analysis *an, struct hit_view *v, struct u64map *of, const struct stack_sum *sum)
{
	uint32_t site = wait_site(an, sum->stack), *at;
	struct hit_site fresh = {.name = events_site_name(an, site), .key = UINT64_MAX};

	if (site != ROW_NONE) {
		const struct xframe *x = &an->xframes.at[site];

		fresh.line = x->line;
		fresh.key = (uint64_t)an->syms.at[x->sym].name << 32 | x->line;
	}
	at = u64map_put(of, fresh.key);
	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&v->sites, fresh))
			return -ENOMEM;
		*at = (uint32_t)v->sites.count;
	}
	v->sites.at[*at - 1].samples = add_saturating(v->sites.at[*at - 1].samples, sum->weight);
	return 0;
}

static int compare_values(const void *x, const void *y)
{
	const struct hit_value *p = x, *q = y;
	int c = (p->samples < q->samples) - (p->samples > q->samples);

	return c ?: strcmp(p->text, q->text);
}

bool hits_select(const struct analysis *an, const struct sample *s, struct stack_sum *sum)
{
	return analysis_selects_time(an, s->time_ns) && analysis_selects_span(an, s->span) &&
	       analysis_sum_of(an, s->thread, s->node, s->weight, sum);
}

bool hits_elapsed(const char *values, uint64_t *ns)
{
	static const char name[] = "elapsed=";
	const char *at = strncmp(values, name, strlen(name)) == 0 ? values : strstr(values, " elapsed=");
	char *end;

	if (!at)
		return false;
	at = strchr(at, '=') + 1;
	errno = 0;
	*ns = strtoull(at, &end, 10);
	return end != at && !errno && strncmp(end, "ns", 2) == 0 && (!end[2] || end[2] == ' ');
}

static int add_values(const struct analysis *an, struct hit_view *v, struct u64map *of, const struct hit_values *values)
{
	uint32_t *at = u64map_put(of, values->text);
	struct hit_value *value;

	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&v->values, (struct hit_value){.text = strpool_get(&an->a->strings, values->text)}))
			return -ENOMEM;
		*at = (uint32_t)v->values.count;
	}
	value = &v->values.at[*at - 1];
	value->samples = add_saturating(value->samples, values->sample.weight);
	return 0;
}

static int view_values(const struct analysis *an, const struct hit_event *h, struct hit_view *v)
{
	struct u64map of = {0};
	struct stack_sum sum;
	int err = 0;

	for (size_t i = 0; i < h->values.count && !err; i++)
		if (hits_select(an, &h->values.at[i].sample, &sum))
			err = add_values(an, v, &of, &h->values.at[i]);
	VEC_SORT(&v->values, compare_values);
	u64map_free(&of);
	return err;
}

static int view_event(const struct analysis *an, struct hit_view *v)
{
	const struct stack_sum *s;
	struct u64map of = {0};
	struct stack_sums_cursor c;
	int err = 0;

	for (stack_sums_begin(&c, &v->profile->sums); !err && (s = stack_sums_next(&c));)
		err = add_site(an, v, &of, s);
	VEC_SORT(&v->sites, compare_sites);
	u64map_free(&of);
	return err;
}

static bool has_samples(const struct hit_views *v, const char *name)
{
	for (size_t i = 0; i < v->events.count; i++)
		if (strcmp(v->events.at[i].name, name) == 0)
			return true;
	return false;
}

/* Events without samples, which only a figure mentions: no more of them than a recording can have. */
static int add_unhit(struct hit_views *v, const struct analysis *an)
{
	static const struct profile none;
	const char *sampling = analyzer_info(an->a, "record.event");
	int err = 0;

	for (size_t i = 0; i < an->a->stats.count && v->events.count < EVENTS_MAX && !err; i++) {
		const struct stat_row *s = &an->a->stats.at[i];
		const char *name = strpool_get(&an->a->strings, s->key);

		if (s->process || strncmp(name, HITS_STAT, strlen(HITS_STAT)) != 0)
			continue;
		name += strlen(HITS_STAT);
		if (strcmp(name, sampling) != 0 && !has_samples(v, name))
			err = VEC_PUSH(&v->events, (struct hit_view){.name = name, .profile = &none, .hits = s->value});
	}
	return err;
}

static int add_view(struct hit_views *v, const struct analysis *an, const struct hit_event *h, struct hit_view one)
{
	char key[512];

	snprintf(key, sizeof(key), HITS_STAT "%s", one.name);
	one.hits = analysis_stat(an, 0, key, 0);
	if (VEC_PUSH(&v->events, one))
		return -ENOMEM;
	return view_event(an, &v->events.at[v->events.count - 1])
		       ?: view_values(an, h, &v->events.at[v->events.count - 1]);
}

int hit_views_new(struct hit_views *v, const struct analysis *an)
{
	const struct analyzer *a = an->a;
	int err = 0;

	if (a->sampling.values.count)
		err = add_view(v, an, &a->sampling,
			       (struct hit_view){.name = analyzer_info(a, "record.event"), .profile = &an->samples});
	for (size_t i = 0; i < a->hits.count && !err; i++)
		err = add_view(
			v, an, &a->hits.at[i],
			(struct hit_view){.name = name_of(an, i), .profile = &an->hits[i], .event = &a->hits.at[i]});
	err = err ?: add_unhit(v, an);
	VEC_SORT(&v->events, compare_views);
	return err;
}

void hit_views_free(struct hit_views *v)
{
	for (size_t i = 0; i < v->events.count; i++) {
		free(v->events.at[i].sites.at);
		free(v->events.at[i].values.at);
	}
	free(v->events.at);
}
