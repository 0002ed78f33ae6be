// SPDX-License-Identifier: Apache-2.0
/* Attributes of processes and spans, in each format. */
#include <string.h>

#include <analyze/attributes.h>

#include "info.h"
#include "script.h"

void text_attributes(FILE *out, const struct analyzer *a, uint32_t place)
{
	for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row)) {
		const char *value = strpool_get(&a->strings, row->value);

		script_text(out, strpool_get(&a->strings, row->key),
			    (struct trace_str){.str = value, .len = (uint32_t)strlen(value)});
	}
}

static void json_members(struct json *j, const struct analyzer *a, uint32_t place)
{
	json_open(j, "attributes", '{');
	for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row))
		json_string(j, strpool_get(&a->strings, row->key), strpool_get(&a->strings, row->value));
	json_close(j, '}');
}

void json_attributes(struct json *j, const struct analyzer *a, uint32_t place)
{
	if (place)
		json_members(j, a, place);
}

/* ---- processes ---- */

#define SHOWN 20

void text_resources(FILE *out, const struct analyzer *a)
{
	unsigned count = 0;

	for (size_t i = 0; i < a->processes.count; i++) {
		const struct process_row *p = table_row(&a->processes, i);

		if (!p->attributes || count++ >= SHOWN)
			continue;
		if (count == 1)
			fputs("\nAttributes of processes\n", out);
		fprintf(out, "  pid %u ", p->pid);
		text_attributes(out, a, p->attributes);
		putc('\n', out);
	}
	text_more(out, 2, count, SHOWN);
}

void json_resources(struct json *j, const struct analyzer *a)
{
	json_open(j, "resources", '[');
	for (size_t i = 0; i < a->processes.count; i++) {
		const struct process_row *p = table_row(&a->processes, i);

		if (!p->attributes)
			continue;
		json_open(j, NULL, '{');
		json_number(j, "pid", p->pid);
		json_members(j, a, p->attributes);
		json_close(j, '}');
	}
	json_close(j, ']');
}
