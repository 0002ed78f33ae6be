// SPDX-License-Identifier: Apache-2.0
/* Threads and stacks of a Flight Recorder file. Each constant is looked at once in a chunk. */
#include <errno.h>
#include <string.h>

#include <util/utf8.h>

#include "jfr_file.h"

/* What is known of a constant: *id gets it, else 0. Others, and events without one, are looked at each time. */
static bool is_known(const struct u64map *of, const struct jfr_value *v, uint32_t *id)
{
	uint32_t at = v->pooled ? u64map_get(of, v->number) : 0;

	*id = at ? at - 1 : 0;
	return at != 0;
}

static void keep(struct jfr_file *f, struct u64map *of, const struct jfr_value *v, uint32_t id)
{
	uint32_t *at = v->pooled ? u64map_put(of, v->number) : NULL;

	if (at)
		*at = id + 1;
	else if (v->pooled)
		builder_fail(&f->r->b, -ENOMEM);
}

static struct trace_str text_of(struct jfr_file *f, const struct jfr_value *of, const char *member, unsigned buffer)
{
	struct jfr_value v = jfr_get(f->chunk, of, member);

	return jfr_text(f->chunk, &v, f->text[buffer]);
}

/* ---- threads ---- */

static uint32_t make_thread(struct jfr_file *f, const struct jfr_value *v)
{
	struct jfr_value tid = jfr_get(f->chunk, v, "osThreadId"), java = jfr_get(f->chunk, v, "javaThreadId");
	struct import_thread t = {.process = f->process};
	struct trace_str name = text_of(f, v, "javaName", 0);

	t.tid = tid.number <= INT32_MAX ? (uint32_t)tid.number : 0;
	t.flags = name.len || (java.number && java.number <= INT64_MAX) ? TRACE_THREAD_JAVA : 0;
	t.name = name.len ? name : text_of(f, v, "osName", 1);
	return builder_thread(&f->r->b, &t);
}

void jfr_thread(struct jfr_file *f, const struct jfr_value *v, uint32_t *thread, uint32_t *vthread)
{
	struct jfr_value virtual;
	struct jfr_at p;

	*thread = *vthread = 0;
	if (!jfr_find(f->chunk, v, &p) || is_known(&f->thread_of, v, thread) || is_known(&f->vthread_of, v, vthread))
		return;
	virtual = jfr_get(f->chunk, v, "virtual");
	if (virtual.set && virtual.number) {
		struct jfr_value id = jfr_get(f->chunk, v, "javaThreadId");

		*vthread = builder_vthread(&f->r->b, f->process, id.number, text_of(f, v, "javaName", 0));
		keep(f, &f->vthread_of, v, *vthread);
	} else {
		*thread = make_thread(f, v);
		keep(f, &f->thread_of, v, *thread);
	}
}

/* ---- frames ---- */

/* The JDK writes hidden classes with an address and a number, "Foo$$Lambda$1+0x1f/17": the address is enough. */
static struct trace_str without_number(struct trace_str name)
{
	long slash = str_last(name, '/'), plus = str_last(name, '+');

	return plus > 0 && slash > plus ? str_part(name, 0, (size_t)slash) : name;
}

struct trace_str jfr_class(struct jfr_file *f, const struct jfr_value *v)
{
	struct trace_str name = without_number(text_of(f, v, "name", 0));

	f->text[2][0] = '\0';
	if (name.len)
		class_name_from_signature(f->text[2], JFR_TEXT_MAX, name.str, name.len);
	return str_of(f->text[2]);
}

static const struct {
	const char *name;
	enum import_code code;
} frame_types[] = {{"Interpreted", IMPORT_INTERPRETED},
		   {"JIT compiled", IMPORT_COMPILED},
		   {"Inlined", IMPORT_INLINED},
		   {"C1 compiled", IMPORT_C1},
		   {"Native", IMPORT_NATIVE},
		   {"C++", IMPORT_NATIVE},
		   {"Kernel", IMPORT_KERNEL}};

/*
 * For the JDK, "Native" is a Java method that is native. For async-profiler and braid it is a function of a library,
 * which has a class that is none of Java's, or none.
 */
static enum import_code code_of(struct jfr_file *f, const struct jfr_value *type, const struct jfr_value *method)
{
	struct trace_str name = jfr_text(f->chunk, type, f->text[0]);
	struct trace_str signature = text_of(f, method, "descriptor", 1);
	bool java = str_begins(signature, "(") && !str_equals(signature, "()L;");

	for (size_t i = 0; i < sizeof(frame_types) / sizeof(frame_types[0]); i++)
		if (str_equals(name, frame_types[i].name))
			return frame_types[i].code == IMPORT_NATIVE && java ? IMPORT_COMPILED : frame_types[i].code;
	return IMPORT_COMPILED;
}

/* How braid writes what has no function: the frame says why the stack is incomplete. */
static bool take_incomplete(struct jfr_file *f, struct trace_str class_name, struct trace_str name)
{
	if (!str_equals(class_name, "incomplete"))
		return false;
	frame_text(&f->r->text, name, IMPORT_NATIVE);
	return f->r->text.none || f->r->text.frame.code == IMPORT_END;
}

static uint32_t make_frame(struct jfr_file *f, const struct jfr_value *method, enum import_code code, int32_t bci,
			   uint32_t line)
{
	struct jfr_value class = jfr_get(f->chunk, method, "type");
	struct jfr_value modifiers = jfr_get(f->chunk, method, "modifiers");
	struct import_frame frame = {.code = code, .bci = bci, .line = line, .modifiers = (uint32_t)modifiers.number};

	frame.class_name = jfr_class(f, &class);
	frame.name = text_of(f, method, "name", 0);
	if (code <= IMPORT_KERNEL) {
		if (take_incomplete(f, frame.class_name, frame.name))
			return f->r->text.none ? 0 : builder_frame(&f->r->b, &f->r->text.frame);
		frame.module = frame.class_name;
		if (str_equals(frame.module, "unknown"))
			frame.module.len = 0;
	} else {
		frame.signature = text_of(f, method, "descriptor", 1);
		if (str_equals(frame.signature, "()L;"))
			frame.signature.len = 0;
	}
	return builder_frame(&f->r->b, &frame);
}

/* A frame of a stack. Most come again and again, so they are found by their numbers. */
static uint32_t take_frame(struct jfr_file *f, struct jfr_at *p, const struct jfr_declared *t)
{
	struct jfr_value method = {0}, type = {0}, line = {0}, bci = {0}, by_number;
	uint32_t frame;
	int32_t index;

	for (size_t i = 0; i < t->count && !p->bad; i++) {
		const struct jfr_member *m = &f->chunk->members.at[t->first + i];
		const char *name = jfr_name(f->chunk, m->name);
		struct jfr_value v = jfr_take(f->chunk, p, m);

		if (strcmp(name, "method") == 0)
			method = v;
		else if (strcmp(name, "type") == 0)
			type = v;
		else if (strcmp(name, "lineNumber") == 0)
			line = v;
		else if (strcmp(name, "bytecodeIndex") == 0)
			bci = v;
	}
	if (p->bad)
		return 0;
	index = bci.set && (uint32_t)bci.number <= UINT16_MAX ? (int32_t)bci.number : -1;
	/* Keys of methods that are too large for this are not kept. */
	by_number = (struct jfr_value){.pooled = method.pooled && type.pooled && method.number < 1ULL << 40 &&
						 type.number < 256 && index >= 0,
				       .number = method.number << 24 | (uint64_t)index << 8 | type.number};
	if (is_known(&f->frame_of, &by_number, &frame))
		return frame;
	frame = make_frame(f, &method, code_of(f, &type, &method), index,
			   line.set && (uint32_t)line.number <= INT32_MAX ? (uint32_t)line.number : 0);
	keep(f, &f->frame_of, &by_number, frame);
	return frame;
}

static void take_frames(struct jfr_file *f, struct jfr_at *p, const struct jfr_member *m)
{
	uint64_t count = jfr_number(p);

	for (uint64_t i = 0; i < count && !p->bad; i++) {
		struct jfr_at at = *p;
		struct jfr_value v = {.set = true, .pooled = m->pooled, .type = m->type, .at = *p};

		if (m->pooled)
			v.number = jfr_number(p);
		else
			jfr_skip(f->chunk, p, m->type, 1);
		if (p->bad || reader_is_full(f->r))
			return;
		if (m->pooled ? jfr_find(f->chunk, &v, &at) : m->type < f->chunk->types.count)
			reader_push(f->r, take_frame(f, &at, &f->chunk->types.at[m->type]));
	}
}

/* ---- stacks ---- */

static uint32_t make_stack(struct jfr_file *f, struct jfr_at *p, const struct jfr_declared *t)
{
	struct reader *r = f->r;
	bool truncated = false;

	reader_begin_stack(r);
	for (size_t i = 0; i < t->count && !p->bad; i++) {
		const struct jfr_member *m = &f->chunk->members.at[t->first + i];
		const char *name = jfr_name(f->chunk, m->name);

		if (strcmp(name, "frames") == 0 && m->array)
			take_frames(f, p, m);
		else if (strcmp(name, "truncated") == 0)
			truncated = jfr_take(f->chunk, p, m).number != 0;
		else
			jfr_skip_member(f->chunk, p, m, 0);
	}
	if (truncated && r->frames.count && !builder_is_end(&r->b, r->frames.at[r->frames.count - 1]))
		reader_push(r, builder_depth_end(&r->b));
	return builder_stack(&r->b, r->frames.at, r->frames.count);
}

uint32_t jfr_stack(struct jfr_file *f, const struct jfr_value *v)
{
	struct jfr_at p;
	uint32_t node;

	if (!jfr_find(f->chunk, v, &p))
		return 0;
	if (is_known(&f->stack_of, v, &node))
		return node;
	node = make_stack(f, &p, &f->chunk->types.at[v->type]);
	keep(f, &f->stack_of, v, node);
	return node;
}
