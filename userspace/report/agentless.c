// SPDX-License-Identifier: Apache-2.0
/* JVMs that had no agent: what was asked for, and was not recorded of them. */
#include <inttypes.h>

#include <braid/event_config.h>
#include <config/event_config.h>
#include <util/json.h>

#include "events.h"
#include "info.h"

#define SHOWN 20U

static bool is_agentless(const struct analysis *an, uint32_t process)
{
	return !analysis_stat(an, process, TRACE_STAT_AGENT, 1);
}

/* What was asked for, and only an agent reports. */
static uint32_t missing_of(const struct analysis *an, uint32_t process)
{
	uint32_t types = 0;

	for (int type = 0; type < BRAID_EVENT_TYPES && is_agentless(an, process); type++)
		if (BRAID_EVENT_TYPES_AGENT >> type & 1 && events_recorded(an, type))
			types |= 1U << type;
	return types;
}

bool agentless_any(const struct analysis *an)
{
	for (size_t i = 0; i < an->a->processes.count; i++)
		if (is_agentless(an, an->a->processes.ids[i]))
			return true;
	return false;
}

uint32_t agentless_types(const struct analysis *an, size_t *count)
{
	uint32_t all = 0;
	size_t processes = 0;

	for (size_t i = 0; i < an->a->processes.count; i++) {
		uint32_t types = missing_of(an, an->a->processes.ids[i]);

		all |= types;
		processes += types != 0;
	}
	if (count)
		*count = processes;
	return all;
}

void text_agentless(FILE *out, const struct analysis *an)
{
	size_t shown = 0;

	for (size_t i = 0; i < an->a->processes.count; i++) {
		uint32_t process = an->a->processes.ids[i], types = missing_of(an, process);
		char label[PROCESS_LABEL_MAX], text[EVENT_TYPES_TEXT];

		if (!types || shown++ >= SHOWN)
			continue;
		fprintf(out, "  %-10s %s: process %u (%s) had no agent\n", "lacks",
			event_types_text(types, text, sizeof(text)), analysis_process(an, process)->pid,
			analysis_label(an, process, label));
	}
	if (shown > SHOWN)
		fprintf(out, "  %-10s the same of %zu more processes\n", "", shown - SHOWN);
}

void json_agentless(struct json *j, const struct analysis *an)
{
	json_open(j, "without_agent", '[');
	for (size_t i = 0; i < an->a->processes.count; i++) {
		uint32_t process = an->a->processes.ids[i], types = missing_of(an, process);

		if (!is_agentless(an, process))
			continue;
		json_open(j, NULL, '{');
		json_number(j, "pid", analysis_process(an, process)->pid);
		json_open(j, "missing", '[');
		for (int type = 0; type < BRAID_EVENT_TYPES; type++)
			if (types >> type & 1)
				json_string(j, NULL, event_type_name(type));
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}
