// SPDX-License-Identifier: Apache-2.0
#include "rewrite.h"

#include "method.h"

#define MAGIC 0xcafebabeU
#define VERSION_FRAMES 50U
/* Before 45.3, the attribute Code has shorter numbers. */
#define VERSION_MAX 100U /* the format has changed with versions, but not in what is read here */

#define ACC_STATIC 0x0008U

#define LDC_W 0x13U
#define SIPUSH 0x11U

#define NEW_SLOTS 2U /* of the new variable */
#define NEW_STACK 3U /* what a call pushes besides what is there */

/* The class that is being rewritten. */
struct class
{
	struct rewrite *w;
	struct pool pool;
	struct helper_entries helper;
	struct writer tail; /* what follows the constant pool */
	uint32_t version, name;
};

static bool helper_add(struct class *c)
{
	struct helper_entries *h = &c->helper;
	uint32_t class;

	if (h->enter)
		return true;
	class = pool_class(&c->pool, TEXT(REWRITE_HELPER));
	h->exit = pool_add_method(&c->pool, class, TEXT("exit"), TEXT("(JI)V"));
	h->thrown = pool_add_method(&c->pool, class, TEXT("thrown"), TEXT("(JI)V"));
	h->throwable = pool_class(&c->pool, TEXT("java/lang/Throwable"));
	h->stack_map_table = pool_add_text(&c->pool, TEXT("StackMapTable"));
	if (h->exit && h->thrown && h->throwable && h->stack_map_table)
		h->enter = pool_add_method(&c->pool, class, TEXT("enter"), TEXT("()J"));
	return h->enter;
}

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
	write_u2(w, count + !m->constructor);
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
	if (!m->constructor) { /* behind the method's own ones, which the VM tries first */
		write_u2(w, first);
		write_u2(w, m->handler);
		write_u2(w, m->handler);
		write_u2(w, 0);
	}
	return !r->bad;
}

static bool id_choose(struct class *c, struct method *m, uint32_t id)
{
	m->id_op = id <= INT16_MAX ? SIPUSH : LDC_W;
	m->id = id <= INT16_MAX ? id : pool_add_int(&c->pool, id);
	return m->id || !id;
}

static bool code_attribute_write(struct class *c, struct method *m, struct reader r, struct writer *w)
{
	m->stack = read_u2(&r);
	m->local = read_u2(&r);
	m->length = read_u4(&r);
	m->code = read_bytes(&r, m->length);
	if (!m->code || !m->length || m->stack + NEW_STACK + 1 > UINT16_MAX || m->local + NEW_SLOTS > UINT16_MAX)
		return false;
	if (!helper_add(c) || !code_measure(m))
		return false;
	write_u2(w, m->stack + NEW_STACK + 1);
	write_u2(w, m->local + NEW_SLOTS);
	write_u4(w, m->total);
	return code_write(m, w) && exceptions_write(m, &r, w) && code_attributes_write(c, m, &r, w) && r.at == r.end;
}

/* A method's attributes, with its Code rewritten. */
static bool method_write(struct class *c, struct method *m, struct reader *r, struct writer *w)
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
		else if (any || !code_attribute_write(c, m, a.content, w))
			return false;
		any |= code;
		write_length(w, length);
	}
	return any && !r->bad;
}

static bool is_code_of(const struct class *c, struct reader attributes)
{
	bool any = false;

	for (uint32_t count = read_u2(&attributes); count && !attributes.bad; count--)
		any |= text_equal(attribute_read(c, &attributes).name, TEXT("Code"));
	return any;
}

static void method_copy(struct class *c, struct reader *r)
{
	const uint8_t *start = r->at;
	struct text name, descriptor;
	struct reader own;
	struct method m;
	size_t used = c->tail.used;
	uint32_t access = read_u2(r);
	int32_t id = -1;
	bool ok;

	name = pool_text(&c->pool, read_u2(r));
	descriptor = pool_text(&c->pool, read_u2(r));
	own = *r;
	attributes_skip(c, r);
	if (r->bad)
		return;
	if (is_code_of(c, own))
		id = c->w->choose(c->w->ctx, name, descriptor);
	if (id < 0) {
		write_bytes(&c->tail, start, (size_t)(r->at - start));
		return;
	}
	m = (struct method){.pool = &c->pool,
			    .helper = &c->helper,
			    .descriptor = descriptor,
			    .class = c->name,
			    .is_static = access & ACC_STATIC,
			    .constructor = text_equal(name, TEXT("<init>")),
			    .frames = c->version >= VERSION_FRAMES};
	write_bytes(&c->tail, start, 6);
	ok = id_choose(c, &m, (uint32_t)id) && method_write(c, &m, &own, &c->tail);
	free(m.place);
	c->w->methods += ok;
	c->w->refused += !ok;
	if (!ok && !c->tail.failed) {
		c->tail.used = used;
		write_bytes(&c->tail, start, (size_t)(r->at - start));
	}
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
	for (count = read_u2(r); count && !r->bad; count--) {
		read_bytes(r, 6);
		attributes_skip(c, r);
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

bool rewrite_class(struct rewrite *w, const void *file, size_t size)
{
	struct reader r = {.at = file, .end = (const uint8_t *)file + size, .bad = size > REWRITE_CLASS_MAX};
	struct class c = {.w = w};
	uint32_t minor;
	bool ok;

	w->out = (struct writer){0};
	w->methods = w->refused = 0;
	if (read_u4(&r) != MAGIC)
		return false;
	minor = read_u2(&r);
	c.version = read_u2(&r);
	ok = (c.version > 45 || (c.version == 45 && minor >= 3)) && c.version <= VERSION_MAX &&
	     pool_read(&c.pool, &r) && tail_write(&c, &r);
	ok = ok && !c.tail.failed && !c.pool.added.failed;
	if (ok && w->methods)
		class_write(&c, file);
	ok = ok && !w->out.failed;
	if (!ok || !w->methods) {
		free(w->out.bytes);
		w->out = (struct writer){0};
	}
	pool_free(&c.pool);
	free(c.tail.bytes);
	return ok;
}
