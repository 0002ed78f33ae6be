// SPDX-License-Identifier: Apache-2.0
#include "gc.h"

#include "jvm_events.h"
#include "names.h"

#include "util/utf8.h"

#include <string.h>

#define NAME_MAX_BYTES 128

const char *gc_collector_name(const char *name)
{
	/* CollectorCounters of HotSpot's gc directory: of 8 and 11, then of later ones. */
	static const struct {
		const char *counter, *name;
	} known[] = {
		{"Copy", "Serial young"},
		{"MSC", "Serial full"},
		{"PCopy", "ParNew"},
		{"CMS", "CMS"},
		{"PSScavenge", "Parallel young"},
		{"PSParallelCompact", "Parallel full"},
		{"PSMarkSweep", "Parallel full"},
		{"G1 incremental collections", "G1 young"},
		{"G1 stop-the-world full collections", "G1 full"},
		{"G1 stop-the-world phases", "G1 concurrent cycle"},
		{"Serial young collection pauses", "Serial young"},
		{"Serial full collection pauses", "Serial full"},
		{"Parallel young collection pauses", "Parallel young"},
		{"Parallel full collection pauses", "Parallel full"},
		{"G1 young collection pauses", "G1 young"},
		{"G1 full collection pauses", "G1 full"},
		{"G1 concurrent cycle pauses", "G1 concurrent cycle"},
		{"Z concurrent cycle pauses", "ZGC"},
		{"ZGC minor collection pauses", "ZGC minor"},
		{"ZGC major collection pauses", "ZGC major"},
		{"Shenandoah partial", "Shenandoah"},
		{"Shenandoah full", "Shenandoah"}, /* all of its pauses */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].counter, name))
			return known[i].name;
	return name;
}

bool gc_on_record(struct gc *gc, struct session *s, const struct process *process, const struct braid_rec *rec,
		  size_t size)
{
	const struct braid_rec_gc *r = (const void *)rec;
	const char *text = (const char *)(r + 1);
	char collector[NAME_MAX_BYTES], cause[NAME_MAX_BYTES];
	struct trace_jvm_event e = {.kind = BRAID_JVM_GC_PAUSE, .source = BRAID_SOURCE_AGENT};

	if (size < sizeof(*r) || size - sizeof(*r) < (size_t)r->collector_len + r->cause_len ||
	    r->start_ns > rec->time_ns)
		return false;
	if (rec->kind == BRAID_REC_GC_START) {
		gc->open = r->sequence;
		gc->open_ns = rec->time_ns;
		gc->open_used = r->used_before;
		return true;
	}
	gc->open = 0;
	gc->pauses++;
	utf8_from_modified(collector, sizeof(collector), text, r->collector_len);
	utf8_from_modified(cause, sizeof(cause), text + r->collector_len, r->cause_len);
	e.time_ns = r->start_ns ? r->start_ns : rec->time_ns;
	e.duration_ns = rec->time_ns - e.time_ns;
	e.flags = r->start_ns ? 0 : BRAID_GC_BEGAN_BEFORE;
	e.name = names_id(s->names, trace_str_of(gc_collector_name(collector)));
	e.detail = names_id(s->names, trace_str_of(cause));
	e.value = r->used_before;
	e.weight = r->used_after;
	e.number = r->sequence;
	jvm_events_emit(s, process, &e);
	return true;
}

void gc_end(struct gc *gc, struct session *s, const struct process *process)
{
	struct trace_jvm_event e = {
		.kind = BRAID_JVM_GC_PAUSE,
		.source = BRAID_SOURCE_AGENT,
		.time_ns = gc->open_ns,
		.value = gc->open_used,
		.number = gc->open,
		.flags = BRAID_GC_NOT_ENDED,
	};

	if (!gc->open)
		return;
	gc->open = 0;
	gc->pauses++;
	jvm_events_emit(s, process, &e);
}
