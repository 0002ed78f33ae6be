// SPDX-License-Identifier: Apache-2.0
#include "stacks.h"

#include "node_map.h"
#include "jvm/jvm.h"
#include "kernel/kernel_side.h"
#include "process/perf_maps.h"
#include "sink/records.h"
#include "util/pair_map.h"
#include "util/vec.h"

#include <braid/frame.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limits on remembered entries: three quarters of a power of two, less what one stack can add. Together the tables take
 * at most 17 MB. When one is full, all are cleared: see renew().
 */
#define ONE_STACK (BRAID_MAX_FRAMES + 1U)
#define STACKS_MAX ((3U << 15) - 1)
#define NODES_MAX ((3U << 17) - ONE_STACK)
#define FRAMES_MAX ((3U << 15) - ONE_STACK)
#define QUICK_SLOTS (1U << 14)
#define NATIVE_MAX (1U << 17) /* frames that may get lines at the end, and those that wait for their names */

/* The node that a raw frame led to last. It is valid while the process's generation is the same. */
struct quick {
	uint64_t place; /* process, parent node, leaf */
	uint64_t raw;
	uint32_t node;
	uint32_t generation;
};

struct native_frame {
	struct trace_frame frame;
	struct module *module;
	uint64_t vaddr;
	struct process *process; /* of one of `unnamed`, until it is forgotten; else NULL */
};

typedef VEC(struct native_frame) native_frames;

struct stacks {
	struct session *session;
	struct pair_map by_hash; /* (hash, process): node; extra: complete */
	struct pair_map former;	 /* by_hash before the last renewal */
	struct node_map nodes;	 /* (parent, frame id): node */
	struct pair_map frames;	 /* (raw frame, process and meaning): frame id */
	struct quick *quick;	 /* a direct-mapped cache */
	uint64_t seen;		 /* stacks before the last renewal */
	uint64_t renewals;
	uint32_t last_node;
	uint32_t last_frame;
	/* Native frames that get source lines at the end. */
	native_frames native;
	size_t native_skipped;
	native_frames unnamed; /* those whose module's symbols are still being read */
};

int stacks_new(struct stacks **out, struct session *s)
{
	struct stacks *st = *out = calloc(1, sizeof(*st));

	if (!st)
		return -ENOMEM;
	st->session = s;
	st->quick = calloc(QUICK_SLOTS, sizeof(*st->quick));
	return st->quick ? 0 : -ENOMEM;
}

void stacks_free(struct stacks *st)
{
	if (!st)
		return;
	free(st->native.at);
	free(st->unnamed.at);
	free(st->quick);
	pair_map_free(&st->by_hash);
	pair_map_free(&st->former);
	node_map_free(&st->nodes);
	pair_map_free(&st->frames);
	free(st);
}

uint64_t stacks_count(const struct stacks *st)
{
	return st->seen + st->by_hash.count;
}

uint64_t stacks_renewals(const struct stacks *st)
{
	return st->renewals;
}

static bool is_full(const struct stacks *st)
{
	return st->by_hash.count >= STACKS_MAX || st->nodes.count >= NODES_MAX || st->frames.count >= FRAMES_MAX;
}

/*
 * Ids in the trace stay valid; stacks that are met again get new ones. The kernel side forgets which stacks it has
 * sent. Samples under way refer to those, so their hashes are kept until the next renewal.
 */
static void renew(struct stacks *st)
{
	kernel_side_forget_stacks(st->session->kernel);
	st->seen += st->by_hash.count;
	st->renewals++;
	pair_map_free(&st->former);
	st->former = st->by_hash;
	st->by_hash = (struct pair_map){0};
	pair_map_free(&st->frames);
	node_map_free(&st->nodes);
	memset(st->quick, 0, QUICK_SLOTS * sizeof(*st->quick));
}

/* Looks a stack up by its hash. A stack from before the last renewal is added again. */
static const struct pair_entry *find_hash(struct stacks *st, const struct process *process, uint64_t hash)
{
	const struct pair_entry *e = pair_find(&st->by_hash, hash, process->id), *former;
	struct pair_entry *again;

	if (e)
		return e;
	former = pair_find(&st->former, hash, process->id);
	again = former ? pair_put(&st->by_hash, hash, process->id, former->value) : NULL;
	if (again)
		again->extra = former->extra;
	return again;
}

/* The mapping of a native frame's instruction, and the instruction's address in its file. */
static const struct process_mapping *mapping_of(struct process *process, const struct trace_frame *f, uint64_t time_ns,
						uint64_t *vaddr)
{
	uint64_t address = f->exact ? f->address : f->address - 1;
	const struct process_mapping *m = process_mapping_at(process, address, time_ns);

	*vaddr = m ? address - m->bias : 0;
	return m;
}

/* A signal handler's return address follows no call: it is a function's first instruction. */
static uint32_t symbol_of(struct stacks *st, struct module *module, uint64_t vaddr, bool exact)
{
	uint32_t symbol = modules_symbol(st->session->modules, module, vaddr);

	return symbol || exact ? symbol : modules_symbol(st->session->modules, module, vaddr + 1);
}

/* Returns a number that depends on where the module is mapped. */
static uint32_t resolve_native(struct stacks *st, struct process *process, uint64_t time_ns, struct trace_frame *f)
{
	uint64_t vaddr;
	const struct process_mapping *m = mapping_of(process, f, time_ns, &vaddr);

	if (!m)
		return 0;
	f->module = m->module->id;
	f->symbol = symbol_of(st, m->module, vaddr, f->exact);
	return (uint32_t)((m->bias >> 12) * 0x9e3779b1U);
}

/* Fills *f with the meaning of the raw frame in this process at this time. False when its name is not known yet. */
static bool frame_resolve(struct stacks *st, struct process *process, uint64_t raw, uint64_t time_ns, bool leaf,
			  struct trace_frame *f, uint32_t *place)
{
	*place = 0;
	*f = (struct trace_frame){.kind = braid_frame_kind(raw),
				  .process = process->id,
				  .exact = (raw & BRAID_FRAME_EXACT) != 0,
				  .address = braid_frame_addr(raw)};
	switch (f->kind) {
	case BRAID_FRAME_KERNEL:
		f->process = 0;
		f->exact = leaf;
		f->module = modules_kernel(st->session->modules);
		f->symbol = modules_kernel_symbol(st->session->modules, leaf ? raw : raw - 1);
		return true;
	case BRAID_FRAME_NATIVE:
		*place = resolve_native(st, process, time_ns, f);
		return true;
	case BRAID_FRAME_INTERPRETED:
		f->exact = 0;
		f->address = braid_frame_method(raw);
		if (process->jvm)
			jvm_resolve_interpreted(process->jvm, f->address, braid_frame_bci(raw), f);
		return true;
	case BRAID_FRAME_CODE_CACHE:
		return process->jvm &&
		       jvm_resolve_code(process->jvm, f->address, f->exact, braid_frame_code_id(raw), time_ns, f);
	default: /* the end of an incomplete stack */
		f->process = 0;
		f->exact = 0;
		return true;
	}
}

/* What distinguishes frames with the same address: code version, method or module. */
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

static bool keep_late(struct stacks *st, native_frames *list, struct account *a, const struct native_frame *n)
{
	if (list->count == NATIVE_MAX || !account_reserve(a, &st->session->sink, BUDGET_LATE_FRAMES, 1))
		return false;
	if (!VEC_PUSH(list, *n))
		return true;
	account_release(a, BUDGET_LATE_FRAMES, 1);
	return false;
}

/* A frame beyond the limits gets no lines. */
static void keep_native(struct stacks *st, struct process *process, uint64_t time_ns, const struct trace_frame *f)
{
	uint64_t vaddr;
	const struct process_mapping *m = mapping_of(process, f, time_ns, &vaddr);

	if (m && !keep_late(st, &st->native, &process->account, &(struct native_frame){*f, m->module, vaddr, NULL}))
		st->native_skipped++;
}

/* A frame that gets its name when its file has been read. Beyond the limits it has none. */
static void keep_unnamed(struct stacks *st, struct process *process, uint64_t time_ns, const struct trace_frame *f)
{
	uint64_t vaddr;
	const struct process_mapping *m = mapping_of(process, f, time_ns, &vaddr);

	if (!m || !m->module->wants_symbols)
		return;
	if (st->unnamed.count == NATIVE_MAX)
		sink_loss(&st->session->sink, process->id, "collector", "frame_name", 1);
	else
		(void)keep_late(st, &st->unnamed, &process->account,
				&(struct native_frame){*f, m->module, vaddr, process});
}

void stacks_name_read(struct stacks *st)
{
	size_t kept = 0;

	for (size_t i = 0; i < st->unnamed.count; i++) {
		struct native_frame *n = &st->unnamed.at[i];

		if (n->module->wants_symbols) {
			st->unnamed.at[kept++] = *n;
			continue;
		}
		n->frame.symbol = symbol_of(st, n->module, n->vaddr, n->frame.exact);
		if (n->frame.symbol)
			sink_frame(&st->session->sink, &n->frame);
		if (n->process)
			account_release(&n->process->account, BUDGET_LATE_FRAMES, 1);
	}
	st->unnamed.count = kept;
}

/* Its frames still get their names. */
void stacks_forget(struct stacks *st, const struct process *process)
{
	if (!process->account.used[BUDGET_LATE_FRAMES])
		return;
	for (size_t i = 0; i < st->unnamed.count; i++)
		if (st->unnamed.at[i].process == process)
			st->unnamed.at[i].process = NULL;
}

static int by_module(const void *a, const void *b)
{
	const struct native_frame *x = a, *y = b;

	if (x->module->id != y->module->id)
		return x->module->id < y->module->id ? -1 : 1;
	return x->vaddr != y->vaddr ? (x->vaddr < y->vaddr ? -1 : 1) : 0;
}

/* Looks up a name from a server, and lines. True when either is found. */
static bool name_deferred(struct stacks *st, struct native_frame *n, uint64_t limit_ns)
{
	struct modules *m = st->session->modules;
	uint32_t symbol = 0;

	if (modules_query_servers(n->module, limit_ns) || !n->frame.symbol)
		symbol = symbol_of(st, n->module, n->vaddr, n->frame.exact);
	if (symbol)
		n->frame.symbol = symbol;
	if (st->session->options->lines)
		n->frame.scope_count = modules_lines(m, n->module, n->vaddr, &n->frame.scopes);
	return symbol || n->frame.scope_count;
}

/* Frames are sorted by module and address, so each module is read once. */
void stacks_name_deferred(struct stacks *st, uint64_t limit_ns)
{
	uint64_t until = now_ns() + limit_ns, now;
	size_t i;

	VEC_SORT(&st->native, by_module);
	for (i = 0; i < st->native.count && (now = now_ns()) < until; i++)
		if (name_deferred(st, &st->native.at[i], until - now))
			sink_frame(&st->session->sink, &st->native.at[i].frame);
	modules_lines_done(st->session->modules);
	if (i < st->native.count)
		sink_notice(
			&st->session->sink, 0, BRAID_NOTICE_WARNING,
			"%zu of %zu native frames have no source line, or no name from a debuginfod server: finding "
			"them took too long",
			st->native.count - i, st->native.count);
	if (st->native_skipped)
		sink_notice(&st->session->sink, 0, BRAID_NOTICE_WARNING,
			    "%zu native frames have no source line, or no name from a debuginfod server: only the "
			    "first %u are looked up",
			    st->native_skipped, NATIVE_MAX);
	st->native.count = 0;
}

static void request_name(struct stacks *st, struct process *process, uint64_t time_ns, const struct trace_frame *f)
{
	uint64_t vaddr;
	const struct process_mapping *m = mapping_of(process, f, time_ns, &vaddr);

	if (m)
		perf_maps_request(st->session->perf_maps, process, m, f);
}

/* Of the kernel, whose frames have one meaning, a name is asked for once. NULL: not yet. */
static struct pair_entry *kernel_frame(const struct stacks *st, uint64_t key)
{
	return pair_find(&st->frames, key, modules_kernel(st->session->modules));
}

static uint32_t frame_id(struct stacks *st, struct process *process, uint64_t raw, uint64_t time_ns, bool leaf)
{
	bool in_kernel = braid_frame_kind(raw) == BRAID_FRAME_KERNEL, known;
	/* as a return address, the same address is another frame */
	uint64_t key = in_kernel && leaf ? raw & ~(1ULL << 48) : raw, owner;
	struct pair_entry *e = in_kernel ? kernel_frame(st, key) : NULL;
	struct trace_frame f;
	uint32_t place;

	if (e)
		return e->value;
	known = frame_resolve(st, process, raw, time_ns, leaf, &f, &place);
	owner = (uint64_t)f.process << 32 | ((uint32_t)meaning(&f) ^ place);
	e = pair_find(&st->frames, key, owner);
	if (e)
		return e->value;
	e = pair_put(&st->frames, key, owner, ++st->last_frame);
	if (!e)
		return 0;
	f.frame = st->last_frame;
	if (f.kind == BRAID_FRAME_NATIVE && f.module && modules_deferred_names(st->session->modules))
		keep_native(st, process, time_ns, &f);
	sink_frame(&st->session->sink, &f);
	if (f.kind == BRAID_FRAME_NATIVE && f.module && !f.symbol) {
		keep_unnamed(st, process, time_ns, &f);
		request_name(st, process, time_ns, &f);
	}
	if (!known && process->jvm)
		jvm_add_pending(process->jvm, &f, braid_frame_code_id(raw), time_ns);
	return f.frame;
}

static uint32_t child(struct stacks *st, struct process *process, uint32_t parent, uint64_t raw, uint64_t time_ns,
		      bool leaf)
{
	uint64_t place = (uint64_t)process->id << 33 | (uint64_t)parent << 1 | leaf;
	struct quick *quick = &st->quick[pair_hash(place, raw) % QUICK_SLOTS];
	struct node_entry *e;
	uint32_t frame;

	/* The cache has the present meaning of addresses only. */
	if (quick->node && quick->place == place && quick->raw == raw && quick->generation == process->generation &&
	    time_ns >= process->layout_ns)
		return quick->node;
	frame = frame_id(st, process, raw, time_ns, leaf);
	e = frame ? node_map_get(&st->nodes, parent, frame) : NULL;
	if (!e)
		return 0;
	if (!e->node) {
		e->node = ++st->last_node;
		sink_node(&st->session->sink, e->node, parent, frame);
	}
	if (time_ns >= process->layout_ns)
		*quick = (struct quick){.place = place, .raw = raw, .node = e->node, .generation = process->generation};
	return e->node;
}

#define OWN_FRAMES_MAX 8

/* The number of top frames that are the agent's own, from its stack request. */
static uint32_t own_frames(const struct process *process, const struct braid_event_sample *e, const uint64_t *frames)
{
	const struct process_mapping *m;
	uint32_t own = 0;

	if (e->hdr.kind != BRAID_EVENT_STACK)
		return 0;
	for (uint32_t i = 0; i < OWN_FRAMES_MAX && i + 1 < e->frame_count; i++) {
		if (braid_frame_kind(frames[i]) != BRAID_FRAME_NATIVE)
			break;
		m = process_mapping_at(process, braid_frame_addr(frames[i]), e->hdr.time_ns);
		if (m && strstr(m->module->path, "/libbraid-agent.so"))
			own = i + 1;
	}
	return own;
}

uint32_t stacks_node(struct stacks *st, struct process *process, const struct braid_event_sample *e, bool *complete)
{
	const uint64_t *frames = (const uint64_t *)(e + 1);
	const struct pair_entry *earlier;
	struct pair_entry *known;
	uint32_t node = 0, own;

	if (!e->frame_count) {
		earlier = find_hash(st, process, e->stack);
		*complete = earlier && earlier->extra;
		return earlier ? earlier->value : 0;
	}
	if (is_full(st))
		renew(st);
	*complete = braid_frame_kind(frames[e->frame_count - 1]) != BRAID_FRAME_END;
	own = own_frames(process, e, frames);
	for (uint32_t i = e->frame_count; i-- > own;) {
		node = child(st, process, node, frames[i], e->hdr.time_ns, i == 0);
		if (!node)
			return 0;
	}
	known = pair_put(&st->by_hash, e->stack, process->id, node);
	if (known)
		known->extra = *complete;
	return node;
}

uint32_t stacks_known(struct stacks *st, const struct process *process, uint64_t hash)
{
	const struct pair_entry *e = find_hash(st, process, hash);

	return e ? e->value : 0;
}

uint32_t stacks_end(struct stacks *st, struct process *process, uint32_t cause, uint64_t time_ns)
{
	return child(st, process, 0, (uint64_t)BRAID_FRAME_END << 60 | cause, time_ns, true);
}
