// SPDX-License-Identifier: Apache-2.0
#include "compilations.h"

#include "jvm_emit.h"
#include "jvm_state.h"
#include "probes.h"
#include "sink/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/*
 * A CODE_LOAD may be late. So may the probe at a compilation's end, whose thread may wait for a CPU: it then hits after
 * the CODE_LOAD.
 */
#define WAIT_NS 5000000000ULL
#define WAITING_MAX 16384 /* beyond this, the oldest is emitted incomplete */

/* One half of a compilation's facts. */
struct compilation {
	uint32_t key; /* compile id */
	bool probed;  /* reported by the probe; otherwise by a CODE_LOAD */
	bool old;     /* from a replayed CODE_LOAD: without a probe's report, older than the agent */
	uint64_t since_ns;
	struct trace_jvm_event event;
	UT_hash_handle hh;
};

struct compilations {
	struct compilation *waiting; /* in the order of arrival */
	uint32_t unnumbered;	     /* the probes of a VM without symbols know no ids */
};
#define KEY_UNNUMBERED 0x80000000U /* compile ids are positive */

static void compilation_emit(struct jvm *j, struct trace_jvm_event *e)
{
	jvm_events_emit(j->jvms, j->process, e);
}

static void emit_oldest(struct jvm *j)
{
	struct compilation *c = j->compilations->waiting;

	HASH_DEL(j->compilations->waiting, c);
	if (!c->old)
		compilation_emit(j, &c->event);
	free(c);
}

void compilations_free(struct compilations *c)
{
	struct compilation *w, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->waiting, w, next) {
		HASH_DEL(c->waiting, w);
		free(w);
	}
	free(c);
}

static struct compilation *waiting_find(const struct jvm *j, uint64_t id)
{
	uint32_t key = (uint32_t)id;
	struct compilation *c = NULL;

	if (j->compilations)
		HASH_FIND(hh, j->compilations->waiting, &key, sizeof(key), c);
	return c;
}

/* The oldest with this name whose id the probe did not know, or that waits for the probe. */
static struct compilation *waiting_find_named(const struct jvm *j, uint32_t name, bool probed)
{
	struct compilation *c;

	for (c = j->compilations && name ? j->compilations->waiting : NULL; c; c = c->hh.next)
		if (c->probed == probed && !c->old && c->event.name == name && (!probed || c->key & KEY_UNNUMBERED))
			break;
	return c;
}

/* Keeps one half until the other arrives. Without memory it is emitted as it is. */
static void wait_for_other(struct jvm *j, const struct trace_jvm_event *e, bool probed, bool old)
{
	struct compilation *c = calloc(1, sizeof(*c));
	struct trace_jvm_event copy = *e;
	uint32_t key = 0;

	if (!j->compilations)
		j->compilations = calloc(1, sizeof(*j->compilations));
	if (j->compilations)
		key = e->number ? (uint32_t)e->number : KEY_UNNUMBERED | j->compilations->unnumbered++;
	if (!c || !j->compilations || waiting_find(j, key)) {
		free(c);
		if (!old)
			compilation_emit(j, &copy);
		return;
	}
	*c = (struct compilation){.key = key, .probed = probed, .old = old, .since_ns = now_ns(), .event = *e};
	HASH_ADD(hh, j->compilations->waiting, key, sizeof(c->key), c);
	if (HASH_COUNT(j->compilations->waiting) > WAITING_MAX)
		emit_oldest(j);
}

/* Takes the waiting half, if it is the other one. */
static bool waiting_take(struct jvm *j, struct compilation *c, bool probed, struct trace_jvm_event *e)
{
	if (!c || c->probed != probed)
		return false;
	*e = c->event;
	HASH_DEL(j->compilations->waiting, c);
	free(c);
	return true;
}

/* Emits a compilation from the probe's and the CODE_LOAD's halves. */
static void emit_both(struct jvm *j, struct trace_jvm_event *probed, const struct trace_jvm_event *loaded)
{
	probed->name = loaded->name ?: probed->name;
	probed->value = loaded->value;
	if (!probed->number) {
		probed->number = loaded->number;
		probed->flags |= loaded->flags;
	}
	compilation_emit(j, probed);
}

/* Reads the name from the JVM's memory, where the Method of a recent compilation usually still is. */
static uint32_t name_read(struct jvm *j, uint64_t method)
{
	char text[2 * HOTSPOT_NAME_MAX];

	return methods_name_at(j, method, text, sizeof(text))
		       ? names_id(j->jvms->names, &j->process->account, trace_str_of(text))
		       : 0;
}

void compilations_on_probe(struct jvm *j, uint64_t method, struct trace_jvm_event *to)
{
	struct trace_jvm_event loaded;

	if (!to->name)
		to->name = name_read(j, method);
	if (to->flags & BRAID_COMPILE_FAILED)
		compilation_emit(j, to);
	else if (waiting_take(j, to->number ? waiting_find(j, to->number) : waiting_find_named(j, to->name, false),
			      false, &loaded))
		emit_both(j, to, &loaded);
	else
		wait_for_other(j, to, true, false);
}

static struct trace_jvm_event event_of(struct jvm *j, const struct braid_rec_code_load *r)
{
	char name[2 * HOTSPOT_NAME_MAX];

	return (struct trace_jvm_event){
		.time_ns = r->hdr.time_ns,
		.kind = BRAID_JVM_COMPILE,
		.name = methods_name(j, r->method, name, sizeof(name))
				? names_id(j->jvms->names, &j->process->account, trace_str_of(name))
				: 0,
		.value = r->code_size,
		.number = r->compile_id,
		.flags = (r->tier & BRAID_COMPILE_LEVEL) | (r->is_osr ? BRAID_COMPILE_OSR : 0),
		.source = BRAID_SOURCE_AGENT,
	};
}

void compilations_on_load(struct jvm *j, const struct braid_rec_code_load *r, bool again)
{
	bool old = r->hdr.flags & BRAID_REC_REPLAY;
	struct trace_jvm_event to = event_of(j, r), probed;
	struct compilation *c;

	c = r->compile_id ? waiting_find(j, r->compile_id) : NULL;
	if (waiting_take(j, c, true, &probed)) {
		emit_both(j, &probed, &to);
		return;
	}
	/* A replayed CODE_LOAD does not mean that it was compiled just now. */
	if (!old && (c || !again) && waiting_take(j, waiting_find_named(j, to.name, true), true, &probed)) {
		waiting_take(j, c, false, &to);
		emit_both(j, &probed, &to);
		return;
	}
	if (c)
		c->old = c->old && old;
	else if (old && r->compile_id)
		wait_for_other(j, &to, false, true);
	else if (old || again)
		return; /* compiled before the agent was loaded, or emitted when it was replayed */
	else if (r->compile_id && r->tier != BRAID_TIER_NATIVE_WRAPPER &&
		 probes_compilations(j->jvms->probes, j->process))
		wait_for_other(j, &to, false, false);
	else
		compilation_emit(j, &to);
}

void compilations_tick(struct jvm *j, uint64_t time_ns, bool final)
{
	struct compilations *c = j->compilations;

	while (c && c->waiting && (final || time_ns - c->waiting->since_ns > WAIT_NS))
		emit_oldest(j);
}
