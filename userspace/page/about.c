// SPDX-License-Identifier: Apache-2.0
/* What the page says of its recording: a page that is sent to somebody must identify it, and what is missing in it. */
#include <report/info.h>
#include <string.h>

#include "page.h"

/* Facts with titles of their own; others have their keys. NULL: members of the object. */
static const struct {
	const char *key, *title;
} titles[] = {
	{"record.target", NULL},
	{"record.command", NULL},
	{"host.name", NULL},
	{"record.duration_ns", NULL},
	{"record.alloc_interval", NULL},
	{"record.braid", "braid"},
	{"host.kernel", "Kernel"},
	{"host.machine", "Machine"},
	{"host.cpus", "CPUs"},
	{"record.event", "Event"},
	{"record.events", "Events"},
	{"record.period", "Period"},
	{"record.choices", "Recorded"},
	{"record.frequency_hz", "Samples a second on each CPU"},
	{IMPORT_FACT_FORMAT, "Imported from"},
	{IMPORT_FACT_FILE, "File"},
	{IMPORT_FACT_BY, "Made by"},
	{IMPORT_FACT_CLOCK, "Clock"},
	{IMPORT_FACT_BRAID, "Imported by braid"},
};

static void put_pair(struct json *j, const char *title, const char *text)
{
	json_open(j, NULL, '[');
	json_string(j, NULL, title);
	json_string(j, NULL, text);
	json_close(j, ']');
}

static void put_fact(struct json *j, const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (strcmp(titles[i].key, key) == 0) {
			if (titles[i].title)
				put_pair(j, titles[i].title, value);
			return;
		}
	put_pair(j, key, value);
}

static void put_facts(struct json *j, const struct views *v)
{
	const struct analyzer *a = v->an->a;
	char title[64], text[32];

	json_open(j, "facts", '[');
	for (size_t i = 0; i < a->infos.count; i++)
		put_fact(j, strpool_get(&a->strings, a->infos.at[i].key),
			 strpool_get(&a->strings, a->infos.at[i].value));
	for (size_t i = 0; i < v->jvms.count; i++) {
		const struct jvm_row *row = v->jvms.at[i].row;
		const char *version = strpool_get(&a->strings, row->java_version);

		snprintf(title, sizeof(title), "JVM %u", v->jvms.at[i].pid);
		put_pair(j, title, *version ? version : strpool_get(&a->strings, row->vm_version));
	}
	snprintf(text, sizeof(text), "%zu", v->threads.count);
	put_pair(j, "Threads with samples", text);
	json_close(j, ']');
}

static void put_losses(struct json *j, const struct views *v)
{
	json_open(j, "lost", '[');
	for (size_t i = 0; i < v->losses.count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "hop", v->losses.at[i].hop);
		json_string(j, "kind", v->losses.at[i].kind);
		json_number(j, "count", v->losses.at[i].count);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "notices", '[');
	for (size_t i = 0; i < v->notices.count; i++)
		json_string(j, NULL, v->notices.at[i].text);
	json_close(j, ']');
}

void page_about(struct json *j, const struct views *v, const char *title)
{
	const struct analysis *an = v->an;
	char began[MOMENT_TEXT];

	json_open(j, "about", '{');
	json_string(j, "title", title);
	json_string(j, "host", analyzer_info(an->a, "host.name"));
	json_string(j, "target", analyzer_info(an->a, "record.target"));
	json_string(j, "command", analyzer_info(an->a, "record.command"));
	json_string(j, "began", an->start_realtime_ns ? moment_date(began, an->start_realtime_ns, 0) : "");
	filter_json(j, "filter", an);
	json_bool(j, "ended", an->a->ended);
	put_losses(j, v);
	json_seconds(j, "duration_s", an->duration_ns);
	put_facts(j, v);
	json_close(j, '}');
}
