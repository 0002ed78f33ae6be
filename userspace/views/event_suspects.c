// SPDX-License-Identifier: Apache-2.0
/*
 * Leak suspects of a recording: sites that grow all the time, and through collections. The time that counts is that
 * from the first object of the site that a collection has left in use to the last one of its JVM: what was allocated
 * later, no collection has looked at. It is divided into quarters. A suspect is a site of which more objects came than
 * went in each of them, by more than chance: were an object as likely to come as to go, the difference would have the
 * variance sum of weight². So what is made at once and stays, what is bounded, and what goes soon are none. What is in
 * use for a moment looks like growth if the last collection came in that moment, so the oldest object must have
 * survived several. event_sites.c calls it.
 */
#include <stdlib.h>

#include <util/compare.h>

#include "event_views.h"

#define QUARTERS 4
#define ERRORS 2.0 /* standard errors that the growth of each quarter exceeds; for objects that only come: from 5 on */

#define COLLECTIONS QUARTERS /* that the oldest object has survived, so that each quarter had one to end in */

#define HOUR_NS 3600e9

struct quarter {
	double came, went, variance; /* bytes; bytes² */
};

struct span {
	uint64_t from_ns, to_ns;
};

static int by_process_and_site(const void *a, const void *b)
{
	const struct site_object *x = a, *y = b;
	int c = compare_u64(x->process, y->process);

	return c ? c : compare_u64(x->site, y->site);
}

/* Objects of one process, from `o` on: how many, and when the last one of those that are there was allocated. */
static size_t process_end(const struct site_object *o, size_t count, uint64_t *end_ns)
{
	size_t n = 0;

	*end_ns = 0;
	for (; n < count && o[n].process == o[0].process; n++)
		/* one that is gone may have come after the last look at those that are not */
		if (o[n].to_ns == UINT64_MAX && o[n].from_ns > *end_ns)
			*end_ns = o[n].from_ns;
	return n;
}

/*
 * Objects of one site in one process, from `o` on: how many, when the first was allocated, and what they have survived.
 */
static size_t site_start(const struct site_object *o, size_t count, uint64_t *start_ns, uint32_t *survived)
{
	size_t n = 0;

	*start_ns = UINT64_MAX;
	*survived = 0;
	for (; n < count && o[n].site == o[0].site; n++) {
		*start_ns = o[n].from_ns < *start_ns ? o[n].from_ns : *start_ns;
		*survived = o[n].survived > *survived ? o[n].survived : *survived;
	}
	return n;
}

static unsigned quarter_of(const struct span *s, uint64_t ns)
{
	double part = (double)(ns - s->from_ns) / (double)(s->to_ns - s->from_ns);

	return ns >= s->to_ns ? QUARTERS - 1 : (unsigned)(part * QUARTERS);
}

/* An object that is found gone later is so because of a collection of that time. */
static void add(struct quarter *q, const struct span *s, const struct site_object *o)
{
	double weight = (double)o->weight;
	unsigned came = quarter_of(s, o->from_ns), went = quarter_of(s, o->to_ns);

	if (o->from_ns > s->to_ns)
		return;
	q[came].came += weight;
	q[came].variance += weight * weight;
	if (o->to_ns == UINT64_MAX)
		return;
	q[went].went += weight;
	q[went].variance += weight * weight;
}

static bool is_growing(const struct quarter *q)
{
	for (int i = 0; i < QUARTERS; i++) {
		double growth = q[i].came - q[i].went;

		if (growth <= 0 || growth * growth <= ERRORS * ERRORS * q[i].variance)
			return false;
	}
	return true;
}

static void find_growth(struct event_views *v, const struct span *span, const struct site_object *o, size_t count)
{
	struct quarter q[QUARTERS] = {0};
	struct site_view *s = &v->sites.at[o[0].site];
	double growth = 0;

	for (size_t i = 0; i < count; i++)
		add(q, span, &o[i]);
	if (!is_growing(q))
		return;
	for (int i = 1; i < QUARTERS; i++) /* the first one may have what the program begins with */
		growth += q[i].came - q[i].went;
	s->grown_bytes = add_saturating(s->grown_bytes, (uint64_t)growth);
	s->grown_per_hour += growth * QUARTERS / (QUARTERS - 1) / (double)(span->to_ns - span->from_ns) * HOUR_NS;
}

/* `count` objects of one process. */
static void find_in_process(struct event_views *v, const struct site_object *o, size_t count, uint64_t end_ns)
{
	for (size_t i = 0, n; i < count; i += n) {
		struct span span = {.to_ns = end_ns};
		uint32_t survived;

		n = site_start(&o[i], count - i, &span.from_ns, &survived);
		if (survived >= COLLECTIONS && span.from_ns < span.to_ns)
			find_growth(v, &span, &o[i], n);
	}
}

void event_suspects_find(struct event_views *v, struct site_object *objects, size_t count)
{
	if (count)
		qsort(objects, count, sizeof(*objects), by_process_and_site);
	for (size_t i = 0, n; i < count; i += n) {
		uint64_t end_ns;

		n = process_end(&objects[i], count - i, &end_ns);
		find_in_process(v, &objects[i], n, end_ns);
	}
}
