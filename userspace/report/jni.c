// SPDX-License-Identifier: Apache-2.0
/* JNI references, and collections that waited for critical sections, in the text report and the JSON report. */
#include <inttypes.h>

#include "events.h"

void text_refs(FILE *out, const struct views *v)
{
	const struct event_views *e = v->events;
	uint64_t without = e->kinds[BRAID_JVM_JNI_STACK].counted;

	for (size_t i = 0; i < e->jni.count; i++) {
		const struct jni_view *r = &e->jni.at[i];

		fprintf(out,
			"\nJNI references of pid %u until %.3f s: %" PRIu64 " created, %" PRIu64
			" of them deleted, and %" PRIu64 " older ones\n",
			analysis_process(v->an, r->process)->pid, (double)analysis_since(v->an, r->at_ns) / 1e9,
			r->created, r->deleted, r->others);
		if (r->unwatched)
			fprintf(out,
				"  %" PRIu64
				" were created when too many were there to watch more (jni=N): if they are "
				"there is not known\n",
				r->unwatched);
	}
	if (without)
		fprintf(out,
			"  %" PRIu64
			" were created without a look at the stack: there were more than 20,000 in a second\n",
			without);
}

void text_held(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char section[QUANTITY_TEXT], gc[QUANTITY_TEXT];

	if (!e->held.count)
		return;
	fprintf(out, "\nCollections that waited for critical sections of JNI\n    %11s  %11s  %11s  who held them up\n",
		"at", "section", "pause");
	for (size_t i = 0; i < e->held.count && i < top; i++) {
		const struct held_view *h = &e->held.at[i];

		fprintf(out, "    %9.3f s  %11s  %11s  ", (double)analysis_since(v->an, h->at_ns) / 1e9,
			h->section_ns ? duration_cell(section, 11, h->section_ns) : "-",
			duration_cell(gc, 11, h->gc_ns));
		if (h->section_ns)
			fprintf(out, "%s in %s\n",
				h->thread == ROW_NONE ? "a thread" : analysis_thread_name(v->an, h->thread),
				events_site_name(v->an, events_site(v->an, h->stack)));
		else
			fputs("a section that was too short to be recorded\n", out);
	}
	text_more(out, 4, e->held.count, top);
}

void json_jni(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	json_open(j, "jni_references", '[');
	for (size_t i = 0; i < e->jni.count; i++) {
		const struct jni_view *r = &e->jni.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", analysis_process(v->an, r->process)->pid);
		json_seconds(j, "at_s", analysis_since(v->an, r->at_ns));
		json_number(j, "created", r->created);
		json_number(j, "deleted", r->deleted);
		json_number(j, "not_watched", r->unwatched);
		json_number(j, "others_deleted", r->others);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "held_up_collections", '[');
	for (size_t i = 0; i < e->held.count && i < top; i++) {
		const struct held_view *h = &e->held.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", analysis_process(v->an, h->process)->pid);
		json_number(j, "number", h->number);
		json_seconds(j, "at_s", analysis_since(v->an, h->at_ns));
		json_number(j, "pause_ns", h->gc_ns);
		json_number_if(j, h->section_ns, "section_ns", h->section_ns);
		json_string(j, "thread", h->thread == ROW_NONE ? "" : analysis_thread_name(v->an, h->thread));
		json_string(j, "site",
			    h->stack == ROW_NONE ? "" : events_site_name(v->an, events_site(v->an, h->stack)));
		json_close(j, '}');
	}
	json_close(j, ']');
}
