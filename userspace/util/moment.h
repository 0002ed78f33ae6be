// SPDX-License-Identifier: Apache-2.0
/* Points in the time of a recording: parses what users write, and formats what they read. */
#ifndef BRAID_UTIL_MOMENT_H
#define BRAID_UTIL_MOMENT_H

#include <stddef.h>
#include <stdint.h>

enum moment_kind {
	MOMENT_SINCE_START, /* a duration since the recording's start */
	MOMENT_OF_DAY,	    /* a local time of day, on the recording's day */
	MOMENT_DATE,	    /* a date and a time of day, which is midnight if it has none */
};

struct moment {
	enum moment_kind kind;
	uint64_t ns; /* since the start, midnight, or 1970 */
};

/*
 * "1.5", "500ms" (quantity.h); "12:30:05", "12:30"; "2026-11-22T12:30:05.25", also with a blank for the T;
 * "2026-11-22", the midnight at which that day begins. A date without Z or +01:00 is in this machine's time zone. 0 or
 * -EINVAL.
 */
int moment_parse(const char *text, struct moment *m);

/*
 * The time since the start of a recording that began at `start_ns` (since 1970, 0: not known) and has that duration. A
 * time of day is on the day on which the recording began, or on the next day if the recording includes it only there.
 * 0, or -ENODATA when the start is needed but not known.
 */
int moment_since(const struct moment *m, uint64_t start_ns, uint64_t lasted_ns, int64_t *since_ns);

#define MOMENT_TEXT 48

/* "2026-11-22 12:30:05.250 +0100", with `digits` of the second's fraction. Returns `buf`. */
const char *moment_date(char buf[MOMENT_TEXT], uint64_t realtime_ns, int digits);

/* The same without blanks, as in ISO 8601: "2026-11-22T12:30:05.250+0100". */
const char *moment_iso(char buf[MOMENT_TEXT], uint64_t realtime_ns, int digits);

#endif
