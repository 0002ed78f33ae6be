// SPDX-License-Identifier: Apache-2.0
/*
 * Leak suspects: sites that grew all the time, each with the stack that allocates them, how the
 * class grew in histograms of the heap, and the command that says who holds them.
 */
#include <inttypes.h>
#include <string.h>

#include "events.h"

struct class_growth {
	uint64_t bytes, objects; /* of all loaders' classes with that name */
	bool known;
};

/* Of the class of a site, from the first histogram to the last one of its JVM. */
static struct class_growth growth_of(const struct views *v, const struct site_view *s)
{
	struct class_growth sum = {0};

	for (size_t i = 0; i < v->heap.jvms.count; i++) {
		const struct heap_view *h = &v->heap.jvms.at[i];

		for (size_t k = 0; h->process == s->process && k < h->grown.count; k++) {
			const struct heap_row *r = &h->grown.at[k];

			if (strcmp(r->class, s->class) != 0)
				continue;
			sum.known = true;
			sum.bytes = add_saturating(sum.bytes, r->bytes - r->first_bytes);
			sum.objects += r->objects > r->first_objects ? r->objects - r->first_objects : 0;
		}
	}
	return sum;
}

static uint32_t pid_of(const struct views *v, const struct site_view *s)
{
	return s->process ? analysis_process(v->an, s->process)->pid : 0;
}

/* Whether the recording has collections of this JVM, and none of old objects. */
static bool only_young(const struct views *v, const struct site_view *s)
{
	bool any = false;

	for (size_t i = 0; i < v->gc.longest.count; i++) {
		const struct gc_pause *p = &v->gc.longest.at[i];

		if (p->process != s->process)
			continue;
		if ((!strstr(p->collector, "young") && !strstr(p->collector, "minor") &&
		     !strstr(p->collector, "ParNew")) ||
		    strstr(p->what, "Mixed"))
			return false;
		any = true;
	}
	return any;
}

/* Whether a shell takes the name as it is between quotes. It comes from the trace. */
static bool is_word(const char *name)
{
	return !strchr(name, '\'');
}

static void text_holders(FILE *out, const struct views *v, const struct site_view *s)
{
	uint32_t pid = pid_of(v, s);
	char number[16] = "PID";

	if (pid)
		snprintf(number, sizeof(number), "%" PRIu32, pid);
	fprintf(out, "  who holds them: braid heap %s --dump FILE, and then braid heap FILE --class ", number);
	if (is_word(s->class))
		fprintf(out, "'%s'\n", s->class);
	else
		fputs("CLASS\n", out);
}

void text_leaks(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	char size[QUANTITY_TEXT];

	if (!e->suspects.count)
		return;
	fputs("\nLeak suspects: sites that grew in each quarter of the time since their first object, estimated\n",
	      out);
	text_holders(out, v, e->suspects.at[0]);
	if (only_young(v, e->suspects.at[0]))
		fputs("  no collection of old objects was recorded: those that are garbage count as live until one\n",
		      out);
	fputs("         growth     per hour         live    objects       GCs  class, and where\n", out);
	for (size_t i = 0; i < e->suspects.count && i < top; i++) {
		const struct site_view *s = e->suspects.at[i];
		struct class_growth class = growth_of(v, s);

		fprintf(out, "    %11s", size_text(size, s->grown_bytes));
		fprintf(out, "  %11s", size_text(size, (uint64_t)s->grown_per_hour));
		fprintf(out, "  %11s  %9.0f  %8.1f  %s, %s\n", size_text(size, s->live_bytes), s->live_objects,
			s->live_survived, s->class, events_site_name(v->an, events_site(v->an, s->stack)));
		text_stack(out, v, s->stack);
		if (class.known)
			fprintf(out, "            the heap has %s more of %s than at the first histogram\n",
				size_text(size, class.bytes), s->class);
	}
	text_more(out, 4, e->suspects.count, top);
}

void json_leaks(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;

	if (!e->sites.count)
		return;
	json_open(j, "leak_suspects", '[');
	for (size_t i = 0; i < e->suspects.count && i < top; i++) {
		const struct site_view *s = e->suspects.at[i];
		struct class_growth class = growth_of(v, s);

		json_open(j, NULL, '{');
		json_string(j, "class", s->class);
		json_string(j, "site", events_site_name(v->an, events_site(v->an, s->stack)));
		json_number_if(j, pid_of(v, s), "pid", pid_of(v, s));
		json_number(j, "grown_bytes", s->grown_bytes);
		json_decimal(j, "grown_bytes_per_hour", s->grown_per_hour);
		json_number(j, "live_bytes", s->live_bytes);
		json_decimal(j, "live_objects", s->live_objects);
		json_decimal(j, "live_survived", s->live_survived);
		json_bool(j, "young_collections_only", only_young(v, s));
		json_number_if(j, class.known, "histogram_grown_bytes", class.bytes);
		json_number_if(j, class.known, "histogram_grown_objects", class.objects);
		json_stack(j, v, s->stack);
		json_close(j, '}');
	}
	json_close(j, ']');
}
