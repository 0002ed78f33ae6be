// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include "events.h"
#include "hits.h"
#include "spans.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- look-ups ---- */

const struct process_row *analysis_process(const struct analysis *an, uint32_t process)
{
	static const struct process_row nobody;
	const struct process_row *p = table_get(&an->a->processes, process);

	return p ? p : &nobody;
}

static const struct thread_row *thread_at(const struct analysis *an, uint32_t row)
{
	return row == ROW_NONE ? NULL : table_row(&an->a->threads, row);
}

const char *analysis_thread_name(const struct analysis *an, uint32_t thread_row)
{
	const struct thread_row *t = thread_at(an, thread_row);
	const char *name = t ? strpool_get(&an->a->strings, t->name) : "";

	if (!*name && t)
		name = strpool_get(&an->a->strings, analysis_process(an, t->process)->comm);
	return *name ? name : "[unknown]";
}

const char *analysis_label(const struct analysis *an, uint32_t process, char to[PROCESS_LABEL_MAX])
{
	const struct process_row *p = analysis_process(an, process);
	const char *comm = strpool_get(&an->a->strings, p->comm);
	const char *container = strpool_get(&an->a->strings, p->container);

	char name[16];

	utf8_from_modified(name, sizeof(name), comm, strlen(comm));
	snprintf(to, PROCESS_LABEL_MAX, "%s%s%s", *name ? name : "[unknown]", *container ? "@" : "", container);
	return to;
}

bool analysis_selects_process(const struct analysis *an, const struct process_row *p)
{
	return filter_selects_process(an->filter, p->pid, strpool_get(&an->a->strings, p->cgroup));
}

bool analysis_selects_first_thread(const struct analysis *an, const struct process_row *p)
{
	const char *comm = strpool_get(&an->a->strings, p->comm);

	return filter_selects_thread(an->filter, p->pid, p->pid, comm, comm, strpool_get(&an->a->strings, p->cgroup));
}

bool analysis_selects_thread(const struct analysis *an, uint32_t thread_row)
{
	static const struct thread_row nobody;
	const struct thread_row *t = thread_at(an, thread_row);
	const struct process_row *p;

	if (!t)
		t = &nobody;
	p = analysis_process(an, t->process);
	return filter_selects_thread(an->filter, p->pid, t->tid, strpool_get(&an->a->strings, p->comm),
				     strpool_get(&an->a->strings, t->name), strpool_get(&an->a->strings, p->cgroup));
}

bool analysis_selects_stack(const struct analysis *an, uint32_t stack_row)
{
	bool any = an->filter->include.count == 0;

	if (stack_row == ROW_NONE)
		return any;
	return (any || an->stacks[stack_row].included) &&
	       (an->filter->exclude.count == 0 || !an->stacks[stack_row].excluded);
}

bool analysis_selects_span(const struct analysis *an, uint32_t span)
{
	const struct span_row *s = spans_get(an->a, span);

	return !filter_has_span(an->filter) || (s && spans_selected(an->a, an->filter, s));
}

static const struct stat_row *find_stat(const struct analysis *an, uint32_t process, const char *key)
{
	uint32_t id = strpool_find(&an->a->strings, key);
	uint32_t at = u64map_get(&an->a->stat_of, (uint64_t)process << 32 | id);

	return at ? &an->a->stats.at[at - 1] : NULL;
}

uint64_t analysis_stat(const struct analysis *an, uint32_t process, const char *key, uint64_t otherwise)
{
	const struct stat_row *s = find_stat(an, process, key);

	return s ? s->value : otherwise;
}

bool analysis_has_stat(const struct analysis *an, uint32_t process, const char *key)
{
	return find_stat(an, process, key) != NULL;
}

const char *analysis_module_path(const struct analysis *an, uint32_t module)
{
	const struct module_row *m = table_get(&an->a->modules, module);

	return m ? strpool_get(&an->a->strings, m->path) : "";
}

const char *analysis_sym_name(const struct analysis *an, uint32_t sym)
{
	return strpool_get(&an->names, an->syms.at[sym].name);
}

/* ---- stacks ---- */

static int compare_ids(const void *x, const void *y, void *ctx)
{
	const uint32_t *ids = ctx;
	uint32_t p = ids[*(const uint32_t *)x], q = ids[*(const uint32_t *)y];

	return p < q ? -1 : p > q;
}

static int sort_nodes(struct analysis *an)
{
	const struct table *nodes = &an->a->nodes;
	bool sorted = true;

	an->order = calloc(nodes->count + 1, sizeof(*an->order));
	if (!an->order)
		return -ENOMEM;
	for (size_t i = 0; i < nodes->count; i++) {
		an->order[i] = (uint32_t)i;
		sorted = sorted && (i == 0 || nodes->ids[i - 1] < nodes->ids[i]);
	}
	if (!sorted)
		qsort_r(an->order, nodes->count, sizeof(*an->order), compare_ids, nodes->ids);
	return 0;
}

/*
 * Per sym: which of the filter's expressions its name matches (bit 0 include, bit 1 exclude). *match is NULL if it has
 * none. 0 or -ENOMEM.
 */
static int match_syms(const struct analysis *an, unsigned char **out)
{
	const struct filter *f = an->filter;
	bool any = f->include.count || f->exclude.count;
	unsigned char *match = any ? calloc(an->syms.count + 1, 1) : NULL;

	*out = match;
	for (size_t s = 0; match && s < an->syms.count; s++) {
		const char *name = analysis_sym_name(an, (uint32_t)s);

		for (size_t i = 0; i < f->include.count && !(match[s] & 1); i++)
			match[s] |= regexec(&f->include.at[i].re, name, 0, NULL, 0) == 0 ? 1 : 0;
		for (size_t i = 0; i < f->exclude.count && !(match[s] & 2); i++)
			match[s] |= regexec(&f->exclude.at[i].re, name, 0, NULL, 0) == 0 ? 2 : 0;
	}
	return any && !match ? -ENOMEM : 0;
}

static void resolve_stack(struct analysis *an, uint32_t row, const unsigned char *match)
{
	const struct node_row *n = table_row(&an->a->nodes, row);
	struct stack *s = &an->stacks[row];
	size_t parent = table_find(&an->a->nodes, n->parent);
	size_t frame = table_find(&an->a->frames, n->frame);
	const struct stack *up = parent == TABLE_NONE ? NULL : &an->stacks[parent];
	const struct frame_row *f = frame == TABLE_NONE ? NULL : table_row(&an->a->frames, frame);

	if (up && up->depth >= STACK_DEPTH_MAX)
		up = NULL;
	s->detached = n->parent != 0 && !up;
	s->parent = up ? (uint32_t)parent : ROW_NONE;
	s->frame = f ? (uint32_t)frame : ROW_NONE;
	s->depth = up ? up->depth + 1 : 1;
	s->cause = up ? up->cause : CAUSE_COMPLETE;
	s->included = up && up->included;
	s->excluded = up && up->excluded;
	if (!up && f && f->kind == BRAID_FRAME_END)
		s->cause = f->address < BRAID_END_COUNT ? (uint8_t)f->address : CAUSE_UNKNOWN;
	if ((s->detached || !f) && s->cause == CAUSE_COMPLETE)
		s->cause = CAUSE_DAMAGED;
	for (uint32_t i = 0; match && f && i < an->expansions[frame].count; i++) {
		unsigned char m = match[an->xframes.at[an->expansions[frame].first + i].sym];

		s->included = s->included || (m & 1);
		s->excluded = s->excluded || (m & 2);
	}
}

static int resolve_stacks(struct analysis *an)
{
	size_t count = an->a->nodes.count;
	unsigned char *match;
	int err = match_syms(an, &match);

	an->stacks = calloc(count + 1, sizeof(*an->stacks));
	if (err || !an->stacks) {
		free(match);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		resolve_stack(an, an->order[i], match);
	free(match);
	return 0;
}

/* ---- sums ---- */

bool analysis_sum_of(const struct analysis *an, uint32_t thread, uint32_t node, uint64_t weight, struct stack_sum *sum)
{
	*sum = (struct stack_sum){.thread = table_row_of(&an->a->threads, thread),
				  .stack = table_row_of(&an->a->nodes, node),
				  .xframe = node == 0 ? XFRAME_NO_STACK : XFRAME_DAMAGED,
				  .weight = weight};
	return weight && analysis_selects_thread(an, sum->thread) && analysis_selects_stack(an, sum->stack);
}

int analysis_add(struct analysis *an, struct profile *to, uint32_t thread, uint32_t node, uint64_t weight)
{
	struct stack_sum sum;

	return analysis_sum_of(an, thread, node, weight, &sum) ? profile_add(to, &sum) : 0;
}

int analysis_add_sums(struct analysis *an, struct profile *to, const struct stack_sums *sums)
{
	const struct stack_sum *s;
	struct stack_sums_cursor c;
	int err = 0;

	for (stack_sums_begin(&c, sums); !err && (s = stack_sums_next(&c));)
		err = analysis_add(an, to, s->thread, s->stack, s->weight);
	return err;
}

static int collect_sums(struct analysis *an)
{
	const struct analyzer *a = an->a;
	int err = analysis_add_sums(an, &an->samples, &a->sums);

	for (size_t i = 0; i < a->stack_weights.count && !err; i++)
		err = analysis_add(an, &an->samples, 0, a->nodes.ids[i], a->stack_weights.at[i]);
	for (size_t i = 0; i < LATE_WEIGHTS && !err; i++)
		err = a->late[i].weight
			      ? analysis_add(an, &an->samples, 0, a->nodes.ids[a->late[i].row], a->late[i].weight)
			      : 0;
	for (size_t i = 0; i < a->samples.count && !err; i++) {
		const struct sample *s = &a->samples.at[i];

		if (analysis_selects_time(an, s->time_ns) && analysis_selects_span(an, s->span))
			err = analysis_add(an, &an->samples, s->thread, s->node, s->weight);
	}
	return err ?: profile_finish(&an->samples, an);
}

static void weigh_syms(struct analysis *an, const struct stack *s, uint64_t total)
{
	const struct expansion *e = s->frame == ROW_NONE ? NULL : &an->expansions[s->frame];

	for (uint32_t i = 0; e && i < e->count; i++) {
		uint64_t *weight = &an->sym_weight[an->xframes.at[e->first + i].sym];

		*weight = add_saturating(*weight, total);
	}
}

static void count_frames(struct analysis *an)
{
	for (size_t i = 0; i < an->syms.count; i++) {
		const struct sym *sym = &an->syms.at[i];
		uint64_t total = an->sym_weight[i];
		struct frame_counts *c = &an->frames;

		switch (kind_domain(sym->kind)) {
		case DOMAIN_JAVA:
			c->java = add_saturating(c->java, total);
			c->java_named = add_saturating(c->java_named, sym->named ? total : 0);
			break;
		case DOMAIN_NATIVE:
		case DOMAIN_STUB:
			c->native = add_saturating(c->native, total);
			c->native_named = add_saturating(c->native_named, sym->named ? total : 0);
			break;
		case DOMAIN_KERNEL:
			c->kernel = add_saturating(c->kernel, total);
			break;
		case DOMAIN_CLASS:
		case DOMAIN_INCOMPLETE:
			break;
		}
	}
}

static int count_all(struct analysis *an)
{
	const struct analyzer *a = an->a;
	const struct stack_sum *s;
	struct stack_sums_cursor c;

	an->thread_weight = calloc(a->threads.count + 1, sizeof(*an->thread_weight));
	an->sym_weight = calloc(an->syms.count + 1, sizeof(*an->sym_weight));
	if (!an->thread_weight || !an->sym_weight)
		return -ENOMEM;
	for (stack_sums_begin(&c, &an->samples.sums); (s = stack_sums_next(&c));) {
		const struct thread_row *t = thread_at(an, s->thread);
		uint64_t *sum = t ? &an->thread_weight[s->thread] : &an->unknown_thread_weight;

		*sum = add_saturating(*sum, s->weight);
		if (t && (t->flags & TRACE_THREAD_JAVA))
			quality_count(&an->java, profile_cause(an, s), s->weight);
	}
	for (size_t i = 0; i < a->nodes.count; i++) {
		an->distinct_stacks += an->samples.on[i].self != 0;
		weigh_syms(an, &an->stacks[i], an->samples.on[i].total);
	}
	count_frames(an);
	return 0;
}

/* ---- life ---- */

static int set_times(struct analysis *an)
{
	struct window w;
	int err = analysis_window(&w, an->a, an->filter);

	an->start_ns = w.start_ns;
	an->start_realtime_ns = w.start_realtime_ns;
	an->duration_ns = analyzer_duration_ns(an->a);
	an->from_ns = w.from_ns;
	an->to_ns = w.to_ns;
	return err;
}

int analysis_new(struct analysis **out, const struct analyzer *a, const struct filter *filter)
{
	static const struct filter everything;
	struct analysis *an = NULL;
	int err;

	*out = NULL;
	if (filter && filter_needs_samples(filter) && !a->keep_samples)
		return -EINVAL;
	an = calloc(1, sizeof(*an));
	if (!an)
		return -ENOMEM;
	an->a = a;
	an->filter = filter ? filter : &everything;
	err = set_times(an);
	if (!err)
		err = analysis_expand(an);
	if (!err)
		err = sort_nodes(an);
	if (!err)
		err = resolve_stacks(an);
	if (!err)
		err = collect_sums(an);
	if (!err)
		err = hits_collect(an);
	if (!err)
		err = count_all(an);
	if (!err)
		err = events_new(&an->events, an);
	if (err)
		analysis_free(an);
	else
		*out = an;
	return err;
}

void analysis_free(struct analysis *an)
{
	if (!an)
		return;
	strpool_free(&an->names);
	u64map_free(&an->sym_of);
	free(an->syms.at);
	free(an->symbol_names);
	free(an->method_names);
	free(an->xframes.at);
	free(an->expansions);
	free(an->mappings);
	free(an->stacks);
	free(an->order);
	profile_free(&an->samples);
	for (size_t i = 0; an->hits && i < an->a->hits.count; i++)
		profile_free(&an->hits[i]);
	free(an->hits);
	free(an->thread_weight);
	free(an->sym_weight);
	events_free(an->events);
	free(an);
}
