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

/* A CODE_LOAD may be late, and a compilation's end that waits for its thread's turn: it comes after the CODE_LOAD. */
#define WAIT_NS 5000000000ULL
#define WAITING_MAX 16384 /* one is told with what is known when there are more */

/* Half of what is to be known of one. */
struct compilation {
	uint32_t key; /* compile id */
	bool probed;  /* by the probe; else by a CODE_LOAD */
	bool old;     /* by a replayed one: if no probe has told of it, it was compiled before the agent came */
	uint64_t since_ns;
	struct trace_jvm_event event;
	UT_hash_handle hh;
};

struct compilations {
	struct compilation *waiting; /* in the order in which they came */
	uint32_t unnumbered;	     /* probes of a VM without symbols know no ids */
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

/* The oldest of this name of those whose ids the probe did not know, or that wait for it. */
static struct compilation *waiting_find_named(const struct jvm *j, uint32_t name, bool probed)
{
	struct compilation *c;

	for (c = j->compilations && name ? j->compilations->waiting : NULL; c; c = c->hh.next)
		if (c->probed == probed && !c->old && c->event.name == name && (!probed || c->key & KEY_UNNUMBERED))
			break;
	return c;
}

/* Until the other half comes; without memory, as it is. */
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

/* The other half: it does not wait any more. */
static bool waiting_take(struct jvm *j, struct compilation *c, bool probed, struct trace_jvm_event *e)
{
	if (!c || c->probed != probed)
		return false;
	*e = c->event;
	HASH_DEL(j->compilations->waiting, c);
	free(c);
	return true;
}

/* What the probe and the CODE_LOAD have told of one compilation. */
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

/* As it lies in the JVM's memory: a Method that was compiled just now is mostly there. */
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
	/* The replay's does not say that it was compiled just now. */
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
		return; /* compiled before the agent came, or told when it was replayed */
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
