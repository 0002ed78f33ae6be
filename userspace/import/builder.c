// SPDX-License-Identifier: Apache-2.0
#include "builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/state.h>
#include <braid/frame.h>
#include <braid/ring.h>
#include <util/compare.h>

#define WHAT (1U << 28)	   /* the bits above an id, for a kind of code */
#define IDS_MAX (WHAT - 1) /* of each sort: what a file can make this program keep */
#define BCI_MAX 0xffff	   /* what class files can have */
#define NS_PER_SECOND UINT64_C(1000000000)
#define LINES_OF_METHOD 20000 /* a record has to fit into a block */

/* ---- ids ---- */

void builder_fail(struct builder *b, int err)
{
	b->err = b->err ?: err;
}

/* The id of a pair; *is_new: it was not there. 0 after an error. */
static uint32_t id_of(struct builder *b, struct builder_ids *ids, uint32_t x, uint32_t y, bool *is_new)
{
	uint32_t *at = b->err ? NULL : u64map_put(&ids->of, (uint64_t)x << 32 | y);

	*is_new = false;
	if (!at || (!*at && ids->count == IDS_MAX)) {
		builder_fail(b, at ? -E2BIG : -ENOMEM);
		return 0;
	}
	*is_new = !*at;
	if (*is_new)
		*at = ++ids->count;
	return *at;
}

static uint32_t text_id(struct builder *b, struct trace_str s)
{
	uint32_t id =
		strpool_add(&b->strings, s.str, s.str ? (s.len < BUILDER_TEXT_MAX ? s.len : BUILDER_TEXT_MAX) : 0);

	if (id != STRPOOL_FAILED)
		return id;
	builder_fail(b, -ENOMEM);
	return 0;
}

/* A string as the trace has it: printable, and not too long. */
static struct trace_str text_of(const struct builder *b, uint32_t id)
{
	return str_of(strpool_get(&b->strings, id));
}

struct trace_str builder_text(struct builder *b, struct trace_str text)
{
	return text_of(b, text_id(b, text));
}

/* ---- records ---- */

void builder_put(struct builder *b, const struct trace_rec *rec)
{
	if (!b->err)
		b->err = trace_writer_put(b->w, rec);
}

static void begin(struct builder *b)
{
	if (!b->begun && !b->err)
		b->err = trace_writer_begin(b->w);
	b->begun = true;
}

#define PUT(b, number, member, ...)                                                                                    \
	builder_put(b, &(const struct trace_rec){.kind = TRACE_##number, .member = {__VA_ARGS__}})

void builder_info(struct builder *b, const char *key, struct trace_str value)
{
	if (value.len)
		PUT(b, INFO, info, str_of(key), text_of(b, text_id(b, value)));
}

void builder_info_number(struct builder *b, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	builder_info(b, key, str_of(text));
}

void builder_frequency(struct builder *b, uint64_t period_ns)
{
	builder_info_number(b, "record.frequency_hz", (NS_PER_SECOND + period_ns / 2) / period_ns);
}

void builder_clock(struct builder *b, uint64_t time_ns)
{
	PUT(b, CLOCK, clock, .monotonic_ns = time_ns, .realtime_ns = b->is_realtime ? time_ns : 0);
}

uint32_t builder_name(struct builder *b, struct trace_str text)
{
	uint32_t string = text_id(b, text), id;
	bool is_new;

	if (!string)
		return 0;
	id = id_of(b, &b->names, string, 0, &is_new);
	if (is_new)
		PUT(b, NAME, name, id, text_of(b, string));
	return id;
}

/* ---- processes and threads ---- */

/* Notes the name of a thing; true: it is another one than before. */
static bool is_renamed(struct builder *b, builder_numbers *of, uint32_t id, uint32_t name)
{
	if (of->count < id && VEC_PUSH(of, name)) {
		builder_fail(b, -ENOMEM);
		return false;
	}
	if (of->at[id - 1] == name || !name)
		return false;
	of->at[id - 1] = name;
	return true;
}

uint32_t builder_process(struct builder *b, uint32_t pid, struct trace_str comm)
{
	uint32_t name = text_id(b, comm);
	bool is_new;
	uint32_t id = id_of(b, &b->processes, pid, 0, &is_new);

	if (id && (is_renamed(b, &b->process_names, id, name) || is_new))
		PUT(b, PROCESS, process, .process = id, .pid = pid, .comm = text_of(b, name));
	return id;
}

uint32_t builder_thread(struct builder *b, const struct import_thread *t)
{
	uint32_t name = text_id(b, t->name);
	bool is_new;
	uint32_t id = id_of(b, &b->threads, t->process << 1 | !t->tid, t->tid ? t->tid : name, &is_new);

	if (id && (is_renamed(b, &b->thread_names, id, name) || is_new))
		PUT(b, THREAD, thread, .thread = id, .process = t->process, .tid = t->tid, .ns_tid = t->tid,
		    .flags = t->flags, .name = text_of(b, name));
	return id;
}

/* Numbers of virtual threads have less than 48 bits. */
uint32_t builder_vthread(struct builder *b, uint32_t process, uint64_t number, struct trace_str name)
{
	bool is_new;
	uint32_t id = id_of(b, &b->vthreads, (uint32_t)(number >> 32) ^ process << 16, (uint32_t)number, &is_new);

	if (is_new)
		PUT(b, VTHREAD, vthread, id, process, number, text_of(b, text_id(b, name)));
	return id;
}

/* ---- what frames are about ---- */

static uint32_t module_of(struct builder *b, struct trace_str path, bool kernel)
{
	uint32_t string = text_id(b, path), id;
	bool is_new;

	if (!string)
		return 0;
	id = id_of(b, &b->modules, string, kernel, &is_new);
	if (is_new)
		PUT(b, MODULE, module, .module = id, .kind = kernel ? TRACE_MODULE_KERNEL : TRACE_MODULE_ELF,
		    .path = text_of(b, string));
	return id;
}

/* Symbols have no addresses: the source has only their names. A function without a name has no record. */
static uint32_t symbol_of(struct builder *b, uint32_t module, uint32_t name)
{
	bool is_new;
	uint32_t id = id_of(b, &b->symbols, module, name, &is_new);

	if (is_new && name)
		PUT(b, SYMBOL, symbol, id, module, 0, 0, text_of(b, name));
	return id;
}

static uint32_t method_of(struct builder *b, const struct import_frame *f)
{
	uint32_t class_name = text_id(b, f->class_name), name = text_id(b, f->name);
	uint32_t signature = text_id(b, f->signature), id;
	bool is_new;

	id = id_of(b, &b->method_names, class_name, name, &is_new);
	id = id_of(b, &b->methods, id, signature, &is_new);
	if (is_new)
		PUT(b, METHOD, method, .method = id, .process = b->process, .modifiers = f->modifiers,
		    .class_name = text_of(b, class_name), .name = text_of(b, name), .signature = text_of(b, signature),
		    .source = text_of(b, text_id(b, f->file)));
	return id;
}

/* A method in the form that a compiler has given it. */
static uint32_t code_of(struct builder *b, uint32_t method, uint32_t tier)
{
	bool is_new;
	uint32_t id = id_of(b, &b->codes, method, tier, &is_new);

	if (is_new)
		PUT(b, CODE, code, .code = id, .process = b->process, .kind = TRACE_CODE_METHOD, .method = method,
		    .tier = tier);
	return id;
}

static uint32_t place_of(struct builder *b, struct trace_str name, struct trace_str file)
{
	uint32_t text = text_id(b, name), path = text_id(b, file), id;
	bool is_new;

	id = id_of(b, &b->places, text, path, &is_new);
	if (is_new)
		PUT(b, PLACE, place, id, text_of(b, text), text_of(b, path));
	return id;
}

/* Lines are written at the end, when all of a method are known. */
static void note_line(struct builder *b, uint32_t method, int32_t bci, uint32_t line)
{
	bool is_new;

	if (bci < 0 || !line || !id_of(b, &b->lines_of, method, (uint32_t)bci, &is_new) || !is_new)
		return;
	if (VEC_PUSH(&b->lines, ((struct builder_line){method, {(uint32_t)bci, line}})))
		builder_fail(b, -ENOMEM);
}

/* ---- frames ---- */

static bool is_java(unsigned code)
{
	return code >= IMPORT_INTERPRETED && code <= IMPORT_INLINED;
}

uint32_t builder_frame(struct builder *b, const struct import_frame *f)
{
	struct builder_row row = {.code = (uint8_t)f->code, .bci = -1};
	bool is_new;
	uint32_t where, id;

	if (is_java(f->code)) {
		row.what = method_of(b, f);
		row.bci = f->bci <= BCI_MAX ? f->bci : -1;
		note_line(b, row.what, row.bci, f->line);
	} else if (f->code == IMPORT_END) {
		row.what = f->cause;
	} else {
		row.module = module_of(b, f->module, f->code == IMPORT_KERNEL);
		row.what = symbol_of(b, row.module, text_id(b, f->name));
		row.named = f->name.len > 0;
		row.line = f->code == IMPORT_NATIVE && f->line <= INT32_MAX && f->name.len ? f->line : 0;
		row.place = row.line ? place_of(b, f->name, f->file) : 0;
	}
	/* Four numbers identify a row: pairs of pairs. A byte code index has no high bit. */
	where = id_of(b, &b->wheres, (uint32_t)(row.bci + 1), row.line, &is_new);
	where = id_of(b, &b->wheres, where | 1U << 31, row.place, &is_new);
	id = id_of(b, &b->rows_of, f->code * WHAT | row.what, where, &is_new);
	if (is_new && VEC_PUSH(&b->rows, row))
		builder_fail(b, -ENOMEM);
	return b->err ? 0 : id;
}

uint32_t builder_depth_end(struct builder *b)
{
	return builder_frame(b, &(const struct import_frame){.code = IMPORT_END, .cause = BRAID_END_DEPTH, .bci = -1});
}

bool builder_is_end(const struct builder *b, uint32_t frame)
{
	return frame && b->rows.at[frame - 1].code == IMPORT_END;
}

uint32_t *builder_frame_of_text(struct builder *b, struct trace_str text)
{
	builder_numbers *of = &b->frames_of_texts;
	uint32_t id = text_id(b, text);

	if (b->err)
		return NULL;
	if (of->count <= id) {
		size_t more = id + 1 - of->count;

		if (VEC_RESERVE(of, more)) {
			builder_fail(b, -ENOMEM);
			return NULL;
		}
		memset(of->at + of->count, 0, more * sizeof(*of->at));
		of->count += more;
	}
	return &of->at[id];
}

static uint32_t tier_of(unsigned code)
{
	return code == IMPORT_C1 ? BRAID_TIER_C1 : BRAID_TIER_UNKNOWN;
}

/* Finds the scopes of a form, innermost first. Returns the outermost row. */
static const struct builder_row *find_scopes(struct builder *b, uint32_t form)
{
	const struct builder_row *r = NULL;

	b->scopes.count = 0;
	for (; form && !b->err; form = b->forms.at[form - 1].before) {
		r = &b->rows.at[b->forms.at[form - 1].row - 1];
		if (VEC_PUSH(&b->scopes, ((struct trace_scope){r->what, r->bci})))
			builder_fail(b, -ENOMEM);
	}
	return r;
}

/* What the trace has of a frame that is no method's. */
static void fill_other(struct builder *b, const struct builder_row *r, struct trace_frame *f)
{
	b->scopes.count = 0;
	if (r->code == IMPORT_END) {
		f->kind = BRAID_FRAME_END;
		f->address = r->what;
		return;
	}
	f->kind = r->code == IMPORT_KERNEL ? BRAID_FRAME_KERNEL : BRAID_FRAME_NATIVE;
	f->process = r->code == IMPORT_KERNEL ? 0 : b->process;
	f->symbol = r->named ? r->what : 0;
	f->module = r->module;
	if (r->line && !VEC_PUSH(&b->scopes, ((struct trace_scope){r->place, (int32_t)r->line}))) {
		f->scopes = b->scopes.at;
		f->scope_count = 1;
	}
}

static void fill_java(struct builder *b, const struct builder_row *outer, struct trace_frame *f)
{
	f->kind = outer->code == IMPORT_INTERPRETED ? BRAID_FRAME_INTERPRETED : BRAID_FRAME_CODE_CACHE;
	if (f->kind == BRAID_FRAME_CODE_CACHE)
		f->code = code_of(b, outer->what, tier_of(outer->code));
	f->scopes = b->scopes.at;
	f->scope_count = (uint32_t)b->scopes.count;
}

static uint32_t frame_of_form(struct builder *b, uint32_t form)
{
	struct trace_rec rec = {.kind = TRACE_FRAME, .frame = {.process = b->process}};
	struct trace_frame *f = &rec.frame;
	const struct builder_row *outer;

	if (b->err || b->forms.at[form - 1].frame)
		return b->err ? 0 : b->forms.at[form - 1].frame;
	outer = find_scopes(b, form);
	if (is_java(outer->code))
		fill_java(b, outer, f);
	else
		fill_other(b, outer, f);
	f->frame = b->forms.at[form - 1].frame = ++b->frames;
	builder_put(b, &rec);
	return f->frame;
}

/* ---- stacks ---- */

/* A stack that is being made, from the root. */
struct climb {
	uint32_t node, form;
	unsigned inlined;
	bool compiled; /* the form's outermost row can have others inlined */
};

static void climb_finish(struct builder *b, struct climb *c)
{
	uint32_t frame = c->form ? frame_of_form(b, c->form) : 0, parent = c->node;
	bool is_new;

	if (!frame)
		return;
	c->node = id_of(b, &b->nodes, parent, frame, &is_new);
	if (is_new)
		PUT(b, NODE, node, c->node, parent, frame);
	c->form = 0;
}

static void climb_step(struct builder *b, struct climb *c, uint32_t row)
{
	unsigned code = b->rows.at[row - 1].code;
	bool inlined = c->form && c->compiled && code == IMPORT_INLINED && c->inlined < SCOPES_MAX, is_new;
	uint32_t before;

	if (!inlined) {
		climb_finish(b, c);
		c->inlined = 0;
		c->compiled = is_java(code) && code != IMPORT_INTERPRETED;
	}
	c->inlined++;
	before = c->form;
	c->form = id_of(b, &b->forms_of, before, row, &is_new);
	if (is_new && VEC_PUSH(&b->forms, ((struct builder_form){before, row, 0})))
		builder_fail(b, -ENOMEM);
}

uint32_t builder_stack(struct builder *b, const uint32_t *frames, size_t count)
{
	struct climb c = {0};

	if (count >= STACK_DEPTH_MAX) {
		uint32_t end = builder_depth_end(b);

		count = STACK_DEPTH_MAX - 1;
		if (end)
			climb_step(b, &c, end);
	}
	for (size_t i = count; i-- > 0 && !b->err;)
		if (frames[i])
			climb_step(b, &c, frames[i]);
	climb_finish(b, &c);
	return b->err ? 0 : c.node;
}

/* ---- events ---- */

static void see_time(struct builder *b, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns < b->first_ns)
		b->first_ns = from_ns;
	if (to_ns > b->last_ns)
		b->last_ns = to_ns;
}

void builder_sample(struct builder *b, const struct trace_sample *s)
{
	begin(b);
	builder_put(b, &(const struct trace_rec){.kind = TRACE_SAMPLE, .sample = *s});
	see_time(b, s->time_ns, s->time_ns);
	if (s->event)
		b->hits++;
	else
		b->weight = add_saturating(b->weight, s->weight);
}

void builder_event(struct builder *b, const struct trace_jvm_event *e)
{
	begin(b);
	builder_put(b, &(const struct trace_rec){.kind = TRACE_JVM_EVENT, .jvm_event = *e});
	see_time(b, e->time_ns, add_saturating(e->time_ns, e->duration_ns));
	b->events++;
}

static uint64_t end_ns(const struct builder *b)
{
	return b->first_ns == UINT64_MAX ? 0 : b->last_ns;
}

void builder_loss(struct builder *b, const struct trace_loss *loss)
{
	begin(b);
	builder_put(b, &(const struct trace_rec){.kind = TRACE_LOSS, .loss = *loss});
	see_time(b, loss->time_ns, loss->time_ns);
}

void builder_not_imported(struct builder *b, const char *kind, uint64_t count)
{
	if (count)
		PUT(b, LOSS, loss, end_ns(b), 0, str_of("import"), str_of(kind), count);
}

void builder_notice(struct builder *b, uint32_t severity, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	PUT(b, NOTICE, notice, end_ns(b), 0, severity, text_of(b, text_id(b, str_of(text))));
}

static int compare_lines(const void *x, const void *y)
{
	const struct builder_line *p = x, *q = y;

	return compare_u64(p->method, q->method) ?: compare_u64(p->at.bci, q->at.bci);
}

static void put_lines(struct builder *b)
{
	VEC(struct trace_line) of = {0};

	VEC_SORT(&b->lines, compare_lines);
	for (size_t i = 0; i < b->lines.count && !b->err; i++) {
		uint32_t method = b->lines.at[i].method;
		bool last = i + 1 == b->lines.count || b->lines.at[i + 1].method != method;

		if (of.count < LINES_OF_METHOD && VEC_PUSH(&of, b->lines.at[i].at))
			builder_fail(b, -ENOMEM);
		if (!last)
			continue;
		PUT(b, LINES, lines, method, (uint32_t)of.count, of.at);
		of.count = 0;
	}
	free(of.at);
}

void builder_finish(struct builder *b, bool timed)
{
	put_lines(b);
	if (timed && b->first_ns != UINT64_MAX) {
		builder_clock(b, b->first_ns);
		builder_clock(b, b->last_ns);
	}
	PUT(b, END, end, end_ns(b));
}

/* ---- life ---- */

void builder_init(struct builder *b, struct trace_writer *w)
{
	*b = (struct builder){.w = w, .first_ns = UINT64_MAX};
}

void builder_free(struct builder *b)
{
	struct builder_ids *const all[] = {&b->names,  &b->modules, &b->symbols,   &b->method_names, &b->methods,
					   &b->codes,  &b->places,  &b->processes, &b->threads,	     &b->vthreads,
					   &b->wheres, &b->rows_of, &b->forms_of,  &b->nodes,	     &b->lines_of};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		u64map_free(&all[i]->of);
	strpool_free(&b->strings);
	free(b->process_names.at);
	free(b->thread_names.at);
	free(b->frames_of_texts.at);
	free(b->rows.at);
	free(b->forms.at);
	free(b->scopes.at);
	free(b->lines.at);
}
