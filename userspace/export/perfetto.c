// SPDX-License-Identifier: Apache-2.0
/*
 * Perfetto's trace format: samples as PerfSample packets, events as track events, on tracks for each thread and kind.
 * Every packet is written as soon as it is known. What has a name is interned, right before the first packet that
 * refers to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <util/search.h>

#include "perfetto.h"
#include "proto/perfetto.pb-c.h"
#include "stack_table.h"

enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6 };

/* ---- stacks ---- */

/* Readers want a mapping for each frame: it says what kind of code it is. */
static uint64_t mapping_of(struct perfetto *w, enum stack_domain domain)
{
	static const char *const names[] = {
		[DOMAIN_KERNEL] = "[kernel]", [DOMAIN_NATIVE] = "[native]", [DOMAIN_JAVA] = "[java]",
		[DOMAIN_STUB] = "[jvm stub]", [DOMAIN_CLASS] = "[class]",   [DOMAIN_INCOMPLETE] = "[incomplete]"};
	Perfetto__InternedData d = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedName path = PERFETTO__INTERNED_NAME__INIT;
	Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT;
	uint64_t iid = domain + 1U;

	if (w->mappings[domain])
		return iid;
	w->mappings[domain] = true;
	path.iid = mapping.iid = iid;
	path.name = (char *)(uintptr_t)names[domain];
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &iid;
	d.n_mapping_paths = d.n_mappings = 1;
	d.mapping_paths = (Perfetto__InternedName *[]){&path};
	d.mappings = (Perfetto__Mapping *[]){&mapping};
	perfetto_put_interned(w, &d);
	return iid;
}

static Perfetto__Frame__Kind kind_of_frame(enum stack_kind kind)
{
	switch (kind) {
	case KIND_KERNEL:
		return PERFETTO__FRAME__KIND__KIND_KERNEL;
	case KIND_NATIVE:
		return PERFETTO__FRAME__KIND__KIND_NATIVE;
	case KIND_STUB:
		return PERFETTO__FRAME__KIND__KIND_RUNTIME;
	case KIND_INTERPRETED:
		return PERFETTO__FRAME__KIND__KIND_INTERPRETED;
	case KIND_C1:
	case KIND_C2:
	case KIND_COMPILED:
	case KIND_INLINED:
		return PERFETTO__FRAME__KIND__KIND_JIT;
	default:
		return PERFETTO__FRAME__KIND__KIND_UNKNOWN;
	}
}

/* Readers distinguish frames of a mapping by their addresses; the number of the label is in the place of one. */
static uint64_t frame_of(struct perfetto *w, uint32_t label)
{
	const struct tree_label *l = &w->source->tree->labels.at[label];
	Perfetto__InternedData d = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT;
	char name[FRAME_NAME_MAX];

	if (w->frames[label])
		return label + 1ULL;
	w->frames[label] = true;
	stack_table_name(l, w->source->options->annotate, name);
	frame.iid = frame.rel_pc = label + 1ULL;
	frame.function_name_id = perfetto_name(w, FUNCTION_NAMES, name);
	frame.mapping_id = mapping_of(w, (enum stack_domain)l->domain);
	frame.source_path_iid = perfetto_name(w, SOURCE_PATHS, l->file);
	frame.line_number = l->line;
	frame.kind = kind_of_frame((enum stack_kind)l->kind);
	d.n_frames = 1;
	d.frames = (Perfetto__Frame *[]){&frame};
	perfetto_put_interned(w, &d);
	return frame.iid;
}

/* The iid of a stack is its node; 0: there is none. */
static uint64_t stack_of(struct perfetto *w, const struct timed *t)
{
	const struct tree *tree = w->source->tree;
	uint32_t node = timed_node(w->source, t);
	Perfetto__InternedData d = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack stack = PERFETTO__CALLSTACK__INIT;

	if (!node || w->stacks[node])
		return node;
	w->stacks[node] = true;
	w->path.count = 0;
	for (uint32_t i = node; i; i = tree->nodes.at[i].parent)
		w->failed |= VEC_PUSH(&w->path, frame_of(w, tree->nodes.at[i].label)) != 0;
	for (size_t i = 0; i < w->path.count / 2; i++) {
		uint64_t *p = &w->path.at[i], *q = &w->path.at[w->path.count - 1 - i], leaf = *p;

		*p = *q;
		*q = leaf;
	}
	stack.iid = node;
	stack.n_frame_ids = w->path.count;
	stack.frame_ids = w->path.at;
	d.n_callstacks = 1;
	d.callstacks = (Perfetto__Callstack *[]){&stack};
	perfetto_put_interned(w, &d);
	return node;
}

/* ---- tracks ---- */

/* What is no process's is the machine's: process 0 would be Linux's idle thread. */
static uint64_t process_track(struct perfetto *w, const struct timed_track *t)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	char name[PROCESS_LABEL_MAX];

	track.uuid = UUID_PROCESS | t->process;
	if (!perfetto_is_new(w, track.uuid))
		return track.uuid;
	process.pid = (int32_t)t->pid;
	process.process_name = (char *)(uintptr_t)analysis_label(w->source->an, t->process, name);
	if (t->pid)
		track.process = &process;
	else
		track.name = "machine";
	perfetto_put_track(w, &track);
	return track.uuid;
}

/* `row` is the thread's. */
static uint64_t thread_track(struct perfetto *w, const struct timed_track *t, uint32_t row)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;

	process_track(w, t);
	track.uuid = UUID_THREAD | row;
	if (!perfetto_is_new(w, track.uuid))
		return track.uuid;
	thread.pid = (int32_t)t->pid;
	thread.tid = t->tid;
	thread.thread_name = (char *)(uintptr_t)t->name;
	track.thread = &thread;
	perfetto_put_track(w, &track);
	return track.uuid;
}

/* The one of `lanes` that is free at the begin for the shortest time; LANES_MAX: none is, and there are too many. */
static uint32_t take_lane(struct perfetto *w, lane_vec *lanes, uint64_t begin_ns, uint64_t end_ns)
{
	size_t free_count = SEARCH(i, 0, lanes->count, lanes->at[i].end_ns <= begin_ns), place;
	struct lane taken;

	if (!free_count) {
		if (lanes->count == LANES_MAX)
			return LANES_MAX;
		if (VEC_RESERVE(lanes, 1)) {
			w->failed = true;
			return LANES_MAX;
		}
		memmove(lanes->at + 1, lanes->at, lanes->count * sizeof(*lanes->at));
		lanes->at[0].number = (uint32_t)lanes->count++;
		free_count = 1;
	}
	taken = (struct lane){end_ns, lanes->at[free_count - 1].number};
	place = SEARCH(i, free_count, lanes->count, lanes->at[i].end_ns <= end_ns) - 1;
	memmove(lanes->at + free_count - 1, lanes->at + free_count, (place + 1 - free_count) * sizeof(*lanes->at));
	lanes->at[place] = taken;
	return taken.number;
}

static uint32_t lane_of(struct perfetto *w, uint64_t uuid, const struct timed *t)
{
	uint32_t *at = u64map_put(&w->lanes_of, uuid);

	if (at && !*at && !VEC_PUSH(&w->lanes, (lane_vec){0}))
		*at = (uint32_t)w->lanes.count;
	if (at && *at)
		return take_lane(w, &w->lanes.at[*at - 1], t->time_ns, add_saturating(t->time_ns, t->duration_ns));
	w->failed = true;
	return LANES_MAX;
}

/*
 * Events of one kind of one thread are on tracks below the thread's, because those of two kinds may overlap. An
 * interval for which there is no track is not one any more.
 */
static uint64_t event_track(struct perfetto *w, const struct timed *t, bool *is_interval)
{
	const struct timed_track of = timed_track(w->source->an, t);
	const uint32_t kind = t->event ? t->event->kind : 0;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

	if (t->thread == ROW_NONE) {
		track.parent_uuid = process_track(w, &of);
		track.uuid = UUID_PROCESS_KIND | (uint64_t)of.process << 8 | kind;
	} else {
		track.parent_uuid = thread_track(w, &of, t->thread);
		track.uuid = UUID_THREAD_KIND | (uint64_t)t->thread << 8 | kind;
	}
	if (*is_interval) {
		uint32_t lane = lane_of(w, track.uuid, t);

		*is_interval = lane < LANES_MAX;
		track.uuid |= *is_interval ? (uint64_t)lane << 40 : 0;
	}
	if (!perfetto_is_new(w, track.uuid))
		return track.uuid;
	track.name = (char *)(uintptr_t)(t->event ? t->event->k->title : TIMED_HITS);
	perfetto_put_track(w, &track);
	return track.uuid;
}

/* ---- events ---- */

static void put_event(struct perfetto *w, const struct timed *t)
{
	static const struct field_sink sink = {.text = perfetto_text, .number = perfetto_number};
	const char *category = timed_category(t);
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;
	bool is_interval = timed_is_interval(t);

	e.track_uuid = event_track(w, t, &is_interval);
	e.type =
		is_interval ? PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN : PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
	e.name_iid = perfetto_name(w, EVENT_NAMES, *t->name ? t->name : category);
	e.callstack_iid = stack_of(w, t);
	timed_fields(w->source->an, t, &sink, w);
	perfetto_put_event(w, &e, category, t->time_ns);
	if (is_interval)
		perfetto_put_end(w, e.track_uuid, add_saturating(t->time_ns, t->duration_ns));
}

/* ---- samples ---- */

static uint64_t count_sample(struct perfetto *w, const struct timed *t)
{
	uint32_t *at = u64map_put(&w->cpus, t->cpu);
	uint64_t *count;

	if (at && !*at && !VEC_PUSH(&w->counts, 0))
		*at = (uint32_t)w->counts.count;
	w->failed |= !at || !*at;
	if (!at || !*at)
		return 0;
	count = &w->counts.at[*at - 1];
	*count = add_saturating(*count, (uint64_t)profile_value(t->weight, w->period_ns));
	return *count;
}

static Perfetto__PerfSample__CpuMode mode_of(const struct perfetto *w, uint64_t node)
{
	const struct tree *tree = w->source->tree;

	if (!node)
		return PERFETTO__PERF_SAMPLE__CPU_MODE__MODE_UNKNOWN;
	return tree->labels.at[tree->nodes.at[node].label].domain == DOMAIN_KERNEL
		       ? PERFETTO__PERF_SAMPLE__CPU_MODE__MODE_KERNEL
		       : PERFETTO__PERF_SAMPLE__CPU_MODE__MODE_USER;
}

static void put_sample(struct perfetto *w, const struct timed *t)
{
	const struct timed_track track = timed_track(w->source->an, t);
	Perfetto__TracePacket p = *perfetto_packet();
	Perfetto__PerfSample s = PERFETTO__PERF_SAMPLE__INIT;

	if (t->thread != ROW_NONE)
		thread_track(w, &track, t->thread);
	s.cpu = t->cpu == TRACE_NO_CPU ? 0 : t->cpu; /* 0 takes no space: the reader sees none */
	s.pid = track.pid;
	s.tid = t->thread == ROW_NONE ? 0 : track.tid;
	s.callstack_iid = stack_of(w, t);
	s.cpu_mode = mode_of(w, s.callstack_iid);
	s.timebase_count = count_sample(w, t);
	p.timestamp = t->time_ns;
	p.data_case = PERFETTO__TRACE_PACKET__DATA_PERF_SAMPLE;
	p.perf_sample = &s;
	perfetto_put(w, &p);
}

/* ---- the trace ---- */

/* 1: *clock is the recording's first reading of its clocks; 0: there is none. */
static int first_clocks(struct trace_reader *reader, struct trace_clock *clock)
{
	struct trace_rec rec;
	int err;

	trace_reader_rewind(reader);
	while ((err = trace_reader_next(reader, &rec)) == 1)
		if (rec.kind == TRACE_CLOCK) {
			*clock = rec.clock;
			return 1;
		}
	return err;
}

static void put_clocks(struct perfetto *w, const struct trace_clock *c)
{
	const struct {
		uint32_t id;
		uint64_t ns;
	} readings[] = {{CLOCK_ID_BOOTTIME, c->boottime_ns},
			{CLOCK_ID_MONOTONIC, c->monotonic_ns},
			{CLOCK_ID_REALTIME, c->realtime_ns}};
	Perfetto__Clock clocks[3], *at[3];
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__TracePacket p = PERFETTO__TRACE_PACKET__INIT;

	for (size_t i = 0; i < 3; i++) {
		clocks[i] = (Perfetto__Clock)PERFETTO__CLOCK__INIT;
		clocks[i].clock_id = readings[i].id;
		clocks[i].timestamp = readings[i].ns;
		at[i] = &clocks[i];
	}
	snapshot.n_clocks = 3;
	snapshot.clocks = at;
	snapshot.primary_trace_clock = CLOCK_ID_MONOTONIC;
	p.trusted_packet_sequence_id = SEQUENCE;
	p.data_case = PERFETTO__TRACE_PACKET__DATA_CLOCK_SNAPSHOT;
	p.clock_snapshot = &snapshot;
	perfetto_put(w, &p);
}

/* Without readings of the clocks, times are those of the reader's default clock. */
static void put_head(struct perfetto *w, const struct trace_clock *clocks)
{
	const struct analyzer *a = w->source->an->a;
	Perfetto__TracePacket p = *perfetto_packet();
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__PerfSampleDefaults samples = PERFETTO__PERF_SAMPLE_DEFAULTS__INIT;
	Perfetto__Timebase timebase = PERFETTO__TIMEBASE__INIT;

	if (clocks)
		put_clocks(w, clocks);
	w->period_ns = analyzer_period_ns(a) ?: 1;
	timebase.frequency = analyzer_frequency(a);
	timebase.name = (char *)(uintptr_t)analyzer_info(a, "record.event");
	samples.timebase = &timebase;
	defaults.timestamp_clock_id = clocks ? CLOCK_ID_MONOTONIC : 0;
	defaults.perf_sample_defaults = &samples;
	p.sequence_flags = STATE_CLEARED | NEEDS_STATE;
	p.trace_packet_defaults = &defaults;
	perfetto_put(w, &p);
}

static int put_all(struct perfetto *w, struct timed_source *s)
{
	struct timed t;
	int more, err = 0;

	stream_begin(&s->stream, s->reader, s->an);
	while (!err && (more = timed_next(s, &t)) != 0) {
		if (more < 0)
			return more;
		if (t.event || t.hit)
			put_event(w, &t);
		else
			put_sample(w, &t);
		err = w->failed ? -ENOMEM : 0;
	}
	return err;
}

int perfetto_write(FILE *out, struct timed_source *s)
{
	struct perfetto *w = calloc(1, sizeof(*w));
	struct trace_clock clocks;
	int known, err = -ENOMEM;

	if (!w)
		return err;
	w->out = out;
	w->source = s;
	w->frames = calloc(s->tree->labels.count + 1, sizeof(*w->frames));
	w->stacks = calloc(s->tree->nodes.count, sizeof(*w->stacks));
	w->annotations = calloc(ANNOTATIONS, sizeof(*w->annotations));
	if (w->frames && w->stacks && w->annotations) {
		known = first_clocks(s->reader, &clocks);
		err = known < 0 ? known : 0;
		if (!err) {
			put_head(w, known ? &clocks : NULL);
			err = perfetto_put_cpus(w) ?: put_all(w, s);
		}
	}
	for (size_t i = 0; i < NAME_TABLES; i++)
		strpool_free(&w->names[i]);
	for (size_t i = 0; i < w->lanes.count; i++)
		free(w->lanes.at[i].at);
	free(w->lanes.at);
	u64map_free(&w->lanes_of);
	u64map_free(&w->tracks);
	u64map_free(&w->cpus);
	free(w->counts.at);
	free(w->frames);
	free(w->stacks);
	free(w->annotations);
	free(w->path.at);
	free(w);
	return err;
}
