// SPDX-License-Identifier: Apache-2.0
/*
 * OpenTelemetry's profiles (v1development), a ProfilesData message as the file exporters of collectors write it. It is
 * written in small messages: the dictionary as its entries come up, and the samples of a process in batches, each a
 * ResourceProfiles of its own.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/attributes.h>
#include <analyze/spans.h>

#include "proto/otlp.pb-c.h"
#include "protobuf_out.h"
#include "stack_table.h"
#include "version.h"

#define BATCH 256 /* samples */
#define RESOURCE_ATTRIBUTES 64

/* Entries of the attribute table; the first is the empty one. */
enum { ATTRIBUTE_NONE, ATTRIBUTE_JVM, ATTRIBUTE_KERNEL, ATTRIBUTE_NATIVE, ATTRIBUTE_FIRST };

struct otlp {
	FILE *out;
	struct stack_table *table;
	const struct profile_unit *unit;
	bool annotate, failed;	/* failed: without memory */
	struct strpool strings; /* numbers are those of the string table */
	uint32_t *stack_of;	/* of each node of the tree: its entry in the stack table, 0: none yet */
	uint32_t stacks, attributes, links;
	struct u64map link_of; /* of spans: their entries in the link table */
	/* the batch */
	Otlp__Sample samples[BATCH], *at[BATCH];
	int64_t values[BATCH];
	int32_t thread[2]; /* attributes of its last thread */
	int32_t threads[BATCH][2];
	size_t count;
};

static int32_t text(struct otlp *w, const char *s)
{
	uint32_t id = strpool_add(&w->strings, s, strlen(s));

	w->failed |= id > INT32_MAX;
	return (int32_t)id;
}

/* ---- the dictionary ---- */

static void put(struct otlp *w, Otlp__Dictionary *entries)
{
	Otlp__ProfilesData data = OTLP__PROFILES_DATA__INIT;

	data.dictionary = entries;
	protobuf_put(w->out, &data.base);
}

/* Returns the index of the new entry. */
static int32_t put_attribute(struct otlp *w, const char *key, const Otlp__AnyValue *value)
{
	Otlp__Dictionary d = OTLP__DICTIONARY__INIT;
	Otlp__KeyValueAndUnit a = OTLP__KEY_VALUE_AND_UNIT__INIT;

	a.key_strindex = text(w, key);
	a.value = (Otlp__AnyValue *)(uintptr_t)value;
	d.n_attribute_table = 1;
	d.attribute_table = (Otlp__KeyValueAndUnit *[]){&a};
	put(w, &d);
	return (int32_t)w->attributes++;
}

static Otlp__AnyValue any_text(const char *value)
{
	Otlp__AnyValue v = OTLP__ANY_VALUE__INIT;

	v.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	v.string_value = (char *)(uintptr_t)value;
	return v;
}

static Otlp__AnyValue any_number(int64_t value)
{
	Otlp__AnyValue v = OTLP__ANY_VALUE__INIT;

	v.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	v.int_value = value;
	return v;
}

/* The entries with which each table begins, and the kinds of frames, by OpenTelemetry's conventions. */
static void put_first(struct otlp *w)
{
	static const char *const types[] = {"jvm", "kernel", "native"};
	Otlp__Dictionary d = OTLP__DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Function function = OTLP__FUNCTION__INIT;
	Otlp__Link link = OTLP__LINK__INIT;
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	Otlp__Stack stack = OTLP__STACK__INIT;

	d.n_mapping_table = d.n_location_table = d.n_function_table = 1;
	d.n_link_table = d.n_attribute_table = d.n_stack_table = 1;
	d.mapping_table = (Otlp__Mapping *[]){&mapping};
	d.location_table = (Otlp__Location *[]){&location};
	d.function_table = (Otlp__Function *[]){&function};
	d.link_table = (Otlp__Link *[]){&link};
	d.attribute_table = (Otlp__KeyValueAndUnit *[]){&attribute};
	d.stack_table = (Otlp__Stack *[]){&stack};
	put(w, &d);
	w->stacks = w->attributes = w->links = 1;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const Otlp__AnyValue value = any_text(types[i]);

		put_attribute(w, "profile.frame.type", &value);
	}
}

static int32_t frame_type(const struct tree_label *label)
{
	switch ((enum stack_domain)label->domain) {
	case DOMAIN_JAVA:
		return ATTRIBUTE_JVM;
	case DOMAIN_KERNEL:
		return ATTRIBUTE_KERNEL;
	case DOMAIN_NATIVE:
	case DOMAIN_STUB:
		return ATTRIBUTE_NATIVE;
	default:
		return ATTRIBUTE_NONE;
	}
}

/* A location and a function for each label, with its index + 1. */
static void put_frame(struct otlp *w, int32_t id, const struct tree_label *label)
{
	Otlp__Dictionary d = OTLP__DICTIONARY__INIT;
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Function function = OTLP__FUNCTION__INIT;
	Otlp__Line line = OTLP__LINE__INIT;
	int32_t type = frame_type(label);
	char name[FRAME_NAME_MAX];

	stack_table_name(label, w->annotate, name);
	function.name_strindex = text(w, name);
	function.filename_strindex = text(w, label->file);
	line.function_index = id;
	line.line = label->line;
	location.n_lines = 1;
	location.lines = (Otlp__Line *[]){&line};
	location.n_attribute_indices = type != ATTRIBUTE_NONE;
	location.attribute_indices = &type;
	d.n_location_table = d.n_function_table = 1;
	d.location_table = (Otlp__Location *[]){&location};
	d.function_table = (Otlp__Function *[]){&function};
	put(w, &d);
}

static int32_t stack_index(struct otlp *w, uint32_t node)
{
	struct stack_table *t = w->table;
	Otlp__Dictionary d = OTLP__DICTIONARY__INIT;
	Otlp__Stack stack = OTLP__STACK__INIT;

	if (!node || w->stack_of[node])
		return (int32_t)w->stack_of[node];
	w->failed |= stack_table_path(t, node) != 0;
	for (size_t i = 0; i < t->path.count; i++)
		t->path.at[i]++;
	stack.n_location_indices = t->path.count;
	stack.location_indices = (int32_t *)t->path.at;
	d.n_stack_table = 1;
	d.stack_table = (Otlp__Stack *[]){&stack};
	put(w, &d);
	w->stack_of[node] = w->stacks++;
	return (int32_t)w->stack_of[node];
}

static void put_strings(struct otlp *w)
{
	for (size_t i = 0; i <= w->strings.strings.count; i++) {
		Otlp__Dictionary d = OTLP__DICTIONARY__INIT;

		d.n_string_table = 1;
		d.string_table = (char *[]){(char *)(uintptr_t)strpool_get(&w->strings, (uint32_t)i)};
		put(w, &d);
	}
}

/* ---- samples ---- */

struct attributes {
	Otlp__KeyValue pairs[RESOURCE_ATTRIBUTES], *at[RESOURCE_ATTRIBUTES];
	Otlp__AnyValue values[RESOURCE_ATTRIBUTES];
	size_t count;
};

static void attribute_add(struct attributes *a, const char *key, Otlp__AnyValue value)
{
	size_t i = a->count;

	if (i == RESOURCE_ATTRIBUTES)
		return;
	a->values[i] = value;
	a->pairs[i] = (Otlp__KeyValue)OTLP__KEY_VALUE__INIT;
	a->pairs[i].key = (char *)(uintptr_t)key;
	a->pairs[i].value = &a->values[i];
	a->at[a->count++] = &a->pairs[i];
}

/* What is known of a process, and what it says of itself. */
static void describe(struct attributes *a, const struct analyzer *from, const struct process_row *p)
{
	a->count = 0;
	if (!p)
		return;
	attribute_add(a, "process.pid", any_number(p->pid));
	attribute_add(a, "process.executable.name", any_text(strpool_get(&from->strings, p->comm)));
	if (p->exe)
		attribute_add(a, "process.executable.path", any_text(strpool_get(&from->strings, p->exe)));
	if (p->container)
		attribute_add(a, "container.id", any_text(strpool_get(&from->strings, p->container)));
	for (const struct attribute_row *r = attributes_first(from, p->attributes); r; r = attributes_next(from, r))
		attribute_add(a, strpool_get(&from->strings, r->key), any_text(strpool_get(&from->strings, r->value)));
}

static Otlp__ValueType value_type(struct otlp *w, const char *name, enum kind_unit unit)
{
	Otlp__ValueType v = OTLP__VALUE_TYPE__INIT;

	v.type_strindex = text(w, name);
	v.unit_strindex = text(w, profile_unit_word(unit));
	return v;
}

/* Writes the samples that wait, which are all of one process. */
static void put_batch(struct otlp *w, const struct process_row *p)
{
	const struct analysis *an = w->table->an;
	Otlp__ProfilesData data = OTLP__PROFILES_DATA__INIT;
	Otlp__ResourceProfiles of_process = OTLP__RESOURCE_PROFILES__INIT;
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	Otlp__ScopeProfiles of_scope = OTLP__SCOPE_PROFILES__INIT;
	Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
	Otlp__Profile profile = OTLP__PROFILE__INIT;
	Otlp__ValueType type = value_type(w, w->unit->name, w->unit->unit), cpu = value_type(w, "cpu", UNIT_NS);
	struct attributes attributes;

	if (!w->count)
		return;
	describe(&attributes, an->a, p);
	resource.n_attributes = attributes.count;
	resource.attributes = attributes.at;
	scope.name = "braid";
	scope.version = BRAID_VERSION;
	profile.sample_type = &type;
	profile.n_samples = w->count;
	profile.samples = w->at;
	profile.time_unix_nano = an->start_realtime_ns;
	profile.duration_nano = an->duration_ns;
	if (w->unit->period_ns) {
		profile.period_type = &cpu;
		profile.period = (int64_t)w->unit->period_ns;
	}
	of_scope.scope = &scope;
	of_scope.n_profiles = 1;
	of_scope.profiles = (Otlp__Profile *[]){&profile};
	of_process.resource = &resource;
	of_process.n_scope_profiles = 1;
	of_process.scope_profiles = (Otlp__ScopeProfiles *[]){&of_scope};
	data.n_resource_profiles = 1;
	data.resource_profiles = (Otlp__ResourceProfiles *[]){&of_process};
	protobuf_put(w->out, &data.base);
	w->count = 0;
}

/* The attributes of the samples of a thread that has not come up before. A virtual thread has no id here. */
static void put_thread(struct otlp *w, uint32_t thread)
{
	const struct analysis *an = w->table->an;
	const struct thread_row *t = thread == ROW_NONE ? NULL : table_row(&an->a->threads, thread);
	const Otlp__AnyValue name = any_text(analysis_thread_name(an, thread)), id = any_number(t ? t->tid : 0);

	w->thread[0] = put_attribute(w, "thread.name", &name);
	w->thread[1] = t && !t->virtual ? put_attribute(w, "thread.id", &id) : ATTRIBUTE_NONE;
}

/* The entry of a span; 0: none. A link has both ids, so a span without a trace has none. */
static int32_t link_index(struct otlp *w, uint32_t id)
{
	const struct span_row *span = spans_get(w->table->an->a, id);
	Otlp__Dictionary d = OTLP__DICTIONARY__INIT;
	Otlp__Link link = OTLP__LINK__INIT;
	uint64_t trace_id[2], span_id;
	uint32_t *at;

	if (!span || !(span->trace_hi | span->trace_lo) || !span->span_id)
		return 0;
	at = u64map_put(&w->link_of, id);
	w->failed |= !at;
	if (!at || *at)
		return at ? (int32_t)*at : 0;
	trace_id[0] = htobe64(span->trace_hi);
	trace_id[1] = htobe64(span->trace_lo);
	span_id = htobe64(span->span_id);
	link.trace_id = (ProtobufCBinaryData){sizeof(trace_id), (uint8_t *)trace_id};
	link.span_id = (ProtobufCBinaryData){sizeof(span_id), (uint8_t *)&span_id};
	d.n_link_table = 1;
	d.link_table = (Otlp__Link *[]){&link};
	put(w, &d);
	return (int32_t)(*at = w->links++);
}

static void add_sample(struct otlp *w, const struct thread_stack *s)
{
	size_t i = w->count++;
	Otlp__Sample *sample = &w->samples[i];

	*sample = (Otlp__Sample)OTLP__SAMPLE__INIT;
	sample->stack_index = stack_index(w, s->node);
	sample->link_index = link_index(w, s->span);
	w->values[i] = profile_value(s->weight, 1);
	sample->n_values = 1;
	sample->values = &w->values[i];
	memcpy(w->threads[i], w->thread, sizeof(w->thread));
	sample->n_attribute_indices = w->thread[1] == ATTRIBUTE_NONE ? 1 : 2;
	sample->attribute_indices = w->threads[i];
	w->at[i] = sample;
}

static void put_samples(struct otlp *w)
{
	const struct thread_stack *last = NULL;
	const struct process_row *process = NULL;

	for (size_t i = 0; i < w->table->stacks.count; i++) {
		const struct thread_stack *s = &w->table->stacks.at[i];
		const struct process_row *p = stack_table_process(w->table, s->thread);

		if (w->count == BATCH || p != process)
			put_batch(w, process);
		process = p;
		if (!last || s->thread != last->thread)
			put_thread(w, s->thread);
		last = s;
		add_sample(w, s);
	}
	put_batch(w, process);
}

int otlp_write(FILE *out, struct stack_table *t, const struct profile_unit *unit, bool annotate)
{
	struct otlp *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return err;
	*w = (struct otlp){.out = out, .table = t, .unit = unit, .annotate = annotate};
	w->stack_of = calloc(t->tree->nodes.count, sizeof(*w->stack_of));
	if (w->stack_of && t->tree->labels.count < INT32_MAX) {
		put_first(w);
		for (size_t i = 0; i < t->tree->labels.count; i++)
			put_frame(w, (int32_t)i + 1, &t->tree->labels.at[i]);
		put_samples(w);
		put_strings(w);
		err = w->failed ? -ENOMEM : 0;
	}
	strpool_free(&w->strings);
	u64map_free(&w->link_of);
	free(w->stack_of);
	free(w);
	return err;
}
