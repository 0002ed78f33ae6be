// SPDX-License-Identifier: Apache-2.0
/*
 * Stack map frames. Each is written in full, because the new variables, if there are any, are behind all others:
 * between the last one that a frame has and the new ones, slots are Top.
 */
#include "method.h"

enum verification {
	TOP = 0,
	INTEGER = 1,
	FLOAT = 2,
	DOUBLE = 3,
	LONG = 4,
	THIS_BEFORE_SUPER = 6,
	OBJECT = 7,
	FRESH = 8
};

#define FULL_FRAME 255U

struct type {
	uint8_t tag;
	uint16_t detail; /* the class of an OBJECT, the offset of the NEW of a FRESH one */
};

struct frame {
	struct type *locals, *stack; /* with room for what the method can have */
	uint32_t local_count, stack_count;
	uint32_t local_max, stack_max;
	uint32_t slots; /* of its locals */
};

static uint32_t slots_of(struct type t)
{
	return t.tag == LONG || t.tag == DOUBLE ? 2 : 1;
}

static bool local_add(struct frame *f, struct type t)
{
	if (f->local_count == f->local_max || f->slots + slots_of(t) > f->local_max)
		return false;
	f->locals[f->local_count++] = t;
	f->slots += slots_of(t);
	return true;
}

static bool local_remove(struct frame *f)
{
	if (!f->local_count)
		return false;
	f->slots -= slots_of(f->locals[--f->local_count]);
	return true;
}

/* ---- the frame that a method begins with ---- */

bool descriptor_begin(struct text *rest)
{
	if (!rest->size || *rest->at != '(')
		return false;
	*rest = (struct text){rest->at + 1, rest->size - 1};
	return true;
}

bool descriptor_next(struct text *rest, struct text *argument)
{
	const char *end = rest->at + rest->size, *element = rest->at, *stop;

	while (element < end && *element == '[')
		element++;
	if (element == end || !*element || !strchr("BCDFIJSZL", *element))
		return false;
	stop = *element == 'L' ? memchr(element, ';', (size_t)(end - element)) : element;
	if (!stop)
		return false;
	*argument = (struct text){rest->at, (size_t)(stop + 1 - rest->at)};
	*rest = (struct text){stop + 1, (size_t)(end - stop) - 1};
	return true;
}

static bool argument_type(const struct method *m, struct text argument, struct type *t)
{
	char first = *argument.at;

	if (first != '[' && first != 'L') {
		t->tag = first == 'J' ? LONG : first == 'D' ? DOUBLE : first == 'F' ? FLOAT : INTEGER;
		return true;
	}
	if (first == 'L') /* the name of a class, but an array as it is */
		argument = (struct text){argument.at + 1, argument.size - 2};
	t->tag = OBJECT;
	t->detail = (uint16_t)pool_class(m->pool, argument);
	return t->detail;
}

static bool begin(const struct method *m, struct frame *f)
{
	struct type t = {.tag = m->constructor ? THIS_BEFORE_SUPER : OBJECT, .detail = (uint16_t)m->class};
	struct text rest = m->descriptor, argument;

	if (!descriptor_begin(&rest) || (!m->is_static && !local_add(f, t)))
		return false;
	while (descriptor_next(&rest, &argument))
		if (!argument_type(m, argument, &t) || !local_add(f, t))
			return false;
	return rest.size && *rest.at == ')';
}

/* ---- reading ---- */

static struct type type_read(const struct method *m, struct reader *r)
{
	struct type t = {.tag = (uint8_t)read_u1(r)};
	uint32_t place;

	if (t.tag > FRESH)
		r->bad = true;
	if (t.tag == OBJECT)
		t.detail = (uint16_t)read_u2(r);
	if (t.tag == FRESH) {
		uint32_t offset = read_u2(r);

		place = method_place(m, offset);
		if (place == NO_PLACE || offset == m->length || m->code[offset] != OPCODE_NEW)
			r->bad = true;
		t.detail = (uint16_t)place;
	}
	return t;
}

static bool locals_read(const struct method *m, struct frame *f, struct reader *r, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!local_add(f, type_read(m, r)))
			return false;
	return !r->bad;
}

static bool stack_read(const struct method *m, struct frame *f, struct reader *r, uint32_t count)
{
	if (count > f->stack_max)
		return false;
	for (uint32_t i = 0; i < count; i++)
		f->stack[f->stack_count++] = type_read(m, r);
	return !r->bad;
}

/* Makes the frame before into the next one of the table. `delta` gets its distance. */
static bool frame_read(const struct method *m, struct frame *f, struct reader *r, uint32_t *delta)
{
	uint32_t kind = read_u1(r);

	f->stack_count = 0;
	*delta = kind < 128 ? kind % 64 : read_u2(r);
	if (kind < 64 || kind == 251)
		return !r->bad;
	if (kind < 128 || kind == 247)
		return stack_read(m, f, r, 1);
	if (kind < 248)
		return false;
	if (kind < 251) {
		for (; kind < 251; kind++)
			if (!local_remove(f))
				return false;
		return !r->bad;
	}
	if (kind < FULL_FRAME)
		return locals_read(m, f, r, kind - 251);
	f->local_count = f->slots = 0;
	return locals_read(m, f, r, read_u2(r)) && stack_read(m, f, r, read_u2(r));
}

/* ---- writing ---- */

static void type_write(struct writer *w, struct type t)
{
	write_u1(w, t.tag);
	if (t.tag == OBJECT || t.tag == FRESH)
		write_u2(w, t.detail);
}

static void frame_write(const struct method *m, struct writer *w, const struct frame *f, uint32_t delta)
{
	struct type object = {.tag = OBJECT, .detail = (uint16_t)m->helper->object};
	uint32_t tops = m->slots ? m->local - f->slots : 0, values = 0;

	for (uint32_t i = 0; i < REWRITE_VALUES; i++)
		values += m->kinds[i] != REWRITE_NONE;

	write_u1(w, FULL_FRAME);
	write_u2(w, delta);
	write_u2(w, f->local_count + tops + (m->slots > 0) + values);
	for (uint32_t i = 0; i < f->local_count; i++)
		type_write(w, f->locals[i]);
	for (uint32_t i = 0; i < tops; i++)
		write_u1(w, TOP);
	if (m->slots)
		write_u1(w, LONG);
	for (uint32_t i = 0; i < REWRITE_VALUES; i++)
		if (m->kinds[i])
			type_write(w, m->kinds[i] == REWRITE_OBJECT ? object : (struct type){.tag = LONG});
	write_u2(w, f->stack_count);
	for (uint32_t i = 0; i < f->stack_count; i++)
		type_write(w, f->stack[i]);
}

/* The frame of the new handler: nothing but the new variables, and the exception. */
static void handler_write(const struct method *m, struct writer *w, uint32_t delta)
{
	struct type exception = {.tag = OBJECT, .detail = (uint16_t)m->helper->throwable};

	frame_write(m, w, &(struct frame){.stack = &exception, .stack_count = 1}, delta);
}

/* `before` is the place of the frame before, plus one: a difference counts from there, the first one from 0. */
static bool table_write(const struct method *m, struct frame *f, struct reader *r, struct writer *w, uint32_t count)
{
	uint32_t delta, old = 0, place, before = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!frame_read(m, f, r, &delta))
			return false;
		old += delta + (i > 0);
		place = method_place(m, old);
		if (place == NO_PLACE || old == m->length)
			return false;
		frame_write(m, w, f, place - before);
		before = place + 1;
	}
	if (m->handler_added)
		handler_write(m, w, m->handler - before);
	return true;
}

bool frames_write(const struct method *m, struct reader table, struct writer *w)
{
	struct frame f = {.local_max = m->local, .stack_max = m->stack};
	bool empty = table.at == table.end;
	uint32_t count = empty ? 0 : read_u2(&table);
	size_t length;
	bool ok;

	if (!count && !m->handler_added)
		return true;
	f.locals = calloc(m->local + 1, sizeof(*f.locals));
	f.stack = calloc(m->stack + 1, sizeof(*f.stack));
	if (!m->helper->stack_map_table)
		m->helper->stack_map_table = pool_add_text(m->pool, TEXT("StackMapTable"));
	write_u2(w, m->helper->stack_map_table);
	length = w->used;
	write_u4(w, 0);
	write_u2(w, count + m->handler_added);
	ok = m->helper->stack_map_table && f.locals && f.stack && (!count || begin(m, &f)) && count < UINT16_MAX &&
	     table_write(m, &f, &table, w, count);
	free(f.locals);
	free(f.stack);
	if (ok)
		write_length(w, length);
	return ok;
}
