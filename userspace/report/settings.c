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
	return row->origin && row->origin != BRAID_SETTING_ERGONOMIC && row->origin != BRAID_SETTING_INTERNAL &&
	       row->origin != BRAID_SETTING_DEFAULT;
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

enum group { CHANGED_FLAGS, PROPERTIES, DEFAULT_FLAGS, GROUPS };

static enum group group_of(const struct attribute_row *row)
{
	if (!row->origin)
		return PROPERTIES;
	return row->origin == BRAID_SETTING_DEFAULT ? DEFAULT_FLAGS : CHANGED_FLAGS;
}

static void text_setting(FILE *out, const struct analyzer *a, const struct attribute_row *row)
{
	const char *was = strpool_get(&a->strings, row->was);

	fputs("  ", out);
	if (row->origin) {
		text_flag(out, a, row);
		fprintf(out, "  (%s%s%s)\n", setting_origin_name(row->origin), *was ? ", was " : "", was);
	} else {
		fprintf(out, "-D%s=%s%s%s%s\n", strpool_get(&a->strings, row->key),
			strpool_get(&a->strings, row->value), *was ? "  (was " : "", was, *was ? ")" : "");
	}
}

/* Flags with their default values come last: there are hundreds. */
static void text_settings(FILE *out, const struct analyzer *a, uint32_t place, const char *part)
{
	size_t printed = 0;

	for (int group = 0; group < GROUPS; group++)
		for (const struct attribute_row *row = attributes_first(a, place); row; row = attributes_next(a, row))
			if ((int)group_of(row) == group &&
			    (!part || strcasestr(strpool_get(&a->strings, row->key), part))) {
				text_setting(out, a, row);
				printed++;
			}
	if (place && part && !printed)
		fprintf(out, "  no name of a setting contains '%s'\n", part);
}

void settings_text(FILE *out, const struct views *v, const char *part)
{
	const struct analyzer *a = v->an->a;

	for (size_t i = 0; i < v->jvms.count; i++) {
		const struct process_row *p = table_get(&a->processes, v->jvms.at[i].process);
		uint32_t place = p ? p->settings : 0;

		fprintf(out, "%spid %u%s\n", i ? "\n" : "", v->jvms.at[i].pid,
			place ? "" : "  flags and system properties are not known");
		text_settings(out, a, place, part);
	}
	if (!v->jvms.count)
		fputs("The trace has no JVM.\n", out);
}

static void json_flag(struct json *j, const struct analyzer *a, const struct attribute_row *row)
{
	json_open(j, strpool_get(&a->strings, row->key), '{');
	json_string(j, "value", strpool_get(&a->strings, row->value));
	json_string(j, "origin", setting_origin_name(row->origin));
	if (row->was)
		json_string(j, "was", strpool_get(&a->strings, row->was));
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
