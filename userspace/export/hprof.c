// SPDX-License-Identifier: Apache-2.0
/*
 * The text that the HPROF agent of JDK 8 and earlier printed: threads, traces, sites of allocation, and the traces by
 * their samples (cpu=samples,thread=y). Traces have native frames, too, which the agent did not see.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <util/compare.h>
#include <util/quantity.h>
#include <views/event_views.h>

#include "stack_table.h"

/* The numbers with which the agent began. */
#define FIRST_THREAD 200001U
#define FIRST_TRACE 300001U

/* As ctime() has it: "Mon Nov 23 07:41:26 2026". */
static void put_date(FILE *out, const struct analysis *an)
{
	time_t s = (time_t)(an->start_realtime_ns / 1000000000);
	char text[32];
	struct tm tm;

	if (an->start_realtime_ns && localtime_r(&s, &tm) && strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm))
		fputs(text, out);
	else
		fputs("at an unknown time", out);
	putc('\n', out);
}

/* The format does not escape the quote that ends a name. */
static void put_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++)
		putc(*text == '"' ? '\'' : *text, out);
	putc('"', out);
}

static void put_frame(FILE *out, const char *name, enum stack_domain domain, const char *file, uint32_t line)
{
	fprintf(out, "\t%s(", name);
	if (*file && line)
		fprintf(out, "%s:%u)\n", file, line);
	else if (*file)
		fprintf(out, "%s:Unknown line)\n", file);
	else
		fputs(domain == DOMAIN_JAVA ? "Unknown Source)\n" : "Native method)\n", out);
}

/* ---- threads, and the traces of their samples ---- */

/* The threads of one process are a group. A thread object's address, `obj`, is not known. */
static void put_thread(FILE *out, const struct stack_table *t, uint32_t thread, uint32_t number)
{
	const struct thread_row *row = thread == ROW_NONE ? NULL : table_row(&t->an->a->threads, thread);
	char process[PROCESS_LABEL_MAX];

	fprintf(out, "THREAD START (obj=0, id = %u, name=", number);
	put_quoted(out, analysis_thread_name(t->an, thread));
	fputs(", group=", out);
	put_quoted(out, row ? analysis_label(t->an, row->process, process) : "[unknown]");
	fputs(")\n", out);
}

/* The lines of all labels, which are in many traces each. */
struct lines {
	char *text;
	size_t size;
	size_t *end; /* of each label's line */
};

static int lines_make(struct lines *l, const struct tree *tree, bool annotate)
{
	FILE *to = open_memstream(&l->text, &l->size);
	char name[FRAME_NAME_MAX];
	int err = 0;

	l->end = calloc(tree->labels.count + 1, sizeof(*l->end));
	for (size_t i = 0; to && l->end && i < tree->labels.count && !err; i++) {
		const struct tree_label *label = &tree->labels.at[i];

		stack_table_name(label, annotate, name);
		put_frame(to, name, (enum stack_domain)label->domain, label->file, label->line);
		err = fflush(to);
		l->end[i] = l->size;
	}
	if (!to || fclose(to) || !l->end)
		err = -ENOMEM;
	return err ? -ENOMEM : 0;
}

static void lines_free(struct lines *l)
{
	free(l->text);
	free(l->end);
}

static int put_trace(FILE *out, struct stack_table *t, uint32_t node, const struct lines *lines)
{
	if (stack_table_path(t, node))
		return -ENOMEM;
	for (size_t i = 0; i < t->path.count; i++) {
		uint32_t label = t->path.at[i];
		size_t from = label ? lines->end[label - 1] : 0;

		fwrite(lines->text + from, 1, lines->end[label] - from, out);
	}
	return 0;
}

static int put_all_traces(FILE *out, struct stack_table *t, const struct lines *lines)
{
	uint32_t thread = FIRST_THREAD - 1;
	int err = 0;

	for (size_t i = 0; i < t->stacks.count && !err; i++) {
		const struct thread_stack *s = &t->stacks.at[i];

		if (!i || s->thread != t->stacks.at[i - 1].thread)
			put_thread(out, t, s->thread, ++thread);
		fprintf(out, "TRACE %zu: (thread=%u)\n", FIRST_TRACE + i, thread);
		err = put_trace(out, t, s->node, lines);
	}
	return err;
}

static int put_traces(FILE *out, struct stack_table *t, bool annotate)
{
	struct lines lines = {0};
	int err = lines_make(&lines, t->tree, annotate) ?: put_all_traces(out, t, &lines);

	lines_free(&lines);
	return err;
}

/* ---- sites ---- */

static void put_java_frame(void *ctx, const struct analysis *an, const struct xframe *x)
{
	if (kind_domain((enum stack_kind)an->syms.at[x->sym].kind) == DOMAIN_JAVA)
		put_frame(ctx, analysis_sym_name(an, x->sym), DOMAIN_JAVA, analysis_file(an, x), x->line);
}

/* Their traces have numbers from `trace` on. The agent's sites have Java frames only, too. */
static void put_sites(FILE *out, const struct analysis *an, const struct event_views *e, size_t trace, unsigned top)
{
	size_t count = top && top < e->sites.count ? top : e->sites.count;
	uint64_t sum = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "TRACE %zu:\n", trace + i);
		analysis_each_frame(an, e->sites.at[i].stack, put_java_frame, out);
	}
	fputs("SITES BEGIN (ordered by live bytes) ", out);
	put_date(out, an);
	fputs("          percent          live          alloc'ed  stack class\n"
	      " rank   self  accum     bytes objs     bytes  objs trace name\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct site_view *s = &e->sites.at[i];

		sum = add_saturating(sum, s->live_bytes);
		fprintf(out, "%5zu %5.2f%% %5.2f%% %9" PRIu64 " %4.0f", i + 1, percent(s->live_bytes, e->live_bytes),
			percent(sum, e->live_bytes), s->live_bytes, s->live_objects);
		fprintf(out, " %9" PRIu64 " %5.0f %5zu %s\n", s->allocated_bytes, s->allocated_objects, trace + i,
			s->class);
	}
	fputs("SITES END\n", out);
}

/* ---- samples ---- */

struct rank {
	uint64_t weight;
	size_t stack;
};

static int compare_ranks(const void *x, const void *y)
{
	const struct rank *p = x, *q = y;

	return compare_u64(q->weight, p->weight) ?: compare_u64(p->stack, q->stack);
}

static void put_sample_row(FILE *out, const struct stack_table *t, const struct rank *r, bool annotate)
{
	uint32_t node = t->stacks.at[r->stack].node;
	char name[FRAME_NAME_MAX] = "";

	if (node)
		stack_table_name(&t->tree->labels.at[t->tree->nodes.at[node].label], annotate, name);
	fprintf(out, " %7" PRIu64 " %5zu %s\n", r->weight, FIRST_TRACE + r->stack, name);
}

static int put_samples(FILE *out, const struct stack_table *t, bool annotate)
{
	struct rank *ranks = calloc(t->stacks.count + 1, sizeof(*ranks));
	uint64_t total = 0, sum = 0;

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < t->stacks.count; i++) {
		ranks[i] = (struct rank){t->stacks.at[i].weight, i};
		total = add_saturating(total, ranks[i].weight);
	}
	qsort(ranks, t->stacks.count, sizeof(*ranks), compare_ranks);
	fprintf(out, "CPU SAMPLES BEGIN (total = %" PRIu64 ") ", total);
	put_date(out, t->an);
	fputs("rank   self  accum   count trace method\n", out);
	for (size_t i = 0; i < t->stacks.count; i++) {
		sum = add_saturating(sum, ranks[i].weight);
		fprintf(out, "%4zu %5.2f%% %5.2f%%", i + 1, percent(ranks[i].weight, total), percent(sum, total));
		put_sample_row(out, t, &ranks[i], annotate);
	}
	fputs("CPU SAMPLES END\n", out);
	free(ranks);
	return 0;
}

int hprof_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate)
{
	struct event_views *events;
	int err = event_views_new(&events, t->an);

	(void)unit;
	if (err)
		return err;
	fputs("JAVA PROFILE 1.0.1, created ", out);
	put_date(out, t->an);
	fputs("\nWritten by braid, in the form of -agentlib:hprof=cpu=samples,heap=sites,thread=y\n\n--------\n\n",
	      out);
	err = put_traces(out, t, annotate);
	put_sites(out, t->an, events, FIRST_TRACE + t->stacks.count, t->top);
	event_views_free(events);
	return err ?: put_samples(out, t, annotate);
}
