// SPDX-License-Identifier: Apache-2.0
/*
 * pprof's profiles. A profile has sums for stacks and no times: everything has the time of its beginning. import.h is
 * the interface.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/kinds.h>
#include <analyze/state.h>
#include <braid/event.h>
#include <util/varint.h>

#include "proto/pprof.pb-c.h"
#include "reader.h"

#define PROFILE_MAX (1ULL << 30) /* bytes */
#define MEMORY_MAX (3ULL << 30)	 /* of the unpacked messages */
#define TYPES_MAX 16U		 /* values of a stack */
/* A location of a stack takes a byte or two, and can have any number of lines. */
#define FRAMES_FREE 65536U
#define FRAMES_PER_BYTE 4U
/* Lines and labels refer to a text by a byte or two, and each one costs what the text is long. */
#define TEXT_FREE (16UL << 20)
#define TEXT_PER_BYTE 256U

/* What becomes of one of the values that each stack has. */
struct value_type {
	enum { VALUE_LEFT_OUT, VALUE_SAMPLES, VALUE_TIME, VALUE_KIND, VALUE_NAMED } is;
	uint32_t kind; /* of JVM events */
	uint32_t name; /* of the event that samples are of */
};

struct pprof {
	struct reader *r;
	Pprof__Profile *p;
	struct u64map location_of, function_of, mapping_of; /* ids to places in the profile, plus one */
	VEC(uint32_t) first_frame;			    /* of each location in `rows`, plus one */
	VEC(uint32_t) rows;				    /* of all locations; 0 ends one's */
	uint32_t *lengths;				    /* of the profile's texts, as far as they are used */
	uint64_t text_left;				    /* bytes that may still be used; see is_used_up */
	bool is_used_up;
	struct value_type types[TYPES_MAX];
	uint64_t time_ns, period_ns;
};

/* ---- memory ---- */

static void *limited_alloc(void *ctx, size_t size)
{
	uint64_t *left = ctx;

	if (size + 32 > *left)
		return NULL;
	*left -= size + 32;
	return malloc(size);
}

static void limited_free(void *ctx, void *at)
{
	(void)ctx;
	free(at);
}

/* ---- texts ---- */

static int measure_texts(struct pprof *s, size_t bytes)
{
	s->text_left = TEXT_FREE + TEXT_PER_BYTE * (uint64_t)bytes;
	s->lengths = calloc(s->p->n_string_table + 1, sizeof(*s->lengths));
	if (!s->lengths)
		return -ENOMEM;
	for (size_t i = 0; i < s->p->n_string_table; i++)
		if (s->p->string_table[i])
			s->lengths[i] = (uint32_t)strnlen(s->p->string_table[i], BUILDER_TEXT_MAX);
	return 0;
}

static struct trace_str text_at(const struct pprof *s, int64_t at)
{
	if (at <= 0 || (uint64_t)at >= s->p->n_string_table || !s->p->string_table[at])
		return str_of("");
	return (struct trace_str){s->p->string_table[at], s->lengths[at]};
}

/* A text that is looked at as a whole. */
static struct trace_str use_text(struct pprof *s, int64_t at)
{
	struct trace_str text = text_at(s, at);

	s->is_used_up = s->is_used_up || text.len > s->text_left;
	if (s->is_used_up)
		return str_of("");
	s->text_left -= text.len;
	return text;
}

static int refuse_texts(const struct pprof *s)
{
	return s->is_used_up ? input_refuse(&s->r->in, -EBADMSG,
					    "has names that come again until they are more than %u bytes for each of "
					    "its bytes: it is refused",
					    TEXT_PER_BYTE)
			     : 0;
}

/* ---- frames ---- */

/* `inner`: inlined into the next line. */
static uint32_t make_frame(struct pprof *s, const Pprof__Location *l, const Pprof__Line *line, bool inner)
{
	uint32_t mapping = u64map_get(&s->mapping_of, l->mapping_id);
	uint32_t at = line ? u64map_get(&s->function_of, line->function_id) : 0;
	const Pprof__Function *f = at ? s->p->function[at - 1] : NULL;
	const Pprof__Mapping *m = mapping ? s->p->mapping[mapping - 1] : NULL;
	struct import_frame *to = &s->r->text.frame;

	frame_text(&s->r->text, use_text(s, f && f->name ? f->name : f ? f->system_name : 0), IMPORT_NATIVE);
	if (s->r->text.none)
		return 0;
	if (f)
		to->file = use_text(s, f->filename);
	if (line && line->line > 0 && line->line <= INT32_MAX)
		to->line = (uint32_t)line->line;
	if (to->code == IMPORT_COMPILED && inner)
		to->code = IMPORT_INLINED;
	if (to->code == IMPORT_NATIVE && m && !m->has_functions)
		to->module = use_text(s, m->filename);
	return builder_frame(&s->r->b, to);
}

/* A location has a line for each function that is inlined there, from the innermost. */
static int make_location(struct pprof *s, const Pprof__Location *l)
{
	if (VEC_PUSH(&s->first_frame, (uint32_t)s->rows.count + 1))
		return -ENOMEM;
	for (size_t i = 0; i < l->n_line || !i; i++) {
		uint32_t frame = make_frame(s, l, i < l->n_line ? l->line[i] : NULL, i + 1 < l->n_line);

		if (frame && VEC_PUSH(&s->rows, frame))
			return -ENOMEM;
	}
	return VEC_PUSH(&s->rows, 0);
}

static int put_id(struct u64map *of, uint64_t id, size_t at)
{
	uint32_t *place = u64map_put(of, id);

	if (place && !*place)
		*place = (uint32_t)at + 1;
	return place ? 0 : -ENOMEM;
}

static int make_frames(struct pprof *s)
{
	int err = 0;

	for (size_t i = 0; i < s->p->n_mapping && !err; i++)
		err = put_id(&s->mapping_of, s->p->mapping[i]->id, i);
	for (size_t i = 0; i < s->p->n_function && !err; i++)
		err = put_id(&s->function_of, s->p->function[i]->id, i);
	for (size_t i = 0; i < s->p->n_location && !err; i++)
		err = put_id(&s->location_of, s->p->location[i]->id, i) ?: make_location(s, s->p->location[i]);
	return err;
}

static uint32_t make_stack(struct pprof *s, const Pprof__Sample *sample)
{
	reader_begin_stack(s->r);
	for (size_t i = 0; i < sample->n_location_id; i++) {
		uint32_t at = u64map_get(&s->location_of, sample->location_id[i]);

		if (!at) {
			reader_lose(s->r, "frame", 1, "a stack has a location that the profile does not define");
			continue;
		}
		for (size_t row = s->first_frame.at[at - 1] - 1; s->rows.at[row] && !reader_is_full(s->r); row++)
			reader_push(s->r, s->rows.at[row]);
	}
	return builder_stack(&s->r->b, s->r->frames.at, s->r->frames.count);
}

/* ---- threads ---- */

enum label { LABEL_OTHER, LABEL_THREAD, LABEL_TID, LABEL_PROCESS, LABEL_PID };

static enum label label_of(const struct pprof *s, const Pprof__Label *l)
{
	static const struct {
		const char *key;
		enum label is;
	} labels[] = {{"thread", LABEL_THREAD}, {"thread_name", LABEL_THREAD}, {"tid", LABEL_TID},
		      {"thread_id", LABEL_TID}, {"process", LABEL_PROCESS},    {"comm", LABEL_PROCESS},
		      {"pid", LABEL_PID},	{"process_id", LABEL_PID}};
	struct trace_str key = text_at(s, l->key);

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (str_equals(key, labels[i].key))
			return labels[i].is;
	return LABEL_OTHER;
}

/* Before the first sample: a file that is refused leaves no trace. */
static void use_labels(struct pprof *s)
{
	for (size_t i = 0; i < s->p->n_sample; i++)
		for (size_t k = 0; k < s->p->sample[i]->n_label; k++)
			if (label_of(s, s->p->sample[i]->label[k]) != LABEL_OTHER)
				use_text(s, s->p->sample[i]->label[k]->str);
}

static uint32_t number_of(int64_t number)
{
	return number > 0 && number <= INT32_MAX ? (uint32_t)number : 0;
}

static uint32_t make_thread(struct pprof *s, const Pprof__Sample *sample)
{
	struct import_thread t = {0};
	struct trace_str comm = {0};
	uint32_t pid = 0;

	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *l = sample->label[i];
		enum label is = label_of(s, l);

		if (is == LABEL_THREAD)
			t.name = text_at(s, l->str);
		else if (is == LABEL_PROCESS)
			comm = text_at(s, l->str);
		else if (is != LABEL_OTHER)
			*(is == LABEL_TID ? &t.tid : &pid) = number_of(l->num);
	}
	if (!t.name.len && !t.tid)
		return 0;
	t.process = pid || comm.len ? builder_process(&s->r->b, pid, comm) : 0;
	return builder_thread(&s->r->b, &t);
}

/* ---- values ---- */

static bool is_of(struct trace_str s, const char *const *names)
{
	for (; *names; names++)
		if (str_equals(s, *names))
			return true;
	return false;
}

/* The kind whose weight the value is: one of braid's own names, or what other tools call it. */
static uint32_t kind_for(struct trace_str type, struct trace_str unit)
{
	static const char *const allocated[] = {"alloc_space", "allocations", NULL};
	static const char *const blocked[] = {"delay", "contention", "contentions", NULL};
	static const char *const units[] = {[UNIT_COUNT] = "count", [UNIT_NS] = "nanoseconds", [UNIT_BYTES] = "bytes"};
	uint32_t kind = kind_named(type.str);

	if (is_of(type, allocated) && str_equals(unit, "bytes"))
		return BRAID_JVM_ALLOC;
	if (is_of(type, blocked) && str_equals(unit, "nanoseconds"))
		return BRAID_JVM_LOCK;
	/* Of what is still there, a trace has the allocation. */
	if (!kind || kind == BRAID_JVM_LIVE || kind == BRAID_JVM_DIED || kind == BRAID_JVM_UNCOLLECTED ||
	    kind == BRAID_JVM_UNFREED || kind_of(kind)->weight == WEIGHT_ONE ||
	    !str_equals(unit, units[kind_of(kind)->unit]))
		return 0;
	return kind;
}

static uint32_t name_value(struct pprof *s, struct trace_str type, struct trace_str unit)
{
	char name[READER_TEXT];

	if (!unit.len || str_equals(unit, "count"))
		return builder_name(&s->r->b, type);
	snprintf(name, sizeof(name), "%.100s (%.100s)", type.str, unit.str);
	return builder_name(&s->r->b, str_of(name));
}

/* Whether the times are a number of samples each, and not weights of their own. */
static bool is_of_periods(const struct pprof *s, size_t type)
{
	for (size_t i = 0; i < s->p->n_sample; i++) {
		const Pprof__Sample *sample = s->p->sample[i];

		if (type < sample->n_value && sample->value[type] > 0 &&
		    (uint64_t)sample->value[type] % s->period_ns != 0)
			return false;
	}
	return true;
}

static void choose_types(struct pprof *s)
{
	static const char *const sampled[] = {"samples", "sample", "cpu", "events", NULL};
	static const char *const times[] = {"cpu", "wall", "time", NULL};
	bool has_samples = false, is_time;

	for (size_t i = 0; i < s->p->n_sample_type && i < TYPES_MAX; i++) {
		struct trace_str type = text_at(s, s->p->sample_type[i]->type);

		if (!has_samples && is_of(type, sampled) &&
		    str_equals(text_at(s, s->p->sample_type[i]->unit), "count")) {
			s->types[i].is = VALUE_SAMPLES;
			has_samples = true;
		}
	}
	for (size_t i = 0; i < s->p->n_sample_type && i < TYPES_MAX; i++) {
		struct trace_str type = text_at(s, s->p->sample_type[i]->type);
		struct trace_str unit = text_at(s, s->p->sample_type[i]->unit);
		struct value_type *t = &s->types[i];
		uint32_t kind = kind_for(type, unit);

		if (t->is == VALUE_SAMPLES)
			continue;
		is_time = s->period_ns && is_of(type, times) && str_equals(unit, "nanoseconds");
		if (is_time && has_samples) {
			t->is = VALUE_LEFT_OUT; /* it is the number of samples times the period */
		} else if (is_time && is_of_periods(s, i)) {
			t->is = VALUE_TIME;
			has_samples = true;
		} else if (kind) {
			*t = (struct value_type){.is = VALUE_KIND, .kind = kind};
		} else {
			*t = (struct value_type){.is = VALUE_NAMED, .name = name_value(s, type, unit)};
		}
	}
}

static void put_sample(struct pprof *s, uint32_t thread, uint32_t node, uint64_t weight, uint32_t event)
{
	const struct trace_sample one = {.time_ns = s->time_ns,
					 .thread = thread,
					 .cpu = TRACE_NO_CPU,
					 .node = node,
					 .weight = weight,
					 .event = event};

	if (weight)
		builder_sample(&s->r->b, &one);
}

/* One event for a stack, as heavy as all of them. */
static void put_event(struct pprof *s, uint32_t thread, uint32_t node, uint64_t weight, uint32_t kind)
{
	struct trace_jvm_event e = {
		.time_ns = s->time_ns, .kind = kind, .thread = thread, .node = node, .source = BRAID_SOURCE_COLLECTOR};

	switch (kind_of(kind)->weight) {
	case WEIGHT_DURATION:
		e.duration_ns = weight;
		break;
	case WEIGHT_ESTIMATE:
		e.value = e.weight = weight;
		break;
	default:
		e.value = weight;
		break;
	}
	builder_event(&s->r->b, &e);
}

static void put_values(struct pprof *s, const Pprof__Sample *sample)
{
	uint32_t thread = make_thread(s, sample), node = make_stack(s, sample);

	for (size_t i = 0; i < sample->n_value && i < s->p->n_sample_type && i < TYPES_MAX; i++) {
		const struct value_type *t = &s->types[i];
		uint64_t weight = sample->value[i] > 0 ? (uint64_t)sample->value[i] : 0;

		if (sample->value[i] < 0)
			reader_lose(s->r, "value", 1,
				    "a value is negative, as in the difference of two profiles, which is no recording");
		if (!weight)
			continue;
		if (t->is == VALUE_SAMPLES || t->is == VALUE_NAMED)
			put_sample(s, thread, node, weight, t->name);
		else if (t->is == VALUE_TIME)
			put_sample(s, thread, node, weight / s->period_ns, 0);
		else if (t->is == VALUE_KIND)
			put_event(s, thread, node, weight, t->kind);
	}
}

/* ---- the profile ---- */

static void put_facts(struct pprof *s)
{
	struct builder *b = &s->r->b;

	if (s->p->time_nanos > 0) {
		s->time_ns = (uint64_t)s->p->time_nanos;
		b->is_realtime = true;
		builder_clock(b, s->time_ns);
	}
	if (s->p->duration_nanos > 0)
		builder_info_number(b, "record.duration_ns", (uint64_t)s->p->duration_nanos);
	if (s->p->period_type && s->p->period > 0 && str_equals(text_at(s, s->p->period_type->unit), "nanoseconds")) {
		s->period_ns = (uint64_t)s->p->period;
		builder_frequency(b, s->period_ns);
	}
	for (size_t i = 0; i < s->p->n_comment && i < 1; i++)
		snprintf(s->r->made_by, sizeof(s->r->made_by), "%s", text_at(s, s->p->comment[i]).str);
}

static uint64_t frames_of_all(const struct pprof *s)
{
	uint64_t frames = 0;

	for (size_t i = 0; i < s->p->n_sample; i++) {
		const Pprof__Sample *sample = s->p->sample[i];
		uint64_t of_one = 0;

		for (size_t k = 0; k < sample->n_location_id && of_one < STACK_DEPTH_MAX; k++) {
			uint32_t at = u64map_get(&s->location_of, sample->location_id[k]);

			of_one += at ? s->p->location[at - 1]->n_line ?: 1 : 0;
		}
		frames += of_one < STACK_DEPTH_MAX ? of_one : STACK_DEPTH_MAX;
	}
	return frames;
}

static int read_profile(struct pprof *s, size_t bytes)
{
	int err;

	snprintf(s->r->format, sizeof(s->r->format), "pprof");
	err = measure_texts(s, bytes);
	if (err)
		return err;
	put_facts(s);
	choose_types(s);
	if (s->p->n_sample_type > TYPES_MAX)
		snprintf(s->r->left_out, sizeof(s->r->left_out), "all but the first %u types of values", TYPES_MAX);
	err = make_frames(s);
	use_labels(s);
	err = err ?: refuse_texts(s);
	if (!err && frames_of_all(s) > FRAMES_FREE + FRAMES_PER_BYTE * (uint64_t)bytes)
		err = input_refuse(&s->r->in, -EBADMSG,
				   "has stacks with more than %u frames for each of its bytes: it is refused",
				   FRAMES_PER_BYTE);
	for (size_t i = 0; i < s->p->n_sample && !err; i++) {
		put_values(s, s->p->sample[i]);
		err = s->r->b.err;
	}
	return err;
}

/* A profile may have its fields in any order: those that can be seen are all of the message, and in its form. */
bool pprof_begins(struct trace_str bytes)
{
	enum { NUMBER = 0, BYTES = 2 };
	static const char forms[] = "-BBBBBBNNNNBNENN"; /* E: either */
	const uint8_t *p = (const uint8_t *)bytes.str, *end = p + bytes.len;
	uint64_t tag, value;

	while (p < end) {
		const char *allowed;

		p = varint_get(p, end, &tag);
		if (!p || tag >> 3 >= strlen(forms))
			return false;
		allowed = (tag & 7) == NUMBER ? "NE" : (tag & 7) == BYTES ? "BE" : "";
		if (!strchr(allowed, forms[tag >> 3]))
			return false;
		p = varint_get(p, end, &value);
		if (p && (tag & 7) == BYTES)
			p = value < (uint64_t)(end - p) ? p + value : NULL;
		if (!p) /* cut, or larger than what can be seen */
			return true;
	}
	return bytes.len > 0;
}

/* A profile is a message, of which no part can be read without the rest. */
static int take_profile(struct input *in, input_bytes *to)
{
	int err = input_take(in, PROFILE_MAX + 1, to);

	if (!err && to->count > PROFILE_MAX)
		err = input_refuse(in, -EBADMSG, "has more than %llu MiB: it is refused", PROFILE_MAX >> 20);
	if (!err && in->file.gave_up)
		err = input_refuse(in, -EBADMSG, "%s", in->file.why);
	return err;
}

int pprof_read(struct reader *r)
{
	uint64_t left = MEMORY_MAX;
	ProtobufCAllocator limited = {limited_alloc, limited_free, &left};
	struct pprof s = {.r = r};
	input_bytes bytes = {0};
	int err = take_profile(&r->in, &bytes);

	if (!err) {
		s.p = pprof__profile__unpack(&limited, bytes.count, bytes.at);
		if (!s.p)
			err = input_refuse(&r->in, -EBADMSG,
					   "is no profile of pprof's, or a damaged one, or needs more than %llu MiB",
					   MEMORY_MAX >> 20);
	}
	free(bytes.at);
	err = err ?: read_profile(&s, bytes.count);
	if (s.p)
		pprof__profile__free_unpacked(s.p, &limited);
	u64map_free(&s.location_of);
	u64map_free(&s.function_of);
	u64map_free(&s.mapping_of);
	free(s.first_frame.at);
	free(s.rows.at);
	free(s.lengths);
	return err;
}
