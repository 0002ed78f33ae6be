// SPDX-License-Identifier: Apache-2.0
/* JVM events in a script: a line with the kind's fields, named as in analyze/kinds.c. script.c calls it. */
#include <inttypes.h>
#include <string.h>

#include <analyze/blocked.h>
#include <analyze/events.h>

#include "script.h"

static void event_number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, " %s=%" PRIu64, key, value);
}

static void text(FILE *out, const char *key, const char *value)
{
	if (*value)
		script_text(out, key, (struct trace_str){.str = value, .len = (uint32_t)strlen(value)});
}

static void unit(FILE *out, const struct kind_field *f, uint64_t value)
{
	static const char *const suffixes[] = {[UNIT_COUNT] = "", [UNIT_NS] = "_ns", [UNIT_BYTES] = "_bytes"};

	fprintf(out, " %s%s=%" PRIu64, f->title, suffixes[f->unit], value);
}

static void print_other(FILE *out, const struct analysis *an, const struct event *e)
{
	const struct thread_row *t = e->other == ROW_NONE ? NULL : table_row(&an->a->threads, e->other);
	char key[32];

	if (!t)
		return;
	text(out, e->k->other_is.title, analysis_thread_name(an, e->other));
	snprintf(key, sizeof(key), "%s_tid", e->k->other_is.title);
	event_number(out, key, t->tid);
	if (e->other_stack != ROW_NONE)
		text(out, "at", events_site_name(an, events_site(an, e->other_stack)));
}

/* What the kernel knows of a time off the CPU, if it was asked for it: without a class, there is nothing of it. */
static void print_off_cpu(FILE *out, const struct analysis *an, const struct jvm_event_row *r)
{
	unsigned class = BRAID_OFFCPU_CLASS(r->flags);

	if (!class)
		return;
	text(out, "class", blocked_class_name(class));
	if (class < BRAID_OFFCPU_UNMOUNTED) {
		event_number(out, "runnable_ns", r->value);
		event_number(out, "cpu", (uint32_t)r->weight);
		event_number(out, "to_cpu", r->weight >> 32);
	}
	text(out, "object", strpool_get(&an->a->strings, r->name));
	if (r->number)
		fprintf(out, " %s=0x%" PRIx64, class == BRAID_OFFCPU_FUTEX ? "futex" : "inode", r->number);
	text(out, "woken_by", strpool_get(&an->a->strings, r->text));
}

void script_fields(FILE *out, const struct analysis *an, const struct event *e)
{
	const struct jvm_event_row *r = e->row;
	const struct kind *k = e->k;

	if (k->name_is.title)
		text(out, k->name_is.title, e->name);
	if (k->detail_is.title)
		text(out, k->detail_is.title, strpool_get(&an->a->strings, r->detail));
	if (r->duration_ns || k->weight == WEIGHT_DURATION)
		event_number(out, "duration_ns", r->duration_ns);
	if (k->value_is.title)
		unit(out, &k->value_is, r->value);
	if (k->weight == WEIGHT_ESTIMATE)
		unit(out, &k->weight_is, e->weight);
	else if (k->weight_is.title)
		unit(out, &k->weight_is, r->weight);
	if (k->number_is.title && r->number)
		event_number(out, k->number_is.title, r->number);
	if (k->ages)
		event_number(out, "collections", r->flags);
	if (k->flagged)
		fprintf(out, " flags=0x%x", r->flags);
	if (e->kind == BRAID_JVM_OFFCPU)
		print_off_cpu(out, an, r);
	if (k->other_is.title)
		print_other(out, an, e);
	if (k->text_is.title)
		text(out, k->text_is.title, strpool_get(&an->a->strings, r->text));
}
