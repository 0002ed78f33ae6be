// SPDX-License-Identifier: Apache-2.0
#include "analyzer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "vthreads.h"

static int keep(struct analyzer *a, struct trace_str s, uint32_t *id)
{
	*id = strpool_add(&a->strings, s.str, s.str ? s.len : 0);
	return *id == STRPOOL_FAILED ? -ENOMEM : 0;
}

/* The row of `id`, created when it is new. NULL sets *err: 0 for an id that cannot be, which is counted, or -ENOMEM. */
static void *define(struct analyzer *a, struct table *t, uint32_t id, int *err)
{
	void *row = NULL;

	*err = 0;
	if (id == 0) {
		a->ignored++;
		return NULL;
	}
	row = table_put(t, id);
	if (!row)
		*err = -ENOMEM;
	return row;
}

/* ---- definitions ---- */

static int feed_info(struct analyzer *a, const struct trace_info *r)
{
	struct info_row row;
	uint32_t *at;

	if (keep(a, r->key, &row.key) || keep(a, r->value, &row.value))
		return -ENOMEM;
	at = u64map_put(&a->info_of, row.key);
	if (!at)
		return -ENOMEM;
	if (*at) {
		a->infos.at[*at - 1].value = row.value;
		return 0;
	}
	if (VEC_PUSH(&a->infos, row))
		return -ENOMEM;
	*at = (uint32_t)a->infos.count;
	return 0;
}

static int feed_clock(struct analyzer *a, const struct trace_clock *r)
{
	if (!a->clock_first_ns || r->monotonic_ns < a->clock_first_ns)
		a->clock_first_ns = r->monotonic_ns;
	if (r->monotonic_ns > a->clock_last_ns)
		a->clock_last_ns = r->monotonic_ns;
	return 0;
}

static int feed_process(struct analyzer *a, const struct trace_process *r)
{
	int err;
	struct process_row *p = define(a, &a->processes, r->process, &err);

	if (!p)
		return err;
	p->defined = true;
	p->pid = r->pid;
	p->parent = r->parent;
	p->start_ns = r->start_ns;
	return keep(a, r->comm, &p->comm) || keep(a, r->exe, &p->exe) ? -ENOMEM : 0;
}

static int feed_thread(struct analyzer *a, const struct trace_thread *r)
{
	int err;
	struct thread_row *t = define(a, &a->threads, r->thread, &err);

	if (!t)
		return err;
	t->defined = true;
	t->process = r->process;
	t->tid = r->tid;
	t->ns_tid = r->ns_tid;
	t->flags = r->flags;
	return keep(a, r->name, &t->name);
}

static int feed_module(struct analyzer *a, const struct trace_module *r)
{
	int err;
	struct module_row *m = define(a, &a->modules, r->module, &err);

	if (!m)
		return err;
	m->kind = r->kind;
	return keep(a, r->path, &m->path);
}

static int feed_mapping(struct analyzer *a, const struct trace_mapping *r)
{
	struct mapping m = {r->process, r->module, r->start, r->end, r->bias, r->time_ns};

	if (r->start >= r->end) {
		a->ignored++;
		return 0;
	}
	return VEC_PUSH(&a->mappings, m);
}

static int feed_symbol(struct analyzer *a, const struct trace_symbol *r)
{
	int err;
	struct symbol_row *s = define(a, &a->symbols, r->symbol, &err);

	if (!s)
		return err;
	s->module = r->module;
	s->address = r->address;
	return keep(a, r->name, &s->name);
}

static int feed_jvm(struct analyzer *a, const struct trace_jvm *r)
{
	int err;
	struct jvm_row *j = define(a, &a->jvms, r->process, &err);

	if (!j)
		return err;
	j->start = r->start;
	j->got[0] = r->caps_got_lo;
	j->got[1] = r->caps_got_hi;
	j->refused[0] = r->caps_refused_lo;
	j->refused[1] = r->caps_refused_hi;
	if (keep(a, r->vm_name, &j->vm_name) || keep(a, r->vm_version, &j->vm_version) ||
	    keep(a, r->java_version, &j->java_version) || keep(a, r->command, &j->command))
		return -ENOMEM;
	return 0;
}

static int feed_method(struct analyzer *a, const struct trace_method *r)
{
	int err;
	struct method_row *m = define(a, &a->methods, r->method, &err);

	if (!m)
		return err;
	m->process = r->process;
	if (keep(a, r->class_name, &m->class_name) || keep(a, r->name, &m->name) || keep(a, r->source, &m->source))
		return -ENOMEM;
	return 0;
}

static int feed_lines(struct analyzer *a, const struct trace_lines *r)
{
	int err;
	struct lines_row *l = define(a, &a->method_lines, r->method, &err);

	if (!l)
		return err;
	l->count = 0;
	if (!r->lines || r->count == 0)
		return 0;
	if (VEC_RESERVE(&a->lines, r->count))
		return -ENOMEM;
	memcpy(a->lines.at + a->lines.count, r->lines, r->count * sizeof(*r->lines));
	l->first = a->lines.count;
	l->count = r->count;
	a->lines.count += r->count;
	return 0;
}

static int feed_place(struct analyzer *a, const struct trace_place *r)
{
	int err;
	struct place_row *p = define(a, &a->places, r->place, &err);

	if (!p)
		return err;
	return keep(a, r->name, &p->name) || keep(a, r->file, &p->file) ? -ENOMEM : 0;
}

static int feed_code(struct analyzer *a, const struct trace_code *r)
{
	int err;
	struct code_row *c = define(a, &a->codes, r->code, &err);

	if (!c)
		return err;
	c->process = r->process;
	c->kind = r->kind;
	c->method = r->method;
	c->tier = r->tier;
	return keep(a, r->name, &c->name);
}

static int feed_frame(struct analyzer *a, const struct trace_frame *r)
{
	uint32_t count = r->scopes ? r->scope_count : 0;
	int err;
	struct frame_row *f = define(a, &a->frames, r->frame, &err);

	if (!f)
		return err;
	if (count > SCOPES_MAX)
		count = SCOPES_MAX;
	f->kind = r->kind;
	f->process = r->process;
	f->address = r->address;
	f->exact = r->exact;
	f->module = r->module;
	f->symbol = r->symbol;
	f->code = r->code;
	f->scope_count = 0;
	if (count == 0)
		return 0;
	if (VEC_RESERVE(&a->scopes, count))
		return -ENOMEM;
	/* The outermost ones are kept: they join this frame to its caller. */
	memcpy(a->scopes.at + a->scopes.count, r->scopes + (r->scope_count - count), count * sizeof(*r->scopes));
	f->first_scope = a->scopes.count;
	f->scope_count = count;
	a->scopes.count += count;
	return 0;
}

static int feed_node(struct analyzer *a, const struct trace_node *r)
{
	int err;
	struct node_row *n;

	/* parent < node is what keeps the stacks free of cycles */
	if (r->parent >= r->node) {
		a->ignored++;
		return 0;
	}
	n = define(a, &a->nodes, r->node, &err);
	if (!n)
		return err;
	n->parent = r->parent;
	n->frame = r->frame;
	return 0;
}

static int feed_name(struct analyzer *a, const struct trace_name *r)
{
	int err;
	uint32_t *name = define(a, &a->names, r->name, &err);

	return name ? keep(a, r->text, name) : err;
}

/* ---- events ---- */

/* The name with an id of the trace; the empty one when there is none. */
static uint32_t name_of(const struct analyzer *a, uint32_t id)
{
	const uint32_t *name = table_get(&a->names, id);

	return name ? *name : 0;
}

/* What is counted for its thread, or its JVM. */
static int count_jvm_event(struct analyzer *a, const struct trace_jvm_event *r)
{
	bool of_thread = r->kind == BRAID_JVM_THREAD_START || r->kind == BRAID_JVM_THREAD_END;
	struct process_row *p;
	struct thread_row *t;
	int err = 0;

	if (of_thread && r->source == BRAID_SOURCE_AGENT && (t = define(a, &a->threads, r->thread, &err))) {
		t->started += r->kind == BRAID_JVM_THREAD_START;
		t->ended += r->kind == BRAID_JVM_THREAD_END;
	}
	if (r->kind == BRAID_JVM_CLASS_UNLOAD && (p = define(a, &a->processes, r->process, &err)))
		p->classes_unloaded = add_saturating(p->classes_unloaded, r->value);
	return err;
}

bool analyzer_keeps(const struct trace_jvm_event *r)
{
	return r->kind != 0 && r->kind < BRAID_JVM_EVENTS; /* others are of a newer recorder */
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
				  .name = name_of(a, r->name),
				  .detail = name_of(a, r->detail),
				  .flags = r->flags,
				  .vthread = r->vthread,
				  .other = r->other,
				  .other_node = r->other_node,
				  .source = r->source};

	if (!analyzer_keeps(r)) {
		a->ignored++;
		return 0;
	}
	if (count_jvm_event(a, r) || keep(a, r->text, &e.text))
		return -ENOMEM;
	return VEC_PUSH(&a->events, e);
}

static void see_time(struct analyzer *a, uint64_t time_ns)
{
	if (time_ns == 0)
		return;
	if (time_ns < a->first_ns)
		a->first_ns = time_ns;
	if (time_ns > a->last_ns)
		a->last_ns = time_ns;
}

/* The sum of a thread's samples on a node. NULL: no memory. */
static struct sample_sum *sum_of(struct analyzer *a, uint32_t thread, uint32_t node)
{
	struct node_row *n = table_get(&a->nodes, node);
	struct sample_sum fresh = {thread, node, 0};
	uint32_t *at;

	if (n && n->last_sum && a->sums.at[n->last_sum - 1].thread == thread)
		return &a->sums.at[n->last_sum - 1];
	at = u64map_put(&a->sum_of, (uint64_t)thread << 32 | node);
	if (!at)
		return NULL;
	if (!*at) {
		if (a->sums.count >= UINT32_MAX - 1 || VEC_PUSH(&a->sums, fresh))
			return NULL;
		*at = (uint32_t)a->sums.count;
	}
	if (n)
		n->last_sum = *at;
	return &a->sums.at[*at - 1];
}

static int feed_sample(struct analyzer *a, const struct trace_sample *r)
{
	uint32_t thread = vthreads_thread(a, r);
	struct sample one = {r->time_ns, r->weight, thread, r->node};
	struct sample_sum *s;

	a->sample_weight = add_saturating(a->sample_weight, r->weight);
	vthreads_count(a, r);
	if (a->keep_samples)
		return VEC_PUSH(&a->samples, one);
	s = sum_of(a, thread, r->node);
	if (!s)
		return -ENOMEM;
	s->weight = add_saturating(s->weight, r->weight);
	return 0;
}

static int feed_code_load(struct analyzer *a, const struct trace_code_load *r)
{
	int err;
	struct process_row *p = define(a, &a->processes, r->process, &err);

	if (!p)
		return err;
	p->code_loads++;
	return 0;
}

static int feed_loss(struct analyzer *a, const struct trace_loss *r)
{
	struct loss_row row = {0};
	uint32_t *at;

	if (keep(a, r->hop, &row.hop) || keep(a, r->kind, &row.kind))
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

	if (keep(a, r->key, &row.key))
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

	if (keep(a, r->text, &n.text))
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
	see_time(a, event_time_ns(rec));
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
	switch (rec->kind) {
	case TRACE_INFO:
		return feed_info(a, &rec->info);
	case TRACE_CLOCK:
		return feed_clock(a, &rec->clock);
	case TRACE_PROCESS:
		return feed_process(a, &rec->process);
	case TRACE_THREAD:
		return feed_thread(a, &rec->thread);
	case TRACE_MODULE:
		return feed_module(a, &rec->module);
	case TRACE_MAPPING:
		return feed_mapping(a, &rec->mapping);
	case TRACE_SYMBOL:
		return feed_symbol(a, &rec->symbol);
	case TRACE_JVM:
		return feed_jvm(a, &rec->jvm);
	case TRACE_METHOD:
		return feed_method(a, &rec->method);
	case TRACE_LINES:
		return feed_lines(a, &rec->lines);
	case TRACE_CODE:
		return feed_code(a, &rec->code);
	case TRACE_FRAME:
		return feed_frame(a, &rec->frame);
	case TRACE_NODE:
		return feed_node(a, &rec->node);
	case TRACE_VTHREAD:
		return vthreads_feed(a, &rec->vthread);
	case TRACE_PLACE:
		return feed_place(a, &rec->place);
	case TRACE_NAME:
		return feed_name(a, &rec->name);
	default:
		return feed_event(a, rec);
	}
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
	table_init(&a->names, sizeof(uint32_t));
	table_init(&a->codes, sizeof(struct code_row));
	table_init(&a->frames, sizeof(struct frame_row));
	table_init(&a->nodes, sizeof(struct node_row));
	return 0;
}

void analyzer_keep_samples(struct analyzer *a)
{
	a->keep_samples = true;
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
	table_free(&a->names);
	u64map_free(&a->vgroup_of);
	table_free(&a->codes);
	table_free(&a->frames);
	table_free(&a->nodes);
	strpool_free(&a->strings);
	u64map_free(&a->info_of);
	u64map_free(&a->sum_of);
	u64map_free(&a->loss_of);
	u64map_free(&a->stat_of);
	free(a->infos.at);
	free(a->mappings.at);
	free(a->scopes.at);
	free(a->lines.at);
	free(a->samples.at);
	free(a->sums.at);
	free(a->events.at);
	free(a->losses.at);
	free(a->stats.at);
	free(a->notices.at);
	free(a);
}
