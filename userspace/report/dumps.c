// SPDX-License-Identifier: Apache-2.0
/* The thread dumps of a trace, and the deadlocks in them: sections of the report. */
#include "dump.h"

#include <inttypes.h>

#include <util/log.h>
#include <util/quantity.h>

/* False, and says so, without memory. */
static bool dumps_read(struct dumps *d, const struct views *v)
{
	if (!dumps_new(d, v->an))
		return true;
	log_error("not enough memory for the deadlocks in thread dumps: the report lacks them");
	dumps_free(d);
	return false;
}

/* The number of dumps of the process in which the deadlock was seen first. */
static size_t dumps_of(const struct dumps *d, uint32_t process)
{
	size_t count = 0;

	for (size_t i = 0; i < d->refs.count; i++)
		count += d->refs.at[i].process == process;
	return count;
}

static void text_deadlock(FILE *out, const struct dumps *d, const struct dumps_deadlock *is)
{
	const struct dump_view *v = is->view;
	char first[QUANTITY_TEXT], last[QUANTITY_TEXT];

	fprintf(out, "  process %u, in %" PRIu64 " of %zu dumps, first at %s, last at %s:\n", v->pid, is->dumps,
		dumps_of(d, v->process), duration_text(first, analysis_since(v->an, v->time_ns)),
		duration_text(last, analysis_since(v->an, is->last_ns)));
	dump_deadlock_text(out, v, is->number, false);
}

static void text_list(FILE *out, const struct dumps *d, const struct views *v)
{
	char first[QUANTITY_TEXT], last[QUANTITY_TEXT];

	fprintf(out, "\nThread dumps\n  %zu, first at %s, last at %s; `braid threads --at TIME` prints one\n",
		d->refs.count, duration_text(first, analysis_since(v->an, d->refs.at[0].time_ns)),
		duration_text(last, analysis_since(v->an, d->refs.at[d->refs.count - 1].time_ns)));
	fputs("\nDeadlocks\n", out);
	for (size_t i = 0; i < d->deadlocks.count; i++)
		text_deadlock(out, d, &d->deadlocks.at[i]);
	if (d->more)
		fprintf(out, "  and others, %" PRIu64 " times\n", d->more);
	if (d->unread)
		fprintf(out, "  not known of %zu dump%s: what %sthreads wait for could not be read\n", d->unread,
			plural(d->unread), d->deadlocks.count ? "some " : "");
	else if (!d->deadlocks.count)
		fputs("  none\n", out);
}

void text_known_dumps(FILE *out, const struct views *v, const struct dumps *d)
{
	if (d->refs.count)
		text_list(out, d, v);
}

void text_dumps(FILE *out, const struct views *v)
{
	struct dumps d;

	if (!dumps_read(&d, v))
		return;
	text_known_dumps(out, v, &d);
	dumps_free(&d);
}

static void json_list(struct json *j, const struct dumps *d, const struct views *v)
{
	json_open(j, "thread_dumps", '[');
	for (size_t i = 0; i < d->refs.count; i++) {
		json_open(j, NULL, '{');
		json_number(j, "pid", d->refs.at[i].pid);
		json_seconds(j, "at_s", analysis_since(v->an, d->refs.at[i].time_ns));
		json_close(j, '}');
	}
	json_close(j, ']');
	json_number(j, "thread_dumps_unread", d->unread);
	if (d->unread && !d->deadlocks.count) {
		json_null(j, "deadlocks");
		return;
	}
	json_open(j, "deadlocks", '[');
	for (size_t i = 0; i < d->deadlocks.count; i++) {
		const struct dumps_deadlock *is = &d->deadlocks.at[i];

		json_open(j, NULL, '{');
		json_number(j, "pid", is->view->pid);
		json_number(j, "dumps", is->dumps);
		json_seconds(j, "first_s", analysis_since(v->an, is->view->time_ns));
		json_seconds(j, "last_s", analysis_since(v->an, is->last_ns));
		dump_deadlock_json(j, "threads", is->view, is->number, false);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_dumps(struct json *j, const struct views *v)
{
	struct dumps d;

	if (!dumps_read(&d, v))
		return;
	if (d.refs.count)
		json_list(j, &d, v);
	dumps_free(&d);
}
