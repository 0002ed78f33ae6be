// SPDX-License-Identifier: Apache-2.0
/* Resolves the numbers in events of probes to names. probes.h declares the functions; jvm_events.c calls them. */
#include "compilations.h"
#include "gc.h"
#include "jvm.h"
#include "libjvm.h"
#include "probes.h"
#include "sink/names.h"
#include "util/utf8.h"

#include <braid/frame.h>

#include <stdio.h>
#include <string.h>

static uint32_t probe_name_id(struct jvms *jvms, struct process *process, const char *text)
{
	return text ? names_id(jvms->names, &process->account, trace_str_of(text)) : 0;
}

static const char *name_at(const struct libjvm_names *n, uint64_t i)
{
	return i < n->count ? n->text[i] : NULL;
}

static void explain_safepoint(struct jvms *jvms, struct process *process, const struct libjvm_copy *l,
			      const struct braid_event_jvm_event *e, struct trace_jvm_event *to)
{
	char text[256];

	to->weight = 0;
	if (e->event.name) {
		to->name = probe_name_id(jvms, process, name_at(&l->operations, e->event.name - 1));
	} else if (e->event.weight) {
		to->name = probe_name_id(jvms, process, libjvm_operation_of(l->file, e->event.weight - l->bias));
	} else if (e->text[0]) {
		utf8_printable(text, sizeof(text), e->text, strnlen(e->text, sizeof(e->text)));
		to->name = probe_name_id(jvms, process, text);
	}
}

/* Deoptimization::trap_request_reason() and _action() of deoptimization.hpp, the same from JDK 8 to 25 and later. */
#define TRAP_ACTION_BITS 3
#define TRAP_ACTION_MASK 7U
#define TRAP_REASON_MASK 31U

static void explain_trap(struct jvms *jvms, struct process *process, const struct libjvm_copy *l, int32_t request,
			 struct trace_jvm_event *to)
{
	uint32_t bits = ~(uint32_t)request, reason = bits >> TRAP_ACTION_BITS & TRAP_REASON_MASK;
	const char *action = name_at(&l->actions, bits & TRAP_ACTION_MASK), *name = name_at(&l->reasons, reason);
	char number[32];

	if (request >= 0) { /* the index of a class that is not loaded */
		name = "unloaded";
		action = "reinterpret";
	}
	snprintf(number, sizeof(number), "reason %u", reason);
	to->detail = probe_name_id(jvms, process, name ?: number);
	to->text = trace_str_of(action ?: "");
}

/* The code that is deoptimised belongs to the frame that called the stub. Returns its method's name. */
static bool deoptimised(const struct process *process, const struct braid_event_jvm_event *e, char *to, size_t size,
			uint32_t *compile_id)
{
	uint64_t frame = e->event.weight;

	return frame && process->jvm &&
	       jvm_code_name(process->jvm, braid_frame_addr(frame), braid_frame_code_id(frame), e->hdr.time_ns, to,
			     size, compile_id);
}

bool probes_ready(const struct process *process, const struct braid_event_jvm_event *e)
{
	char text[1024];
	uint32_t compile_id;

	return e->event.kind != BRAID_JVM_DEOPT || !process->jvm || !e->event.weight ||
	       deoptimised(process, e, text, sizeof(text), &compile_id);
}

static void explain_deopt(struct jvms *jvms, struct process *process, const struct libjvm_copy *l,
			  const struct braid_event_jvm_event *e, struct trace_jvm_event *to)
{
	char text[1024];
	uint32_t compile_id;

	to->weight = 0;
	if (e->event.name == BRAID_PROBE_TRAP)
		explain_trap(jvms, process, l, (int32_t)e->event.detail, to);
	else
		to->detail = probe_name_id(jvms, process, "lazy"); /* marked while not on top, or while stopped */
	if (!deoptimised(process, e, text, sizeof(text), &compile_id))
		return;
	to->name = probe_name_id(jvms, process, text);
	to->number = compile_id;
}

/* False: it waits for its other half. */
static bool explain_compile(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
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
		to->name = probe_name_id(jvms, process, text);
	}
	if (!process->jvm)
		return true;
	compilations_on_probe(process->jvm, e->event.weight, to);
	return false;
}

bool probes_explain(struct jvms *jvms, struct process *process, const struct braid_event_jvm_event *e,
		    struct trace_jvm_event *to)
{
	const struct libjvm_copy *l = probes_library(jvms->probes, process);

	switch (to->kind) {
	case BRAID_JVM_GC_CYCLE:
		gc_on_probe(process, e);
		return false;
	case BRAID_JVM_SAFEPOINT:
		if (l)
			explain_safepoint(jvms, process, l, e, to);
		return true;
	case BRAID_JVM_DEOPT:
		if (l)
			explain_deopt(jvms, process, l, e, to);
		return true;
	case BRAID_JVM_COMPILE:
		return explain_compile(jvms, process, e, to);
	default:
		return true;
	}
}
