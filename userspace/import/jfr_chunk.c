// SPDX-License-Identifier: Apache-2.0
#include "jfr_chunk.h"

#include <stdlib.h>
#include <string.h>

#include <jfr/bytes.h>
#include <jfr/chunk.h>
#include <jfr/types.h>
#include <util/utf8.h>

#define DEPTH_MAX 16	/* of types in types, and of elements in the declarations */
#define TYPES_MAX 20000 /* the JDK has 300 */
#define WORK_FREE 1000000U
#define WORK_PER_BYTE 16U
#define TEXT_PER_WORK 16U /* bytes of a text that take as long as a value */
#define UNKNOWN UINT32_MAX

enum { STRING_CHARS = 4, STRING_LATIN1 = 5 }; /* beside those that braid writes */

const char *jfr_name(const struct jfr_chunk *c, uint32_t string)
{
	return strpool_get(&c->strings, string);
}

/* ---- numbers and texts ---- */

uint64_t jfr_number(struct jfr_at *p)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 9 && p->at < p->end; i++) {
		uint8_t byte = *p->at++;

		/* the ninth byte has eight bits of the number */
		value |= (uint64_t)(i == 8 ? byte : byte & 0x7f) << 7 * i;
		if (byte < 0x80 || i == 8)
			return value;
	}
	p->bad = true;
	return 0;
}

static uint8_t take_byte(struct jfr_at *p)
{
	if (p->at < p->end)
		return *p->at++;
	p->bad = true;
	return 0;
}

static const uint8_t *take_bytes(struct jfr_at *p, uint64_t count)
{
	const uint8_t *from = p->at;

	if (count > (uint64_t)(p->end - p->at)) {
		p->bad = true;
		p->at = p->end;
		return NULL;
	}
	p->at += count;
	return from;
}

/* What is no character of its own becomes '?': halves of pairs, which are rare in names, and zeros. */
static size_t put_char(char *to, size_t room, uint64_t c)
{
	bool alone = c && c <= UINT16_MAX && !(c >= 0xd800 && c < 0xe000);

	return room < UTF8_UNIT_MAX ? 0 : utf8_put_unit(to, alone ? (uint16_t)c : '?');
}

/* A text may be referred to any number of times. */
static void charge_text(struct jfr_chunk *c, struct jfr_at *p, uint64_t length)
{
	uint64_t work = length / TEXT_PER_WORK;

	p->bad = p->bad || work > c->work;
	c->work -= p->bad ? 0 : work;
}

static struct trace_str take_chars(struct jfr_chunk *c, struct jfr_at *p, bool latin1, char buffer[JFR_TEXT_MAX])
{
	uint64_t count = jfr_number(p);
	size_t used = 0;

	charge_text(c, p, count);
	for (uint64_t i = 0; i < count && !p->bad; i++)
		used += put_char(buffer + used, JFR_TEXT_MAX - used, latin1 ? take_byte(p) : jfr_number(p));
	return (struct trace_str){buffer, (uint32_t)used};
}

/* Takes a string; *key is that of a constant. */
static struct trace_str take_string(struct jfr_chunk *c, struct jfr_at *p, uint64_t *key, char buffer[JFR_TEXT_MAX])
{
	uint64_t length;
	const uint8_t *bytes;

	*key = 0;
	switch (take_byte(p)) {
	case STRING_NULL:
	case STRING_EMPTY:
		return (struct trace_str){0};
	case STRING_POOL:
		*key = jfr_number(p);
		return (struct trace_str){0};
	case STRING_UTF8:
		length = jfr_number(p);
		bytes = take_bytes(p, length);
		charge_text(c, p, length);
		return (struct trace_str){(const char *)bytes, bytes ? (uint32_t)length : 0};
	case STRING_CHARS:
		return take_chars(c, p, false, buffer);
	case STRING_LATIN1:
		return take_chars(c, p, true, buffer);
	default:
		p->bad = true;
		return (struct trace_str){0};
	}
}

/* ---- values ---- */

static bool is_allowed(struct jfr_chunk *c, struct jfr_at *p, unsigned depth)
{
	if (c->work && depth < DEPTH_MAX) {
		c->work--;
		return true;
	}
	p->bad = true;
	return false;
}

void jfr_skip(struct jfr_chunk *c, struct jfr_at *p, uint32_t type, unsigned depth)
{
	const struct jfr_declared *t = type < c->types.count ? &c->types.at[type] : NULL;
	char buffer[JFR_TEXT_MAX];
	uint64_t key;

	if (!t)
		p->bad = true;
	if (p->bad || !is_allowed(c, p, depth))
		return;
	switch (t->form) {
	case JFR_BYTE:
		take_byte(p);
		break;
	case JFR_NUMBER:
		jfr_number(p);
		break;
	case JFR_FLOAT:
	case JFR_DOUBLE:
		take_bytes(p, t->form == JFR_FLOAT ? sizeof(float) : sizeof(double));
		break;
	case JFR_TEXT:
		take_string(c, p, &key, buffer);
		break;
	default:
		for (size_t i = 0; i < t->count && !p->bad; i++)
			jfr_skip_member(c, p, &c->members.at[t->first + i], depth + 1);
		break;
	}
}

void jfr_skip_member(struct jfr_chunk *c, struct jfr_at *p, const struct jfr_member *m, unsigned depth)
{
	uint64_t count = m->array ? jfr_number(p) : 1;

	for (uint64_t i = 0; i < count && !p->bad; i++) {
		if (!is_allowed(c, p, depth))
			return;
		if (m->pooled)
			jfr_number(p);
		else
			jfr_skip(c, p, m->type, depth + 1);
	}
}

struct jfr_value jfr_take(struct jfr_chunk *c, struct jfr_at *p, const struct jfr_member *m)
{
	struct jfr_value v = {.set = true, .pooled = m->pooled, .type = m->type, .at = *p};
	enum jfr_form form = m->type < c->types.count ? c->types.at[m->type].form : JFR_STRUCT;
	struct jfr_at begin = *p;

	jfr_skip_member(c, p, m, 0);
	v.at.end = p->at;
	if (m->pooled || form == JFR_NUMBER)
		v.number = jfr_number(&begin);
	else if (form == JFR_BYTE)
		v.number = take_byte(&begin);
	v.set = !p->bad && !m->array;
	return v;
}

bool jfr_find(const struct jfr_chunk *c, const struct jfr_value *v, struct jfr_at *p)
{
	uint32_t at;

	if (!v->set || v->type >= c->types.count)
		return false;
	*p = v->at;
	if (!v->pooled)
		return true;
	at = u64map_get(&c->types.at[v->type].of, v->number);
	if (!at)
		return false;
	*p = (struct jfr_at){.at = c->data + c->entries.at[at - 1], .end = c->data + c->size};
	return true;
}

struct jfr_value jfr_get(struct jfr_chunk *c, const struct jfr_value *of, const char *member)
{
	struct jfr_at p;

	if (jfr_find(c, of, &p)) {
		const struct jfr_declared *t = &c->types.at[of->type];

		for (size_t i = 0; i < t->count && !p.bad; i++) {
			const struct jfr_member *m = &c->members.at[t->first + i];

			if (strcmp(jfr_name(c, m->name), member) == 0)
				return jfr_take(c, &p, m);
			jfr_skip_member(c, &p, m, 0);
		}
	}
	return (struct jfr_value){0};
}

struct trace_str jfr_text(struct jfr_chunk *c, const struct jfr_value *v, char buffer[JFR_TEXT_MAX])
{
	struct jfr_value at = *v;
	struct jfr_at p;

	for (unsigned depth = 0; depth < DEPTH_MAX && jfr_find(c, &at, &p); depth++) {
		const struct jfr_declared *t = &c->types.at[at.type];
		struct trace_str text;
		uint64_t key;

		if (t->form == JFR_TEXT) {
			text = take_string(c, &p, &key, buffer);
			if (p.bad)
				break;
			if (!key)
				return text;
			at = (struct jfr_value){.set = true, .pooled = true, .type = at.type, .number = key};
		} else if (t->count) {
			at = jfr_take(c, &p, &c->members.at[t->first]);
		} else {
			break;
		}
	}
	return (struct trace_str){0};
}

/* ---- declarations ---- */

/* The texts of the declarations, and what is read of them. */
struct declarations {
	struct jfr_chunk *c;
	struct jfr_at p;
	VEC(uint32_t) texts;
	VEC(uint64_t) type_ids; /* of the members, until all types are known */
};

/* An element of the tree, without its children. */
struct element {
	const char *name;
	const char *attribute_name, *class_id, *id, *pooled, *dimension; /* "" if it has none */
	uint64_t children;
};

static const char *take_text(struct declarations *d)
{
	uint64_t at = jfr_number(&d->p);

	if (at < d->texts.count)
		return jfr_name(d->c, d->texts.at[at]);
	d->p.bad = true;
	return "";
}

static struct element take_element(struct declarations *d)
{
	struct element e = {
		.name = take_text(d), .attribute_name = "", .class_id = "", .id = "", .pooled = "", .dimension = ""};
	uint64_t attributes = jfr_number(&d->p);

	for (uint64_t i = 0; i < attributes && !d->p.bad; i++) {
		const char *key = take_text(d), *value = take_text(d);

		if (strcmp(key, "name") == 0)
			e.attribute_name = value;
		else if (strcmp(key, "class") == 0)
			e.class_id = value;
		else if (strcmp(key, "id") == 0)
			e.id = value;
		else if (strcmp(key, "constantPool") == 0)
			e.pooled = value;
		else if (strcmp(key, "dimension") == 0)
			e.dimension = value;
	}
	e.children = jfr_number(&d->p);
	return e;
}

static uint32_t keep(struct jfr_chunk *c, const char *text)
{
	uint32_t id = strpool_add(&c->strings, text, strlen(text));

	c->no_memory = c->no_memory || id == STRPOOL_FAILED;
	return id == STRPOOL_FAILED ? 0 : id;
}

static enum jfr_form form_of(const char *name, bool has_members)
{
	static const struct {
		const char *name;
		enum jfr_form form;
	} forms[] = {{"boolean", JFR_BYTE}, {"byte", JFR_BYTE},	    {"char", JFR_NUMBER},
		     {"short", JFR_NUMBER}, {"int", JFR_NUMBER},    {"long", JFR_NUMBER},
		     {"float", JFR_FLOAT},  {"double", JFR_DOUBLE}, {"java.lang.String", JFR_TEXT}};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !has_members; i++)
		if (strcmp(forms[i].name, name) == 0)
			return forms[i].form;
	return JFR_STRUCT;
}

static void skip_children(struct declarations *d, uint64_t count, unsigned depth)
{
	for (uint64_t i = 0; i < count && !d->p.bad; i++) {
		if (depth == DEPTH_MAX)
			d->p.bad = true;
		else
			skip_children(d, take_element(d).children, depth + 1);
	}
}

static void take_class(struct declarations *d, const struct element *class)
{
	struct jfr_chunk *c = d->c;
	struct jfr_declared t = {
		.id = strtoull(class->id, NULL, 10), .name = keep(c, class->attribute_name), .first = c->members.count};

	for (uint64_t i = 0; i < class->children && !d->p.bad; i++) {
		struct element e = take_element(d);
		struct jfr_member m = {.type = UNKNOWN,
				       .pooled = strcmp(e.pooled, "true") == 0,
				       .array = *e.dimension && strcmp(e.dimension, "0") != 0};

		skip_children(d, e.children, 1);
		if (strcmp(e.name, "field") != 0)
			continue;
		m.name = keep(c, e.attribute_name);
		if (VEC_PUSH(&c->members, m) || VEC_PUSH(&d->type_ids, strtoull(e.class_id, NULL, 10)))
			c->no_memory = true;
	}
	t.count = c->members.count - t.first;
	t.form = form_of(class->attribute_name, t.count > 0);
	if (c->types.count >= TYPES_MAX)
		d->p.bad = true;
	else if (VEC_PUSH(&c->types, t))
		c->no_memory = true;
}

/* root > metadata > class > field */
static void take_classes(struct declarations *d)
{
	struct element root = take_element(d);

	for (uint64_t i = 0; i < root.children && !d->p.bad; i++) {
		struct element e = take_element(d);

		if (strcmp(e.name, "metadata") != 0) {
			skip_children(d, e.children, 1);
			continue;
		}
		for (uint64_t k = 0; k < e.children && !d->p.bad && !d->c->no_memory; k++) {
			struct element class = take_element(d);

			if (strcmp(class.name, "class") == 0)
				take_class(d, &class);
			else
				skip_children(d, class.children, 2);
		}
	}
}

static void take_texts(struct declarations *d)
{
	uint64_t count = jfr_number(&d->p);
	char buffer[JFR_TEXT_MAX];

	for (uint64_t i = 0; i < count && !d->p.bad && !d->c->no_memory; i++) {
		uint64_t key;
		struct trace_str s = take_string(d->c, &d->p, &key, buffer);
		uint32_t id = strpool_add(&d->c->strings, s.str, s.str ? s.len : 0);

		if (id == STRPOOL_FAILED || VEC_PUSH(&d->texts, id))
			d->c->no_memory = true;
	}
}

/* Members refer to types that may be declared after them. */
static void connect(struct declarations *d)
{
	struct jfr_chunk *c = d->c;

	for (size_t i = 0; i < c->types.count && !c->no_memory; i++) {
		uint32_t *at = u64map_put(&c->type_of, c->types.at[i].id);

		if (!at)
			c->no_memory = true;
		else if (!*at)
			*at = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < c->members.count && !c->no_memory; i++)
		c->members.at[i].type = u64map_get(&c->type_of, d->type_ids.at[i]) - 1;
}

/* The head of an event: its end, and behind its size and type. */
static bool take_head(const struct jfr_chunk *c, uint64_t offset, uint64_t type, struct jfr_at *p)
{
	uint64_t size;

	*p = (struct jfr_at){.bad = true};
	if (offset < JFR_HEAD_BYTES || offset >= c->size)
		return false;
	*p = (struct jfr_at){.at = c->data + offset, .end = c->data + c->size};
	size = jfr_number(p);
	if (p->bad || size > c->size - offset || jfr_number(p) != type)
		return false;
	p->end = c->data + offset + size;
	return !p->bad && p->at <= p->end;
}

static bool take_declarations(struct jfr_chunk *c)
{
	struct declarations d = {.c = c};
	bool good = take_head(c, c->metadata_at, JFR_METADATA, &d.p);

	if (good) {
		jfr_number(&d.p); /* when, for how long, and which */
		jfr_number(&d.p);
		jfr_number(&d.p);
		take_texts(&d);
		take_classes(&d);
		connect(&d);
		good = !d.p.bad;
	}
	free(d.texts.at);
	free(d.type_ids.at);
	return good;
}

/* ---- pools ---- */

static void take_pool(struct jfr_chunk *c, struct jfr_at *p)
{
	uint64_t id = jfr_number(p), count = jfr_number(p);
	uint32_t type = u64map_get(&c->type_of, id) - 1;

	for (uint64_t i = 0; i < count && !p->bad && !c->no_memory; i++) {
		uint64_t key = jfr_number(p);
		size_t offset = (size_t)(p->at - c->data);
		uint32_t *at;

		jfr_skip(c, p, type, 0);
		if (p->bad)
			return;
		at = u64map_put(&c->types.at[type].of, key);
		if (!at || (!*at && VEC_PUSH(&c->entries, offset)))
			c->no_memory = true;
		else if (!*at)
			*at = (uint32_t)c->entries.count;
	}
}

/* Checkpoints refer to the one before them by the distance to it. */
static bool take_pools(struct jfr_chunk *c)
{
	uint64_t offset = c->pools_at;
	struct jfr_at p;

	while (take_head(c, offset, JFR_CHECKPOINT, &p)) {
		uint64_t back, pools;

		jfr_number(&p); /* when, and for how long */
		jfr_number(&p);
		back = 0 - jfr_number(&p);
		take_byte(&p); /* why */
		pools = jfr_number(&p);
		for (uint64_t i = 0; i < pools && !p.bad && !c->no_memory; i++)
			take_pool(c, &p);
		if (p.bad || back == 0)
			return !p.bad;
		if (back > offset)
			return false;
		offset -= back;
	}
	return false;
}

/* ---- chunks ---- */

static uint64_t take_be(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

const char *jfr_chunk_head(struct jfr_chunk *c, const uint8_t *data)
{
	uint64_t size = take_be(data + JFR_HEAD_SIZE, 8);

	*c = (struct jfr_chunk){.major = (uint16_t)take_be(data + JFR_HEAD_MAJOR, 2),
				.minor = (uint16_t)take_be(data + JFR_HEAD_MINOR, 2),
				.pools_at = take_be(data + JFR_HEAD_POOLS, 8),
				.metadata_at = take_be(data + JFR_HEAD_METADATA, 8),
				.start_ns = take_be(data + JFR_HEAD_START_NS, 8),
				.duration_ns = take_be(data + JFR_HEAD_DURATION, 8),
				.start_ticks = take_be(data + JFR_HEAD_START_TICKS, 8),
				.ticks_per_second = take_be(data + JFR_HEAD_TICKS_PER_SECOND, 8)};
	if (memcmp(data, JFR_MAGIC, sizeof(JFR_MAGIC)) != 0)
		return "no chunk begins here";
	if (c->major < 1 || c->major > 2)
		return "it has a version that is not known; those of JDK 8u262, JDK 9 and later are";
	if (!(take_be(data + JFR_HEAD_FEATURES, 4) & JFR_COMPRESSED))
		return "its numbers are not compressed, which is not supported; set compressed integers on in the recording";
	if (size < JFR_HEAD_BYTES || !c->metadata_at || !c->pools_at)
		return "the chunk is not finished: its JVM ended, or still runs";
	if (size > JFR_CHUNK_MAX)
		return "the chunk is larger than 1 GiB; record with a smaller maxchunksize";
	if (!c->ticks_per_second || c->start_ns > INT64_MAX)
		return "its clock is impossible";
	c->size = (size_t)size;
	return NULL;
}

const char *jfr_chunk_open(struct jfr_chunk *c)
{
	c->work = (uint64_t)c->size * WORK_PER_BYTE + WORK_FREE;
	if (!take_declarations(c))
		return c->no_memory ? NULL : "the declarations of its types are damaged";
	if (!take_pools(c))
		return c->no_memory ? NULL : "its constants are damaged";
	return NULL;
}

void jfr_chunk_close(struct jfr_chunk *c)
{
	for (size_t i = 0; i < c->types.count; i++)
		u64map_free(&c->types.at[i].of);
	strpool_free(&c->strings);
	free(c->types.at);
	free(c->members.at);
	free(c->entries.at);
	u64map_free(&c->type_of);
}
