// SPDX-License-Identifier: Apache-2.0
/* JVM events in a script: a line with the kind's fields. script.c calls it. */
#include <inttypes.h>
#include <string.h>

#include <analyze/event_fields.h>

#include "script.h"

static void text(void *out, const char *key, const char *value)
{
	script_text(out, key, (struct trace_str){.str = value, .len = (uint32_t)strlen(value)});
}

static void number(void *out, const char *key, uint64_t value, enum field_form form)
{
	fprintf(out, form == FIELD_HEX ? " %s=0x%" PRIx64 : " %s=%" PRIu64, key, value);
}

void script_fields(FILE *out, const struct analysis *an, const struct event *e)
{
	static const struct field_sink sink = {.text = text, .number = number};

	event_fields(an, e, &sink, out);
}
