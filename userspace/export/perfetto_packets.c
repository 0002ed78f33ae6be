// SPDX-License-Identifier: Apache-2.0
/* Packets of Perfetto's format, and the names, tracks and events in them. */
#include <stdlib.h>
#include <string.h>

#include "perfetto.h"
#include "proto/perfetto.pb-c.h"
#include "protobuf_out.h"

const Perfetto__TracePacket *perfetto_packet(void)
{
	static Perfetto__TracePacket p = PERFETTO__TRACE_PACKET__INIT;

	p.trusted_packet_sequence_id = SEQUENCE;
	p.sequence_flags = NEEDS_STATE;
	return &p;
}

void perfetto_put(struct perfetto *w, Perfetto__TracePacket *p)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;

	trace.n_packet = 1;
	trace.packet = &p;
	protobuf_put(w->out, &trace.base);
}

void perfetto_put_interned(struct perfetto *w, Perfetto__InternedData *data)
{
	Perfetto__TracePacket p = *perfetto_packet();

	p.interned_data = data;
	perfetto_put(w, &p);
}

uint64_t perfetto_name(struct perfetto *w, enum name_table table, const char *text)
{
	struct strpool *pool = &w->names[table];
	size_t known = pool->strings.count;
	Perfetto__InternedData d = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedName name = PERFETTO__INTERNED_NAME__INIT;
	Perfetto__InternedName *names[] = {&name};
	struct {
		size_t *count;
		Perfetto__InternedName ***at;
	} const tables[NAME_TABLES] = {
		[EVENT_CATEGORIES] = {&d.n_event_categories, &d.event_categories},
		[EVENT_NAMES] = {&d.n_event_names, &d.event_names},
		[ANNOTATION_NAMES] = {&d.n_debug_annotation_names, &d.debug_annotation_names},
		[FUNCTION_NAMES] = {&d.n_function_names, &d.function_names},
		[SOURCE_PATHS] = {&d.n_source_paths, &d.source_paths},
	};

	name.iid = strpool_add(pool, text, strlen(text));
	if (name.iid == STRPOOL_FAILED) {
		w->failed = true;
		return 0;
	}
	if (pool->strings.count == known)
		return name.iid;
	name.name = (char *)(uintptr_t)strpool_get(pool, (uint32_t)name.iid);
	*tables[table].count = 1;
	*tables[table].at = names;
	perfetto_put_interned(w, &d);
	return name.iid;
}

/* ---- tracks ---- */

bool perfetto_is_new(struct perfetto *w, uint64_t uuid)
{
	int added = u64map_add(&w->tracks, uuid);

	w->failed |= added < 0;
	return added == 1;
}

void perfetto_put_track(struct perfetto *w, Perfetto__TrackDescriptor *track)
{
	Perfetto__TracePacket p = *perfetto_packet();

	p.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	p.track_descriptor = track;
	perfetto_put(w, &p);
}

/* ---- events ---- */

static Perfetto__DebugAnnotation *annotate(struct perfetto *w, const char *key)
{
	Perfetto__DebugAnnotation *a = &w->annotations[w->count];

	if (w->count == ANNOTATIONS)
		return NULL;
	*a = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	a->name_iid = perfetto_name(w, ANNOTATION_NAMES, key);
	w->texts[w->count] = NULL;
	w->annotation[w->count++] = a;
	return a;
}

void perfetto_text(void *ctx, const char *key, const char *value)
{
	struct perfetto *w = ctx;
	Perfetto__DebugAnnotation *a = annotate(w, key);
	char *copy = a ? strdup(value) : NULL;

	w->failed |= !copy;
	if (!copy)
		return;
	w->texts[w->count - 1] = copy;
	a->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE;
	a->string_value = copy;
}

void perfetto_number(void *ctx, const char *key, uint64_t value, enum field_form form)
{
	Perfetto__DebugAnnotation *a = annotate(ctx, key);

	if (!a)
		return;
	a->value_case = form == FIELD_HEX ? PERFETTO__DEBUG_ANNOTATION__VALUE_POINTER_VALUE
					  : PERFETTO__DEBUG_ANNOTATION__VALUE_UINT_VALUE;
	if (form == FIELD_HEX)
		a->pointer_value = value;
	else
		a->uint_value = value;
}

void perfetto_put_event(struct perfetto *w, const Perfetto__TrackEvent *event, const char *category, uint64_t time_ns)
{
	Perfetto__TracePacket p = *perfetto_packet();
	Perfetto__TrackEvent e = *event;
	uint64_t category_iid = perfetto_name(w, EVENT_CATEGORIES, category);

	e.n_category_iids = 1;
	e.category_iids = &category_iid;
	e.n_debug_annotations = w->count;
	e.debug_annotations = w->annotation;
	p.timestamp = time_ns;
	p.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT;
	p.track_event = &e;
	perfetto_put(w, &p);
	for (size_t i = 0; i < w->count; i++)
		free(w->texts[i]);
	w->count = 0;
}

void perfetto_put_end(struct perfetto *w, uint64_t track, uint64_t time_ns)
{
	Perfetto__TracePacket p = *perfetto_packet();
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;

	e.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	e.track_uuid = track;
	p.timestamp = time_ns;
	p.data_case = PERFETTO__TRACE_PACKET__DATA_TRACK_EVENT;
	p.track_event = &e;
	perfetto_put(w, &p);
}
