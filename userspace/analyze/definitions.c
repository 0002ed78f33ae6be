// SPDX-License-Identifier: Apache-2.0
#include "definitions.h"

#include "attributes.h"
#include "cgroup.h"
#include "spans.h"
#include "vthreads.h"

#include <errno.h>
#include <string.h>

int analyzer_keep(struct analyzer *a, struct trace_str s, uint32_t *id)
{
	*id = strpool_add(&a->strings, s.str, s.str ? s.len : 0);
	return *id == STRPOOL_FAILED ? -ENOMEM : 0;
}

void *analyzer_define(struct analyzer *a, struct table *t, uint32_t id, int *err)
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

static int feed_info(struct analyzer *a, const struct trace_info *r)
{
	struct info_row row;
	uint32_t *at;

	if (analyzer_keep(a, r->key, &row.key) || analyzer_keep(a, r->value, &row.value))
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
	if (!a->clock_first_ns || r->monotonic_ns < a->clock_first_ns) {
		a->clock_first_ns = r->monotonic_ns;
		a->realtime_first_ns = r->realtime_ns;
	}
	if (r->monotonic_ns > a->clock_last_ns)
		a->clock_last_ns = r->monotonic_ns;
	return 0;
}

static int feed_process(struct analyzer *a, const struct trace_process *r)
{
	int err;
	char container[CONTAINER_NAME_MAX];
	struct process_row *p = analyzer_define(a, &a->processes, r->process, &err);

	if (!p)
		return err;
	p->defined = true;
	p->pid = r->pid;
	p->parent = r->parent;
	p->start_ns = r->start_ns;
	if (analyzer_keep(a, r->comm, &p->comm) || analyzer_keep(a, r->exe, &p->exe) ||
	    analyzer_keep(a, r->cgroup, &p->cgroup))
		return -ENOMEM;
	cgroup_container(strpool_get(&a->strings, p->cgroup), container);
	return analyzer_keep(a, (struct trace_str){container, strlen(container)}, &p->container) ? -ENOMEM : 0;
}

static int feed_thread(struct analyzer *a, const struct trace_thread *r)
{
	int err;
	struct thread_row *t = analyzer_define(a, &a->threads, r->thread, &err);

	if (!t)
		return err;
	t->defined = true;
	t->process = r->process;
	t->tid = r->tid;
	t->ns_tid = r->ns_tid;
	t->flags = r->flags;
	return analyzer_keep(a, r->name, &t->name);
}

static int feed_module(struct analyzer *a, const struct trace_module *r)
{
	int err;
	struct module_row *m = analyzer_define(a, &a->modules, r->module, &err);

	if (!m)
		return err;
	m->kind = r->kind;
	return analyzer_keep(a, r->path, &m->path);
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
	struct symbol_row *s = analyzer_define(a, &a->symbols, r->symbol, &err);

	if (!s)
		return err;
	s->module = r->module;
	s->address = r->address;
	return analyzer_keep(a, r->name, &s->name);
}

static int feed_jvm(struct analyzer *a, const struct trace_jvm *r)
{
	int err;
	struct jvm_row *j = analyzer_define(a, &a->jvms, r->process, &err);

	if (!j)
		return err;
	j->start = r->start;
	j->got[0] = r->caps_got_lo;
	j->got[1] = r->caps_got_hi;
	j->refused[0] = r->caps_refused_lo;
	j->refused[1] = r->caps_refused_hi;
	if (analyzer_keep(a, r->vm_name, &j->vm_name) || analyzer_keep(a, r->vm_version, &j->vm_version) ||
	    analyzer_keep(a, r->java_version, &j->java_version) || analyzer_keep(a, r->command, &j->command))
		return -ENOMEM;
	return 0;
}

static int feed_method(struct analyzer *a, const struct trace_method *r)
{
	int err;
	struct method_row *m = analyzer_define(a, &a->methods, r->method, &err);

	if (!m)
		return err;
	m->process = r->process;
	m->modifiers = r->modifiers;
	if (analyzer_keep(a, r->signature, &m->signature) || analyzer_keep(a, r->class_name, &m->class_name) ||
	    analyzer_keep(a, r->name, &m->name) || analyzer_keep(a, r->source, &m->source))
		return -ENOMEM;
	return 0;
}

static int feed_lines(struct analyzer *a, const struct trace_lines *r)
{
	int err;
	struct lines_row *l = analyzer_define(a, &a->method_lines, r->method, &err);

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
	struct place_row *p = analyzer_define(a, &a->places, r->place, &err);

	if (!p)
		return err;
	return analyzer_keep(a, r->name, &p->name) || analyzer_keep(a, r->file, &p->file) ? -ENOMEM : 0;
}

static int feed_code(struct analyzer *a, const struct trace_code *r)
{
	int err;
	struct code_row *c = analyzer_define(a, &a->codes, r->code, &err);

	if (!c)
		return err;
	c->process = r->process;
	c->kind = r->kind;
	c->method = r->method;
	c->tier = r->tier;
	c->address = r->address;
	c->size = r->size;
	c->load_ns = r->load_ns;
	return analyzer_keep(a, r->name, &c->name);
}

static int feed_frame(struct analyzer *a, const struct trace_frame *r)
{
	uint32_t count = r->scopes ? r->scope_count : 0;
	int err;
	struct frame_row *f = analyzer_define(a, &a->frames, r->frame, &err);

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
	/* The outermost scopes are kept, because they join this frame to its caller. */
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

	/* parent < node keeps the stacks free of cycles */
	if (r->parent >= r->node) {
		a->ignored++;
		return 0;
	}
	n = analyzer_define(a, &a->nodes, r->node, &err);
	if (!n)
		return err;
	n->parent = r->parent;
	n->frame = r->frame;
	return 0;
}

static int feed_name(struct analyzer *a, const struct trace_name *r)
{
	int err;
	uint32_t *name = analyzer_define(a, &a->names, r->name, &err);

	return name ? analyzer_keep(a, r->text, name) : err;
}

uint32_t analyzer_name_of(const struct analyzer *a, uint32_t id)
{
	const uint32_t *name = table_get(&a->names, id);

	return name ? *name : 0;
}

int definition_feed(struct analyzer *a, const struct trace_rec *rec)
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
	case TRACE_SPAN:
		return spans_feed(a, &rec->span);
	case TRACE_RESOURCE:
		return attributes_feed_process(a, &rec->resource);
	case TRACE_ATTRIBUTE:
		return attributes_feed_span(a, &rec->attribute);
	case TRACE_SETTING:
		return attributes_feed_setting(a, &rec->setting);
	case TRACE_NAME:
		return feed_name(a, &rec->name);
	default:
		return 1;
	}
}
