// SPDX-License-Identifier: Apache-2.0
/* Frames, and whole stacks in the reports' tables of events. events_text.c, events_json.c and dump_text.c call it. */
#include "events.h"

#include <string.h>

#define FRAMES 24U /* more would hide the next row */

struct printed {
	FILE *out;
	uint32_t frames;
};

const char *source_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return !*file ? "?" : slash ? slash + 1 : file;
}

void text_frame(FILE *out, int indent, const struct analysis *an, const struct xframe *x)
{
	enum stack_kind kind = (enum stack_kind)an->syms.at[x->sym].kind;

	fprintf(out, "%*s%-11s %s", indent, "", kind_name(kind), analysis_sym_name(an, x->sym));
	if (x->line)
		fprintf(out, " (%s:%u)", source_name(analysis_file(an, x)), x->line);
	putc('\n', out);
}

static void print_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	struct printed *p = ctx;

	if (p->frames++ < FRAMES)
		text_frame(p->out, 12, an, x);
}

void text_stack(FILE *out, const struct views *v, uint32_t stack)
{
	struct printed p = {.out = out};

	analysis_each_frame(v->an, stack, print_frame, &p);
	text_more(out, 12, p.frames, FRAMES);
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
