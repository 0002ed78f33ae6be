// SPDX-License-Identifier: Apache-2.0
/* The flags and system properties of JVMs, in each format. */
#include <string.h>

#include <analyze/attributes.h>
#include <analyze/names.h>
#include <braid/ring.h>

#include "info.h"

/* Whether a person has chosen it, and not the JVM. */
static bool is_chosen(const struct attribute_row *row)
{
	return row->origin && row->origin != BRAID_SETTING_ERGONOMIC && row->origin != BRAID_SETTING_INTERNAL;
}

/* As on the command line: "-XX:+UseG1GC", "-XX:MaxHeapSize=1073741824". */
static void text_flag(FILE *out, const struct analyzer *a, const struct attribute_row *row)
{
	const char *key = strpool_get(&a->strings, row->key), *value = strpool_get(&a->strings, row->value);

	if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
		fprintf(out, "-XX:%c%s", *value == 't' ? '+' : '-', key);
	else
		fprintf(out, "-XX:%s=%s", key, value);
}

void text_chosen_flags(FILE *out, const struct analyzer *a, uint32_t place)
{
	unsigned count = 0;

	for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row)) {
		if (!is_chosen(row))
			continue;
		fputs(count++ ? " " : "    flags      ", out);
		text_flag(out, a, row);
	}
	if (count)
		putc('\n', out);
}

void settings_text(FILE *out, const struct views *v)
{
	const struct analyzer *a = v->an->a;

	for (size_t i = 0; i < v->jvms.count; i++) {
		const struct process_row *p = table_get(&a->processes, v->jvms.at[i].process);
		uint32_t place = p ? p->settings : 0;

		fprintf(out, "%spid %u%s\n", i ? "\n" : "", v->jvms.at[i].pid,
			place ? "" : "  flags and system properties are not known");
		for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row)) {
			if (!row->origin)
				continue;
			fputs("  ", out);
			text_flag(out, a, row);
			fprintf(out, "  (%s)\n", setting_origin_name(row->origin));
		}
		for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row))
			if (!row->origin)
				fprintf(out, "  -D%s=%s\n", strpool_get(&a->strings, row->key),
					strpool_get(&a->strings, row->value));
	}
	if (!v->jvms.count)
		fputs("The trace has no JVM.\n", out);
}

static void json_flag(struct json *j, const struct analyzer *a, const struct attribute_row *row)
{
	json_open(j, strpool_get(&a->strings, row->key), '{');
	json_string(j, "value", strpool_get(&a->strings, row->value));
	json_string(j, "origin", setting_origin_name(row->origin));
	json_close(j, '}');
}

void json_settings(struct json *j, const struct analyzer *a, uint32_t place)
{
	if (!place)
		return;
	json_open(j, "flags", '{');
	for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row))
		if (row->origin)
			json_flag(j, a, row);
	json_close(j, '}');
	json_open(j, "properties", '{');
	for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row))
		if (!row->origin)
			json_string(j, strpool_get(&a->strings, row->key), strpool_get(&a->strings, row->value));
	json_close(j, '}');
}
