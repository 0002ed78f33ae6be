// SPDX-License-Identifier: Apache-2.0
/* The tables that all threads of a profile for the Firefox Profiler share: strings, functions, frames, stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "firefox.h"
#include "stack_table.h"

/* ---- categories ---- */

static const struct {
	const char *name, *color;
	const char *parts[KIND_COUNT]; /* subcategories after the first, "Other" */
} categories[] = {
	[CATEGORY_OTHER] = {"Other", "grey", {NULL}},
	[CATEGORY_JAVA] = {"Java", "green", {"Interpreted", "C1", "C2", "Compiled", "Inlined"}},
	[CATEGORY_NATIVE] = {"Native", "blue", {NULL}},
	[CATEGORY_STUB] = {"JVM stub", "purple", {NULL}},
	[CATEGORY_KERNEL] = {"Kernel", "orange", {NULL}},
	[CATEGORY_GC] = {"GC", "brown", {NULL}},
	[CATEGORY_SAFEPOINT] = {"Safepoint", "yellow", {NULL}},
	[CATEGORY_WAIT] = {"Waiting", "red", {NULL}},
};

void firefox_categories(struct json *j)
{
	json_open(j, "categories", '[');
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		json_open(j, NULL, '{');
		json_string(j, "name", categories[i].name);
		json_string(j, "color", categories[i].color);
		json_open(j, "subcategories", '[');
		json_string(j, NULL, "Other");
		for (const char *const *part = categories[i].parts; *part; part++)
			json_string(j, NULL, *part);
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static uint32_t category_of(enum stack_kind kind)
{
	switch (kind_domain(kind)) {
	case DOMAIN_JAVA:
		return CATEGORY_JAVA;
	case DOMAIN_NATIVE:
		return CATEGORY_NATIVE;
	case DOMAIN_STUB:
		return CATEGORY_STUB;
	case DOMAIN_KERNEL:
		return CATEGORY_KERNEL;
	default:
		return CATEGORY_OTHER;
	}
}

static uint32_t part_of(enum stack_kind kind)
{
	static const uint8_t parts[KIND_COUNT] = {
		[KIND_INTERPRETED] = 1, [KIND_C1] = 2, [KIND_C2] = 3, [KIND_COMPILED] = 4, [KIND_INLINED] = 5};

	return parts[kind];
}

/* ---- columns ---- */

/* A column in which each of `count` rows has the same value, which is JSON. */
static void put_same(struct json *j, const char *key, size_t count, const char *value)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < count; i++)
		json_raw(j, NULL, value, strlen(value));
	json_close(j, ']');
}

typedef uint64_t number_fn(const void *table, size_t row);

static void put_numbers(struct json *j, const char *key, size_t count, const void *table, number_fn *of)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < count; i++)
		json_number(j, NULL, of(table, i));
	json_close(j, ']');
}

/* The same with null for 0. */
static void put_known(struct json *j, const char *key, size_t count, const void *table, number_fn *of)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < count; i++)
		json_number_if(j, of(table, i) != 0, NULL, of(table, i));
	json_close(j, ']');
}

/* ---- functions ---- */

struct function {
	uint32_t name, source; /* strings; source 0: not known */
	uint32_t category;
};

struct functions {
	VEC(struct function) at;
	VEC(uint32_t) of_label;
	VEC(uint32_t) sources; /* strings */
	struct u64map number;  /* name and source to the function and 1 */
	struct u64map source;  /* string to its place in sources and 1 */
};

static int add_source(struct functions *f, uint32_t file, uint32_t *number)
{
	uint32_t *at = u64map_put(&f->source, file);

	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&f->sources, file))
			return -ENOMEM;
		*at = (uint32_t)f->sources.count;
	}
	*number = *at;
	return 0;
}

/* Functions with one name in one file are one, whatever ran them. */
static int add_function(struct functions *f, struct firefox *w, const struct tree_label *l)
{
	struct function fresh = {.category = category_of((enum stack_kind)l->kind)};
	char name[FRAME_NAME_MAX];
	uint32_t file = firefox_string(w, l->file), *at;

	stack_table_name(l, w->source->options->annotate, name);
	fresh.name = firefox_string(w, name);
	if (file && add_source(f, file, &fresh.source))
		return -ENOMEM;
	at = u64map_put(&f->number, (uint64_t)fresh.name << 32 | file);
	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (VEC_PUSH(&f->at, fresh))
			return -ENOMEM;
		*at = (uint32_t)f->at.count;
	}
	return VEC_PUSH(&f->of_label, *at - 1);
}

static uint64_t name_of(const void *table, size_t row)
{
	return ((const struct functions *)table)->at.at[row].name;
}

static uint64_t resource_of(const void *table, size_t row)
{
	return ((const struct functions *)table)->at.at[row].category;
}

static void put_functions(struct json *j, const struct functions *f)
{
	size_t count = f->at.count;

	json_open(j, "funcTable", '{');
	put_numbers(j, "name", count, f, name_of);
	put_same(j, "isJS", count, "false");
	put_same(j, "relevantForJS", count, "false");
	put_numbers(j, "resource", count, f, resource_of);
	json_open(j, "source", '[');
	for (size_t i = 0; i < count; i++)
		json_number_if(j, f->at.at[i].source != 0, NULL, f->at.at[i].source - 1ULL);
	json_close(j, ']');
	put_same(j, "lineNumber", count, "null");
	put_same(j, "columnNumber", count, "null");
	put_same(j, "originalLocation", count, "null");
	json_number(j, "length", count);
	json_close(j, '}');
}

/* One for each category of frames, with its number. */
static void put_resources(struct json *j, struct firefox *w)
{
	json_open(j, "resourceTable", '{');
	json_open(j, "name", '[');
	for (size_t i = 0; i < CATEGORY_FRAMES; i++)
		json_number(j, NULL, firefox_string(w, categories[i].name));
	json_close(j, ']');
	put_same(j, "host", CATEGORY_FRAMES, "null");
	put_same(j, "type", CATEGORY_FRAMES, "1");
	json_number(j, "length", CATEGORY_FRAMES);
	json_close(j, '}');
}

static uint64_t source_of(const void *table, size_t row)
{
	return ((const struct functions *)table)->sources.at[row];
}

static void put_sources(struct json *j, const struct functions *f)
{
	size_t count = f->sources.count;

	json_open(j, "sources", '{');
	put_same(j, "id", count, "null");
	put_numbers(j, "filename", count, f, source_of);
	put_same(j, "startLine", count, "1");
	put_same(j, "startColumn", count, "1");
	put_same(j, "sourceMapURL", count, "null");
	put_same(j, "content", count, "null");
	json_number(j, "length", count);
	json_close(j, '}');
}

/* ---- frames and stacks ---- */

static uint64_t frame_category(const void *tree, size_t row)
{
	return category_of((enum stack_kind)((const struct tree *)tree)->labels.at[row].kind);
}

static uint64_t frame_part(const void *tree, size_t row)
{
	return part_of((enum stack_kind)((const struct tree *)tree)->labels.at[row].kind);
}

static uint64_t frame_line(const void *tree, size_t row)
{
	return ((const struct tree *)tree)->labels.at[row].line;
}

static uint64_t frame_function(const void *table, size_t row)
{
	return ((const struct functions *)table)->of_label.at[row];
}

static void put_frames(struct json *j, const struct tree *t, const struct functions *f)
{
	size_t count = t->labels.count;

	json_open(j, "frameTable", '{');
	put_same(j, "address", count, "-1");
	put_same(j, "lib", count, "-1");
	put_same(j, "inlineDepth", count, "0");
	put_numbers(j, "category", count, t, frame_category);
	put_numbers(j, "subcategory", count, t, frame_part);
	put_numbers(j, "func", count, f, frame_function);
	put_same(j, "nativeSymbol", count, "null");
	put_same(j, "innerWindowID", count, "null");
	put_known(j, "line", count, t, frame_line);
	put_same(j, "column", count, "null");
	put_same(j, "originalLocation", count, "null");
	json_number(j, "length", count);
	json_close(j, '}');
}

/* Without the root, which is no stack: stack n is node n + 1. */
static uint64_t stack_frame(const void *tree, size_t row)
{
	return ((const struct tree *)tree)->nodes.at[row + 1].label;
}

static uint64_t stack_prefix(const void *tree, size_t row)
{
	uint32_t parent = ((const struct tree *)tree)->nodes.at[row + 1].parent;

	return parent ? row + 1 - parent : 0;
}

static void put_stacks(struct json *j, const struct tree *t)
{
	size_t count = t->nodes.count - 1;

	json_open(j, "stackTable", '{');
	put_numbers(j, "frame", count, t, stack_frame);
	put_numbers(j, "prefixOffset", count, t, stack_prefix);
	json_number(j, "length", count);
	json_close(j, '}');
}

/* A table of the format that is empty here. */
static void put_empty(struct json *j, const char *key, const char *const *columns)
{
	json_open(j, key, '{');
	for (; *columns; columns++) {
		json_open(j, *columns, '[');
		json_close(j, ']');
	}
	json_number(j, "length", 0);
	json_close(j, '}');
}

static void put_strings(struct json *j, const struct strpool *p)
{
	json_open(j, "stringArray", '[');
	for (size_t i = 0; i <= p->strings.count; i++)
		json_string(j, NULL, strpool_get(p, (uint32_t)i));
	json_close(j, ']');
}

int firefox_shared(struct json *j, struct firefox *w)
{
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
	static const char *const locations[] = {"source", "line", "column", NULL};
	const struct tree *t = w->source->tree;
	struct functions f = {0};
	int err = 0;

	for (size_t i = 0; i < t->labels.count && !err; i++)
		err = add_function(&f, w, &t->labels.at[i]);
	if (!err) {
		json_open(j, "shared", '{');
		put_stacks(j, t);
		put_frames(j, t, &f);
		put_functions(j, &f);
		put_resources(j, w);
		put_sources(j, &f);
		put_empty(j, "nativeSymbols", symbols);
		put_empty(j, "sourceLocationTable", locations);
		put_strings(j, &w->strings);
		json_close(j, '}');
	}
	free(f.at.at);
	free(f.of_label.at);
	free(f.sources.at);
	u64map_free(&f.number);
	u64map_free(&f.source);
	return err;
}
