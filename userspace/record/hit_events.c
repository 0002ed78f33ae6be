// SPDX-License-Identifier: Apache-2.0
#include "hit_events.h"

#include "hit_values.h"
#include "kernel/kernel_side.h"
#include "sink/names.h"

#include <stdio.h>
#include <string.h>

void hit_events_facts(struct session *s)
{
	const struct record_options *o = s->options;
	char text[BRAID_HITS * (PROBE_TEXT + 2)] = "";
	size_t used = 0;

	if (*o->event)
		sink_info(&s->sink, "record.event", o->event);
	if (o->clock) {
		snprintf(text, sizeof(text), "%d", o->frequency_hz);
		sink_info(&s->sink, "record.frequency_hz", text);
	}
	if (!o->probe_count)
		return;
	for (uint32_t i = 0; i < o->probe_count && (o->clock || !*o->event); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", o->probes[i].text);
	if (used)
		sink_info(&s->sink, "record.events", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)o->period);
	sink_info(&s->sink, "record.period", text);
}

uint32_t hit_events_id(struct session *s, uint32_t event)
{
	const struct record_options *o = s->options;

	if (!event || event > o->probe_count || (!o->clock && o->probe_count == 1))
		return 0;
	return names_id(s->names, NULL, trace_str_of(o->probes[event - 1].text));
}

/* How to have fewer hits. */
static const char *fewer(enum probe_type type)
{
	return type == PROBE_KERNEL   ? "a filter, or a longer time, selects some of them"
	       : type == PROBE_MALLOC ? "its allocator can take fewer samples"
				      : "a filter, or -c N, selects some of them";
}

void hit_events_stats(struct session *s)
{
	const struct record_options *o = s->options;
	char key[PROBE_TEXT + 8];
	uint64_t hits, lost;

	for (uint32_t i = 0; i < o->probe_count; i++) {
		kernel_side_hits(s->kernel, i, &hits, &lost);
		snprintf(key, sizeof(key), "hits %s", o->probes[i].text);
		if (probe_type_samples(o->probes[i].type))
			sink_stat(&s->sink, 0, key, hits);
		if (lost && !s->event_lost[i])
			sink_notice(
				&s->sink, 0, BRAID_NOTICE_WARNING,
				"'%s' is hit too often: in a process, walks of its stacks take a quarter of a CPU at "
				"most, and events have a share of the ring; other hits are counted as lost; %s",
				o->probes[i].text, fewer(o->probes[i].type));
		s->event_lost[i] = lost;
	}
}

struct trace_str hit_events_values(struct session *s, const struct braid_event_sample *e)
{
	static char text[HIT_VALUES_TEXT];
	const struct braid_event_hit *values = e->event ? hit_values_of(s->hit_values, e->tid, e->hdr.time_ns) : NULL;

	*text = '\0';
	if (values && values->event == e->event && e->event <= s->options->probe_count)
		hit_values_text(kernel_side_hit(s->kernel, e->event - 1), values, text);
	return trace_str_of(text);
}
