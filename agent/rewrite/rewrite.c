// SPDX-License-Identifier: Apache-2.0
#include "rewrite.h"

#include "annotations.h"
#include "method.h"

#define MAGIC 0xcafebabeU
#define VERSION_FRAMES 50U
/* Before 45.3, the attribute Code has shorter numbers. */
#define VERSION_MAX 100U /* the format has changed with versions, but not in what is read here */

#define ACC_STATIC 0x0008U

#define FIELDS_FOUND 32 /* as many names as all patterns together can have */

struct field_found {
	struct text name;
	struct field field; /* type: empty, if there is none */
};

/* The class that is being rewritten. */
struct class
{
	struct rewrite *w;
	struct pool pool;
	struct helper_entries helper;
	struct writer tail; /* what follows the constant pool */
	uint32_t version, name;
	struct reader fields; /* from their count on */
	struct field_found found[FIELDS_FOUND];
	size_t found_count;
	struct rewrite_annotations annotations;
	struct put *puts; /* by index; NULL: no write may be chosen */
	uint32_t methods; /* so far */
};

/* ---- attributes ---- */

struct attribute {
	struct text name;
	uint32_t name_at;
	struct reader content;
};

static struct attribute attribute_read(const struct class *c, struct reader *r)
{
	struct attribute a = {.name_at = read_u2(r)};

	a.name = pool_text(&c->pool, a.name_at);
	a.content = read_part(r, read_u4(r));
	return a;
}

static void attributes_skip(const struct class *c, struct reader *r)
{
	for (uint32_t count = read_u2(r); count && !r->bad; count--)
		(void)attribute_read(c, r);
}

static void annotations_add(const struct class *c, struct reader r, struct rewrite_annotations *to)
{
	for (uint32_t count = read_u2(&r); count && !r.bad; count--) {
		struct attribute a = attribute_read(c, &r);

		if (annotations_are(a.name))
			annotations_read(&c->pool, a.content, to);
	}
}

/* ---- fields ---- */

/* Fields or methods, from their count on. */
static void members_skip(const struct class *c, struct reader *r)
{
	for (uint32_t count = read_u2(r); count && !r->bad; count--) {
		read_bytes(r, 6);
		attributes_skip(c, r);
	}
}

static void field_search(struct class *c, struct text name, struct field *to)
{
	struct reader r = c->fields;

	for (uint32_t count = read_u2(&r); count && !r.bad; count--) {
		uint32_t access = read_u2(&r);
		struct text own = pool_text(&c->pool, read_u2(&r)), type = pool_text(&c->pool, read_u2(&r));

		attributes_skip(c, &r);
		if (access & ACC_STATIC || !text_equal(own, name) || !type.size)
			continue;
		to->entry = pool_add_field(&c->pool, c->name, name, type);
		if (to->entry)
			to->type = type;
		return;
	}
}

/* Finds an instance field that the class declares. Each name is searched for once. */
static bool field_find(struct class *c, struct text name, struct field *to)
{
	size_t i = 0;

	while (i < c->found_count && !text_equal(c->found[i].name, name))
		i++;
	if (i == FIELDS_FOUND)
		return false;
	if (i == c->found_count) {
		c->found[i].name = name;
		c->found_count++;
		field_search(c, name, &c->found[i].field);
	}
	*to = c->found[i].field;
	return to->type.size;
}

/* ---- tables inside of Code ---- */

static bool lines_write(const struct method *m, struct reader r, struct writer *w)
{
	uint32_t count = read_u2(&r);

	write_u2(w, count);
	for (; count && !r.bad; count--) {
		uint32_t at = read_u2(&r), place = method_place(m, at);

		if (place == NO_PLACE)
			return false;
		write_u2(w, at ? place : 0); /* the first line has the call that is in front of it, too */
		write_u2(w, read_u2(&r));
	}
	return !r.bad;
}

/* LocalVariableTable and LocalVariableTypeTable. */
static bool variables_write(const struct method *m, struct reader r, struct writer *w)
{
	uint32_t count = read_u2(&r);

	write_u2(w, count);
	for (; count && !r.bad; count--) {
		uint32_t from = read_u2(&r), size = read_u2(&r);
		uint32_t place = method_place(m, from), end = method_place(m, from + size);
		const uint8_t *rest = read_bytes(&r, 6);

		if (place == NO_PLACE || end == NO_PLACE || !rest)
			return false;
		write_u2(w, place);
		write_u2(w, end - place);
		write_bytes(w, rest, 6);
	}
	return !r.bad;
}

static bool table_write(const struct method *m, const struct attribute *a, struct writer *w,
			bool (*content)(const struct method *m, struct reader r, struct writer *w))
{
	size_t length;

	write_u2(w, a->name_at);
	length = w->used;
	write_u4(w, 0);
	if (!content(m, a->content, w))
		return false;
	write_length(w, length);
	return true;
}

/* The attributes of Code. Those that the JVM does not read are left out: what they refer to has moved. */
static bool code_attributes_write(const struct class *c, const struct method *m, struct reader *r, struct writer *w)
{
	struct reader frames = {0};
	size_t count_at = w->used, written;
	uint32_t tables = 0;

	write_u2(w, 0);
	for (uint32_t count = read_u2(r); count && !r->bad; count--) {
		struct attribute a = attribute_read(c, r);
		bool lines = text_equal(a.name, TEXT("LineNumberTable"));

		if (text_equal(a.name, TEXT("StackMapTable")))
			frames = a.content;
		if (!lines && !text_equal(a.name, TEXT("LocalVariableTable")) &&
		    !text_equal(a.name, TEXT("LocalVariableTypeTable")))
			continue;
		if (!table_write(m, &a, w, lines ? lines_write : variables_write))
			return false;
		tables++;
	}
	written = w->used;
	if (r->bad || (m->frames && !frames_write(m, frames, w)))
		return false;
	if (!w->failed)
		put_u2(w->bytes + count_at, tables + (w->used > written));
	return true;
}

/* ---- methods ---- */

static bool exceptions_write(const struct method *m, struct reader *r, struct writer *w)
{
	uint32_t count = read_u2(r), first = m->place[0];

	if (count == UINT16_MAX)
		return false;
	write_u2(w, count + m->handler_added);
	for (; count; count--) {
		uint32_t from = method_place(m, read_u2(r)), to = method_place(m, read_u2(r));
		uint32_t handler = method_place(m, read_u2(r));

		if (from == NO_PLACE || to == NO_PLACE || handler == NO_PLACE || r->bad)
			return false;
		write_u2(w, from);
		write_u2(w, to);
		write_u2(w, handler);
		write_u2(w, read_u2(r));
	}
	if (m->handler_added) { /* behind the method's own ones, which the VM tries first */
		write_u2(w, first);
		write_u2(w, m->handler);
		write_u2(w, m->handler);
		write_u2(w, 0);
	}
	return !r->bad;
}

/* Up to the instructions. */
static bool code_begin(struct method *m, struct reader *r)
{
	m->stack = read_u2(r);
	m->local = read_u2(r);
	m->length = read_u4(r);
	m->code = read_bytes(r, m->length);
	return m->code && m->length;
}

static bool code_attribute_write(const struct class *c, const struct rewrite_choice *choice, struct method *m,
				 struct reader r, struct writer *w)
{
	if (!code_begin(m, &r) || (m->timed && !calls_make(m, choice)) || !code_measure(m))
		return false;
	write_u2(w, m->new_stack);
	write_u2(w, m->local + m->slots);
	write_u4(w, m->total);
	return code_write(m, w) && exceptions_write(m, &r, w) && code_attributes_write(c, m, &r, w) && r.at == r.end;
}

/* A method's attributes, with its Code rewritten. */
static bool method_write(const struct class *c, const struct rewrite_choice *choice, struct method *m, struct reader *r,
			 struct writer *w)
{
	uint32_t count = read_u2(r);
	bool any = false;

	write_u2(w, count);
	for (; count && !r->bad; count--) {
		struct attribute a = attribute_read(c, r);
		bool code = text_equal(a.name, TEXT("Code"));
		size_t length;

		write_u2(w, a.name_at);
		length = w->used;
		write_u4(w, 0);
		if (!code)
			write_bytes(w, a.content.at, (size_t)(a.content.end - a.content.at));
		else if (any || !code_attribute_write(c, choice, m, a.content, w))
			return false;
		any |= code;
		write_length(w, length);
	}
	return any && !r->bad;
}

/* False: it has none. */
static bool code_of(const struct class *c, struct reader attributes, struct reader *code)
{
	bool any = false;

	for (uint32_t count = read_u2(&attributes); count && !attributes.bad; count--) {
		struct attribute a = attribute_read(c, &attributes);

		if (text_equal(a.name, TEXT("Code"))) {
			*code = a.content;
			any = true;
		}
	}
	return any;
}

/* Finds out what is inserted in front of writes. False: malformed, out of memory, or too large. */
static bool method_writes(struct method *m, const struct class *c, struct reader code,
			  const struct rewrite_method *what)
{
	if (!c->puts)
		return true;
	m->puts = c->puts;
	return code_begin(m, &code) && writes_make(m, c->w, what);
}

static struct method method_of(struct class *c, const struct rewrite_method *what, uint32_t access)
{
	return (struct method){.pool = &c->pool,
			       .helper = &c->helper,
			       .class_being = c,
			       .field_find = field_find,
			       .descriptor = what->descriptor,
			       .class = c->name,
			       .number = ++c->methods,
			       .is_static = access & ACC_STATIC,
			       .constructor = text_equal(what->name, TEXT("<init>")),
			       .frames = c->version >= VERSION_FRAMES};
}

static void method_copy(struct class *c, struct reader *r)
{
	const uint8_t *start = r->at;
	struct rewrite_choice choice = {0};
	struct rewrite_annotations annotations = {0};
	struct rewrite_method what = {0};
	struct reader own, code;
	struct method m;
	size_t used = c->tail.used;
	uint32_t access = read_u2(r);
	bool ok;

	what.name = pool_text(&c->pool, read_u2(r));
	what.descriptor = pool_text(&c->pool, read_u2(r));
	own = *r;
	attributes_skip(c, r);
	if (r->bad)
		return;
	if (c->w->annotations) {
		annotations_add(c, own, &annotations);
		what.of_class = &c->annotations;
		what.own = &annotations;
	}
	if (!code_of(c, own, &code)) {
		write_bytes(&c->tail, start, (size_t)(r->at - start));
		return;
	}
	m = method_of(c, &what, access);
	m.timed = c->w->choose && c->w->choose(c->w->ctx, &what, &choice);
	m.handler_added = m.timed && !m.constructor;
	ok = method_writes(&m, c, code, &what);
	if (ok && (m.timed || m.write_count)) {
		write_bytes(&c->tail, start, 6);
		ok = method_write(c, &choice, &m, &own, &c->tail);
		if (!ok && !c->tail.failed)
			c->tail.used = used;
		c->w->methods += ok && m.timed;
		c->w->lacking += ok && m.lacks;
		c->w->writes += ok ? m.write_count : 0;
	}
	free(m.place);
	calls_free(&m);
	c->w->refused += !ok;
	if (c->tail.used == used)
		write_bytes(&c->tail, start, (size_t)(r->at - start));
}

/* From the access flags to the end. */
static bool tail_write(struct class *c, struct reader *r)
{
	const uint8_t *start = r->at;
	uint32_t count;

	read_bytes(r, 2);
	c->name = read_u2(r);
	read_bytes(r, 2);
	read_bytes(r, 2 * (size_t)read_u2(r));
	c->fields = *r;
	members_skip(c, r);
	if (c->w->annotations) { /* the class's own are behind its methods */
		struct reader ahead = *r;

		members_skip(c, &ahead);
		annotations_add(c, ahead, &c->annotations);
	}
	count = read_u2(r);
	if (r->bad)
		return false;
	write_bytes(&c->tail, start, (size_t)(r->at - start));
	for (; count && !r->bad; count--)
		method_copy(c, r);
	if (r->bad)
		return false;
	write_bytes(&c->tail, r->at, (size_t)(r->end - r->at));
	attributes_skip(c, r);
	return !r->bad && r->at == r->end;
}

/* False: out of memory. */
static bool puts_find(struct class *c)
{
	bool any = false;

	if (!c->w->choose_write)
		return true;
	c->puts = calloc(c->pool.own, sizeof(*c->puts));
	for (uint32_t i = 1; c->puts && i < c->pool.own; i++) {
		struct rewrite_field f;

		c->puts[i].may = pool_field(&c->pool, i, &f) && c->w->may_choose_write(c->w->ctx, &f);
		any |= c->puts[i].may;
	}
	if (any || !c->puts)
		return any;
	free(c->puts);
	c->puts = NULL;
	return true;
}

/* Puts the parts together: only where a method has changed. */
static void class_write(const struct class *c, const uint8_t *file)
{
	struct writer *out = &c->w->out;
	const struct pool *p = &c->pool;

	write_bytes(out, file, 8);
	write_u2(out, p->count);
	write_bytes(out, p->entries.at, (size_t)(p->entries.end - p->entries.at));
	write_bytes(out, p->added.bytes, p->added.used);
	write_bytes(out, c->tail.bytes, c->tail.used);
}

bool rewrite_pool_has(const uint8_t *bytes, size_t size, uint32_t count, bool (*is)(void *ctx, struct text text),
		      void *ctx)
{
	struct reader r = {.at = bytes, .end = bytes + size, .bad = count > UINT16_MAX};
	struct pool p;
	bool has = false;

	if (pool_read_entries(&p, &r, count))
		for (uint32_t i = 1; i < count && !has; i++) {
			struct text text = pool_text(&p, i);

			has = text.size && is(ctx, text);
		}
	pool_free(&p);
	return has;
}

bool rewrite_pool_uses(const uint8_t *bytes, size_t size, uint32_t count,
		       bool (*is)(void *ctx, const struct rewrite_field *f), void *ctx)
{
	struct reader r = {.at = bytes, .end = bytes + size, .bad = count > UINT16_MAX};
	struct pool p;
	bool has = false;

	if (pool_read_entries(&p, &r, count))
		for (uint32_t i = 1; i < count && !has; i++) {
			struct rewrite_field f;

			has = pool_field(&p, i, &f) && is(ctx, &f);
		}
	pool_free(&p);
	return has;
}

struct text rewrite_class_name(const void *file, size_t size)
{
	struct reader r = {.at = file, .end = (const uint8_t *)file + size, .bad = size > REWRITE_CLASS_MAX};
	struct text name = TEXT("");
	struct pool pool = {0};

	if (read_u4(&r) == MAGIC && read_bytes(&r, 4) && pool_read(&pool, &r) && read_bytes(&r, 2))
		name = pool_class_name(&pool, read_u2(&r));
	pool_free(&pool);
	return name;
}

bool rewrite_class(struct rewrite *w, const void *file, size_t size)
{
	struct reader r = {.at = file, .end = (const uint8_t *)file + size, .bad = size > REWRITE_CLASS_MAX};
	struct class c = {.w = w};
	uint32_t minor;
	bool ok, changed = false;

	w->out = (struct writer){0};
	w->methods = w->lacking = w->writes = w->refused = 0;
	if (read_u4(&r) != MAGIC)
		return false;
	minor = read_u2(&r);
	c.version = read_u2(&r);
	ok = (c.version > 45 || (c.version == 45 && minor >= 3)) && c.version <= VERSION_MAX &&
	     pool_read(&c.pool, &r) && puts_find(&c);
	if (ok && (w->choose || c.puts)) {
		ok = tail_write(&c, &r) && !c.tail.failed && !c.pool.added.failed;
		changed = ok && w->methods + w->writes;
	}
	if (changed)
		class_write(&c, file);
	ok = ok && !w->out.failed;
	if (!ok || !changed) {
		free(w->out.bytes);
		w->out = (struct writer){0};
	}
	pool_free(&c.pool);
	free(c.tail.bytes);
	free(c.puts);
	return ok;
}
