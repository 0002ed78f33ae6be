// SPDX-License-Identifier: Apache-2.0
/*
 * What is inserted into a method: at its entry, in front of its returns, and in the new handler. None of it jumps, so
 * it needs no stack map frame. Values are kept in new variables from the entry on, because a method may overwrite its
 * arguments.
 */
#include "method.h"

#define ACONST_NULL 0x01U
#define ALOAD 0x19U
#define ALOAD_0 0x2aU
#define ASTORE 0x3aU
#define ATHROW 0xbfU
#define DLOAD 0x18U
#define DUP 0x59U
#define F2D 0x8dU
#define FLOAD 0x17U
#define GETFIELD 0xb4U
#define I2L 0x85U
#define ILOAD 0x15U
#define INVOKESTATIC 0xb8U
#define LCONST_0 0x09U
#define LDC_W 0x13U
#define LLOAD 0x16U
#define LSTORE 0x37U
#define SIPUSH 0x11U
#define WIDE 0xc4U

#define OBJECTS "Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;"
#define NUMBERS "JJJJ"
_Static_assert(sizeof(NUMBERS) - 1 == REWRITE_VALUES, "values");

/* What a call pushes: the time and the id, and, with values, their kinds and themselves. */
#define STACK_PLAIN 3U
#define STACK_VALUES (1U + 3 * REWRITE_VALUES)
#define STACK_THROWN 2U /* the exception, twice */

static bool helper_add(struct method *m)
{
	struct helper_entries *h = m->helper;
	struct pool *p = m->pool;
	uint32_t class;

	if (h->enter)
		return true;
	class = pool_class(p, TEXT(REWRITE_HELPER));
	h->exit = pool_add_method(p, class, TEXT("exit"), TEXT("(JI)V"));
	h->thrown = pool_add_method(p, class, TEXT("thrown"), TEXT("(Ljava/lang/Throwable;JI)V"));
	h->throwable = pool_class(p, TEXT("java/lang/Throwable"));
	if (h->exit && h->thrown && h->throwable)
		h->enter = pool_add_method(p, class, TEXT("enter"), TEXT("()J"));
	return h->enter;
}

static bool helper_add_values(struct method *m)
{
	struct helper_entries *h = m->helper;
	struct pool *p = m->pool;
	uint32_t class;

	if (h->exit_values)
		return true;
	class = pool_class(p, TEXT(REWRITE_HELPER));
	h->object = pool_class(p, TEXT("java/lang/Object"));
	h->bits =
		pool_add_method(p, pool_class(p, TEXT("java/lang/Double")), TEXT("doubleToRawLongBits"), TEXT("(D)J"));
	h->thrown_values =
		pool_add_method(p, class, TEXT("thrown"), TEXT("(Ljava/lang/Throwable;JII" OBJECTS NUMBERS ")V"));
	if (h->object && h->bits && h->thrown_values)
		h->exit_values = pool_add_method(p, class, TEXT("exit"), TEXT("(JII" OBJECTS NUMBERS ")V"));
	return h->exit_values;
}

static void local_write(struct writer *w, uint32_t opcode, uint32_t local)
{
	if (local > UINT8_MAX) {
		write_u1(w, WIDE);
		write_u1(w, opcode);
		write_u2(w, local);
	} else {
		write_u1(w, opcode);
		write_u1(w, local);
	}
}

void call_index(struct writer *w, uint32_t opcode, uint32_t index)
{
	write_u1(w, opcode);
	write_u2(w, index);
}

bool call_number(struct method *m, struct writer *w, uint32_t number)
{
	uint32_t entry = number <= INT16_MAX ? 0 : pool_add_int(m->pool, number);

	if (number > INT16_MAX && !entry)
		return false;
	call_index(w, entry ? LDC_W : SIPUSH, entry ?: number);
	return true;
}

/* ---- values ---- */

enum rewrite_kind rewrite_kind_of(char type)
{
	static const char types[] = " ZBCSIJFD"; /* in the order of enum rewrite_kind */
	const char *at = strchr(types, type);

	return type == 'L' || type == '[' ? REWRITE_OBJECT
	       : at && type		  ? (enum rewrite_kind)(at - types)
					  : REWRITE_NONE;
}

/* Pushes an argument; the kind of what was pushed. */
static enum rewrite_kind argument_write(const struct method *m, uint32_t number, struct writer *w)
{
	static const uint8_t loads[] = {
		[REWRITE_LONG] = LLOAD, [REWRITE_FLOAT] = FLOAD, [REWRITE_DOUBLE] = DLOAD, [REWRITE_OBJECT] = ALOAD};
	struct text rest = m->descriptor, one = {0};
	uint32_t slot = !m->is_static;
	enum rewrite_kind kind;

	if (!descriptor_begin(&rest))
		return REWRITE_NONE;
	for (; number; number--) {
		slot += one.size ? slots_of_type(*one.at) : 0;
		if (!descriptor_next(&rest, &one))
			return REWRITE_NONE;
	}
	kind = rewrite_kind_of(*one.at);
	if (kind)
		local_write(w, loads[kind] ?: ILOAD, slot);
	return kind;
}

static enum rewrite_kind field_write(const struct method *m, struct text name, struct writer *w)
{
	struct field f;

	/* In front of super(), an object has no fields to be read. */
	if (m->is_static || m->constructor || !m->field_find(m->class_being, name, &f))
		return REWRITE_NONE;
	write_u1(w, ALOAD_0);
	call_index(w, GETFIELD, f.entry);
	return rewrite_kind_of(*f.type.at);
}

/* Makes a reference or a long of what was pushed, and keeps it. */
static void value_keep(struct method *m, enum rewrite_kind kind, struct writer *w)
{
	if (kind == REWRITE_FLOAT)
		write_u1(w, F2D);
	if (kind == REWRITE_FLOAT || kind == REWRITE_DOUBLE)
		call_index(w, INVOKESTATIC, m->helper->bits);
	else if (kind != REWRITE_OBJECT && kind != REWRITE_LONG)
		write_u1(w, I2L);
	local_write(w, kind == REWRITE_OBJECT ? ASTORE : LSTORE, m->local + m->slots);
	m->slots += kind == REWRITE_OBJECT ? 1 : 2;
}

/* What there is of the values at the method's entry. */
static bool values_write(struct method *m, const struct rewrite_choice *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		const struct rewrite_value *v = &c->values[i];
		size_t used = m->entry.used;
		enum rewrite_kind kind;

		if (!helper_add_values(m))
			return false;
		kind = v->argument ? argument_write(m, v->argument, &m->entry) : field_write(m, v->field, &m->entry);
		if (!kind || (v->length && kind != REWRITE_OBJECT)) {
			m->entry.used = used;
			m->lacks = true;
			continue;
		}
		m->kinds[i] = kind;
		value_keep(m, kind, &m->entry);
	}
	return true;
}

/* Pushes those of one sort, and nothing for those that are not there. */
static void push_write(const struct method *m, struct writer *w, bool objects)
{
	uint32_t local = m->local + TIME_SLOTS, pushed = 0;

	for (uint32_t i = 0; i < REWRITE_VALUES; i++) {
		bool object = m->kinds[i] == REWRITE_OBJECT;

		if (!m->kinds[i])
			continue;
		if (object == objects) {
			local_write(w, object ? ALOAD : LLOAD, local);
			pushed++;
		}
		local += object ? 1 : 2;
	}
	for (; pushed < REWRITE_VALUES; pushed++)
		write_u1(w, objects ? ACONST_NULL : LCONST_0);
}

/* ---- calls ---- */

static bool end_write(struct method *m, struct writer *w, uint32_t id, uint32_t plain, uint32_t with_values)
{
	uint32_t kinds = 0;

	local_write(w, LLOAD, m->local);
	if (!call_number(m, w, id))
		return false;
	if (m->slots > TIME_SLOTS) {
		for (uint32_t i = 0; i < REWRITE_VALUES; i++)
			kinds |= (uint32_t)m->kinds[i] << REWRITE_KIND_BITS * i;
		if (!call_number(m, w, kinds))
			return false;
		push_write(m, w, true);
		push_write(m, w, false);
		plain = with_values;
	}
	call_index(w, INVOKESTATIC, plain);
	return true;
}

bool calls_make(struct method *m, const struct rewrite_choice *c)
{
	uint32_t values, deepest;

	m->slots = TIME_SLOTS;
	if (!helper_add(m) || !values_write(m, c))
		return false;
	call_index(&m->entry, INVOKESTATIC, m->helper->enter);
	local_write(&m->entry, LSTORE, m->local);
	write_u1(&m->thrown, DUP);
	if (!end_write(m, &m->exit, c->id, m->helper->exit, m->helper->exit_values) ||
	    !end_write(m, &m->thrown, c->id, m->helper->thrown, m->helper->thrown_values))
		return false;
	write_u1(&m->thrown, ATHROW);
	if (!m->handler_added)
		m->thrown.used = 0;
	values = m->slots > TIME_SLOTS ? STACK_VALUES : 0;
	deepest = m->stack > STACK_THROWN ? m->stack : STACK_THROWN;
	deepest += STACK_PLAIN + values;
	if (deepest > m->new_stack)
		m->new_stack = deepest;
	return !m->entry.failed && !m->exit.failed && !m->thrown.failed && m->new_stack <= UINT16_MAX &&
	       m->local + m->slots <= UINT16_MAX;
}

void calls_free(struct method *m)
{
	free(m->entry.bytes);
	free(m->exit.bytes);
	free(m->thrown.bytes);
	free(m->writes.bytes);
}
