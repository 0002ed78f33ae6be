// SPDX-License-Identifier: Apache-2.0
#include "recent.h"

#include "kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/analysis.h>
#include <analyze/hash.h>
#include <trace/ids.h>
#include <util/compare.h>

#define PIECE_BYTES (32UL << 10)
#define FACTS_MAX 4096 /* records of no object */
#define LONGEST_S 600  /* definitions that were used in this time are dropped last */
#define OBJECT_BYTES sizeof(struct object)
#define CONFIGS_MAX 1024
#define DESCRIPTIONS_MAX 1024 /* of one kind and object, such as the mappings of a process */

/* What definitions define or describe. */
struct object {
	struct kept *first;
	uint32_t round;	 /* in which it was needed last */
	uint32_t used_s; /* when it was defined or needed last, on the trace's clock */
};

/* Events in the order of their arrival, each behind its length. */
struct piece {
	uint8_t *bytes;
	size_t used;
	uint64_t first_ns, last_ns;
};

struct object_id {
	uint32_t space, id; /* enum trace_id_space */
};

/* Inclusive, on the trace's clock. */
struct times {
	uint64_t from_ns, to_ns;
};

typedef int (*give_fn)(void *ctx, const struct trace_rec *rec);

struct recent {
	size_t events_max, definitions_max;
	struct table objects[TRACE_ID_SPACES];
	struct kept *facts, *last_fact; /* records of no object */
	size_t fact_count;
	size_t definition_bytes;
	VEC(struct piece) pieces;
	struct kept *configs, *last_config; /* events that say what the others are, which are never old */
	size_t config_count;
	struct trace_clock first_clock;
	uint64_t last_ns;
	bool cut;
	uint32_t round;
	VEC(struct object_id) needed; /* in this round */
	bool failed;		      /* not enough memory for these */
	struct coder coder;
};

/* ---- definitions ---- */

static uint32_t find_owner(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id)
{
	struct object_id *owner = ctx;

	if (role != TRACE_ID_USED && !owner->id)
		*owner = (struct object_id){space, id};
	return id;
}

static uint32_t seconds(const struct recent *r)
{
	return (uint32_t)(r->last_ns / 1000000000);
}

static void remove_at(struct recent *r, struct kept **at)
{
	struct kept *old = *at;

	*at = old->next;
	r->definition_bytes -= kept_bytes(old);
	free(old);
}

/*
 * A definition takes the place of the same object's former one. Descriptions add up; the first of too many is dropped.
 */
static void put(struct recent *r, struct object *o, struct kept *k, bool defines)
{
	struct kept **at = &o->first, **oldest = NULL;
	size_t others = 0;

	for (; *at && !(defines && (*at)->kind == k->kind); at = &(*at)->next) {
		others += (*at)->kind == k->kind;
		oldest = oldest || (*at)->kind != k->kind ? oldest : at;
	}
	if (*at)
		remove_at(r, at);
	k->next = *at;
	*at = k;
	r->definition_bytes += kept_bytes(k);
	if (others >= DESCRIPTIONS_MAX)
		remove_at(r, oldest);
}

static bool is_definition(uint32_t kind)
{
	return kind != TRACE_MAPPING && kind != TRACE_RESOURCE && kind != TRACE_ATTRIBUTE;
}

static int take_object(struct recent *r, const struct object_id *owner, const struct trace_rec *rec)
{
	struct object *o;
	struct kept *k;
	size_t before = r->objects[owner->space].count;

	k = kept_new(&r->coder, rec);
	if (!k)
		return -ENOMEM;
	o = table_put(&r->objects[owner->space], owner->id);
	if (!o) {
		free(k);
		return -ENOMEM;
	}
	if (r->objects[owner->space].count > before)
		r->definition_bytes += OBJECT_BYTES;
	o->used_s = seconds(r);
	put(r, o, k, is_definition(rec->kind));
	return 0;
}

static int add_to_list(struct recent *r, struct kept **first, struct kept **last, const struct trace_rec *rec)
{
	struct kept *k = kept_new(&r->coder, rec);

	if (!k)
		return -ENOMEM;
	if (*last)
		(*last)->next = k;
	else
		*first = k;
	*last = k;
	return 0;
}

static int take_fact(struct recent *r, const struct trace_rec *rec)
{
	if (rec->kind == TRACE_CLOCK) {
		if (!r->first_clock.monotonic_ns)
			r->first_clock = rec->clock;
		return 0;
	}
	if (r->fact_count == FACTS_MAX)
		return 0;
	r->fact_count++;
	return add_to_list(r, &r->facts, &r->last_fact, rec);
}

/* ---- dropping ---- */

static size_t event_bytes(const struct recent *r)
{
	return r->pieces.count * PIECE_BYTES;
}

static void drop_pieces(struct recent *r, size_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		free(r->pieces.at[i].bytes);
	r->pieces.count -= count;
	memmove(r->pieces.at, r->pieces.at + count, r->pieces.count * sizeof(*r->pieces.at));
	r->cut = true;
}

static void drop_definitions_of(struct recent *r, struct object *o)
{
	for (const struct kept *k = o->first; k; k = k->next)
		r->definition_bytes -= kept_bytes(k);
	kept_free_list(o->first);
	o->first = NULL;
}

/* Drops the objects of a space that are neither needed in this round nor used since then. 0 or -ENOMEM. */
static int drop_old(struct recent *r, enum trace_id_space space, uint32_t since_s)
{
	struct table *t = &r->objects[space];
	size_t before = t->count;
	bool *keep = calloc(before + 1, sizeof(*keep));
	int err;

	if (!keep)
		return -ENOMEM;
	for (size_t i = 0; i < before; i++) {
		struct object *o = table_row(t, i);

		keep[i] = o->round == r->round || o->used_s >= since_s;
		if (!keep[i])
			drop_definitions_of(r, o);
	}
	err = table_keep(t, keep);
	r->definition_bytes -= (before - t->count) * OBJECT_BYTES;
	free(keep);
	return err;
}

static int find_needed(struct recent *r, struct times t);

/* Threads and processes are few, and all that lives on has no newer definition. */
static bool is_dropped(enum trace_id_space space)
{
	return space != TRACE_ID_PROCESS && space != TRACE_ID_THREAD && space != TRACE_ID_MODULE;
}

/* Drops events that are older, and definitions that were not used since then. */
static int drop_before(struct recent *r, uint64_t since_ns)
{
	size_t old = 0;
	int err;

	while (old < r->pieces.count && r->pieces.at[old].last_ns < since_ns)
		old++;
	drop_pieces(r, old);
	r->cut = true;
	err = find_needed(r, (struct times){0, UINT64_MAX});
	for (unsigned space = 0; space < TRACE_ID_SPACES && !err; space++)
		if (is_dropped(space))
			err = drop_old(r, space, (uint32_t)(since_ns / 1000000000));
	return err;
}

/* Makes room for as many definitions as there are. */
static int drop_definitions(struct recent *r)
{
	int err = 0;

	for (uint32_t age_s = LONGEST_S; age_s && !err && r->definition_bytes > r->definitions_max / 2; age_s /= 2) {
		uint64_t age_ns = age_s * 1000000000ULL;

		if (r->last_ns > age_ns)
			err = drop_before(r, r->last_ns - age_ns);
	}
	if (!err && r->definition_bytes > r->definitions_max) /* even the last events need too many */
		err = drop_before(r, UINT32_MAX * 1000000000ULL);
	return err;
}

/* ---- events ---- */

static int add_piece(struct recent *r)
{
	struct piece p = {.bytes = malloc(PIECE_BYTES)};
	int err = p.bytes ? VEC_PUSH(&r->pieces, p) : -ENOMEM;

	if (err)
		free(p.bytes);
	else if (event_bytes(r) > r->events_max)
		drop_pieces(r, 1);
	return err;
}

static int take_event(struct recent *r, const struct trace_rec *rec, size_t bound)
{
	uint64_t time_ns = event_time_ns(rec);
	struct piece *p;
	uint32_t bytes;

	if (bound + sizeof(bytes) > PIECE_BYTES)
		return 0;
	p = r->pieces.count ? &r->pieces.at[r->pieces.count - 1] : NULL;
	if (!p || PIECE_BYTES - p->used < bound + sizeof(bytes)) {
		if (add_piece(r))
			return -ENOMEM;
		p = &r->pieces.at[r->pieces.count - 1];
	}
	bytes = (uint32_t)coder_encode(&r->coder, rec, p->bytes + p->used + sizeof(bytes));
	memcpy(p->bytes + p->used, &bytes, sizeof(bytes));
	p->used += sizeof(bytes) + bytes;
	if (!p->first_ns || time_ns < p->first_ns)
		p->first_ns = time_ns;
	if (time_ns > p->last_ns)
		p->last_ns = time_ns;
	if (time_ns > r->last_ns)
		r->last_ns = time_ns;
	return 0;
}

/* The last configuration of each process counts, and all that have been one. */
static bool is_config(const struct trace_rec *rec)
{
	return rec->kind == TRACE_JVM_EVENT && rec->jvm_event.kind == BRAID_JVM_CONFIG;
}

int recent_take(struct recent *r, const struct trace_rec *rec)
{
	struct object_id owner = {0};
	size_t bound;
	int err;

	if (trace_rec_bound(rec, &bound))
		return 0;
	if (rec->kind >= TRACE_FIRST_EVENT && is_config(rec) && r->config_count < CONFIGS_MAX) {
		r->config_count++;
		return add_to_list(r, &r->configs, &r->last_config, rec);
	}
	if (rec->kind >= TRACE_FIRST_EVENT)
		return take_event(r, rec, bound);
	if (rec->kind == TRACE_SETTING) /* many, and not shown */
		return 0;
	trace_ids_visit(rec, find_owner, &owner);
	if (!owner.id)
		return take_fact(r, rec);
	err = take_object(r, &owner, rec);
	return err || r->definition_bytes <= r->definitions_max ? err : drop_definitions(r);
}

/* ---- what a part needs ---- */

static uint32_t need(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id)
{
	struct recent *r = ctx;
	struct object *o = table_get(&r->objects[space], id);

	(void)role;
	if (!o || o->round == r->round)
		return id;
	o->round = r->round;
	o->used_s = seconds(r);
	if (VEC_PUSH(&r->needed, (struct object_id){space, id}))
		r->failed = true;
	return id;
}

static int need_all(void *ctx, const struct trace_rec *rec)
{
	struct recent *r = ctx;

	trace_ids_visit(rec, need, r);
	return r->failed ? -ENOMEM : 0;
}

static int each_of_list(struct recent *r, const struct kept *k, give_fn give, void *ctx)
{
	struct trace_rec rec;
	int err = 0;

	for (; k && !err; k = k->next)
		err = coder_decode(&r->coder, k->code, k->bytes, &rec) ?: give(ctx, &rec);
	return err;
}

static int each_of_object(struct recent *r, struct object_id at, give_fn give, void *ctx)
{
	const struct object *o = table_get(&r->objects[at.space], at.id);

	return o ? each_of_list(r, o->first, give, ctx) : 0;
}

static int each_of_piece(struct recent *r, const struct piece *p, struct times t, give_fn give, void *ctx)
{
	struct trace_rec rec;
	uint32_t bytes;
	int err = 0;

	for (size_t at = 0; at < p->used && !err; at += sizeof(bytes) + bytes) {
		uint64_t time_ns;

		memcpy(&bytes, p->bytes + at, sizeof(bytes));
		err = coder_decode(&r->coder, p->bytes + at + sizeof(bytes), bytes, &rec);
		time_ns = err ? 0 : event_time_ns(&rec);
		if (!err && time_ns >= t.from_ns && time_ns <= t.to_ns)
			err = give(ctx, &rec);
	}
	return err;
}

static int each_event(struct recent *r, struct times t, give_fn give, void *ctx)
{
	int err = each_of_list(r, r->configs, give, ctx);

	for (size_t i = 0; i < r->pieces.count && !err; i++)
		if (r->pieces.at[i].last_ns >= t.from_ns && r->pieces.at[i].first_ns <= t.to_ns)
			err = each_of_piece(r, &r->pieces.at[i], t, give, ctx);
	return err;
}

/* Finds what the events of that time need, and what that needs. */
static int find_needed(struct recent *r, struct times t)
{
	int err;

	r->round++;
	r->needed.count = 0;
	r->failed = false;
	err = each_event(r, t, need_all, r);
	for (size_t i = 0; i < r->needed.count && !err; i++)
		err = each_of_object(r, r->needed.at[i], need_all, r);
	return err;
}

/* Those whose id another one has come first. */
static int compare_ids(const void *x, const void *y)
{
	static const uint8_t rank[TRACE_ID_SPACES] = {
		[TRACE_ID_NAME] = 0,   [TRACE_ID_PROCESS] = 1, [TRACE_ID_THREAD] = 2,	[TRACE_ID_MODULE] = 3,
		[TRACE_ID_SYMBOL] = 4, [TRACE_ID_METHOD] = 5,  [TRACE_ID_CODE] = 6,	[TRACE_ID_PLACE] = 7,
		[TRACE_ID_FRAME] = 8,  [TRACE_ID_NODE] = 9,    [TRACE_ID_VTHREAD] = 10, [TRACE_ID_SPAN] = 11};
	const struct object_id *p = x, *q = y;

	return compare_u64((uint64_t)rank[p->space] << 32 | p->id, (uint64_t)rank[q->space] << 32 | q->id);
}

/* The events of that time, behind what find_needed() has found for them. */
static int give_all(struct recent *r, struct times t, give_fn give, void *ctx)
{
	int err = each_of_list(r, r->facts, give, ctx);

	for (size_t i = 0; i < r->needed.count && !err; i++)
		err = each_of_object(r, r->needed.at[i], give, ctx);
	return err ?: each_event(r, t, give, ctx);
}

/* ---- questions ---- */

static int feed(void *ctx, const struct trace_rec *rec)
{
	return analyzer_feed(ctx, rec);
}

static int give_number(give_fn give, void *ctx, const char *key, uint64_t value)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%" PRIu64, value);

	return give(ctx, &(struct trace_rec){.kind = TRACE_INFO,
					     .info = {{key, (uint32_t)strlen(key)}, {text, (uint32_t)length}}});
}

static int give_clock(const struct recent *r, uint64_t at_ns, give_fn give, void *ctx)
{
	int64_t since_ns = (int64_t)(at_ns - r->first_clock.monotonic_ns);
	struct trace_clock c = r->first_clock;

	c.monotonic_ns = at_ns;
	c.boottime_ns += (uint64_t)since_ns;
	c.realtime_ns += (uint64_t)since_ns;
	return give(ctx, &(struct trace_rec){.kind = TRACE_CLOCK, .clock = c});
}

static int give_part(struct recent *r, struct times t, give_fn give, void *ctx)
{
	int err = give_clock(r, r->first_clock.monotonic_ns ?: t.from_ns, give, ctx);

	err = err ?: give_clock(r, t.to_ns, give, ctx);
	err = err ?: give_all(r, t, give, ctx);
	err = err ?: give_number(give, ctx, "record.duration_ns", t.to_ns - (r->first_clock.monotonic_ns ?: t.from_ns));
	err = err ?: give_number(give, ctx, WINDOW_FROM, t.from_ns);
	return err ?: give_number(give, ctx, WINDOW_TO, t.to_ns + 1);
}

int recent_window(struct recent *r, uint64_t from_ns, uint64_t to_ns, struct analyzer **out)
{
	const struct times t = {from_ns, to_ns};
	int err = analyzer_new(out);

	err = err ?: find_needed(r, t);
	err = err ?: give_part(r, t, feed, *out); /* an analyzer takes definitions in any order */
	if (err) {
		analyzer_free(*out);
		*out = NULL;
	}
	return err;
}

static int write_rec(void *ctx, const struct trace_rec *rec)
{
	return trace_writer_put(ctx, rec);
}

int recent_save(struct recent *r, struct trace_writer *w)
{
	const struct times t = {recent_first_ns(r), r->last_ns};
	int err = find_needed(r, t);

	VEC_SORT(&r->needed, compare_ids);
	return err ?: give_part(r, t, write_rec, w);
}

uint64_t recent_first_ns(const struct recent *r)
{
	uint64_t first_ns = r->cut ? UINT64_MAX : r->first_clock.monotonic_ns ?: UINT64_MAX;

	for (size_t i = 0; i < r->pieces.count; i++)
		if (r->pieces.at[i].first_ns < first_ns)
			first_ns = r->pieces.at[i].first_ns;
	return first_ns == UINT64_MAX ? 0 : first_ns;
}

uint64_t recent_last_ns(const struct recent *r)
{
	return r->last_ns;
}

bool recent_is_cut(const struct recent *r)
{
	return r->cut;
}

size_t recent_bytes(const struct recent *r)
{
	return event_bytes(r) + r->definition_bytes;
}

/* ---- life ---- */

void recent_limit(struct recent *r, size_t events_bytes, size_t definitions_bytes)
{
	r->events_max = events_bytes;
	r->definitions_max = definitions_bytes;
}

int recent_new(struct recent **out)
{
	struct recent *r = *out = calloc(1, sizeof(*r));
	int err = r ? coder_init(&r->coder) : -ENOMEM;

	if (err) {
		recent_free(r);
		*out = NULL;
		return err;
	}
	recent_limit(r, RECENT_EVENTS_BYTES, RECENT_DEFINITIONS_BYTES);
	for (unsigned space = 0; space < TRACE_ID_SPACES; space++)
		table_init(&r->objects[space], sizeof(struct object));
	return 0;
}

void recent_free(struct recent *r)
{
	if (!r)
		return;
	for (unsigned space = 0; space < TRACE_ID_SPACES; space++) {
		for (size_t i = 0; i < r->objects[space].count; i++)
			kept_free_list(((struct object *)table_row(&r->objects[space], i))->first);
		table_free(&r->objects[space]);
	}
	kept_free_list(r->facts);
	kept_free_list(r->configs);
	for (size_t i = 0; i < r->pieces.count; i++)
		free(r->pieces.at[i].bytes);
	free(r->pieces.at);
	free(r->needed.at);
	coder_free(&r->coder);
	free(r);
}
