// SPDX-License-Identifier: Apache-2.0
#include "analyzer.h"

#include "definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hits.h"
#include "state.h"
#include "spans.h"
#include "vthreads.h"

/* ---- events ---- */

/* Notes the first known time of a thread. 0 or -ENOMEM. */
static int see_thread(struct analyzer *a, uint32_t thread, uint64_t time_ns)
{
	uint64_t *seen;

	if (!thread || !time_ns)
		return 0;
	seen = table_put(&a->seen, thread);
	if (!seen)
		return -ENOMEM;
	if (!*seen || time_ns < *seen)
		*seen = time_ns;
	return 0;
}

/* Counts the event for its thread, or for its JVM. */
static int count_jvm_event(struct analyzer *a, const struct trace_jvm_event *r)
{
	bool of_thread = r->kind == BRAID_JVM_THREAD_START || r->kind == BRAID_JVM_THREAD_END;
	struct process_row *p;
	struct thread_row *t;
	int err = 0;

	if (of_thread && r->source == BRAID_SOURCE_AGENT && (t = analyzer_define(a, &a->threads, r->thread, &err))) {
		t->started += r->kind == BRAID_JVM_THREAD_START;
		t->ended += r->kind == BRAID_JVM_THREAD_END;
	}
	if (r->kind == BRAID_JVM_CLASS_UNLOAD && (p = analyzer_define(a, &a->processes, r->process, &err)))
		p->classes_unloaded = add_saturating(p->classes_unloaded, r->value);
	return err;
}

bool analyzer_keeps(const struct trace_jvm_event *r)
{
	return r->kind != 0 && r->kind < BRAID_JVM_EVENTS; /* a newer recorder has more kinds */
}

static int feed_jvm_event(struct analyzer *a, const struct trace_jvm_event *r)
{
	struct jvm_event_row e = {.time_ns = r->time_ns,
				  .duration_ns = r->duration_ns,
				  .value = r->value,
				  .weight = r->weight,
				  .number = r->number,
				  .kind = r->kind,
				  .process = r->process,
				  .thread = r->thread,
				  .node = r->node,
				  .name = analyzer_name_of(a, r->name),
				  .detail = analyzer_name_of(a, r->detail),
				  .flags = r->flags,
				  .vthread = r->vthread,
				  .other = r->other,
				  .other_node = r->other_node,
				  .source = r->source,
				  .span = r->span,
				  .other_vthread = r->other_vthread};

	if (!analyzer_keeps(r)) {
		a->newer++;
		return 0;
	}
	if (see_thread(a, r->thread, r->time_ns) || count_jvm_event(a, r) || analyzer_keep(a, r->text, &e.text))
		return -ENOMEM;
	return VEC_PUSH(&a->events, e);
}

void analyzer_see_time(struct analyzer *a, uint64_t time_ns)
{
	if (time_ns == 0)
		return;
	if (time_ns < a->first_ns)
		a->first_ns = time_ns;
	if (time_ns > a->last_ns)
		a->last_ns = time_ns;
}

int sample_sums_add(struct stack_sums *s, const struct sample *one)
{
	return stack_sums_add(s, &(struct stack_sum){.thread = one->thread, .stack = one->node, .weight = one->weight});
}

/* A carrier runs while its virtual threads do. */
static int feed_carried(struct analyzer *a, const struct trace_sample *r)
{
	struct sample one = {r->time_ns, r->weight, r->thread, r->node, spans_same(a, r->span), r->cpu, r->vthread};

	return a->keep_samples ? VEC_PUSH(&a->carried_samples, one) : sample_sums_add(&a->carried, &one);
}

static int sum_stack(struct analyzer *a, const struct sample *one)
{
	size_t row = table_find(&a->nodes, one->node), more = a->nodes.count - a->stack_weights.count;
	struct late_weight *late = &a->late[a->late_next++ % LATE_WEIGHTS];
	uint64_t *to = late->weight ? &a->stack_weights.at[late->row] : NULL;

	if (to)
		*to = add_saturating(*to, late->weight);
	late->weight = 0;
	if (row == TABLE_NONE)
		return sample_sums_add(&a->sums, &(struct sample){.node = one->node, .weight = one->weight});
	if (row >= a->stack_weights.count) {
		if (VEC_RESERVE(&a->stack_weights, more))
			return -ENOMEM;
		memset(a->stack_weights.at + a->stack_weights.count, 0, more * sizeof(*a->stack_weights.at));
		a->stack_weights.count += more;
	}
	__builtin_prefetch(&a->stack_weights.at[row], 1);
	*late = (struct late_weight){.row = (uint32_t)row, .weight = one->weight};
	return 0;
}

static int feed_sample(struct analyzer *a, const struct trace_sample *r)
{
	uint32_t thread = vthreads_thread(a, r);
	struct sample one = {r->time_ns, r->weight, thread, r->node, spans_same(a, r->span), r->cpu, r->vthread};

	if (r->event)
		return see_thread(a, thread, r->time_ns) ?: hits_feed(a, analyzer_name_of(a, r->event), &one, r->text);
	a->sample_weight = add_saturating(a->sample_weight, r->weight);
	if (see_thread(a, thread, r->time_ns))
		return -ENOMEM;
	if (a->keep_samples && (r->time_ns < a->keep_from_ns || r->time_ns >= a->keep_to_ns))
		return 0;
	if (hits_keep_values(a, &a->sampling, &one, r->text))
		return -ENOMEM;
	vthreads_count(a, r);
	if (a->sum_stacks)
		return sum_stack(a, &one);
	if (thread != r->thread && feed_carried(a, r))
		return -ENOMEM;
	return a->keep_samples ? VEC_PUSH(&a->samples, one) : sample_sums_add(&a->sums, &one);
}

static int feed_code_load(struct analyzer *a, const struct trace_code_load *r)
{
	int err;
	struct process_row *p = analyzer_define(a, &a->processes, r->process, &err);

	if (!p)
		return err;
	p->code_loads++;
	return 0;
}

static int feed_loss(struct analyzer *a, const struct trace_loss *r)
{
	struct loss_row row = {0};
	uint32_t *at;

	if (analyzer_keep(a, r->hop, &row.hop) || analyzer_keep(a, r->kind, &row.kind))
		return -ENOMEM;
	at = u64map_put(&a->loss_of, (uint64_t)row.hop << 32 | row.kind);
	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&a->losses, row))
			return -ENOMEM;
		*at = (uint32_t)a->losses.count;
	}
	a->losses.at[*at - 1].count = add_saturating(a->losses.at[*at - 1].count, r->count);
	a->lost = add_saturating(a->lost, r->count);
	return 0;
}

static int feed_stat(struct analyzer *a, const struct trace_stat *r)
{
	struct stat_row row = {.process = r->process};
	struct stat_row *s;
	uint32_t *at;

	if (analyzer_keep(a, r->key, &row.key))
		return -ENOMEM;
	at = u64map_put(&a->stat_of, (uint64_t)r->process << 32 | row.key);
	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&a->stats, row))
			return -ENOMEM;
		*at = (uint32_t)a->stats.count;
	}
	s = &a->stats.at[*at - 1];
	if (r->time_ns >= s->time_ns) {
		s->time_ns = r->time_ns;
		s->value = r->value;
	}
	return 0;
}

static int feed_notice(struct analyzer *a, const struct trace_notice *r)
{
	struct notice n = {.time_ns = r->time_ns, .process = r->process, .severity = r->severity};

	if (analyzer_keep(a, r->text, &n.text))
		return -ENOMEM;
	return VEC_PUSH(&a->notices, n);
}

uint64_t event_time_ns(const struct trace_rec *rec)
{
	switch (rec->kind) {
	case TRACE_SAMPLE:
		return rec->sample.time_ns;
	case TRACE_PROCESS_STATE:
		return rec->process_state.time_ns;
	case TRACE_CODE_LOAD:
		return rec->code_load.time_ns;
	case TRACE_CODE_UNLOAD:
		return rec->code_unload.time_ns;
	case TRACE_LOSS:
		return rec->loss.time_ns;
	case TRACE_STAT:
		return rec->stat.time_ns;
	case TRACE_NOTICE:
		return rec->notice.time_ns;
	case TRACE_JVM_EVENT:
		return add_saturating(rec->jvm_event.time_ns, rec->jvm_event.duration_ns);
	case TRACE_END:
		return rec->end.time_ns;
	default:
		return 0;
	}
}

static int feed_event(struct analyzer *a, const struct trace_rec *rec)
{
	analyzer_see_time(a, event_time_ns(rec));
	switch (rec->kind) {
	case TRACE_SAMPLE:
		return feed_sample(a, &rec->sample);
	case TRACE_PROCESS_STATE:
	case TRACE_CODE_UNLOAD:
		return 0;
	case TRACE_CODE_LOAD:
		return feed_code_load(a, &rec->code_load);
	case TRACE_LOSS:
		return feed_loss(a, &rec->loss);
	case TRACE_STAT:
		return feed_stat(a, &rec->stat);
	case TRACE_NOTICE:
		return feed_notice(a, &rec->notice);
	case TRACE_JVM_EVENT:
		return feed_jvm_event(a, &rec->jvm_event);
	case TRACE_END:
		a->ended = true;
		return 0;
	default:
		a->ignored++;
		return 0;
	}
}

int analyzer_feed(struct analyzer *a, const struct trace_rec *rec)
{
	int err = definition_feed(a, rec);

	return err > 0 ? feed_event(a, rec) : err;
}

/* ---- life ---- */

int analyzer_new(struct analyzer **out)
{
	struct analyzer *a = calloc(1, sizeof(*a));

	*out = a;
	if (!a)
		return -ENOMEM;
	a->first_ns = UINT64_MAX;
	table_init(&a->processes, sizeof(struct process_row));
	table_init(&a->threads, sizeof(struct thread_row));
	table_init(&a->modules, sizeof(struct module_row));
	table_init(&a->symbols, sizeof(struct symbol_row));
	table_init(&a->jvms, sizeof(struct jvm_row));
	table_init(&a->methods, sizeof(struct method_row));
	table_init(&a->method_lines, sizeof(struct lines_row));
	table_init(&a->places, sizeof(struct place_row));
	table_init(&a->vthreads, sizeof(struct vthread_row));
	table_init(&a->spans, sizeof(struct span_row));
	table_init(&a->names, sizeof(uint32_t));
	table_init(&a->seen, sizeof(uint64_t));
	table_init(&a->codes, sizeof(struct code_row));
	table_init(&a->frames, sizeof(struct frame_row));
	table_init(&a->nodes, sizeof(struct node_row));
	return 0;
}

void analyzer_keep_samples(struct analyzer *a)
{
	a->keep_samples = true;
	analyzer_keep_between(a, 0, UINT64_MAX);
}

void analyzer_sum_stacks(struct analyzer *a)
{
	a->sum_stacks = true;
}

void analyzer_keep_between(struct analyzer *a, uint64_t from_ns, uint64_t to_ns)
{
	a->keep_from_ns = from_ns;
	a->keep_to_ns = to_ns;
}

uint64_t analyzer_samples(const struct analyzer *a)
{
	return a->sample_weight;
}

uint64_t analyzer_lost(const struct analyzer *a)
{
	return a->lost;
}

const char *analyzer_info(const struct analyzer *a, const char *key)
{
	uint32_t at = u64map_get(&a->info_of, strpool_find(&a->strings, key));

	return at ? strpool_get(&a->strings, a->infos.at[at - 1].value) : "";
}

unsigned long analyzer_frequency(const struct analyzer *a)
{
	return strtoul(analyzer_info(a, "record.frequency_hz"), NULL, 10);
}

uint64_t analyzer_period_ns(const struct analyzer *a)
{
	unsigned long hz = analyzer_frequency(a);

	return hz ? UINT64_C(1000000000) / hz : 0;
}

bool analyzer_has_times(const struct analyzer *a)
{
	return strcmp(analyzer_info(a, IMPORT_FACT_CLOCK), IMPORT_NO_CLOCK) != 0;
}

void analyzer_free(struct analyzer *a)
{
	if (!a)
		return;
	table_free(&a->processes);
	table_free(&a->threads);
	table_free(&a->modules);
	table_free(&a->symbols);
	table_free(&a->jvms);
	table_free(&a->methods);
	table_free(&a->method_lines);
	table_free(&a->places);
	table_free(&a->vthreads);
	table_free(&a->spans);
	u64map_free(&a->span_of);
	free(a->made.at);
	free(a->span_times.at);
	free(a->attributes.at);
	table_free(&a->names);
	table_free(&a->seen);
	u64map_free(&a->vgroup_of);
	table_free(&a->codes);
	table_free(&a->frames);
	table_free(&a->nodes);
	strpool_free(&a->strings);
	u64map_free(&a->info_of);
	hits_free(a);
	u64map_free(&a->loss_of);
	u64map_free(&a->stat_of);
	free(a->infos.at);
	free(a->mappings.at);
	free(a->scopes.at);
	free(a->lines.at);
	free(a->samples.at);
	stack_sums_free(&a->sums);
	free(a->stack_weights.at);
	free(a->carried_samples.at);
	stack_sums_free(&a->carried);
	free(a->events.at);
	free(a->losses.at);
	free(a->stats.at);
	free(a->notices.at);
	free(a);
}
