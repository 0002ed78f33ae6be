// SPDX-License-Identifier: Apache-2.0
/* From raw frames to names: symbols, code, inlined scopes, lines. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <braid/ring.h>
#include <symbol/symbol.h>

#include "analysis.h"

/* The sym of a name and kind, or UINT32_MAX without memory. */
static uint32_t intern(struct analysis *an, const char *name, size_t len, enum stack_kind kind, bool named)
{
	uint32_t id = strpool_add(&an->names, name, len);
	struct sym sym = {.name = id, .kind = (uint8_t)kind, .named = named};
	uint32_t *at;

	if (id == STRPOOL_FAILED)
		return UINT32_MAX;
	at = u64map_put(&an->sym_of, (uint64_t)id << 8 | (uint64_t)kind << 1 | named);
	if (!at)
		return UINT32_MAX;
	if (!*at) {
		if (VEC_PUSH(&an->syms, sym))
			return UINT32_MAX;
		*at = (uint32_t)an->syms.count;
	}
	return *at - 1;
}

static int push_at(struct analysis *an, const char *name, enum stack_kind kind, uint32_t file, uint32_t line)
{
	struct xframe x = {.sym = intern(an, name, strlen(name), kind, true), .line = line, .file = file};

	if (x.sym == UINT32_MAX)
		return -ENOMEM;
	return VEC_PUSH(&an->xframes, x);
}

static int push(struct analysis *an, const char *name, enum stack_kind kind, bool named, uint32_t line)
{
	struct xframe x = {.sym = intern(an, name, strlen(name), kind, named), .line = line};

	if (x.sym == UINT32_MAX)
		return -ENOMEM;
	return VEC_PUSH(&an->xframes, x);
}

const char *analysis_file(const struct analysis *an, const struct xframe *x)
{
	return strpool_get(&an->a->strings, x->file);
}

/* ---- Java ---- */

static uint32_t line_of(const struct analyzer *a, uint32_t method, int32_t bci)
{
	const struct lines_row *l = table_get(&a->method_lines, method);
	size_t low = 0, high;

	if (!l || bci < 0)
		return 0;
	for (high = l->count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (a->lines.at[l->first + mid].bci <= (uint32_t)bci)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? a->lines.at[l->first + low - 1].line : 0;
}

/* Takes out what stands between `at` and the first character that is not one of `digits`. */
static void cut_digits(char *at, const char *digits)
{
	size_t n = strspn(at, digits);

	memmove(at, at + n, strlen(at + n) + 1);
}

/*
 * What differs from run to run: the address of a hidden class ("Foo$$Lambda/0x00007f0a1c001800.run"), the number of an
 * older lambda ("Foo$$Lambda$17.run"), and that of an accessor which reflection generates.
 */
static void normalize(char *name)
{
	static const char *const numbered[] = {"$$Lambda$", "GeneratedMethodAccessor", "GeneratedConstructorAccessor",
					       "GeneratedSerializationConstructorAccessor"};
	char *at = strstr(name, "/0x");

	if (at) {
		memmove(at, at + 3, strlen(at + 3) + 1);
		cut_digits(at, "0123456789abcdef");
	}
	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		at = strstr(name, numbered[i]);
		if (at)
			cut_digits(at + strlen(numbered[i]), "0123456789");
	}
	at = strstr(name, "$$Lambda$.");
	if (at)
		memmove(at + 8, at + 9, strlen(at + 9) + 1);
}

static int push_method(struct analysis *an, uint32_t method, int32_t bci, enum stack_kind kind)
{
	const struct analyzer *a = an->a;
	const struct method_row *m = table_get(&a->methods, method);
	const char *class_name, *name;
	char *full;
	int err;

	if (!m || !m->name)
		return push(an, "[unknown method]", kind, false, 0);
	class_name = strpool_get(&a->strings, m->class_name);
	name = strpool_get(&a->strings, m->name);
	if (asprintf(&full, "%s%s%s", class_name, *class_name ? "." : "", name) < 0)
		return -ENOMEM;
	if (an->filter->norm)
		normalize(full);
	err = push_at(an, full, kind, m->source, line_of(a, method, bci));
	free(full);
	return err;
}

static enum stack_kind kind_of_tier(uint32_t tier)
{
	if (tier == BRAID_TIER_C2)
		return KIND_C2;
	return tier >= BRAID_TIER_C1 && tier < BRAID_TIER_C2 ? KIND_C1 : KIND_COMPILED;
}

static int expand_code(struct analysis *an, const struct frame_row *f)
{
	const struct analyzer *a = an->a;
	const struct code_row *c = table_get(&a->codes, f->code);
	enum stack_kind outer = c ? kind_of_tier(c->tier) : KIND_COMPILED;
	const struct trace_scope *scopes = f->scope_count ? a->scopes.at + f->first_scope : NULL;
	int err = 0;

	if (c && c->kind == TRACE_CODE_STUB)
		return push(an, c->name ? strpool_get(&a->strings, c->name) : "[unknown stub]", KIND_STUB, c->name != 0,
			    0);
	if (f->scope_count == 0)
		return c ? push_method(an, c->method, -1, outer) : push(an, "[unknown code]", outer, false, 0);
	for (uint32_t i = f->scope_count; i-- > 0 && !err;) {
		bool outermost = i == f->scope_count - 1;
		uint32_t method = scopes[i].method;

		if (outermost && method == 0 && c)
			method = c->method;
		err = push_method(an, method, scopes[i].bci, outermost ? outer : KIND_INLINED);
	}
	return err;
}

static int expand_interpreted(struct analysis *an, const struct frame_row *f)
{
	const struct trace_scope *s = f->scope_count ? &an->a->scopes.at[f->first_scope] : NULL;

	return push_method(an, s ? s->method : 0, s ? s->bci : -1, KIND_INTERPRETED);
}

/* ---- native and kernel ---- */

static int compare_mappings(const void *x, const void *y)
{
	const struct mapping *p = x, *q = y;

	if (p->process != q->process)
		return p->process < q->process ? -1 : 1;
	if (p->module != q->module)
		return p->module < q->module ? -1 : 1;
	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? -1 : 1;
	if (p->end != q->end)
		return p->end < q->end ? -1 : 1;
	return p->bias < q->bias ? -1 : p->bias > q->bias;
}

/* The mapping of f's module with the highest start at or below its address: mappings of one module share one bias. */
const struct mapping *analysis_mapping(const struct analysis *an, const struct frame_row *f, uint64_t address)
{
	size_t low = 0, high = an->a->mappings.count;
	struct mapping key = {.process = f->process,
			      .module = f->module,
			      .start = address,
			      .end = UINT64_MAX,
			      .bias = UINT64_MAX,
			      .time_ns = UINT64_MAX};
	const struct mapping *m;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_mappings(&an->mappings[mid], &key) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	m = low ? &an->mappings[low - 1] : NULL;
	return m && m->process == f->process && m->module == f->module && m->end > address ? m : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* `s` is the function's symbol when at least its start is known, else NULL. */
static int push_unknown_native(struct analysis *an, const struct frame_row *f, const struct symbol_row *s)
{
	const struct module_row *mod = table_get(&an->a->modules, f->module);
	uint64_t address = f->exact || !f->address ? f->address : f->address - 1;
	const struct mapping *m = analysis_mapping(an, f, address);
	const char *name = mod ? base_name(strpool_get(&an->a->strings, mod->path)) : "";
	size_t len = strlen(name);
	char *text;
	int err;

	if (!mod)
		return push(an, "[unknown]", KIND_NATIVE, false, 0);
	if (len == 0) {
		name = "anon";
		len = 4;
	} else if (len > 2 && name[0] == '[' && name[len - 1] == ']') {
		name++;
		len -= 2;
	}
	if (s)
		err = asprintf(&text, "[%.*s+0x%" PRIx64 "]", (int)len, name, s->address);
	else
		err = m ? asprintf(&text, "[%.*s+0x%" PRIx64 "]", (int)len, name, address - m->bias)
			: asprintf(&text, "[%.*s]", (int)len, name);
	if (err < 0)
		return -ENOMEM;
	err = push(an, text, KIND_NATIVE, false, 0);
	free(text);
	return err;
}

/* Demangled names are kept per symbol: the same function is in many frames. */
static uint32_t symbol_name(struct analysis *an, size_t row)
{
	const struct symbol_row *s = table_row(&an->a->symbols, row);
	uint32_t *known = &an->symbol_names[row];
	const char *name = strpool_get(&an->a->strings, s->name);
	char *plain;

	if (*known || !s->name)
		return *known;
	plain = symbol_demangle(name);
	*known = strpool_add(&an->names, plain ? plain : name, strlen(plain ? plain : name));
	free(plain);
	return *known;
}

static int push_place(struct analysis *an, const struct place_row *p, int32_t line, enum stack_kind kind)
{
	const char *name = p ? strpool_get(&an->a->strings, p->name) : "";
	char *plain = symbol_demangle(name);
	int err = push_at(an,
			  plain	  ? plain
			  : *name ? name
				  : "[unknown function]",
			  kind, p ? p->file : 0, line > 0 ? (uint32_t)line : 0);

	free(plain);
	return err;
}

/* The function itself goes by its symbol; what was inlined into it by the debug information. */
static int expand_places(struct analysis *an, const struct frame_row *f, const char *name)
{
	const struct trace_scope *scopes = an->a->scopes.at + f->first_scope;
	const struct trace_scope *own = &scopes[f->scope_count - 1];
	const struct place_row *p = table_get(&an->a->places, own->method);
	int err = push_at(an, name, KIND_NATIVE, p ? p->file : 0, own->bci > 0 ? (uint32_t)own->bci : 0);

	for (uint32_t i = f->scope_count - 1; i-- > 0 && !err;)
		err = push_place(an, table_get(&an->a->places, scopes[i].method), scopes[i].bci, KIND_NATIVE);
	return err;
}

static int expand_native(struct analysis *an, const struct frame_row *f, enum stack_kind kind)
{
	size_t row = table_find(&an->a->symbols, f->symbol);
	uint32_t name = row == TABLE_NONE ? 0 : symbol_name(an, row);

	if (name == STRPOOL_FAILED)
		return -ENOMEM;
	if (name && f->scope_count)
		return expand_places(an, f, strpool_get(&an->names, name));
	if (name)
		return push(an, strpool_get(&an->names, name), kind, true, 0);
	if (kind == KIND_KERNEL)
		return push(an, "[kernel]", kind, false, 0);
	return push_unknown_native(an, f, row == TABLE_NONE ? NULL : table_row(&an->a->symbols, row));
}

static int push_cause(struct analysis *an, uint32_t cause)
{
	char text[64];

	snprintf(text, sizeof(text), "[incomplete: %s]", cause_name(cause));
	return push(an, text, KIND_INCOMPLETE, false, 0);
}

static int expand_frame(struct analysis *an, const struct frame_row *f)
{
	switch (f->kind) {
	case BRAID_FRAME_NATIVE:
		return expand_native(an, f, KIND_NATIVE);
	case BRAID_FRAME_KERNEL:
		return expand_native(an, f, KIND_KERNEL);
	case BRAID_FRAME_CODE_CACHE:
		return expand_code(an, f);
	case BRAID_FRAME_INTERPRETED:
		return expand_interpreted(an, f);
	case BRAID_FRAME_END:
		return push_cause(an, f->address < BRAID_END_COUNT ? (uint32_t)f->address : CAUSE_UNKNOWN);
	default:
		return push(an, "[unknown]", KIND_NATIVE, false, 0);
	}
}

int analysis_expand(struct analysis *an)
{
	const struct analyzer *a = an->a;
	int err;

	an->expansions = calloc(a->frames.count + 1, sizeof(*an->expansions));
	an->symbol_names = calloc(a->symbols.count + 1, sizeof(*an->symbol_names));
	an->mappings = calloc(a->mappings.count + 1, sizeof(*an->mappings));
	if (!an->expansions || !an->symbol_names || !an->mappings)
		return -ENOMEM;
	if (a->mappings.count)
		memcpy(an->mappings, a->mappings.at, a->mappings.count * sizeof(*an->mappings));
	qsort(an->mappings, a->mappings.count, sizeof(*an->mappings), compare_mappings);
	err = push_cause(an, CAUSE_NO_STACK);
	if (!err)
		err = push_cause(an, CAUSE_DAMAGED);
	for (size_t i = 0; i < a->frames.count && !err; i++) {
		struct expansion *e = &an->expansions[i];

		e->first = an->xframes.count;
		err = expand_frame(an, table_row(&a->frames, i));
		e->count = (uint32_t)(an->xframes.count - e->first);
	}
	return err;
}
