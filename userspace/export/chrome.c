// SPDX-License-Identifier: Apache-2.0
/*
 * Trace events as Chrome's tracing page reads them: samples with stack frames, intervals as complete events, what has
 * no length as instant events. Times are microseconds of CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <stdlib.h>

#include <util/json.h>
#include <util/moment.h>

#include "stack_table.h"
#include "timed.h"
#include "version.h"

struct chrome {
	struct json json;
	const struct timed_source *source;
	struct u64map named; /* tracks, and processes, whose names are written */
	bool *frames;	     /* nodes that events have */
};

/* ---- names ---- */

static void put_name(struct json *j, const char *what, const struct timed_track *track, bool thread, const char *name)
{
	json_open(j, NULL, '{');
	json_string(j, "ph", "M");
	json_string(j, "name", what);
	json_number(j, "pid", track->pid);
	if (thread)
		json_number(j, "tid", track->tid);
	json_open(j, "args", '{');
	json_string(j, "name", name);
	json_close(j, '}');
	json_close(j, '}');
}

#define PROCESS_KEY (1ULL << 62) /* beside the ids of tracks */

static int put_names(struct chrome *w, const struct timed_track *track)
{
	char process[PROCESS_LABEL_MAX];
	int new_process = u64map_add(&w->named, PROCESS_KEY | track->process);
	int new_track = u64map_add(&w->named, track->id);

	if (new_process < 0 || new_track < 0)
		return -ENOMEM;
	if (new_process)
		put_name(&w->json, "process_name", track, false, timed_process_name(w->source->an, track, process));
	if (new_track)
		put_name(&w->json, "thread_name", track, true, track->name);
	return 0;
}

/* ---- events ---- */

static void put_phase(struct json *j, const struct timed *t)
{
	if (!t->event && !t->hit) {
		json_string(j, "ph", "P");
	} else if (timed_is_interval(t)) {
		json_string(j, "ph", "X");
		json_fixed(j, "dur", t->duration_ns, 3);
	} else {
		json_string(j, "ph", "i");
		json_string(j, "s", "t");
	}
}

static void put_text(void *j, const char *key, const char *value)
{
	json_string(j, key, value);
}

static void put_number(void *j, const char *key, uint64_t value, enum field_form form)
{
	(void)form;
	json_number(j, key, value);
}

static int put_event(struct chrome *w, const struct timed *t)
{
	static const struct field_sink sink = {.text = put_text, .number = put_number};
	const struct timed_track track = timed_track(w->source->an, t);
	const char *category = timed_category(t);
	uint32_t node = timed_node(w->source, t);
	struct json *j = &w->json;
	int err = put_names(w, &track);

	json_open(j, NULL, '{');
	put_phase(j, t);
	json_string(j, "cat", category);
	json_string(j, "name", *t->name ? t->name : category);
	json_number(j, "pid", track.pid);
	json_number(j, "tid", track.tid);
	json_fixed(j, "ts", t->time_ns, 3);
	if (node)
		json_number(j, "sf", node);
	json_open(j, "args", '{');
	timed_fields(w->source->an, t, &sink, j);
	json_close(j, '}');
	json_close(j, '}');
	for (; node && !w->frames[node]; node = w->source->tree->nodes.at[node].parent)
		w->frames[node] = true;
	return err;
}

/* Only those that events have: a filter may leave few. */
static void put_frames(struct chrome *w)
{
	const struct tree *t = w->source->tree;
	struct json *j = &w->json;
	char id[16], name[FRAME_NAME_MAX];

	json_open(j, "stackFrames", '{');
	for (uint32_t i = 1; i < t->nodes.count; i++) {
		const struct tree_label *l = &t->labels.at[t->nodes.at[i].label];

		if (!w->frames[i])
			continue;
		snprintf(id, sizeof(id), "%u", i);
		stack_table_name(l, w->source->options->annotate, name);
		json_open(j, id, '{');
		json_string(j, "name", name);
		json_string(j, "category", kind_name((enum stack_kind)l->kind));
		if (*l->file)
			json_string(j, "file", l->file);
		if (l->line)
			json_number(j, "line", l->line);
		if (t->nodes.at[i].parent)
			json_number(j, "parent", t->nodes.at[i].parent);
		json_close(j, '}');
	}
	json_close(j, '}');
}

static void put_recording(struct json *j, const struct analysis *an)
{
	char start[MOMENT_TEXT];

	json_open(j, "otherData", '{');
	json_string(j, "version", "braid " BRAID_VERSION);
	json_string(j, "clock", "CLOCK_MONOTONIC");
	json_fixed(j, "start_ts", an->start_ns, 3);
	if (an->start_realtime_ns)
		json_string(j, "start", moment_iso(start, an->start_realtime_ns, 9));
	json_close(j, '}');
}

int chrome_write(FILE *out, struct timed_source *s)
{
	struct chrome w = {.json.out = out, .source = s, .frames = calloc(s->tree->nodes.count, sizeof(*w.frames))};
	int more, err = w.frames ? 0 : -ENOMEM;
	struct timed t;

	json_open(&w.json, NULL, '{');
	put_recording(&w.json, s->an);
	json_open(&w.json, "traceEvents", '[');
	while (!err && (more = timed_next(s, &t)) != 0)
		err = more < 0 ? more : put_event(&w, &t);
	json_close(&w.json, ']');
	if (!err)
		put_frames(&w);
	json_close(&w.json, '}');
	putc('\n', out);
	u64map_free(&w.named);
	free(w.frames);
	return err;
}
