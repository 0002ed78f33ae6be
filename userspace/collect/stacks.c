// SPDX-License-Identifier: Apache-2.0
#include "stacks.h"

#include "jvm.h"
#include "util/pair_map.h"

#include <braid/frame.h>

#include <errno.h>
#include <stdlib.h>

struct stacks {
	struct session *session;
	struct pair_map by_hash; /* (hash, 0): node, extra: complete */
	struct pair_map quick;	 /* (parent node and process, raw frame): node, extra: process generation */
	struct pair_map nodes;	 /* (parent, frame id): node */
	struct pair_map frames;	 /* (raw frame, process and meaning): frame id */
	uint32_t last_node;
	uint32_t last_frame;
};

int stacks_new(struct stacks **out, struct session *s)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->session = s;
	return 0;
}

void stacks_free(struct stacks *st)
{
	if (!st)
		return;
	pair_map_free(&st->by_hash);
	pair_map_free(&st->quick);
	pair_map_free(&st->nodes);
	pair_map_free(&st->frames);
	free(st);
}

uint64_t stacks_count(const struct stacks *st)
{
	return st->by_hash.count;
}

static void resolve_native(struct stacks *st, struct process *process, struct trace_frame *f)
{
	const struct process_mapping *m = process_mapping_at(process, f->exact ? f->address : f->address - 1);

	if (!m)
		return;
	f->module = m->module->id;
	f->symbol = modules_symbol(st->session->modules, m->module, (f->exact ? f->address : f->address - 1) - m->bias);
}

/* Fills *f with what the raw frame means in this process at this time: false when its name is still under way. */
static bool resolve(struct stacks *st, struct process *process, uint64_t raw, uint64_t time_ns, bool leaf,
		    struct trace_frame *f)
{
	*f = (struct trace_frame){.kind = braid_frame_kind(raw),
				  .process = process->id,
				  .exact = (raw & BRAID_FRAME_EXACT) != 0,
				  .address = braid_frame_addr(raw)};
	switch (f->kind) {
	case BRAID_FRAME_KERNEL:
		f->process = 0;
		f->exact = leaf;
		f->symbol = modules_kernel_symbol(st->session->modules, leaf ? raw : raw - 1, &f->module);
		return true;
	case BRAID_FRAME_NATIVE:
		resolve_native(st, process, f);
		return true;
	case BRAID_FRAME_INTERPRETED:
		f->exact = 0;
		f->address = braid_frame_method(raw);
		if (process->jvm)
			jvm_resolve_interpreted(process->jvm, f->address, braid_frame_bci(raw), f);
		return true;
	case BRAID_FRAME_CODE_CACHE:
		return process->jvm && jvm_resolve_code(process->jvm, f->address, f->exact, time_ns, f);
	default: /* the end of an incomplete stack */
		f->process = 0;
		f->exact = 0;
		return true;
	}
}

/* What tells two frames of one address apart: the code version, the method, the module. */
static uint64_t meaning(const struct trace_frame *f)
{
	switch (f->kind) {
	case BRAID_FRAME_CODE_CACHE:
		return f->code;
	case BRAID_FRAME_INTERPRETED:
		return f->scope_count ? f->scopes[0].method : 0;
	default:
		return f->module;
	}
}

static uint32_t frame_id(struct stacks *st, struct process *process, uint64_t raw, uint64_t time_ns, bool leaf)
{
	struct trace_frame f;
	struct pair_entry *e;
	bool known = resolve(st, process, raw, time_ns, leaf, &f);
	uint64_t key = raw, owner = (uint64_t)f.process << 32 | meaning(&f);

	if (f.kind == BRAID_FRAME_KERNEL && leaf)
		key &= ~(1ULL << 48); /* the same address as a return address is another frame */
	e = pair_find(&st->frames, key, owner);
	if (e)
		return e->value;
	e = pair_put(&st->frames, key, owner, ++st->last_frame);
	if (!e)
		return 0;
	f.frame = st->last_frame;
	session_emit(st->session, &(struct trace_rec){.kind = TRACE_FRAME, .frame = f});
	if (!known && process->jvm)
		jvm_defer(process->jvm, &f, time_ns);
	return f.frame;
}

static uint32_t child(struct stacks *st, struct process *process, uint32_t parent, uint64_t raw, uint64_t time_ns,
		      bool leaf)
{
	uint64_t place = (uint64_t)process->id << 33 | (uint64_t)parent << 1 | leaf;
	struct pair_entry *quick = pair_find(&st->quick, place, raw), *e;
	uint32_t frame, node;

	if (quick && quick->extra == process->generation)
		return quick->value;
	frame = frame_id(st, process, raw, time_ns, leaf);
	if (!frame)
		return 0;
	e = pair_find(&st->nodes, parent, frame);
	if (e) {
		node = e->value;
	} else {
		if (!pair_put(&st->nodes, parent, frame, ++st->last_node))
			return 0;
		node = st->last_node;
		session_emit(st->session,
			     &(struct trace_rec){.kind = TRACE_NODE,
						 .node = {.node = node, .parent = parent, .frame = frame}});
	}
	quick = pair_put(&st->quick, place, raw, node);
	if (quick)
		quick->extra = process->generation;
	return node;
}

uint32_t stacks_node(struct stacks *st, struct process *process, const struct braid_event_sample *e, bool *complete)
{
	const uint64_t *frames = (const uint64_t *)(e + 1);
	struct pair_entry *known;
	uint32_t node = 0;

	if (!e->frame_count) {
		known = pair_find(&st->by_hash, e->stack, 0);
		*complete = known && known->extra;
		return known ? known->value : 0;
	}
	*complete = braid_frame_kind(frames[e->frame_count - 1]) != BRAID_FRAME_END;
	for (uint32_t i = e->frame_count; i-- > 0;) {
		node = child(st, process, node, frames[i], e->hdr.time_ns, i == 0);
		if (!node)
			return 0;
	}
	known = pair_put(&st->by_hash, e->stack, 0, node);
	if (known)
		known->extra = *complete;
	return node;
}
