// SPDX-License-Identifier: Apache-2.0
#include "merge_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/events.h>

const char *merge_fact(const struct merge_input *in, const char *key)
{
	return analyzer_info(in->an->a, key);
}

/* What the times of a trace are: those of an imported one may be none, or of a clock that nothing else has. */
static const char *times_of(const struct merge_input *in)
{
	if (!analyzer_has_times(in->an->a))
		return "none";
	return in->an->start_realtime_ns ? "with a date" : "without a date";
}

static bool is_imported(const struct merge_input *in)
{
	return *merge_fact(in, IMPORT_FACT_FORMAT) != '\0';
}

size_t merge_base(const struct merge_input *in, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_imported(&in[i]))
			return i;
	return 0;
}

const char *merge_differs(const struct merge_input *a, const struct merge_input *b)
{
	static const char *const same[] = {"record.event", "record.frequency_hz", "record.period"};

	for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++)
		if (strcmp(merge_fact(a, same[k]), merge_fact(b, same[k])) != 0)
			return same[k];
	return NULL;
}

size_t edit_merge_refused(const struct merge_input *in, size_t count, char why[MERGE_WHY_MAX])
{
	size_t base = merge_base(in, count);

	for (size_t i = 0; i < count; i++) {
		const char *key = merge_differs(&in[base], &in[i]);

		if (!key || is_imported(&in[i]))
			continue;
		snprintf(why, MERGE_WHY_MAX, "%s is '%s' in %s and '%s' in %s", key + strlen("record."),
			 merge_fact(&in[base], key), in[base].path, merge_fact(&in[i], key), in[i].path);
		return i;
	}
	for (size_t i = 1; i < count; i++)
		if (strcmp(times_of(&in[0]), times_of(&in[i])) != 0) {
			snprintf(why, MERGE_WHY_MAX, "the times are %s in %s and %s in %s", times_of(&in[0]),
				 in[0].path, times_of(&in[i]), in[i].path);
			return i;
		}
	return 0;
}

int64_t merge_epoch_ns(const struct analyzer *a)
{
	return a->clock_first_ns ? (int64_t)(a->realtime_first_ns - a->clock_first_ns) : 0;
}

/* The time of day is corrected while a machine runs, so two readings of one boot differ a little. */
#define SAME_BOOT_NS INT64_C(2000000000)

bool merge_same_boot(const struct merge_input *a, const struct merge_input *b)
{
	int64_t off_ns = merge_epoch_ns(a->an->a) - merge_epoch_ns(b->an->a);

	return strcmp(merge_fact(a, "host.name"), merge_fact(b, "host.name")) == 0 &&
	       strcmp(merge_fact(a, "host.kernel"), merge_fact(b, "host.kernel")) == 0 && off_ns < SAME_BOOT_NS &&
	       off_ns > -SAME_BOOT_NS;
}

uint32_t merge_cpus(const struct merge_input *in)
{
	return (uint32_t)strtoul(merge_fact(in, "host.cpus"), NULL, 10);
}

bool merge_has_objects(const struct merge_input *in)
{
	return events_recorded(in->an, BRAID_EVENT_TYPE_LIVE) || events_recorded(in->an, BRAID_EVENT_TYPE_MALLOC) ||
	       events_recorded(in->an, BRAID_EVENT_TYPE_JNI);
}

bool merge_same_recording(const struct merge_input *a, const struct merge_input *b)
{
	const struct analyzer *x = a->an->a, *y = b->an->a;

	return analysis_has_window(a->an) && analysis_has_window(b->an) && x->clock_first_ns &&
	       x->clock_first_ns == y->clock_first_ns && x->realtime_first_ns == y->realtime_first_ns &&
	       merge_same_boot(a, b);
}
