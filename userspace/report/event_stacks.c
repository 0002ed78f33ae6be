// SPDX-License-Identifier: Apache-2.0
/* Whole stacks in the reports' tables of events. events_text.c and events_json.c call it. */
#include "events.h"

#include <string.h>

#define FRAMES 24U /* more would hide the next row */

struct printed {
	FILE *out;
	uint32_t frames;
};

static void print_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	const struct sym *s = &an->syms.at[x->sym];
	const char *file = analysis_file(an, x), *slash = strrchr(file, '/');
	struct printed *p = ctx;

	if (p->frames++ >= FRAMES)
		return;
	fprintf(p->out, "            %-11s %s", kind_name((enum stack_kind)s->kind), analysis_sym_name(an, x->sym));
	if (x->line)
		fprintf(p->out, " (%s:%u)", *file ? (slash ? slash + 1 : file) : "?", x->line);
	putc('\n', p->out);
}

void text_stack(FILE *out, const struct views *v, uint32_t stack)
{
	struct printed p = {.out = out};

	analysis_each_frame(v->an, stack, print_frame, &p);
	if (p.frames > FRAMES)
		fprintf(out, "            and %u more\n", p.frames - FRAMES);
}

static void json_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	const struct sym *s = &an->syms.at[x->sym];
	struct json *j = ctx;

	json_open(j, NULL, '{');
	json_string(j, "kind", kind_name((enum stack_kind)s->kind));
	json_string(j, "name", analysis_sym_name(an, x->sym));
	json_number(j, "line", x->line);
	json_close(j, '}');
}

void json_stack(struct json *j, const struct views *v, uint32_t stack)
{
	json_open(j, "frames", '[');
	analysis_each_frame(v->an, stack, json_frame, j);
	json_close(j, ']');
}
