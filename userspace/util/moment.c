// SPDX-License-Identifier: Apache-2.0
#include "moment.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "quantity.h"

#define SECOND_NS 1000000000ULL
#define MINUTE_S 60
#define HOUR_S 3600

/* ---- reading ---- */

/* Parses ".25" to nanoseconds; returns what follows. */
static const char *fraction(const char *p, uint64_t *ns)
{
	uint64_t scale = SECOND_NS / 10;

	*ns = 0;
	if (*p != '.' || !isdigit((unsigned char)p[1]))
		return p;
	for (p++; isdigit((unsigned char)*p); p++, scale /= 10)
		*ns += (uint64_t)(*p - '0') * scale;
	return p;
}

/* Parses "12:30:05.25" or "12:30"; returns what follows, NULL for anything else. */
static const char *time_of_day(const char *text, struct tm *tm, uint64_t *ns)
{
	const char *end = strptime(text, "%H:%M:%S", tm);

	*ns = 0;
	return end ? fraction(end, ns) : strptime(text, "%H:%M", tm);
}

/* Parses "Z", "+01:00" or "-0130" to seconds east of Greenwich. False for anything else. */
static bool zone(const char *p, long *east_s)
{
	unsigned hours, minutes = 0;
	int used = 0;

	*east_s = 0;
	if (strcmp(p, "Z") == 0)
		return true;
	if ((*p != '+' && *p != '-') || !isdigit((unsigned char)p[1]))
		return false;
	if (sscanf(p + 1, "%2u:%2u%n", &hours, &minutes, &used) < 2 &&
	    sscanf(p + 1, "%2u%2u%n", &hours, &minutes, &used) < 2)
		return false;
	if (p[1 + used] || hours > 14 || minutes >= 60)
		return false;
	*east_s = (long)(hours * HOUR_S + minutes * MINUTE_S) * (*p == '-' ? -1 : 1);
	return true;
}

static int parse_date(const char *text, struct moment *m)
{
	struct tm tm = {.tm_isdst = -1};
	const char *p = strptime(text, "%Y-%m-%d", &tm);
	uint64_t ns = 0;
	long east_s;
	time_t s;

	if (p && (*p == 'T' || *p == ' '))
		p = isdigit((unsigned char)p[1]) ? time_of_day(p + 1, &tm, &ns) : NULL;
	if (!p || (*p && !zone(p, &east_s)))
		return -EINVAL;
	s = *p ? timegm(&tm) - east_s : mktime(&tm);
	if (s < 0 || (uint64_t)s > UINT64_MAX / 4 / SECOND_NS)
		return -EINVAL;
	*m = (struct moment){MOMENT_DATE, (uint64_t)s * SECOND_NS + ns};
	return 0;
}

int moment_parse(const char *text, struct moment *m)
{
	struct tm tm = {0};
	const char *end;
	uint64_t ns;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -EINVAL;
	if (strchr(text, '-'))
		return parse_date(text, m);
	if (!strchr(text, ':')) {
		m->kind = MOMENT_SINCE_START;
		return duration_parse(text, &m->ns);
	}
	end = time_of_day(text, &tm, &ns);
	if (!end || *end)
		return -EINVAL;
	*m = (struct moment){MOMENT_OF_DAY,
			     (uint64_t)(tm.tm_hour * HOUR_S + tm.tm_min * MINUTE_S + tm.tm_sec) * SECOND_NS + ns};
	return 0;
}

/* ---- in a recording ---- */

/* A time of day, `days` after the day of `start_ns`. */
static uint64_t on_day(uint64_t start_ns, int days, uint64_t of_day_ns)
{
	time_t start_s = (time_t)(start_ns / SECOND_NS), s;
	struct tm tm;

	if (!localtime_r(&start_s, &tm))
		return start_ns;
	tm.tm_mday += days;
	tm.tm_hour = 0;
	tm.tm_min = 0;
	tm.tm_sec = (int)(of_day_ns / SECOND_NS);
	tm.tm_isdst = -1;
	s = mktime(&tm);
	return s < 0 ? start_ns : (uint64_t)s * SECOND_NS + of_day_ns % SECOND_NS;
}

int moment_since(const struct moment *m, uint64_t start_ns, uint64_t lasted_ns, int64_t *since_ns)
{
	uint64_t at_ns = m->ns;

	if (m->kind == MOMENT_SINCE_START) {
		*since_ns = (int64_t)m->ns;
		return 0;
	}
	if (!start_ns)
		return -ENODATA;
	if (m->kind == MOMENT_OF_DAY) {
		uint64_t next_ns = on_day(start_ns, 1, m->ns);

		at_ns = on_day(start_ns, 0, m->ns);
		if (at_ns < start_ns && next_ns - start_ns <= lasted_ns)
			at_ns = next_ns;
	}
	*since_ns = (int64_t)(at_ns - start_ns);
	return 0;
}

/* ---- writing ---- */

static const char *date(char buf[MOMENT_TEXT], uint64_t realtime_ns, int digits, const char *format, const char *zone)
{
	time_t s = (time_t)(realtime_ns / SECOND_NS);
	uint64_t part = realtime_ns % SECOND_NS;
	struct tm tm;
	size_t used;

	if (!localtime_r(&s, &tm) || !(used = strftime(buf, MOMENT_TEXT, format, &tm)))
		return strcpy(buf, "unknown");
	for (int i = digits; i < 9; i++)
		part /= 10;
	if (digits)
		used += (size_t)snprintf(buf + used, MOMENT_TEXT - used, ".%0*u", digits, (unsigned)part);
	strftime(buf + used, MOMENT_TEXT - used, zone, &tm);
	return buf;
}

const char *moment_date(char buf[MOMENT_TEXT], uint64_t realtime_ns, int digits)
{
	return date(buf, realtime_ns, digits, "%Y-%m-%d %H:%M:%S", " %z");
}

const char *moment_iso(char buf[MOMENT_TEXT], uint64_t realtime_ns, int digits)
{
	return date(buf, realtime_ns, digits, "%Y-%m-%dT%H:%M:%S", "%z");
}
