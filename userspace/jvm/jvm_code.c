// SPDX-License-Identifier: Apache-2.0
/*
 * A JVM's code cache: applies records about code, and resolves frames in it. Frames whose code is not known yet wait
 * here. jvm.h and jvm_state.h declare the functions.
 */
#include "heap_count.h"
#include "jvm_state.h"

#include "sink/records.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFER_NS 1000000000ULL /* how long a code record is waited for before the JVM's memory is read */
#define PENDING_MAX 65536 /* frames that wait for the record of their code; their bytes count for the JVM's budget */
#define TELL_NS 10000000000ULL	       /* how long a late agent's report of older code is waited for */
#define UNLOADED_KEEP_NS 5000000000ULL /* samples of unloaded code arrive within this time */

/* ---- code ---- */

/* Notes the time of a record about code. Such records arrive in their order, but late. */
static void code_received(struct jvm *j, const struct braid_rec *rec)
{
	if (rec->time_ns > j->code_reported_ns)
		j->code_reported_ns = rec->time_ns;
	j->code_received_ns = now_ns();
}

void code_gone(struct jvm *j, uint64_t bytes, size_t count)
{
	account_release(&j->process->account, BUDGET_JVM_BYTES, bytes);
	account_release(&j->process->account, BUDGET_CODES, count);
}

/* Takes ownership in any case. */
static bool add_code(struct jvm *j, struct code *c)
{
	struct account *a = &j->process->account;
	uint64_t bytes = code_bytes(c);

	if (!account_reserve(a, j->jvms->sink, BUDGET_CODES, 1)) {
		code_free(c);
		return false;
	}
	if (!account_reserve(a, j->jvms->sink, BUDGET_JVM_BYTES, bytes)) {
		account_release(a, BUDGET_CODES, 1);
		code_free(c);
		return false;
	}
	if (code_map_add(&j->code, c)) {
		code_gone(j, bytes, 1);
		sink_loss(j->jvms->sink, j->process->id, "collector", "code", 1);
		code_free(c);
		return false;
	}
	return true;
}

/* Whether code can be at that address. */
static bool code_fits(const struct jvm *j, uint64_t address, uint64_t size)
{
	if (address >> 47 || !size || size > BRAID_CODE_HEAP_MAX)
		return false;
	for (uint32_t i = 0; i < j->layout.heap_count; i++)
		if (address >= j->layout.heaps[i].low && address < j->layout.heaps[i].high)
			return size <= j->layout.heaps[i].high - address;
	return true;
}

bool code_on_load(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_code_load *r = (const void *)rec;
	struct code *old, *c;
	bool known;

	if (size < sizeof(*r) || !code_fits(j, r->address, r->code_size))
		return false;
	code_received(j, rec);
	old = code_map_at(&j->code, r->address);
	known = old && !old->unload_ns && old->method == r->method && old->size == r->code_size &&
		old->compile_id == r->compile_id;
	if (known && (rec->flags & BRAID_REC_REPLAY))
		return true; /* reported both live and by the replay */
	c = calloc(1, sizeof(*c));
	if (!c)
		return false;
	*c = (struct code){.address = r->address,
			   .size = r->code_size,
			   .load_ns = rec->time_ns,
			   .method = r->method,
			   .tier = r->tier,
			   .compile_id = r->compile_id,
			   .is_osr = r->is_osr != 0,
			   .rows_missing = r->scope_rows,
			   .outer_only = (r->doubts & BRAID_CODE_OUTER_ONLY) != 0,
			   .stale = (r->doubts & BRAID_CODE_STALE) != 0,
			   .replay = (rec->flags & BRAID_REC_REPLAY) != 0};
	if (add_code(j, c))
		j->process->generation++;
	j->loads++;
	sink_code_load(j->jvms->sink, &(struct trace_code_load){.time_ns = rec->time_ns,
								.process = j->process->id,
								.address = r->address,
								.size = r->code_size,
								.tier = r->tier,
								.compile_id = r->compile_id,
								.replay = (rec->flags & BRAID_REC_REPLAY) != 0});
	if (j->jvms->options->config.enabled & BRAID_EVENT_TYPE(JIT))
		compilations_on_load(j, r, known);
	return true;
}

/* Beyond the budget, code has only the name of its method. */
static bool add_scopes(struct jvm *j, struct code *c, const struct braid_rec_code_scopes *r)
{
	uint64_t before = code_bytes(c), more;
	bool added;

	if (!account_reserve(&j->process->account, j->jvms->sink, BUDGET_JVM_BYTES, r->bytes))
		return true;
	added = code_add_scopes(c, r + 1, r->bytes, r->rows);
	more = code_bytes(c) - before;
	account_release(&j->process->account, BUDGET_JVM_BYTES, r->bytes);
	account_spend(&j->process->account, BUDGET_JVM_BYTES, more);
	j->code.bytes += more;
	return added;
}

bool code_on_scopes(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_code_scopes *r = (const void *)rec;
	struct code *c;

	if (size < sizeof(*r) || r->bytes > size - sizeof(*r))
		return false;
	c = code_map_at(&j->code, r->address);
	if (!c || c->name)
		return false;
	if ((rec->flags & BRAID_REC_REPLAY) && !c->replay)
		return true; /* the live record had them */
	return add_scopes(j, c, r);
}

bool code_on_unload(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_code_unload *r = (const void *)rec;
	struct code *c;

	if (size < sizeof(*r))
		return false;
	code_received(j, rec);
	c = code_map_at(&j->code, r->address);
	if (c && !c->unload_ns)
		c->unload_ns = rec->time_ns;
	j->process->generation++;
	j->unloaded++;
	sink_code_unload(j->jvms->sink, rec->time_ns, j->process->id, r->address);
	return true;
}

bool code_on_stub(struct jvm *j, const struct braid_rec *rec, size_t size)
{
	const struct braid_rec_stub *r = (const void *)rec;
	struct code *c, *old;

	if (size < sizeof(*r) || r->name_len > size - sizeof(*r) || !code_fits(j, r->address, r->size))
		return false;
	code_received(j, rec);
	old = code_map_at(&j->code, r->address);
	if (old && old->name && old->size == r->size)
		return true;
	c = calloc(1, sizeof(*c));
	if (!c)
		return false;
	*c = (struct code){.address = r->address,
			   .size = r->size,
			   .load_ns = rec->time_ns,
			   .tier = BRAID_TIER_UNKNOWN,
			   .replay = true};
	jvm_replace_string(&c->name, (const char *)(r + 1), r->name_len);
	if (!c->name) {
		free(c);
		return false;
	}
	if (add_code(j, c))
		j->process->generation++;
	return true;
}

/* ---- frames ---- */

static uint32_t outer_method(struct jvm *j, const struct code *c)
{
	return c->trace_method ? c->trace_method : methods_trace_id(j, c->method, !c->stale);
}

/* The code's id in the trace. The code is defined when the first sample hits it. */
static uint32_t trace_code(struct jvm *j, struct code *c)
{
	uint32_t method;

	if (c->trace_id)
		return c->trace_id;
	method = outer_method(j, c);
	c->trace_id = ++j->jvms->last_code;
	sink_code(j->jvms->sink, &(struct trace_code){.code = c->trace_id,
						      .process = j->process->id,
						      .kind = c->name ? TRACE_CODE_STUB : TRACE_CODE_METHOD,
						      .method = method,
						      .tier = c->tier,
						      .compile_id = c->compile_id,
						      .is_osr = c->is_osr,
						      .address = c->address,
						      .size = c->size,
						      .load_ns = c->load_ns,
						      .name = trace_str_of(c->name ? c->name : "")});
	return c->trace_id;
}

/* The address to look a frame up at: a return address belongs to the instruction before it. */
static uint64_t lookup_pc(uint64_t pc, bool exact)
{
	return exact ? pc : pc - 1;
}

/*
 * Whether `method`, read from the nmethod, is still the one that was compiled. Its names are freed before the nmethod
 * is.
 */
static bool is_intact(struct jvm *j, const struct code *c, uint64_t method, uint32_t trace_id)
{
	return c->method ? methods_is_at(j, c->method, method) : trace_id && trace_id == c->trace_method;
}

/*
 * Reads scopes from the nmethod when the agent could not report them. The nmethod is the same if its compile id is the
 * same before and after; its methods are intact if the compiled one is.
 */
static uint32_t scopes_from_memory(struct jvm *j, const struct code *c, uint64_t pc, bool exact, struct trace_scope *to)
{
	static struct hotspot_scope read[SCOPE_MAX];
	struct hotspot_blob b, after;
	pid_t *pid = &j->process->pid;
	int depth;

	if (hotspot_blob_find(&j->layout, hotspot_read_process, pid, c->address, &b) || b.code_begin != c->address ||
	    b.compile_id != c->compile_id || !c->compile_id)
		return 0;
	depth = hotspot_scopes_read(&j->layout, &j->names, hotspot_read_process, pid, b.address,
				    (uint32_t)(pc - c->address), exact, read, SCOPE_MAX);
	if (depth <= 0 || (c->method && !is_intact(j, c, read[depth - 1].method, 0)))
		return 0;
	for (int i = 0; i < depth; i++)
		to[i] = (struct trace_scope){.method = methods_read(j, read[i].method), .bci = read[i].bci};
	if (hotspot_blob_find(&j->layout, hotspot_read_process, pid, c->address, &after) ||
	    after.address != b.address || after.compile_id != b.compile_id ||
	    !is_intact(j, c, read[depth - 1].method, to[depth - 1].method))
		return 0;
	return (uint32_t)depth;
}

static void fill_code(struct jvm *j, struct code *c, uint64_t pc, bool exact, struct trace_frame *f)
{
	static struct trace_scope scopes[SCOPE_MAX];
	struct braid_scope recorded[SCOPE_MAX];
	uint32_t depth;

	f->code = trace_code(j, c);
	f->scope_count = 0;
	f->scopes = scopes;
	if (c->name)
		return;
	if (c->outer_only || c->stale || c->rows_missing)
		f->scope_count = scopes_from_memory(j, c, pc, exact, scopes);
	if (f->scope_count)
		return;
	depth = code_scopes_at(c, pc - c->address, exact, recorded, SCOPE_MAX);
	for (uint32_t i = 0; i < depth; i++)
		scopes[f->scope_count++] = (struct trace_scope){
			.method = methods_trace_id(j, recorded[i].method, !c->stale), .bci = recorded[i].bci};
	if (!f->scope_count)
		scopes[f->scope_count++] = (struct trace_scope){.method = outer_method(j, c), .bci = -1};
}

bool jvm_code_name(const struct jvm *j, uint64_t pc, uint32_t code_id, uint64_t time_ns, char *to, size_t size,
		   uint32_t *compile_id)
{
	const struct code *c = code_map_find(&j->code, lookup_pc(pc, false), code_id, time_ns);
	struct hotspot_blob b;

	if (c && !c->name && methods_name(j, c->method, to, size)) {
		*compile_id = c->compile_id;
		return true;
	}
	/* Its record waits for HotSpot's service thread, but the code itself has the same facts. */
	if (!code_id || hotspot_blob_find(&j->layout, hotspot_read_process, &j->process->pid, pc, &b) ||
	    braid_code_id(b.compile_id) != code_id || !methods_name_at(j, b.method, to, size))
		return false;
	*compile_id = b.compile_id;
	return true;
}

void jvm_add_pending(struct jvm *j, const struct trace_frame *f, uint32_t code_id, uint64_t time_ns)
{
	struct pending_frame d = {.frame = *f, .time_ns = time_ns, .unloads = methods_unloads(j), .code_id = code_id};

	if (!jvm_has_room(j, j->pending_frames.count, &j->deferred_paid, PENDING_MAX, sizeof(d)) ||
	    VEC_PUSH(&j->pending_frames, d))
		sink_loss(j->jvms->sink, j->process->id, "collector", "code_name", 1);
}

static void send_pending(struct jvm *j, struct pending_frame *d, struct code *c)
{
	fill_code(j, c, d->frame.address, d->frame.exact, &d->frame);
	sink_frame(j->jvms->sink, &d->frame);
}

static bool is_osr(const struct jvm *j, uint64_t nmethod)
{
	uint64_t at = nmethod + j->names.nmethod_entry_bci;
	int32_t bci;

	return j->names.nmethod_entry_bci && !hotspot_read_process(&j->process->pid, at, &bci, sizeof(bci)) &&
	       bci != -1; /* InvocationEntryBci */
}

/* Reads the JVM's code heap, for code whose record was lost or never arrived. */
static struct code *code_from_memory(struct jvm *j, uint64_t pc, uint32_t code_id)
{
	struct hotspot_blob b;
	struct code *c;

	if (hotspot_blob_find(&j->layout, hotspot_read_process, &j->process->pid, pc, &b))
		return NULL;
	if (b.method && code_id && braid_code_id(b.compile_id) != code_id)
		return NULL; /* the code that ran has been replaced */
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct code){.address = b.address,
			   .size = b.size,
			   .load_ns = now_ns(),
			   .tier = b.tier,
			   .compile_id = b.compile_id,
			   .outer_only = true,
			   .replay = true,
			   .from_memory = true};
	if (b.method && b.code_begin > b.address && b.code_begin - b.address < b.size) {
		c->size -= b.code_begin - b.address;
		c->address = b.code_begin;
		c->trace_method = methods_read(j, b.method);
		c->is_osr = is_osr(j, b.address);
	}
	if (!c->trace_method)
		c->name = strdup(b.name);
	if (!c->trace_method && !c->name) {
		code_free(c);
		return NULL;
	}
	return add_code(j, c) ? c : NULL;
}

/* Whether no agent will report its code. Its memory is then read while it runs. */
static bool is_alone(const struct jvm *j)
{
	return !j->joined && !j->jvms->options->attach;
}

/*
 * Of code that was read from its memory before the agent has come, a JVM reports more, inlining above all. The stack of
 * a hash is one and the same before and after: so a frame that was sent meanwhile is sent again, unless so many wait
 * that others, which nothing is known of, would find no room.
 */
static bool may_be_told(const struct jvm *j, uint64_t time_ns, uint64_t now)
{
	return j->jvms->options->attach && !j->replayed && now < time_ns + TELL_NS &&
	       j->pending_frames.count < PENDING_MAX / 2;
}

bool jvm_resolve_code(struct jvm *j, uint64_t pc, bool exact, uint32_t code_id, uint64_t time_ns, struct trace_frame *f)
{
	struct code *c = code_map_find(&j->code, lookup_pc(pc, exact), code_id, time_ns);

	if (!c && (is_alone(j) || j->dies) && jvm_layout(j))
		c = code_from_memory(j, lookup_pc(pc, exact), code_id);
	if (!c || c->rows_missing) /* the drain may have stopped between its records */
		return false;
	if (c->from_memory && may_be_told(j, time_ns, now_ns()))
		return false;
	fill_code(j, c, pc, exact, f);
	return true;
}

/*
 * Whether all of the JVM's reports about code up to time_ns have been read. When the ring is full, records come much
 * later, in order: the end of older code at the same address may be among them.
 */
static bool code_is_reported(const struct jvm *j, uint64_t time_ns, uint64_t now)
{
	return j->code_reported_ns >= time_ns || j->code_received_ns + DEFER_NS < now;
}

/* The code of a pending frame; NULL: not known. *lost: it never will be. */
static struct code *pending_code(struct jvm *j, const struct pending_frame *d, uint64_t now, bool final, bool *lost)
{
	bool last =
		final || j->dies || (d->time_ns + DEFER_NS < now && code_is_reported(j, d->time_ns + DEFER_NS, now));
	uint64_t pc = lookup_pc(d->frame.address, d->frame.exact);
	struct code *c = NULL;

	*lost = false;
	if (final || code_is_reported(j, d->time_ns, now))
		c = code_map_find(&j->code, pc, d->code_id, d->time_ns);
	if (!last)
		return c && !c->rows_missing ? c : NULL;
	if (!c && methods_unloads(j) == d->unloads) /* otherwise its method may be unloaded, and its names with it */
		c = code_from_memory(j, pc, d->code_id);
	*lost = !c;
	return c;
}

/*
 * What was read from memory, as the agent reports it when it has reported everything: true when nothing more is to
 * come.
 */
static bool read_frame_done(struct jvm *j, struct pending_frame *d, uint64_t now, bool final)
{
	uint64_t pc = lookup_pc(d->frame.address, d->frame.exact);
	struct code *c;

	if (!final && may_be_told(j, d->time_ns, now))
		return false;
	c = code_map_find(&j->code, pc, d->code_id, d->time_ns);
	if (c && !c->from_memory && !c->rows_missing)
		send_pending(j, d, c);
	return true;
}

static bool pending_frame_done(struct jvm *j, struct pending_frame *d, uint64_t now, bool final)
{
	struct code *c;
	bool lost;

	if (d->read)
		return read_frame_done(j, d, now, final);
	c = pending_code(j, d, now, final, &lost);
	if (lost)
		sink_loss(j->jvms->sink, j->process->id, "collector", "code_name", 1);
	if (!c)
		return lost;
	send_pending(j, d, c);
	d->read = c->from_memory && !final && may_be_told(j, d->time_ns, now);
	return !d->read;
}

static void purge(struct jvm *j, uint64_t time_ns)
{
	uint64_t bytes = j->code.bytes;
	size_t count = j->code.count;

	code_map_purge(&j->code, time_ns - UNLOADED_KEEP_NS);
	code_gone(j, bytes - j->code.bytes, count - j->code.count);
	j->purged_ns = time_ns;
}

void jvm_resolve_pending(struct jvm *j, uint64_t time_ns, bool final)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->pending_frames.count; i++) {
		struct pending_frame *d = &j->pending_frames.at[i];

		if (!pending_frame_done(j, d, time_ns, final))
			j->pending_frames.at[kept++] = *d;
	}
	j->pending_frames.count = kept;
}

void jvm_tick(struct jvm *j, uint64_t time_ns, bool final)
{
	jvm_resolve_pending(j, time_ns, final);
	named_events_tick(j, time_ns, final);
	compilations_tick(j, now_ns(), final);
	code_cache_tick(j, now_ns(), final);
	heap_count_tick(j);
	if (j->purged_ns + UNLOADED_KEEP_NS < time_ns)
		purge(j, time_ns);
}
