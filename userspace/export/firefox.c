// SPDX-License-Identifier: Apache-2.0
/*
 * The processed format of the Firefox Profiler (version 70): samples of each thread, and events as markers. Its tables
 * are columns of one thread, so samples and markers are sorted in files without names before they are written.
 */
#include "firefox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <util/compare.h>

#include "version.h"

#define GECKO_VERSION 36
#define PROCESSED_VERSION 70
#define MEMORY (32ULL << 20) /* for samples and markers, before they go to files */

struct firefox_sample {
	uint32_t track, node;
	uint64_t time_ns, weight;
};

struct firefox_marker {
	uint32_t track, name; /* name: a string */
	uint32_t category;
	bool interval;
	uint64_t time_ns, duration_ns;
	uint64_t data, length; /* its place in the file of data */
};

uint32_t firefox_string(struct firefox *w, const char *text)
{
	uint32_t id = strpool_add(&w->strings, text, strlen(text));

	w->failed |= id == STRPOOL_FAILED;
	return id;
}

/* ---- data of markers ---- */

struct marker_data {
	struct firefox *w;
	struct json json;
	uint32_t kind;
};

static void know_field(const struct marker_data *d, const char *key, enum field_form form, bool text)
{
	struct firefox *w = d->w;
	struct marker_field field = {.kind = d->kind, .key = firefox_string(w, key), .form = form, .text = text};
	uint32_t *at = u64map_put(&w->field_of, (uint64_t)d->kind << 32 | field.key);

	if (at && !*at && !VEC_PUSH(&w->fields, field))
		*at = (uint32_t)w->fields.count;
	w->failed |= !at || !*at;
}

/* The format's own "cause" is a stack. */
static const char *key_of(const char *key)
{
	return strcmp(key, "cause") == 0 ? "gc_cause" : key;
}

static void put_text(void *ctx, const char *key, const char *value)
{
	struct marker_data *d = ctx;

	key = key_of(key);
	know_field(d, key, FIELD_NUMBER, true);
	json_string(&d->json, key, value);
}

static void put_number(void *ctx, const char *key, uint64_t value, enum field_form form)
{
	struct marker_data *d = ctx;

	know_field(d, key, form, false);
	json_number(&d->json, key, value);
}

#define HIT_TYPE "hit"

static int put_data(struct firefox *w, const struct timed *t, struct firefox_marker *m)
{
	static const struct field_sink sink = {.text = put_text, .number = put_number};
	struct marker_data d = {.w = w, .json.out = w->data, .kind = t->event ? t->event->kind : 0};
	uint32_t node = timed_node(w->source, t);
	off_t at = ftello(w->data);

	json_open(&d.json, NULL, '{');
	json_string(&d.json, "type", t->event ? jvm_event_name(t->event->kind) : HIT_TYPE);
	timed_fields(w->source->an, t, &sink, &d);
	if (node) {
		json_open(&d.json, "cause", '{');
		json_number(&d.json, "stack", node - 1);
		json_close(&d.json, '}');
	}
	json_close(&d.json, '}');
	m->data = (uint64_t)at;
	m->length = (uint64_t)(ftello(w->data) - at);
	return ferror(w->data) ? -EIO : 0;
}

/* ---- samples and markers ---- */

static int find_track(struct firefox *w, const struct timed *t, uint32_t *number)
{
	const struct timed_track track = timed_track(w->source->an, t);
	uint32_t *at = u64map_put(&w->track_of, track.id);

	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&w->tracks, track))
			return -ENOMEM;
		*at = (uint32_t)w->tracks.count;
	}
	*number = *at - 1;
	return 0;
}

static uint32_t category_of(const struct timed *t)
{
	switch (t->event ? t->event->kind : 0) {
	case BRAID_JVM_GC_PAUSE:
	case BRAID_JVM_GC_CYCLE:
	case BRAID_JVM_GC_PHASE:
		return CATEGORY_GC;
	case BRAID_JVM_SAFEPOINT:
	case BRAID_JVM_SAFEPOINT_STOP:
		return CATEGORY_SAFEPOINT;
	case BRAID_JVM_LOCK:
	case BRAID_JVM_WAIT:
	case BRAID_JVM_OFFCPU:
		return CATEGORY_WAIT;
	default:
		return CATEGORY_OTHER;
	}
}

static int add_sample(struct firefox *w, const struct timed *t, uint32_t track)
{
	int err = scratch_more(&w->samples, &w->room, w->sample_count, sizeof(struct firefox_sample));

	if (!err)
		((struct firefox_sample *)w->samples.at)[w->sample_count++] = (struct firefox_sample){
			.track = track, .node = timed_node(w->source, t), .time_ns = t->time_ns, .weight = t->weight};
	return err;
}

static int add_marker(struct firefox *w, const struct timed *t, uint32_t track)
{
	struct firefox_marker m = {.track = track,
				   .name = firefox_string(w, timed_category(t)),
				   .category = category_of(t),
				   .interval = timed_is_interval(t),
				   .time_ns = t->time_ns,
				   .duration_ns = t->duration_ns};
	int err = put_data(w, t, &m);

	err = err ?: scratch_more(&w->markers, &w->room, w->marker_count, sizeof(m));
	if (!err)
		((struct firefox_marker *)w->markers.at)[w->marker_count++] = m;
	return err;
}

static int compare_samples(const void *x, const void *y)
{
	const struct firefox_sample *p = x, *q = y;
	int c = compare_u64(p->track, q->track) ?: compare_u64(p->time_ns, q->time_ns);

	return c ?: compare_u64(p->node, q->node);
}

static int compare_markers(const void *x, const void *y)
{
	const struct firefox_marker *p = x, *q = y;
	int c = compare_u64(p->track, q->track) ?: compare_u64(p->time_ns, q->time_ns);

	return c ?: compare_u64(p->data, q->data);
}

static int collect(struct firefox *w, struct timed_source *s)
{
	struct timed t;
	int more, err = 0;

	while (!err && (more = timed_next(s, &t)) != 0) {
		uint32_t track;

		err = more < 0 ? more : find_track(w, &t, &track);
		if (!err)
			err = t.event || t.hit ? add_marker(w, &t, track) : add_sample(w, &t, track);
		if (t.time_ns < w->base_ns)
			w->base_ns = t.time_ns;
	}
	scratch_sort(&w->samples, w->sample_count, sizeof(struct firefox_sample), compare_samples);
	scratch_sort(&w->markers, w->marker_count, sizeof(struct firefox_marker), compare_markers);
	return err ?: w->failed ? -ENOMEM : 0;
}

/* ---- threads ---- */

static void put_ms(struct json *j, const char *key, uint64_t ns)
{
	json_fixed(j, key, ns, 6);
}

static void put_samples(struct json *j, const struct firefox *w, uint64_t from, uint64_t to)
{
	const struct firefox_sample *at = w->samples.at;

	json_open(j, "samples", '{');
	json_open(j, "stack", '[');
	for (uint64_t i = from; i < to; i++)
		json_number_if(j, at[i].node != 0, NULL, at[i].node - 1ULL);
	json_close(j, ']');
	json_open(j, "time", '[');
	for (uint64_t i = from; i < to; i++)
		put_ms(j, NULL, at[i].time_ns - w->base_ns);
	json_close(j, ']');
	json_open(j, "weight", '[');
	for (uint64_t i = from; i < to; i++)
		json_number(j, NULL, at[i].weight);
	json_close(j, ']');
	json_string(j, "weightType", "samples");
	json_number(j, "length", to - from);
	json_close(j, '}');
}

enum { PHASE_INSTANT, PHASE_INTERVAL };

static void put_marker_ends(struct json *j, const struct firefox *w, uint64_t from, uint64_t to)
{
	const struct firefox_marker *at = w->markers.at;

	json_open(j, "startTime", '[');
	for (uint64_t i = from; i < to; i++)
		put_ms(j, NULL, at[i].time_ns - w->base_ns);
	json_close(j, ']');
	json_open(j, "endTime", '[');
	for (uint64_t i = from; i < to; i++) {
		if (at[i].interval)
			put_ms(j, NULL, add_saturating(at[i].time_ns - w->base_ns, at[i].duration_ns));
		else
			json_null(j, NULL);
	}
	json_close(j, ']');
	json_open(j, "phase", '[');
	for (uint64_t i = from; i < to; i++)
		json_number(j, NULL, at[i].interval ? PHASE_INTERVAL : PHASE_INSTANT);
	json_close(j, ']');
}

static void put_markers(struct json *j, const struct firefox *w, uint64_t from, uint64_t to)
{
	const struct firefox_marker *at = w->markers.at;

	json_open(j, "markers", '{');
	json_open(j, "data", '[');
	for (uint64_t i = from; i < to; i++)
		json_raw(j, NULL, w->data_at + at[i].data, at[i].length);
	json_close(j, ']');
	json_open(j, "name", '[');
	for (uint64_t i = from; i < to; i++)
		json_number(j, NULL, at[i].name);
	json_close(j, ']');
	put_marker_ends(j, w, from, to);
	json_open(j, "category", '[');
	for (uint64_t i = from; i < to; i++)
		json_number(j, NULL, at[i].category);
	json_close(j, ']');
	json_number(j, "length", to - from);
	json_close(j, '}');
}

static void put_identity(struct json *j, const struct firefox *w, const struct timed_track *track)
{
	char process[PROCESS_LABEL_MAX], pid[16];

	snprintf(pid, sizeof(pid), "%u", track->pid);
	json_string(j, "processType", "default");
	json_string(j, "processName", timed_process_name(w->source->an, track, process));
	json_number(j, "processStartupTime", 0);
	json_null(j, "processShutdownTime");
	json_number(j, "registerTime", 0);
	json_null(j, "unregisterTime");
	json_open(j, "pausedRanges", '[');
	json_close(j, ']');
	json_bool(j, "showMarkersInTimeline", true);
	json_string(j, "name", track->name);
	json_bool(j, "isMainThread", track->real && track->pid == track->tid);
	json_string(j, "pid", pid);
	json_number(j, "tid", track->tid);
}

static void put_threads(struct json *j, const struct firefox *w)
{
	const struct firefox_sample *samples = w->samples.at;
	const struct firefox_marker *markers = w->markers.at;
	uint64_t sample = 0, marker = 0;

	json_open(j, "threads", '[');
	for (size_t i = 0; i < w->tracks.count; i++) {
		uint64_t first_sample = sample, first_marker = marker;

		while (sample < w->sample_count && samples[sample].track == i)
			sample++;
		while (marker < w->marker_count && markers[marker].track == i)
			marker++;
		json_open(j, NULL, '{');
		put_identity(j, w, &w->tracks.at[i]);
		put_samples(j, w, first_sample, sample);
		put_markers(j, w, first_marker, marker);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* ---- the profile ---- */

static void put_fields(struct json *j, const struct firefox *w, uint32_t kind)
{
	static const char *const forms[] = {[FIELD_NUMBER] = "integer",
					    [FIELD_NS] = "nanoseconds",
					    [FIELD_BYTES] = "bytes",
					    [FIELD_HEX] = "hexadecimal"};

	json_open(j, "fields", '[');
	for (size_t i = 0; i < w->fields.count; i++) {
		const struct marker_field *f = &w->fields.at[i];

		if (f->kind != kind)
			continue;
		json_open(j, NULL, '{');
		json_string(j, "key", strpool_get(&w->strings, f->key));
		json_string(j, "format", f->text ? "string" : forms[f->form]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* One for each type of marker that there is. */
static void put_schema(struct json *j, const struct firefox *w)
{
	static const char *const places[] = {"marker-chart", "marker-table", "timeline-overview"};
	bool has[BRAID_JVM_EVENTS] = {false};

	for (size_t i = 0; i < w->fields.count; i++)
		has[w->fields.at[i].kind] = true;
	json_open(j, "markerSchema", '[');
	for (uint32_t kind = 0; kind < BRAID_JVM_EVENTS; kind++) {
		const struct kind *k = kind_of(kind);
		char label[64];

		if (!has[kind])
			continue;
		json_open(j, NULL, '{');
		json_string(j, "name", kind ? jvm_event_name(kind) : HIT_TYPE);
		if (k && k->name_is.title) {
			snprintf(label, sizeof(label), "{marker.data.%s}", k->name_is.title);
			json_string(j, "tableLabel", label);
			json_string(j, "chartLabel", label);
		}
		json_string(j, "description", k ? k->title : TIMED_HITS);
		json_open(j, "display", '[');
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
			json_string(j, NULL, places[i]);
		json_close(j, ']');
		put_fields(j, w, kind);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_meta(struct json *j, const struct firefox *w)
{
	const struct analysis *an = w->source->an;
	uint64_t before = an->start_ns - w->base_ns;

	json_open(j, "meta", '{');
	put_ms(j, "interval", analyzer_period_ns(an->a) ?: 1000000);
	put_ms(j, "startTime", an->start_realtime_ns > before ? an->start_realtime_ns - before : 0);
	json_number(j, "startTimeAsClockMonotonicNanosecondsSinceBoot", w->base_ns);
	put_ms(j, "profilingStartTime", before);
	put_ms(j, "profilingEndTime", before + analysis_end_ns(an));
	json_number(j, "processType", 0);
	json_string(j, "product", "braid");
	json_string(j, "importedFrom", "braid " BRAID_VERSION);
	json_string(j, "arguments", analyzer_info(an->a, "record.command"));
	json_string(j, "oscpu", analyzer_info(an->a, "host.kernel"));
	json_number(j, "stackwalk", 1);
	json_bool(j, "debug", false);
	json_bool(j, "symbolicated", true);
	json_bool(j, "usesOnlyOneStackType", true);
	json_bool(j, "sourceCodeIsNotOnSearchfox", true);
	json_number(j, "version", GECKO_VERSION);
	json_number(j, "preprocessedProfileVersion", PROCESSED_VERSION);
	firefox_categories(j);
	put_schema(j, w);
	json_close(j, '}');
}

static int put_profile(FILE *out, struct firefox *w)
{
	struct json j = {.out = out};
	int err;

	json_open(&j, NULL, '{');
	put_meta(&j, w);
	json_open(&j, "libs", '[');
	json_close(&j, ']');
	json_open(&j, "pages", '[');
	json_close(&j, ']');
	put_threads(&j, w);
	err = firefox_shared(&j, w);
	json_close(&j, '}');
	putc('\n', out);
	return err ?: w->failed ? -ENOMEM : 0;
}

/* The data of markers, to be read. 0 or a negative errno. */
static int map_data(struct firefox *w, size_t *size)
{
	void *at;

	if (fflush(w->data))
		return -errno;
	*size = (size_t)ftello(w->data);
	if (!*size)
		return 0;
	at = mmap(NULL, *size, PROT_READ, MAP_SHARED, fileno(w->data), 0);
	if (at == MAP_FAILED)
		return -errno;
	w->data_at = at;
	return 0;
}

int firefox_write(FILE *out, struct timed_source *s)
{
	struct firefox w = {.source = s, .base_ns = s->an->start_ns};
	size_t size = 0;
	int fd, err;

	scratch_room(&w.room, s->options->path, MEMORY);
	fd = scratch_file(&w.room);
	if (fd < 0)
		return fd;
	w.data = fdopen(fd, "w+");
	err = w.data ? collect(&w, s) : -errno;
	if (!w.data)
		close(fd);
	err = err ?: map_data(&w, &size);
	err = err ?: put_profile(out, &w);
	if (w.data_at)
		munmap((void *)(uintptr_t)w.data_at, size);
	if (w.data)
		fclose(w.data);
	scratch_free(&w.samples);
	scratch_free(&w.markers);
	strpool_free(&w.strings);
	free(w.tracks.at);
	free(w.fields.at);
	u64map_free(&w.track_of);
	u64map_free(&w.field_of);
	return err;
}
