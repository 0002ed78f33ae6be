// SPDX-License-Identifier: Apache-2.0
/* Native methods in the text report and the JSON report. */
#include <inttypes.h>

#include "events.h"

static void text_native(FILE *out, const struct views *v, const struct native_view *n, bool blocked)
{
	uint64_t all = v->an->samples.quality.total;
	char time[QUANTITY_TEXT], max[QUANTITY_TEXT];

	fprintf(out, "    %6.2f%%  %6.2f%%  %9" PRIu64 "  %10" PRIu64 "  %9" PRIu64, percent(n->self, all),
		percent(n->total, all), n->self, n->vm, n->kernel);
	if (blocked && n->blocks)
		fprintf(out, "  %11s  %9" PRIu64 "  %10s", duration_cell(time, 11, n->blocked_ns), n->blocks,
			duration_cell(max, 10, n->longest_block_ns));
	else if (blocked)
		fprintf(out, "  %11s  %9s  %10s", "-", "-", "-");
	fprintf(out, "  %s\n", n->method);
}

static void text_calls(FILE *out, const struct views *v, unsigned top)
{
	char total[QUANTITY_TEXT], mean[QUANTITY_TEXT], max[QUANTITY_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < v->events->natives.count; i++) {
		const struct native_view *n = &v->events->natives.at[i];

		if (!n->calls || count++ >= top)
			continue;
		if (count == 1)
			fprintf(out, "    %10s  %11s  %10s  %10s  calls seen by return probes\n", "calls", "total",
				"mean", "max");
		fprintf(out, "    %10" PRIu64 "  %11s  %10s  %10s  %s\n", n->calls,
			duration_cell(total, 11, n->call_ns), duration_cell(mean, 10, n->call_ns / n->calls),
			duration_cell(max, 10, n->longest_call_ns), n->method);
	}
	text_more(out, 4, count, top);
}

void text_natives(FILE *out, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	bool blocked = events_blocked_recorded(v->an);

	if (!e->natives.count)
		return;
	fprintf(out, "\nNative methods\n    %7s  %7s  %9s  %10s  %9s", "self", "total", "samples", "in the JVM",
		"in kernel");
	if (blocked)
		fprintf(out, "  %11s  %9s  %10s", "blocked", "times", "max");
	fputs("  method\n", out);
	for (size_t i = 0; i < e->natives.count && i < top; i++)
		text_native(out, v, &e->natives.at[i], blocked);
	text_more(out, 4, e->natives.count, top);
	text_calls(out, v, top);
}

void json_natives(struct json *j, const struct views *v, unsigned top)
{
	const struct event_views *e = v->events;
	bool blocked = events_blocked_recorded(v->an);

	json_open(j, "native_methods", '[');
	for (size_t i = 0; i < e->natives.count && i < top; i++) {
		const struct native_view *n = &e->natives.at[i];

		json_open(j, NULL, '{');
		json_string(j, "method", n->method);
		json_number(j, "self", n->self);
		json_number(j, "in_jvm", n->vm);
		json_number(j, "in_kernel", n->kernel);
		json_number(j, "total", n->total);
		json_number_if(j, blocked, "blocks", n->blocks);
		json_number_if(j, blocked, "blocked_ns", n->blocked_ns);
		json_number_if(j, blocked, "longest_block_ns", n->longest_block_ns);
		json_number_if(j, n->calls, "calls", n->calls);
		json_number_if(j, n->calls, "call_ns", n->call_ns);
		json_number_if(j, n->calls, "longest_call_ns", n->longest_call_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}
