// SPDX-License-Identifier: Apache-2.0
#include "event_fields.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "blocked.h"

struct fields {
	const struct analysis *an;
	const struct event *e;
	const struct field_sink *sink;
	void *ctx;
};

static void text(const struct fields *f, const char *key, const char *value)
{
	if (key && *value)
		f->sink->text(f->ctx, key, value);
}

static void number(const struct fields *f, const char *key, uint64_t value, enum field_form form)
{
	f->sink->number(f->ctx, key, value, form);
}

enum field_form field_form_of(enum kind_unit unit)
{
	static const enum field_form forms[] = {
		[UNIT_COUNT] = FIELD_NUMBER, [UNIT_NS] = FIELD_NS, [UNIT_BYTES] = FIELD_BYTES};

	return forms[unit];
}

const char *field_suffix(enum kind_unit unit)
{
	static const char *const suffixes[] = {[UNIT_COUNT] = "", [UNIT_NS] = "_ns", [UNIT_BYTES] = "_bytes"};

	return suffixes[unit];
}

#define KEY_MAX 48

static void unit(const struct fields *f, const struct kind_field *is, uint64_t value)
{
	char key[KEY_MAX];

	snprintf(key, sizeof(key), "%s%s", is->title, field_suffix(is->unit));
	number(f, key, value, field_form_of(is->unit));
}

static void other(const struct fields *f)
{
	const struct event *e = f->e;
	const struct thread_row *t = e->other == ROW_NONE ? NULL : table_row(&f->an->a->threads, e->other);
	const char *title = event_is_open(e->row) ? "owner" : e->k->other_is.title;
	char key[KEY_MAX];

	if (!t)
		return;
	text(f, title, analysis_thread_name(f->an, e->other));
	snprintf(key, sizeof(key), "%s_tid", title);
	number(f, key, t->tid, FIELD_NUMBER);
	if (e->other_stack != ROW_NONE)
		text(f, "at", events_site_name(f->an, events_site(f->an, e->other_stack)));
}

#define NR_FUTEX_WAIT 455 /* Linux 6.7 */

/* In such a call the number is an address, also of a thread that waits for a CPU or is stopped in it. */
static bool waits_on_futex(uint32_t flags)
{
	uint32_t call = flags & BRAID_OFFCPU_SYSCALL;

	return call == SYS_futex || call == NR_FUTEX_WAIT;
}

/* What the kernel knows of a time off the CPU, if it was asked for it: without a class, there is nothing of it. */
static void off_cpu(const struct fields *f)
{
	const struct jvm_event_row *r = f->e->row;
	unsigned class = BRAID_OFFCPU_CLASS(r->flags);

	if (!class)
		return;
	text(f, "class", blocked_class_name(class));
	if (f->e->summed) /* its numbers are of all of them */
		return;
	if (class < BRAID_OFFCPU_UNMOUNTED) {
		number(f, "runnable_ns", r->value, FIELD_NS);
		number(f, "cpu", (uint32_t)r->weight, FIELD_NUMBER);
		number(f, "to_cpu", r->weight >> 32, FIELD_NUMBER);
	}
	text(f, "object", strpool_get(&f->an->a->strings, r->name));
	if (event_blocker(f->an, r))
		text(f, "blocker", event_blocker_name(event_blocker(f->an, r)));
	if (r->number)
		number(f, waits_on_futex(r->flags) ? "futex" : "inode", r->number, FIELD_HEX);
	text(f, "woken_by", strpool_get(&f->an->a->strings, r->text));
}

void event_fields(const struct analysis *an, const struct event *e, const struct field_sink *sink, void *ctx)
{
	const struct fields f = {.an = an, .e = e, .sink = sink, .ctx = ctx};
	const struct jvm_event_row *r = e->row;
	const struct kind *k = e->k;

	text(&f, k->name_is.title, e->name);
	text(&f, k->detail_is.title, strpool_get(&an->a->strings, r->detail));
	if (r->duration_ns || k->weight == WEIGHT_DURATION)
		number(&f, "duration_ns", r->duration_ns, FIELD_NS);
	if (k->value_is.title &&
	    (r->value || k->weight != WEIGHT_ESTIMATE)) /* no object has 0 bytes: it is not known */
		unit(&f, &k->value_is, r->value);
	if (k->weight == WEIGHT_ESTIMATE)
		unit(&f, &k->weight_is, e->weight);
	else if (k->weight_is.title)
		unit(&f, &k->weight_is, r->weight);
	if (k->number_is.title && r->number)
		unit(&f, &k->number_is, r->number);
	if (k->ages)
		number(&f, "collections", r->flags, FIELD_NUMBER);
	if (k->flagged)
		number(&f, "flags", r->flags, FIELD_HEX);
	if (e->kind == BRAID_JVM_OFFCPU)
		off_cpu(&f);
	if (k->other_is.title)
		other(&f);
	text(&f, k->text_is.title, strpool_get(&an->a->strings, r->text));
}
