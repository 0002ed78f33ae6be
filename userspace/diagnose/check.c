// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define EVIDENCE_ROWS 3
#define MATTERS 5.0 /* %: rows of less say nothing */

/* ---- what rules say ---- */

bool found(struct check *c, double measure)
{
	const struct rule *r = c->rule;
	double part = measure / r->worst;
	struct finding f = {.rule = r, .measure = measure};

	if (c->err || !(measure >= r->threshold))
		return false;
	f.severity = (unsigned)(r->weight * (part < 1 ? part : 1) + 0.5);
	if (!f.severity)
		f.severity = 1;
	c->err = VEC_PUSH(&c->to->findings, f);
	c->finding = c->err ? NULL : &c->to->findings.at[c->to->findings.count - 1];
	return !c->err;
}

void say(struct check *c, const char *format, ...)
{
	va_list args;

	if (c->err || c->finding->sentence)
		return;
	va_start(args, format);
	if (vasprintf(&c->finding->sentence, format, args) < 0) {
		c->finding->sentence = NULL;
		c->err = -ENOMEM;
	}
	va_end(args);
}

void evidence(struct check *c, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (!c->err && vasprintf(&text, format, args) < 0) {
		text = NULL;
		c->err = -ENOMEM;
	}
	va_end(args);
	if (!c->err)
		c->err = VEC_PUSH(&c->finding->evidence, text);
	if (c->err)
		free(text);
}

/* The weight of the events that are not only counted. */
static uint64_t known_weight(const struct kind_view *k, const struct event_table *t)
{
	uint64_t weight = k->weight;

	for (size_t i = 0; i < t->sums.count; i++)
		if (t->sums.at[i].only_counted)
			weight -= t->sums.at[i].weight;
	return weight;
}

void evidence_sums(struct check *c, enum braid_jvm_event_kind kind, enum event_by by, const char *in)
{
	const struct kind_view *k = kind_at(c, kind);
	const struct event_table *t = &k->by[by];
	uint64_t known = known_weight(k, t);
	int rows = 0;

	for (size_t i = 0; i < t->sums.count && rows < EVIDENCE_ROWS; i++) {
		const struct event_sum *s = &t->sums.at[i];
		double of = percent(s->weight, known);

		if (s->only_counted)
			continue;
		if (of < MATTERS)
			break;
		rows++;
		if (s->line)
			evidence(c, "%.0f %% %s %s:%u", of, in, s->name, s->line);
		else
			evidence(c, "%.0f %% %s %s", of, in, s->name);
	}
}

const char *place_text(char buf[PLACE_TEXT], const struct analysis *an, uint32_t site)
{
	int len = wait_site_length(an, site);

	buf[0] = '\0';
	if (site != ROW_NONE)
		snprintf(buf, PLACE_TEXT, " in %.*s", len < PLACE_TEXT - 5 ? len : PLACE_TEXT - 5,
			 events_site_name(an, site));
	return buf;
}

double per_second(const struct facts *f, uint64_t count)
{
	return f->ns ? (double)count * 1e9 / (double)f->ns : 0;
}

double threads_on_average(const struct facts *f, uint64_t ns)
{
	return f->ns ? (double)ns / (double)f->ns : 0;
}

const struct kind_view *kind_at(const struct check *c, enum braid_jvm_event_kind kind)
{
	return &c->v->events->kinds[kind];
}

/* ---- what is recorded ---- */

/* By one JVM at least. */
static bool has(const struct check *c, enum braid_event_type type)
{
	for (size_t i = 0; i < c->v->jvms.count; i++)
		if (events_recorded_of(c->v->an, c->v->jvms.at[i].process, type))
			return true;
	return false;
}

bool has_samples(const struct check *c)
{
	return c->v->an->samples.quality.total > 0;
}

bool has_alloc(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_ALLOC);
}

bool has_lock(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_LOCK);
}

bool has_gc(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_GC);
}

bool has_safepoint(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_SAFEPOINT);
}

bool has_thread(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_THREAD);
}

bool has_class(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_CLASS);
}

bool has_jit(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_JIT);
}

bool has_exception(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_EXCEPTION);
}

bool has_resource(const struct check *c)
{
	return has(c, BRAID_EVENT_TYPE_RESOURCE);
}

bool has_offcpu(const struct check *c)
{
	return c->facts->wall != NULL;
}
