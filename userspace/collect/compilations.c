// SPDX-License-Identifier: Apache-2.0
#include "compilations.h"

#include "jvm_events.h"
#include "jvm_state.h"
#include "names.h"
#include "probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A CODE_LOAD may be late, and a compilation's end that waits for its thread's turn: it comes after the CODE_LOAD. */
#define WAIT_NS 5000000000ULL
#define WAITING_MAX 65536 /* one is told with what is known when there are more */

/* Half of what is to be known of one. */
struct compilation {
	uint32_t key; /* compile id */
	bool told;    /* by the probe; else by a CODE_LOAD */
	bool old;     /* by a replayed one: if no probe has told of it, it was compiled before the agent came */
	uint64_t since_ns;
	struct trace_jvm_event event;
	UT_hash_handle hh;
};

struct compilations {
	struct compilation *waiting; /* in the order in which they came */
};

static void emit(struct jvm *j, struct trace_jvm_event *e)
{
	jvm_events_emit(j->session, j->process, e);
}

static void emit_oldest(struct jvm *j)
{
	struct compilation *c = j->compilations->waiting;

	HASH_DEL(j->compilations->waiting, c);
	if (!c->old)
		emit(j, &c->event);
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

static struct compilation *find(const struct jvm *j, uint64_t id)
{
	uint32_t key = (uint32_t)id;
	struct compilation *c = NULL;

	if (j->compilations)
		HASH_FIND(hh, j->compilations->waiting, &key, sizeof(key), c);
	return c;
}

/* Until the other half comes; without memory, as it is. */
static void wait_for_other(struct jvm *j, const struct trace_jvm_event *e, bool told, bool old)
{
	struct compilation *c = calloc(1, sizeof(*c));
	struct trace_jvm_event copy = *e;

	if (!j->compilations)
		j->compilations = calloc(1, sizeof(*j->compilations));
	if (!c || !j->compilations || find(j, e->number)) {
		free(c);
		if (!old)
			emit(j, &copy);
		return;
	}
	*c = (struct compilation){
		.key = (uint32_t)e->number, .told = told, .old = old, .since_ns = now_ns(), .event = *e};
	HASH_ADD(hh, j->compilations->waiting, key, sizeof(c->key), c);
	if (HASH_COUNT(j->compilations->waiting) > WAITING_MAX)
		emit_oldest(j);
}

/* The other half of the compilation of that id, which does not wait any more. */
static bool take_other(struct jvm *j, uint64_t id, bool told, struct trace_jvm_event *e)
{
	struct compilation *c = find(j, id);

	if (!c || c->told != told)
		return false;
	*e = c->event;
	HASH_DEL(j->compilations->waiting, c);
	free(c);
	return true;
}

/* As the probe has it, else as it lies in the JVM's memory: a Method that was compiled just now is mostly there. */
static uint32_t name_told(struct jvm *j, const struct braid_event_jvm *e)
{
	const struct braid_event_compile *c = (const void *)e;
	char text[2 * HOTSPOT_NAME_MAX];
	size_t used;

	if (e->hdr.size < sizeof(*c))
		return 0;
	if (!c->class_name[0] || !e->text[0])
		return methods_name_at(j, e->what.weight, text, sizeof(text))
			       ? names_id(j->session->names, trace_str_of(text))
			       : 0;
	used = class_name_from_signature(text, HOTSPOT_NAME_MAX, c->class_name,
					 strnlen(c->class_name, sizeof(c->class_name)));
	text[used++] = '.';
	utf8_from_modified(text + used, sizeof(text) - used, e->text, strnlen(e->text, sizeof(e->text)));
	return names_id(j->session->names, trace_str_of(text));
}

void compilations_told(struct jvm *j, const struct braid_event_jvm *e, struct trace_jvm_event *to)
{
	struct trace_jvm_event loaded;

	to->weight = 0;
	to->name = name_told(j, e);
	if ((to->flags & BRAID_COMPILE_FAILED) || !to->number) {
		emit(j, to);
	} else if (take_other(j, to->number, false, &loaded)) {
		to->name = loaded.name ?: to->name;
		to->value = loaded.value;
		emit(j, to);
	} else {
		wait_for_other(j, to, true, false);
	}
}

static struct trace_jvm_event event_of(struct jvm *j, const struct braid_rec_code_load *r)
{
	char name[2 * HOTSPOT_NAME_MAX];

	return (struct trace_jvm_event){
		.time_ns = r->hdr.time_ns,
		.kind = BRAID_JVM_COMPILE,
		.name = methods_name(j, r->method, name, sizeof(name)) ? names_id(j->session->names, trace_str_of(name))
								       : 0,
		.value = r->code_size,
		.number = r->compile_id,
		.flags = (r->tier & BRAID_COMPILE_LEVEL) | (r->is_osr ? BRAID_COMPILE_OSR : 0),
		.source = BRAID_SOURCE_AGENT,
	};
}

void compilations_loaded(struct jvm *j, const struct braid_rec_code_load *r, bool again)
{
	bool old = r->hdr.flags & BRAID_REC_REPLAY;
	struct trace_jvm_event to = event_of(j, r), told;
	struct compilation *c;

	if (r->compile_id && take_other(j, r->compile_id, true, &told)) {
		told.name = to.name ?: told.name;
		told.value = to.value;
		emit(j, &told);
		return;
	}
	c = r->compile_id ? find(j, r->compile_id) : NULL;
	if (c)
		c->old = c->old && old;
	else if (old && r->compile_id)
		wait_for_other(j, &to, false, true);
	else if (old || again)
		return; /* compiled before the agent came, or told when it was replayed */
	else if (r->compile_id && r->tier != BRAID_TIER_NATIVE_WRAPPER &&
		 probes_compilations(j->session->probes, j->process))
		wait_for_other(j, &to, false, false);
	else
		emit(j, &to);
}

void compilations_tick(struct jvm *j, uint64_t time_ns, bool final)
{
	struct compilations *c = j->compilations;

	while (c && c->waiting && (final || time_ns - c->waiting->since_ns > WAIT_NS))
		emit_oldest(j);
}
