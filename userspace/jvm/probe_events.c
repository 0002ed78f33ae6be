// SPDX-License-Identifier: Apache-2.0
/* What the numbers in the events of probes mean. */
#include "agents/agents.h"
#include "jvm/compilations.h"
#include "jvm/gc.h"
#include "jvm/jvm.h"
#include "jvm/libjvm.h"
#include "sink/names.h"
#include "jvm/probes.h"
#include "util/utf8.h"

#include <braid/frame.h>

#include <stdio.h>
#include <string.h>

static uint32_t name_id(struct session *s, const char *text)
{
	return text ? names_id(s->names, trace_str_of(text)) : 0;
}

static const char *name_at(const struct libjvm_names *n, uint64_t i)
{
	return i < n->count ? n->text[i] : NULL;
}

static void explain_safepoint(struct session *s, struct libjvm *l, uint64_t bias, const struct braid_event_jvm *e,
			      struct trace_jvm_event *to)
{
	char text[256];

	to->weight = 0;
	if (e->what.name) {
		to->name = name_id(s, name_at(&l->operations, e->what.name - 1));
	} else if (e->what.weight) {
		to->name = name_id(s, libjvm_operation_of(l, e->what.weight - bias));
	} else if (e->text[0]) {
		utf8_printable(text, sizeof(text), e->text, strnlen(e->text, sizeof(e->text)));
		to->name = name_id(s, text);
	}
}

/* Deoptimization::trap_request_reason() and _action() of deoptimization.hpp, the same from JDK 8 to 25 and later. */
#define TRAP_ACTION_BITS 3
#define TRAP_ACTION_MASK 7U
#define TRAP_REASON_MASK 31U

static void explain_trap(struct session *s, const struct libjvm *l, int32_t request, struct trace_jvm_event *to)
{
	uint32_t bits = ~(uint32_t)request, reason = bits >> TRAP_ACTION_BITS & TRAP_REASON_MASK;
	const char *action = name_at(&l->actions, bits & TRAP_ACTION_MASK), *name = name_at(&l->reasons, reason);
	char number[32];

	if (request >= 0) { /* the index of a class that is not loaded */
		name = "unloaded";
		action = "reinterpret";
	}
	snprintf(number, sizeof(number), "reason %u", reason);
	to->detail = name_id(s, name ?: number);
	to->text = trace_str_of(action ?: "");
}

/* What is given up is the code of the frame that called the stub. */
static void name_deoptimised(struct session *s, struct process *process, const struct braid_event_jvm *e,
			     struct trace_jvm_event *to)
{
	uint64_t frame = e->what.weight;
	uint32_t code_id = braid_frame_code_id(frame), compile_id = 0;
	char text[1024];

	if (!frame || !process->jvm)
		return;
	if (!jvm_code_name(process->jvm, braid_frame_addr(frame), code_id, e->hdr.time_ns, text, sizeof(text),
			   &compile_id)) {
		agents_catch_up(s->agents, process);
		if (!jvm_code_name(process->jvm, braid_frame_addr(frame), code_id, e->hdr.time_ns, text, sizeof(text),
				   &compile_id))
			return;
	}
	to->name = name_id(s, text);
	to->number = compile_id;
}

static void explain_deopt(struct session *s, struct process *process, const struct libjvm *l,
			  const struct braid_event_jvm *e, struct trace_jvm_event *to)
{
	to->weight = 0;
	if (e->what.name == BRAID_PROBE_TRAP)
		explain_trap(s, l, (int32_t)e->what.detail, to);
	else
		to->detail = name_id(s, "lazy"); /* its frame was marked while it had called others, or stood */
	name_deoptimised(s, process, e, to);
}

/* False: its other half is to come. */
static bool explain_compile(struct session *s, struct process *process, const struct braid_event_jvm *e,
			    struct trace_jvm_event *to)
{
	const struct braid_event_compile *c = (const void *)e;
	char text[1024];
	size_t used;

	to->weight = 0;
	if (e->hdr.size >= sizeof(*c) && c->class_name[0]) {
		used = class_name_from_signature(text, sizeof(text) / 2, c->class_name,
						 strnlen(c->class_name, sizeof(c->class_name)));
		text[used++] = '.';
		utf8_from_modified(text + used, sizeof(text) - used, e->text, strnlen(e->text, sizeof(e->text)));
		to->name = name_id(s, text);
	}
	if (!process->jvm)
		return true;
	compilations_told(process->jvm, e->what.weight, to);
	return false;
}

bool probes_explain(struct session *s, struct process *process, const struct braid_event_jvm *e,
		    struct trace_jvm_event *to)
{
	uint64_t bias;
	struct libjvm *l = probes_library(s->probes, process, &bias);

	switch (to->kind) {
	case BRAID_JVM_GC_CYCLE:
		gc_on_probe(process, e);
		return false;
	case BRAID_JVM_SAFEPOINT:
		if (l)
			explain_safepoint(s, l, bias, e, to);
		return true;
	case BRAID_JVM_DEOPT:
		if (l)
			explain_deopt(s, process, l, e, to);
		return true;
	case BRAID_JVM_COMPILE:
		return explain_compile(s, process, e, to);
	default:
		return true;
	}
}
