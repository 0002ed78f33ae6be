// SPDX-License-Identifier: Apache-2.0
/* Tracks of CPUs: which thread ran there, as far as times off the CPU say it. */
#include <stdlib.h>

#include <wall/runs.h>

#include "perfetto.h"
#include "proto/perfetto.pb-c.h"

static uint64_t cpu_track(struct perfetto *w, uint32_t cpu)
{
	Perfetto__TrackDescriptor all = PERFETTO__TRACK_DESCRIPTOR__INIT, track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	char name[32];

	all.uuid = UUID_CPUS;
	all.name = "CPUs";
	if (perfetto_is_new(w, all.uuid))
		perfetto_put_track(w, &all);
	track.uuid = UUID_CPU | cpu;
	track.parent_uuid = all.uuid;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	track.name = name;
	if (perfetto_is_new(w, track.uuid))
		perfetto_put_track(w, &track);
	return track.uuid;
}

static void put_run(struct perfetto *w, const struct wall *wall, const struct wall_run *run)
{
	const struct analysis *an = w->source->an;
	const uint32_t row = wall->threads.at[run->thread].thread;
	const struct thread_row *thread = table_row(&an->a->threads, row);
	uint64_t from_ns = run->start_ns > an->from_ns ? run->start_ns : an->from_ns;
	uint64_t to_ns = run->end_ns < an->to_ns ? run->end_ns : an->to_ns;
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;
	char process[PROCESS_LABEL_MAX];

	if (from_ns >= to_ns || !analysis_selects_thread(an, row))
		return;
	e.track_uuid = cpu_track(w, run->cpu);
	e.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
	e.name_iid = perfetto_name(w, EVENT_NAMES, analysis_thread_name(an, row));
	perfetto_text(w, "process", analysis_label(an, thread->process, process));
	perfetto_number(w, "pid", analysis_process(an, thread->process)->pid, FIELD_NUMBER);
	perfetto_number(w, "tid", thread->tid, FIELD_NUMBER);
	perfetto_put_event(w, &e, "on CPU", from_ns);
	perfetto_put_end(w, e.track_uuid, to_ns);
}

/* Times between two times off the CPU; a selection of stacks or spans is of parts of these, which are not known. */
static bool has_runs(const struct timed_source *s)
{
	const struct timed_options *o = s->options;

	return !o->samples && !o->hit && (!o->kind || o->kind == BRAID_JVM_OFFCPU) && !filter_has_span(s->an->filter) &&
	       !filter_has_stack(s->an->filter);
}

int perfetto_put_cpus(struct perfetto *w)
{
	struct wall *wall = NULL;
	wall_runs runs = {0};
	int err = has_runs(w->source) ? wall_new(&wall, w->source->an) ?: wall_runs_find(wall, false, &runs) : 0;

	for (size_t i = 0; i < runs.count && !w->failed; i++)
		put_run(w, wall, &runs.at[i]);
	free(runs.at);
	wall_free(wall);
	return err;
}
