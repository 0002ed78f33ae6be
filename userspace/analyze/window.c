// SPDX-License-Identifier: Apache-2.0
/* The time of a recording, and the part of it that a filter selects. analysis.c calls it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"

/* A fact that is a number. */
static bool find_number(const struct analyzer *a, const char *key, uint64_t *number)
{
	const char *said = analyzer_info(a, key);
	char *end;

	errno = 0;
	*number = strtoull(said, &end, 10);
	return said[0] >= '0' && said[0] <= '9' && !*end && !errno;
}

uint64_t analyzer_duration_ns(const struct analyzer *a)
{
	uint64_t ns;

	if (find_number(a, "record.duration_ns", &ns))
		return ns;
	if (a->clock_last_ns > a->clock_first_ns)
		return a->clock_last_ns - a->clock_first_ns;
	return a->last_ns > a->first_ns ? a->last_ns - a->first_ns : 0;
}

/* A trace that lost its clock record begins with its first event. */
static void find_recording(struct window *w, const struct analyzer *a)
{
	w->start_ns = a->clock_first_ns;
	if (!w->start_ns && a->first_ns != UINT64_MAX)
		w->start_ns = a->first_ns;
	if (a->clock_first_ns)
		w->start_realtime_ns = a->realtime_first_ns;
	w->end_ns = add_saturating(w->start_ns, analyzer_duration_ns(a));
	if (a->last_ns > w->end_ns)
		w->end_ns = a->last_ns;
}

/* The moment on the trace's clock; 0 when it is before the clock's start. */
static int find_moment(const struct window *w, const struct moment *m, uint64_t *at_ns)
{
	int64_t since_ns;
	int err = moment_since(m, w->start_realtime_ns, w->end_ns - w->start_ns, &since_ns);

	if (err)
		return err;
	if (since_ns < 0)
		*at_ns = (uint64_t)-since_ns < w->start_ns ? w->start_ns - (uint64_t)-since_ns : 0;
	else
		*at_ns = add_saturating(w->start_ns, (uint64_t)since_ns);
	return 0;
}

/* Of a part of a recording, there is nothing outside of its window. */
static void clip_to_part(struct window *w, const struct analyzer *a)
{
	uint64_t ns;

	if (find_number(a, WINDOW_FROM, &ns) && ns > w->from_ns)
		w->from_ns = ns;
	if (find_number(a, WINDOW_TO, &ns) && ns < w->to_ns)
		w->to_ns = ns;
}

uint64_t window_begin_ns(const struct window *w)
{
	return w->from_ns ? w->from_ns : w->start_ns;
}

int analysis_window(struct window *w, const struct analyzer *a, const struct filter *filter)
{
	int err = 0;

	*w = (struct window){.to_ns = UINT64_MAX};
	find_recording(w, a);
	if (filter->has_from)
		err = find_moment(w, &filter->from, &w->from_ns);
	if (filter->has_to && !err)
		err = find_moment(w, &filter->to, &w->to_ns);
	if (err)
		return err;
	if (w->from_ns >= w->to_ns)
		return -EDOM;
	clip_to_part(w, a);
	if (w->from_ns > w->end_ns || (w->to_ns != UINT64_MAX && w->to_ns <= w->start_ns) || w->from_ns >= w->to_ns)
		return -ERANGE;
	/* Events before the first reading of the clock belong to the start. */
	if (w->from_ns <= w->start_ns)
		w->from_ns = 0;
	return 0;
}

bool analysis_has_window(const struct analysis *an)
{
	return an->from_ns || an->to_ns != UINT64_MAX;
}

bool analysis_selects_time(const struct analysis *an, uint64_t time_ns)
{
	return an->from_ns <= time_ns && time_ns < an->to_ns;
}

bool analysis_clip(const struct analysis *an, uint64_t *start_ns, uint64_t *duration_ns)
{
	uint64_t end_ns = add_saturating(*start_ns, *duration_ns);

	if (!*duration_ns)
		return analysis_selects_time(an, *start_ns);
	if (*start_ns >= an->to_ns || end_ns <= an->from_ns)
		return false;
	if (*start_ns < an->from_ns)
		*start_ns = an->from_ns;
	if (end_ns > an->to_ns)
		end_ns = an->to_ns;
	*duration_ns = end_ns - *start_ns;
	return true;
}

uint64_t analysis_end_ns(const struct analysis *an)
{
	uint64_t end_ns = an->duration_ns, last_ns = analysis_since(an, an->a->last_ns);

	if (last_ns > end_ns)
		end_ns = last_ns;
	return analysis_since(an, an->to_ns) < end_ns ? analysis_since(an, an->to_ns) : end_ns;
}

uint64_t analysis_shown_ns(const struct analysis *an)
{
	return analysis_end_ns(an) - analysis_since(an, an->from_ns);
}

bool analysis_has_duration(const struct analysis *an)
{
	return an->duration_ns || analyzer_has_times(an->a);
}

uint64_t analysis_since(const struct analysis *an, uint64_t time_ns)
{
	return time_ns > an->start_ns ? time_ns - an->start_ns : 0;
}
