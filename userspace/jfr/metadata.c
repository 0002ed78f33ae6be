// SPDX-License-Identifier: Apache-2.0
#include "metadata.h"

#include <string.h>

#include <analyze/hash.h>

struct tree {
	struct bytes elements;
	struct strpool strings;
};

/* The number of a string in the table. */
static void put_text(struct tree *t, const char *text)
{
	uint32_t id = strpool_add(&t->strings, text, strlen(text));

	t->elements.failed = t->elements.failed || id == STRPOOL_FAILED;
	bytes_put_number(&t->elements, id);
}

static void put_attribute(struct tree *t, const char *key, const char *value)
{
	put_text(t, key);
	put_text(t, value);
}

static void put_attribute_number(struct tree *t, const char *key, size_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", value);
	put_attribute(t, key, text);
}

/* An element is its name, the number of its attributes and these, the number of its children and these. */
static void begin(struct tree *t, const char *name, unsigned attributes)
{
	put_text(t, name);
	bytes_put_number(&t->elements, attributes);
}

static void begin_children(struct tree *t, size_t children)
{
	bytes_put_number(&t->elements, children);
}

static void put_annotation(struct tree *t, enum jfr_type type, const char *value)
{
	begin(t, "annotation", value ? 2 : 1);
	put_attribute_number(t, "class", type);
	if (value)
		put_attribute(t, "value", value);
	begin_children(t, 0);
}

/* ---- fields ---- */

static const struct {
	enum jfr_type type;
	const char *value;
} annotations[] = {
	[JFR_TIME] = {JFR_TIMESTAMP, "TICKS"},		[JFR_SPAN] = {JFR_TIMESPAN, "TICKS"},
	[JFR_SPAN_MS] = {JFR_TIMESPAN, "MILLISECONDS"}, [JFR_EPOCH_MS] = {JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"},
	[JFR_BYTES] = {JFR_DATA_AMOUNT, "BYTES"},	[JFR_SHARE] = {JFR_PERCENTAGE, NULL},
};

static bool is_pool(unsigned type)
{
	return type >= JFR_FIRST_POOL && type <= JFR_LAST_POOL;
}

static void put_field(struct tree *t, const struct jfr_field *f)
{
	begin(t, "field", 2U + is_pool(f->type) + f->array);
	put_attribute(t, "name", f->name);
	put_attribute_number(t, "class", f->type);
	if (is_pool(f->type))
		put_attribute(t, "constantPool", "true");
	if (f->array)
		put_attribute(t, "dimension", "1");
	begin_children(t, (f->label != NULL) + (f->unit != JFR_PLAIN));
	if (f->label)
		put_annotation(t, JFR_LABEL, f->label);
	if (f->unit != JFR_PLAIN)
		put_annotation(t, annotations[f->unit].type, annotations[f->unit].value);
}

static size_t count_fields(const struct jfr_field *fields, size_t room)
{
	size_t count = 0;

	while (count < room && fields[count].name)
		count++;
	return count;
}

static void put_fields(struct tree *t, const struct jfr_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_field(t, &fields[i]);
}

/* ---- classes ---- */

static bool is_annotation(unsigned type)
{
	return type >= JFR_LABEL && type < JFR_TYPES;
}

static void put_value_type(struct tree *t, unsigned id)
{
	const struct jfr_value_type *v = &jfr_value_types[id];
	size_t fields = count_fields(v->fields, sizeof(v->fields) / sizeof(v->fields[0]));
	bool content = id >= JFR_TIMESTAMP && is_annotation(id);

	begin(t, "class", 2U + is_annotation(id) + v->simple);
	put_attribute_number(t, "id", id);
	put_attribute(t, "name", v->name);
	if (is_annotation(id))
		put_attribute(t, "superType", "java.lang.annotation.Annotation");
	if (v->simple)
		put_attribute(t, "simpleType", "true");
	begin_children(t, fields + content + (v->label != NULL));
	put_fields(t, v->fields, fields);
	if (content)
		put_annotation(t, JFR_CONTENT_TYPE, NULL);
	if (v->label)
		put_annotation(t, JFR_LABEL, v->label);
}

static void put_category(struct tree *t, const struct jfr_event_type *type)
{
	char key[] = "value-0";
	unsigned count = 0;

	while (count < 3 && type->category[count])
		count++;
	begin(t, "annotation", 1 + count);
	put_attribute_number(t, "class", JFR_CATEGORY);
	for (unsigned i = 0; i < count; i++) {
		key[sizeof(key) - 2] = (char)('0' + i);
		put_attribute(t, key, type->category[i]);
	}
	begin_children(t, 0);
}

static void put_event_type(struct tree *t, const struct jfr_event_type *type, size_t id)
{
	size_t fields = count_fields(type->fields, JFR_FIELDS);

	begin(t, "class", 3);
	put_attribute_number(t, "id", id);
	put_attribute(t, "name", type->name);
	put_attribute(t, "superType", "jdk.jfr.Event");
	begin_children(t, fields + 2);
	put_fields(t, type->fields, fields);
	put_annotation(t, JFR_LABEL, type->label);
	put_category(t, type);
}

static void put_classes(struct tree *t, const struct jfr_event_type *types, const bool *used, size_t count)
{
	size_t events = 0;

	for (size_t i = 0; i < count; i++)
		events += used[i];
	begin(t, "metadata", 0);
	begin_children(t, JFR_TYPES - JFR_BOOLEAN + events);
	for (unsigned i = JFR_BOOLEAN; i < JFR_TYPES; i++)
		put_value_type(t, i);
	for (size_t i = 0; i < count; i++)
		if (used[i])
			put_event_type(t, &types[i], JFR_FIRST_EVENT + i);
}

static void put_root(struct tree *t, const struct jfr_event_type *types, const bool *used, size_t count)
{
	begin(t, "root", 0);
	begin_children(t, 2);
	put_classes(t, types, used, count);
	begin(t, "region", 2);
	put_attribute(t, "locale", "en");
	put_attribute(t, "gmtOffset", "0");
	begin_children(t, 0);
}

void jfr_metadata(struct bytes *to, const struct jfr_event_type *types, const bool *used, size_t count,
		  uint64_t start_ns)
{
	struct tree t = {0};
	struct bytes body = {0};
	size_t strings;

	put_root(&t, types, used, count);
	strings = t.strings.strings.count + 1; /* the first one is empty */
	bytes_put_number(&body, JFR_METADATA);
	bytes_put_number(&body, start_ns);
	bytes_put_number(&body, 0);
	bytes_put_number(&body, 1);
	bytes_put_number(&body, strings);
	for (uint32_t i = 0; i < strings; i++)
		bytes_put_string(&body, strpool_get(&t.strings, i));
	bytes_put(&body, t.elements.at, t.elements.count);
	body.failed = body.failed || t.elements.failed;
	bytes_put_sized(to, &body);
	bytes_free(&body);
	bytes_free(&t.elements);
	strpool_free(&t.strings);
}
